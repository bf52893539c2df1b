"""Stored chats, SQL and upkeep over HTTP, as the command line has them."""

import json

import httpx

from tests.server.conftest import CHAT


def test_stored_chats_are_listed_shown_and_written_for_resuming(http: httpx.Client) -> None:
    sent = {"content": CHAT, "agent": "rest-chats", "at": "2026-04-20T09:00:00Z"}
    assert http.post("/v1/ingest", json=sent).status_code == 200

    [entry] = http.get("/v1/transcript/list", params={"agent": "rest-chats"}).json()["data"]
    asked = {"agent": "rest-chats", "name": entry["id"][:6]}
    shown = http.get("/v1/transcript/show", params=asked).json()["data"]["messages"]
    written = http.get("/v1/transcript/export", params=asked).json()["data"]
    assert entry["messages"] == len(shown) == len(json.loads(written["text"]))
    assert http.get("/v1/transcript/show", params={"name": "nosuch"}).status_code == 404


def test_the_index_is_asked_audited_and_tidied(http: httpx.Client) -> None:
    asked = http.post("/v1/sql", json={"query": "SELECT count(*) AS facts FROM facts"}).json()["data"]
    assert asked["columns"] == ["facts"]
    assert http.post("/v1/sql", json={"query": "DROP TABLE facts"}).status_code == 422
    rates = http.get("/v1/audit", params={"agent": "bakery-team"}).json()["data"]["rates"]
    assert "duplicate" in {rate["name"] for rate in rates}
    assert http.post("/v1/scrub", json={"dry_run": True}).json()["data"]["facts"] == 0
    assert http.post("/v1/compact", json={}).json()["data"]["bytes_after"] > 0


def test_what_was_replaced_lately_is_kept_unless_asked_otherwise(http: httpx.Client) -> None:
    for text in ("The shop closes at 18:00", "The shop closes at 19:00 now, not at 18:00"):
        http.post("/v1/remember", json={"text": text, "agent": "rest-prune"})
    asked = {"agent": "rest-prune", "superseded": True, "dry_run": True}

    assert http.post("/v1/prune", json=asked).json()["data"]["verdicts"] == []
    assert len(http.post("/v1/prune", json={**asked, "older_than": "0d"}).json()["data"]["verdicts"]) == 1
