"""The OpenAPI document is the truth: machine-made requests, right and wrong, get what it promises."""

import subprocess
import sys
from pathlib import Path

from tests.server.conftest import Served

CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "unsupported_method",
    "missing_required_header",
)


def test_generated_requests_get_what_the_document_promises(served: Served, tmp_path: Path) -> None:
    program = Path(sys.executable).with_name("schemathesis")
    options = ["--phases", "fuzzing", "--max-examples", "2", "--seed", "1", "--request-timeout", "60", "--no-color"]
    done = subprocess.run(
        [program, "run", f"{served.url}/openapi.json", "--checks", ",".join(CHECKS), *options],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout[-6000:]
