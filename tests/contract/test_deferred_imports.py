"""A command imports only the libraries that it needs; asked of ``sys.modules`` in a process of its own."""

import subprocess
import sys

import pytest

HEAVY = [
    "torch",
    "sentence_transformers",
    "transformers",
    "lancedb",
    "duckdb",
    "lance",
    "pyarrow",
    "onnxruntime",
    "autogen_core",
    "autogen",
    "fastapi",
    "mcp",
    "openai",
    "dateparser",
    "detect_secrets",
    "rich",
    "numpy",
]
PROGRAM = """
import sys
sys.argv = ["memctl", *{arguments!r}]
from memctl.__main__ import main
try:
    main()
except SystemExit:
    pass
print("\\n" + " ".join(name for name in {heavy!r} if name in sys.modules), file=sys.stderr)
"""


def imported_by(memctl, *arguments: str, among: list[str] = HEAVY) -> set[str]:
    program = PROGRAM.format(arguments=arguments, heavy=among)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=memctl.env(), timeout=120
    )
    return set(done.stderr.rstrip("\n").rpartition("\n")[2].split())


@pytest.mark.parametrize(
    "arguments", [("--help",), ("--version",), ("recall", "--help"), ("ingest", "--help"), ("config",)]
)
def test_help_and_config_import_nothing_heavy(memctl, arguments):
    assert imported_by(memctl, *arguments) == set()


def test_recall_never_imports_torch_lancedb_or_duckdb(memctl):
    memctl("remember", "The API is written in Go", "--agent", "team")

    found = imported_by(memctl, "recall", "which language is the API written in", "--agent", "team")

    assert {"lance", "onnxruntime"} <= found
    assert not found & {"torch", "sentence_transformers", "transformers", "lancedb", "duckdb", "rich", "dateparser",
                        "detect_secrets", "autogen_core", "fastapi", "mcp"}  # fmt: skip


def test_a_plain_recall_does_not_import_the_command_line_library(memctl):
    question = ("recall", "which language is the API written in", "--agent", "team")

    assert imported_by(memctl, *question, among=["typer", "pydantic"]) == set()
    assert imported_by(memctl, *question, "--strict", among=["typer", "pydantic"]) == {"typer", "pydantic"}


def test_listing_reads_the_index_without_a_model(memctl):
    memctl("remember", "The API is written in Go", "--agent", "team")

    found = imported_by(memctl, "list", "--agent", "team")

    assert not found & {"torch", "onnxruntime", "lancedb", "sentence_transformers", "autogen_core"}
