"""Fuzz: whatever a request carries, a real server answers in the one shape and stays up."""

import shutil
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memctl.server.catalog import CATALOG
from tests.hard.fuzzkit import TOKENS, broken_values, dumped, fuzz
from tests.server.conftest import CHAT, Served, id_of, seeded, short_folder

HANG_SECONDS = 300  # a request has its own time limit in the server; this only ends a test that would never end
FACT = id_of("Rye bread needs a sourdough starter")
BODIES: dict[str, Any] = {
    "recall": {"query": "when are the ovens on", "agent": "bakery-team", "limit": 3, "types": ["fact"], "deep": True},
    "remember": {"text": "Rye flour is stored in bin 7", "agent": "bakery-team", "ttl": "7d", "tags": ["x"]},
    "ingest": {"content": CHAT, "agent": "bakery-team", "at": "2026-04-20T09:00:00Z"},
    "resolve": {"id": FACT, "way": "keep"},
    "edit": {"id": FACT, "tags": ["bread"], "text": "Rye bread needs a starter"},
    "pin": {"ids": [FACT]},
    "unpin": {"ids": [FACT]},
    "forget": {"ids": [FACT], "dry_run": True},
    "restore": {"ids": [FACT]},
    "undo": {"run": "x", "dry_run": True},
    "prune": {"dry_run": True, "agent": "bakery-team"},
    "state/set": {"agent": "bakery-team", "key": "k", "value": {"a": [1, None]}, "ttl": "1d"},
    "state/delete": {"agent": "bakery-team", "key": "k"},
}
POSTED = [operation for operation in CATALOG if operation.method == "POST"]
ASKED = [operation for operation in CATALOG if operation.method == "GET"]
FIELDS = ("agent", "id", "limit", "since", "until", "type", "state", "tag", "sort", "text", "key", "as_of", "all", "zz")
texts = st.text(max_size=20) | st.sampled_from(
    [token.decode("utf-8", "ignore") for token in TOKENS if len(token) < 9000]
)


@pytest.fixture(scope="module")
def http() -> Iterator[httpx.Client]:
    """A client of a real server on a store of its own."""
    folder = short_folder()
    served = Served(seeded(folder / "home"))
    with served.client() as client:
        client.timeout = httpx.Timeout(HANG_SECONDS)
        yield client
        assert client.get("/healthz").json() == {"status": "ok"}
    served.stop()
    shutil.rmtree(folder, ignore_errors=True)


def well_answered(answer: httpx.Response) -> None:
    """Busy and out of time are answers too; a failure of the server is not."""
    assert answer.status_code < 500 or answer.status_code in (503, 504), answer.text
    assert "Traceback" not in answer.text
    if answer.status_code >= 400:
        assert sorted(answer.json()["error"]) == ["code", "message", "remedy"]


@fuzz(0.03)
@given(st.sampled_from(POSTED), st.data())
def test_a_body_with_odd_values_is_served_or_refused(http, operation, data):
    body = data.draw(broken_values(BODIES.get(operation.name, {"agent": "bakery-team"})))
    raw = dumped(body).encode("utf-8", "surrogateescape")
    if data.draw(st.integers(0, 3)) == 0:
        place = data.draw(st.integers(0, len(raw)))
        raw = raw[:place] + data.draw(st.sampled_from(TOKENS)) + raw[place:]
    well_answered(http.post(f"/v1/{operation.name}", content=raw, headers={"Content-Type": "application/json"}))


@fuzz(0.02)
@given(st.sampled_from(ASKED), st.dictionaries(st.sampled_from(FIELDS), texts, max_size=3))
def test_a_query_with_odd_values_is_served_or_refused(http, operation, params):
    well_answered(http.get(f"/v1/{operation.name}", params=params))
