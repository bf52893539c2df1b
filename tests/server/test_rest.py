"""Every operation over HTTP, and every kind of bad request answered in the one shape."""

import json
import socket
from typing import Any

import httpx
import pytest

from memctl.server.catalog import CATALOG
from tests.server.conftest import Served, id_of

OVENS = id_of("The ovens are switched on at four in the morning")


def error_of(answer: httpx.Response) -> dict[str, str]:
    """The error, after checking that it is one and tells no secrets."""
    body = answer.json()
    assert list(body) == ["error"]
    assert sorted(body["error"]) == ["code", "message", "remedy"]
    assert "Traceback" not in answer.text
    assert "/home" not in answer.text
    return body["error"]


def test_every_row_of_the_catalog_has_a_route(http: httpx.Client) -> None:
    paths = http.get("/openapi.json").json()["paths"]
    for operation in CATALOG:
        assert operation.method.lower() in paths[f"/v1/{operation.name}"]


def test_the_documentation_loads_nothing_from_elsewhere(http: httpx.Client) -> None:
    page = http.get("/docs").text
    assert "/v1/recall" in page
    assert "src=" not in page
    assert "http://" not in page
    assert "https://" not in page


def test_health_is_told_to_everybody(http: httpx.Client) -> None:
    assert http.get("/healthz").json() == {"status": "ok"}


def test_a_listing_is_the_envelope_of_the_command_line(http: httpx.Client, served: Served) -> None:
    over_http = http.get("/v1/list", params={"agent": "bakery-team"}).json()
    assert over_http == served.command_line("list", "--agent", "bakery-team", "--json").json
    assert len(over_http["data"]["facts"]) == 3


@pytest.mark.parametrize("name", ["show", "why", "history"])
def test_one_fact_is_found_by_the_beginning_of_its_id(http: httpx.Client, served: Served, name: str) -> None:
    over_http = http.get(f"/v1/{name}", params={"id": OVENS[:10]}).json()
    assert over_http["command"] == name
    assert over_http["data"] == served.command_line(name, OVENS[:10], "--json").json["data"]


def test_counting_comparing_logging_and_checking(http: httpx.Client) -> None:
    assert http.get("/v1/stats").json()["data"]["facts"] >= 6
    assert http.get("/v1/diff", params={"since": "2026-01-01", "agent": "bakery-team"}).json()["data"]["learned"]
    assert http.get("/v1/log").json()["data"][0]["command"]
    assert http.get("/v1/conflicts").json()["data"] == []
    assert http.get("/v1/check").json()["data"]["findings"] == []


def test_facts_are_exported_as_lines(http: httpx.Client) -> None:
    answer = http.get("/v1/export", params={"agent": "library-team"})
    assert answer.headers["content-type"].startswith("application/x-ndjson")
    assert [json.loads(line)["text"] for line in answer.text.splitlines()] == ["Overdue books cost twenty cents a day"]


def test_curating_changes_a_fact_and_undo_takes_it_back(http: httpx.Client) -> None:
    rye = id_of("Rye bread needs a sourdough starter")

    def state() -> dict[str, Any]:
        return http.get("/v1/show", params={"id": rye}).json()["data"]["fact"]

    assert http.post("/v1/pin", json={"ids": [rye]}).status_code == 200
    assert state()["pinned"]
    assert http.post("/v1/unpin", json={"ids": [rye]}).status_code == 200
    assert http.post("/v1/forget", json={"ids": [rye], "dry_run": True}).status_code == 200
    assert state()["state"] == "active"
    assert http.post("/v1/forget", json={"ids": [rye]}).status_code == 200
    assert state()["state"] == "forgotten"
    assert http.post("/v1/restore", json={"ids": [rye]}).status_code == 200
    assert state()["state"] == "active"
    assert http.post("/v1/edit", json={"id": rye, "tags": ["bread"]}).status_code == 200
    assert state()["tags"] == ["bread"]
    assert http.post("/v1/undo", json={}).status_code == 200
    assert state()["tags"] == []
    assert http.post("/v1/prune", json={"dry_run": True}).status_code == 200


def test_working_state_comes_and_goes(http: httpx.Client) -> None:
    kept = {"key": "cursor", "agent": "bakery-team"}
    assert http.post("/v1/state/set", json={**kept, "value": {"page": 8}, "ttl": "2h"}).status_code == 200
    assert http.get("/v1/state/get", params=kept).json()["data"]["value"] == {"page": 8}
    assert len(http.get("/v1/state/list", params={"agent": "bakery-team"}).json()["data"]) == 1
    assert http.post("/v1/state/delete", json=kept).json()["data"]["deleted"]
    assert http.get("/v1/state/get", params=kept).status_code == 404


