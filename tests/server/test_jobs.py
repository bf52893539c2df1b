"""Accepted means done, whatever happens to the server in between."""

import json
import shutil
import signal
import stat
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from memctl.errors import NotFound, StoreBusy, UsageProblem
from memctl.server.jobs import Jobs
from tests.server.conftest import CHAT, NOW, Served, short_folder, until


@pytest.fixture
def folder() -> Iterator[Path]:
    made = short_folder()
    yield made
    shutil.rmtree(made, ignore_errors=True)


def learned(agent: str, request: dict[str, Any]) -> dict[str, Any]:
    return {"status": "ok", "agent": agent, "length": len(request["content"])}


def test_a_job_is_on_the_disk_before_its_id_is_given_out(folder: Path) -> None:
    begin = threading.Event()

    def slow(agent: str, request: dict[str, Any]) -> dict[str, Any]:
        begin.wait(30)
        return learned(agent, request)

    jobs = Jobs(folder, slow)
    job, future = jobs.accept("team", {"content": "secret words"})
    path = folder / "jobs" / f"{job.id}.json"
    assert json.loads(path.read_text())["request"] == {"content": "secret words"}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    begin.set()
    assert future.result(30).status == "done"
    assert "secret words" not in path.read_text()
    assert jobs.get(job.id).result == {"status": "ok", "agent": "team", "length": 12}
    jobs.stop(1)


def test_what_a_server_left_is_done_by_the_next_one_in_order(folder: Path) -> None:
    first = Jobs(folder, learned)
    first.stop(0)
    first._stopping.clear()
    for number in range(3):
        with pytest.raises(RuntimeError):
            first.accept("team", {"content": "x" * number})
    done: list[int] = []

    def work(agent: str, request: dict[str, Any]) -> dict[str, Any]:
        done.append(len(request["content"]))
        return learned(agent, request)

    second = Jobs(folder, work)
    assert second.resume() == 3
    until(lambda: not second.waiting)
    assert sorted(done) == [0, 1, 2]
    assert Jobs(folder, work).resume() == 0
    second.stop(1)


def test_a_busy_store_is_waited_for(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memctl.server.jobs.FIRST_PAUSE", 0.01)
    attempts: list[int] = []

    def busy_at_first(agent: str, request: dict[str, Any]) -> dict[str, Any]:
        attempts.append(1)
        if len(attempts) < 4:
            raise StoreBusy(path="x", holder="somebody")
        return learned(agent, request)

    jobs = Jobs(folder, busy_at_first)
    assert jobs.accept("team", {"content": ""})[1].result(30).status == "done"
    jobs.stop(1)


def test_a_job_that_cannot_be_done_says_why_and_the_next_one_is_done(folder: Path) -> None:
    def picky(agent: str, request: dict[str, Any]) -> dict[str, Any]:
        if request["content"] == "bad":
            raise UsageProblem(reason="it is bad")
        if request["content"] == "bug":
            raise ZeroDivisionError
        return learned(agent, request)

    jobs = Jobs(folder, picky)
    bad, bug, good = (jobs.accept("team", {"content": content}) for content in ("bad", "bug", "good"))
    assert good[1].result(30).status == "done"
    assert jobs.get(bad[0].id).error == {"code": "usage", "message": "It is bad.", "remedy": ""}
    assert until(lambda: (jobs.get(bug[0].id).error or {}).get("code")) == "internal"
    jobs.stop(1)


def test_a_job_that_kills_the_server_is_given_up_after_three_attempts(folder: Path) -> None:
    (folder / "jobs").mkdir()
    stuck = {"id": "abc", "agent": "team", "status": "accepted", "accepted_at": "2026-05-04T09:00:00Z", "attempts": 3}
    (folder / "jobs" / "abc.json").write_text(json.dumps({**stuck, "request": {"content": "x"}}))
    jobs = Jobs(folder, learned)
    jobs.resume()
    assert until(lambda: jobs.get("abc").status == "failed" and jobs.get("abc").error) is not None
    jobs.stop(1)


def test_an_unknown_or_damaged_job_is_not_found(folder: Path) -> None:
    (folder / "jobs").mkdir()
    (folder / "jobs" / "half.json").write_text('{"id": "ha')
    jobs = Jobs(folder, learned)
    assert jobs.resume() == 0
    for name in ("half", "none", "../../etc/passwd", "a" * 400):
        with pytest.raises(NotFound):
            jobs.get(name)


def test_extraction_answers_at_once_and_is_done_in_the_background(http: httpx.Client) -> None:
    answer = http.post("/v1/extract", json={"agent_id": "sail-loft", "content": CHAT})
    assert answer.status_code == 202
    place = answer.headers["location"]
    assert place == f"/v1/jobs/{answer.json()['job_id']}"
    done = until(lambda: (job := http.get(place).json())["status"] != "accepted" and job)
    assert done["status"] == "done"  # type: ignore[index]
    assert "invoices" in http.get("/v1/export", params={"agent": "sail-loft"}).text


def test_a_job_accepted_before_a_crash_is_done_once_after_it_and_dated_by_when_it_was_sent(
    serve: Callable[..., Served], bakery: Path, folder: Path
) -> None:
    shutil.copytree(bakery, folder / "home")
    first = serve(folder / "home")
    with first.client() as client:
        jobs = [
            client.post("/v1/extract", json={"agent_id": f"loft-{number}", "content": CHAT}).json()["job_id"]
            for number in range(3)
        ]
    first.stop(signal.SIGKILL)
    second = serve(folder / "home", MEMCTL_NOW="2026-06-01T09:00:00Z")
    with second.client() as client:
        until(lambda: all(client.get(f"/v1/jobs/{job}").json()["status"] == "done" for job in jobs), 90)
        facts = [
            [json.loads(line) for line in client.get("/v1/export", params={"agent": f"loft-{n}"}).text.splitlines()]
            for n in range(3)
        ]
    assert len(facts[0]) == len(facts[1]) == len(facts[2]) > 0
    # what came between, told to the second server, must not be retired by what was said before it
    assert {fact["said_at"][:10] for chat in facts for fact in chat} == {NOW[:10]}
