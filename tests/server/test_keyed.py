"""A server with keys: every request needs one, and no key sees another scope."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from memctl.server.keys import KeyFile, keys_path
from tests.server.conftest import Served, id_of
from tests.server.test_rest import error_of

OVENS = id_of("The ovens are switched on at four in the morning")
BOOKS = id_of("Overdue books cost twenty cents a day", "library-team")
MINUTES = id_of("Minutes of meetings are written in English", "global")
NOW = "2026-05-04T09:00:00Z"


@pytest.fixture(scope="module")
def tokens(own_home: Path) -> dict[str, str]:
    keys = KeyFile(keys_path(str(own_home)))
    wanted = {"team": ("bakery-team", False), "reader": ("bakery-team", True), "all": (None, False)}
    wanted |= {"planner": ("bakery-team/planner", False)}
    return {
        name: keys.create(agent, name=name, read_only=read_only, now=NOW)[1]
        for name, (agent, read_only) in wanted.items()
    }


@pytest.fixture(scope="module")
def keyed(own_home: Path, tokens: dict[str, str]) -> Iterator[Served]:
    assert tokens
    server = Served(own_home)
    yield server
    server.stop()


@pytest.fixture(scope="module")
def team(keyed: Served, tokens: dict[str, str]) -> Iterator[httpx.Client]:
    with keyed.client(tokens["team"]) as client:
        yield client


@pytest.mark.parametrize("headers", [{}, {"authorization": "Bearer nonsense"}, {"x-api-key": "mctl_"}])
def test_no_key_or_a_wrong_one_opens_nothing_but_health_and_documentation(
    keyed: Served, headers: dict[str, str]
) -> None:
    with keyed.client() as client:
        for path in ("/v1/stats", "/metrics", "/nowhere"):
            answer = client.get(path, headers=headers)
            assert (answer.status_code, error_of(answer)["code"]) == (401, "unauthorized")
            assert answer.headers["www-authenticate"] == "Bearer"
        for path in ("/healthz", "/docs", "/openapi.json"):
            assert client.get(path).status_code == 200


def test_both_ways_of_sending_a_key_are_taken(keyed: Served, tokens: dict[str, str]) -> None:
    with keyed.client() as client:
        assert client.get("/v1/stats", headers={"x-api-key": tokens["team"]}).status_code == 200
        assert client.get("/v1/stats", headers={"authorization": f"bearer {tokens['team']}"}).status_code == 200


def test_a_key_lists_and_counts_its_own_scope_only(team: httpx.Client) -> None:
    assert {fact["agent"] for fact in team.get("/v1/list").json()["data"]["facts"]} == {"bakery-team"}
    counted = team.get("/v1/stats").json()["data"]
    assert set(counted["by_agent"]) == {"bakery-team"}
    assert not {"runs", "bytes"} & set(counted)
    assert "library" not in team.get("/v1/export").text


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/v1/list?agent=library-team", 403),
        ("/v1/stats?agent=library-team", 403),
        ("/v1/audit?agent=library-team", 403),
        ("/v1/transcript/list?agent=library-team", 403),
        ("/v1/transcript/show?agent=library-team", 403),
        ("/v1/export?agent=library-team", 403),
        ("/v1/diff?since=2026-01-01&agent=library-team", 403),
        ("/v1/state/list?agent=library-team", 403),
        (f"/v1/show?id={BOOKS}", 404),
        (f"/v1/why?id={BOOKS}", 404),
        (f"/v1/history?id={BOOKS}", 404),
        ("/v1/log", 403),
        ("/v1/check", 403),
        ("/v1/list?agent=bakery-team/planner", 200),
        ("/v1/list?agent=global", 200),
        (f"/v1/show?id={MINUTES}", 200),
    ],
)
def test_a_key_reads_its_scope_what_is_below_and_what_is_above(team: httpx.Client, path: str, status: int) -> None:
    answer = team.get(path)
    assert answer.status_code == status
    assert "Overdue" not in answer.text


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/v1/remember", {"text": "x", "agent": "library-team"}, 403),
        ("/v1/remember", {"text": "x", "agent": "global"}, 403),
        ("/v1/extract", {"content": "user: x", "agent_id": "library-team"}, 403),
        ("/v1/recall", {"query": "books", "agent_id": "library-team"}, 403),
        ("/api/v1/agents/library-team/recall", {"query": "books"}, 403),
        ("/api/v1/agents/library-team/remember", {"content": "x"}, 403),
        ("/v1/memory/remember", {"content": "x", "agent": "library-team"}, 403),
        ("/v1/forget", {"ids": [BOOKS]}, 404),
        ("/v1/forget", {"ids": [MINUTES]}, 403),
        ("/v1/edit", {"id": BOOKS, "text": "Books are free"}, 404),
        ("/v1/pin", {"ids": [BOOKS]}, 404),
        ("/v1/state/set", {"key": "k", "value": 1, "agent": "library-team"}, 403),
        ("/v1/prune", {"agent": "library-team"}, 403),
        ("/v1/undo", {}, 403),
        ("/v1/sql", {"query": "SELECT text FROM facts"}, 403),
        ("/v1/compact", {}, 403),
        ("/v1/scrub", {}, 403),
        ("/v1/command", {"argv": ["list"]}, 403),
    ],
)
def test_a_key_changes_nothing_outside_its_scope(
    team: httpx.Client, path: str, body: dict[str, object], status: int
) -> None:
    answer = team.post(path, json=body)
    assert answer.status_code == status
    error_of(answer)


def test_a_scope_below_does_not_see_what_only_its_sibling_or_child_knows(keyed: Served, tokens: dict[str, str]) -> None:
    with keyed.client(tokens["planner"]) as planner:
        assert planner.get("/v1/show", params={"id": OVENS}).status_code == 200
        assert planner.get("/v1/list", params={"agent": "bakery-team/coder"}).status_code == 403
        assert planner.post("/v1/pin", json={"ids": [OVENS]}).status_code == 403


def test_recall_answers_from_the_scope_and_those_above(team: httpx.Client) -> None:
    shown = team.post("/v1/recall", json={"query": "when are the ovens switched on"}).json()["data"]["facts"]
    assert shown[0]["id"] == OVENS
    assert {fact["agent"] for fact in shown} <= {"bakery-team", "global"}


def test_a_read_only_key_reads_and_writes_nothing(keyed: Served, tokens: dict[str, str]) -> None:
    with keyed.client(tokens["reader"]) as reader:
        assert reader.get("/v1/list").status_code == 200
        for path, body in (
            ("/v1/remember", {"text": "x"}),
            ("/v1/extract", {"content": "user: x"}),
            ("/v1/forget", {"ids": [OVENS]}),
            ("/v1/state/set", {"key": "k", "value": 1}),
        ):
            assert reader.post(path, json=body).status_code == 403


def test_how_much_others_remember_and_ask_is_told_to_a_key_to_everything_only(
    keyed: Served, tokens: dict[str, str]
) -> None:
    with keyed.client() as client:
        told = {name: client.get("/metrics", headers={"x-api-key": tokens[name]}) for name in ("team", "reader", "all")}
    assert {name: answer.status_code for name, answer in told.items()} == {"team": 403, "reader": 403, "all": 200}
    assert error_of(told["team"])["code"] == "forbidden"
    assert "memctl_facts" in told["all"].text


def test_a_key_to_everything_sees_everything_and_runs_commands(keyed: Served, tokens: dict[str, str]) -> None:
    with keyed.client(tokens["all"]) as client:
        assert len(client.get("/v1/stats").json()["data"]["by_agent"]) == 4
        assert client.post("/v1/command", json={"argv": []}).json() == {"run_locally": str(keyed.home)}


def test_the_socket_file_needs_no_key(keyed: Served) -> None:
    with httpx.Client(transport=httpx.HTTPTransport(uds=str(keyed.socket)), base_url="http://memctl") as client:
        assert client.get("/v1/stats").status_code == 200


def test_a_revoked_key_is_refused_by_the_running_server(keyed: Served, own_home: Path) -> None:
    keys = KeyFile(keys_path(str(own_home)))
    _, token = keys.create("bakery-team", name="brief", read_only=False, now=NOW)
    with keyed.client(token) as client:
        assert client.get("/v1/list").status_code == 200
        keys.revoke("brief")
        assert client.get("/v1/list").status_code == 401