def test_metrics_count_requests_by_route_and_not_by_path(http: httpx.Client) -> None:
    http.get("/v1/show", params={"id": "deadbeef"})
    http.get("/no/such/path/secret")
    text = http.get("/metrics").text
    assert 'memctl_requests_total{route="/v1/show",method="GET",status="404"}' in text
    assert 'route="unmatched",method="GET",status="404"' in text
    assert "secret" not in text
    assert 'memctl_request_seconds_bucket{route="/healthz",le="+Inf"}' in text or "/v1/show" in text
    assert "memctl_facts 6" in text


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/nowhere", 404, "not_found"),
        ("DELETE", "/v1/list", 405, "method_not_allowed"),
        ("GET", "/v1/show?id=ffffffff", 404, "not_found"),
        ("GET", "/v1/list?colour=red", 422, "invalid"),
        ("GET", "/v1/list?limit=0", 422, "invalid"),
        ("GET", "/v1/list?as_of=yesterday", 422, "invalid"),
        ("GET", "/v1/diff?since=2026-05-01&until=2026-04-01", 422, "usage"),
        ("GET", "/v1/jobs/unknown", 404, "not_found"),
        ("GET", "/v1/jobs/..%2F..%2Fkeys", 404, "not_found"),
        ("GET", f"/v1/jobs/{'a' * 400}", 404, "not_found"),
    ],
)
def test_a_bad_request_gets_the_right_status_and_the_one_shape(
    http: httpx.Client, method: str, path: str, status: int, code: str
) -> None:
    answer = http.request(method, path)
    assert (answer.status_code, error_of(answer)["code"]) == (status, code)


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b'{"text": "x", "colour": 1}', "application/json", 422),
        (b"{", "application/json", 422),
        (b"[]", "application/json", 422),
        (b"null", "application/json", 422),
        (b'{"text": "\\ud800"}', "application/json", 422),
        (b'{"text": "   "}', "application/json", 422),
        (b'{"text": "' + b"x" * 5000 + b'"}', "application/json", 422),
        (b"[" * 100_000, "application/json", 400),
        (b'{"text": "x"}', "text/plain", 415),
        (b"text=x", "application/x-www-form-urlencoded", 415),
        (b"\xff\xfe", "application/json", 422),
    ],
)
def test_a_bad_body_gets_the_right_status_and_the_one_shape(
    http: httpx.Client, body: bytes, kind: str, status: int
) -> None:
    answer = http.post("/v1/remember", content=body, headers={"content-type": kind})
    assert answer.status_code == status
    error_of(answer)


@pytest.mark.parametrize("path", ["recall", "remember", "inject-context"])
def test_a_scope_in_a_path_has_the_bounds_of_any_other(http: httpx.Client, path: str) -> None:
    answer = http.post(f"/api/v1/agents/{'a' * 201}/{path}", json={})
    assert answer.status_code == 422
    assert "agent_id" in error_of(answer)["message"]


def test_a_value_that_is_nested_too_deep_is_refused_and_kept_nowhere(http: httpx.Client) -> None:
    for depth, status in ((50, 200), (600, 422)):
        body = f'{{"agent": "deep", "key": "k{depth}", "value": {"[" * depth}{"]" * depth}}}'
        answer = http.post("/v1/state/set", content=body, headers={"content-type": "application/json"})
        assert answer.status_code == status
    assert "deep" in error_of(answer)["message"]
    assert [entry["key"] for entry in http.get("/v1/state/list?agent=deep").json()["data"]] == ["k50"]


def test_an_error_does_not_repeat_what_was_sent(http: httpx.Client) -> None:
    answer = http.post("/v1/remember", json={"text": "hunter2-is-the-password", "ttl": "hunter2", "at": "hunter2"})
    assert answer.status_code == 422
    assert "hunter2" not in answer.text


def test_a_huge_body_is_refused_whether_it_says_so_or_not(http: httpx.Client) -> None:
    huge = b'{"text": "' + b"x" * 3_000_000 + b'"}'
    json_kind = {"content-type": "application/json"}
    assert http.post("/v1/remember", content=huge, headers=json_kind).status_code == 413
    pieces = (huge[start : start + 100_000] for start in range(0, len(huge), 100_000))
    answer = http.post("/v1/remember", content=pieces, headers=json_kind)
    assert answer.status_code == 413
    assert error_of(answer)["code"] == "too_large"


def test_a_foreign_name_for_this_machine_is_refused(http: httpx.Client) -> None:
    assert http.get("/v1/stats", headers={"host": "evil.example"}).status_code == 403
    assert http.get("/v1/stats", headers={"host": "localhost:1"}).status_code == 200
    assert http.get("/v1/stats", headers={"host": "[::1]:1"}).status_code == 200


def test_what_is_no_http_is_told_so_in_the_one_shape(served: Served) -> None:
    host, _, port = served.url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), 5) as link:
        link.sendall(b"\x16\x03\x01 this is no request\r\n\r\n")
        head, _, body = link.recv(65536).partition(b"\r\n\r\n")
    assert b" 400 " in head
    assert json.loads(body)["error"]["code"] == "bad_request"


def test_the_socket_file_serves_the_same(served: Served) -> None:
    with httpx.Client(transport=httpx.HTTPTransport(uds=str(served.socket)), base_url="http://memctl") as client:
        assert client.get("/v1/stats").json()["data"]["facts"] == 6
    assert served.socket.stat().st_mode & 0o777 == 0o600


def test_a_memory_that_is_not_there_yet_is_an_error_for_looking_and_an_empty_block_for_recall(serve, tmp_path) -> None:
    server = serve(tmp_path / "new")
    with server.client() as client:
        answer = client.get("/v1/list")
        assert (answer.status_code, error_of(answer)["code"]) == (404, "no_store")
        block = client.post("/v1/recall", json={"query": "anything"})
        assert (block.status_code, block.json()["context_block"]) == (200, "")
