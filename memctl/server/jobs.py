"""Extraction in the background: accepted means written down, and what is written down is finished, crash or no crash.

A job is one file. It is on the disk before its id is given out, and goes through the one worker in the order of
acceptance. A server that starts takes up whatever an earlier one left. Ingesting is content-addressed, so a job
that was cut short is simply done again.
"""

import json
import re
import secrets
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from memctl import times
from memctl.errors import ExitCode, MemctlError, NotFound
from memctl.server.failures import RequestRefused, shape, shape_of
from memctl.store.files import LocalFiles

FOLDER = "jobs"
ACCEPTED, DONE, FAILED = "accepted", "done", "failed"
_ATTEMPTS = 3
_LONGEST_QUEUE = 1000
_KEPT = timedelta(days=7)
_ID = re.compile(r"[0-9a-z]{1,64}")
FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 60.0
_SENDERS_FAULT = (ExitCode.USAGE, ExitCode.INPUT)


@dataclass(frozen=True, slots=True)
class Job:
    """A conversation to learn from. ``request`` is dropped when it is finished, so that no text stays behind."""

    id: str
    agent: str
    status: str
    accepted_at: str
    request: dict[str, Any] | None = None
    attempts: int = 0
    finished_at: str | None = None
    result: dict[str, Any] | None = None
    error: dict[str, Any] | None = None

    def shape(self) -> dict[str, Any]:
        """Write the job for a caller."""
        return {name: value for name, value in asdict(self).items() if name not in ("request", "attempts")}


class Jobs:
    """The queue and its one worker. ``work`` turns a request into a result and may be called again after a crash."""

    def __init__(self, folder: Path, work: Callable[[str, dict[str, Any]], dict[str, Any]]) -> None:
        """Keep jobs below ``folder``."""
        self._files = LocalFiles(folder)
        self._work = work
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="memctl-jobs")
        self._waiting: dict[str, Future[Job]] = {}
        self._stopping = threading.Event()

    @property
    def waiting(self) -> int:
        """How many jobs are not finished."""
        return sum(not future.done() for future in list(self._waiting.values()))

    def resume(self) -> int:
        """Take up what an earlier server left, oldest first; returns how many that are."""
        left = [job for job in map(self._read, self._files.names(FOLDER)) if job is not None]
        self._drop_old(left)
        unfinished = sorted((job for job in left if job.status == ACCEPTED), key=lambda job: (job.accepted_at, job.id))
        for job in unfinished:
            self._enqueue(job)
        return len(unfinished)

    def accept(self, agent: str, request: dict[str, Any]) -> tuple[Job, Future[Job]]:
        """Write a job down and queue it; once this returns, it will be done."""
        if self._stopping.is_set() or self.waiting >= _LONGEST_QUEUE:
            raise RequestRefused("overloaded", "the server has too much to do", "Try again in a moment.")
        job = Job(secrets.token_hex(12), agent, ACCEPTED, str(times.iso(times.now())), request)
        self._write(job)
        return job, self._enqueue(job)

    def get(self, job_id: str) -> Job:
        """Give a job by its id."""
        known = self._waiting.get(job_id)
        if known is not None and known.done() and not known.cancelled() and known.exception() is None:
            return known.result()
        job = self._read(f"{FOLDER}/{job_id}.json") if _ID.fullmatch(job_id) else None
        if job is None:
            raise NotFound(what="job", name=job_id, remedy="Jobs are kept for a week after they have finished.")
        return job

    def stop(self, seconds: float) -> None:
        """Let the job that is running end, for at most so long; the others stay on the disk for the next server."""
        self._stopping.set()
        self._pool.shutdown(wait=False, cancel_futures=True)
        deadline = time.monotonic() + seconds
        while self.waiting and time.monotonic() < deadline:
            time.sleep(0.05)

    @property
    def stopping(self) -> bool:
        """Whether a long job should end early; it is taken up again by the next server."""
        return self._stopping.is_set()

    def _enqueue(self, job: Job) -> Future[Job]:
        future = self._pool.submit(self._perform, job)
        self._waiting[job.id] = future
        future.add_done_callback(lambda done: self._settle(job, done))
        return future

    def _perform(self, job: Job) -> Job:
        if job.attempts >= _ATTEMPTS:
            return self._finish(replace(job, status=FAILED, error=shape("gave_up", "It failed three times.")["error"]))
        job = replace(job, attempts=job.attempts + 1)
        self._write(job)
        try:
            result = self._patiently(job)
        except MemctlError as error:
            return self._finish(replace(job, status=FAILED, error=shape_of(error)["error"]))
        if result is None:
            self._write(replace(job, attempts=job.attempts - 1))
            return job
        return self._finish(replace(job, status=DONE, result=result))

    def _patiently(self, job: Job) -> dict[str, Any] | None:
        """Work on a job, as long as it takes until store and models allow it; None where the server is stopping.

        Only what was sent can make a job fail. A busy or full store and a missing model are the server's trouble:
        the job says what it waits for.
        """
        pause = FIRST_PAUSE
        while not self._stopping.is_set():
            try:
                result = self._work(job.agent, job.request or {})
            except MemctlError as error:
                if error.exit_code in _SENDERS_FAULT:
                    raise
                self._write(replace(job, error=shape_of(error)["error"]))
                self._stopping.wait(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
                continue
            return None if self._stopping.is_set() and result.get("status") == "partial" else result
        return None

    def _finish(self, job: Job) -> Job:
        finished = replace(job, request=None, finished_at=times.iso(times.now()))
        self._write(finished)
        return finished

    def _settle(self, job: Job, done: Future[Job]) -> None:
        """Forget the future, and mark a job that met a bug; its file keeps what is known."""
        if not done.cancelled() and done.exception() is not None:
            self._finish(replace(job, status=FAILED, error=shape("internal", "The server failed on it.")["error"]))
        if len(self._waiting) > _LONGEST_QUEUE:
            for job_id in [name for name, future in list(self._waiting.items()) if future.done()]:
                self._waiting.pop(job_id, None)

    def _write(self, job: Job) -> None:
        self._files.write(f"{FOLDER}/{job.id}.json", json.dumps(asdict(job)).encode())

    def _read(self, name: str) -> Job | None:
        data = self._files.read(name)
        try:
            return Job(**json.loads(data)) if data else None
        except (ValueError, TypeError):
            return None

    def _drop_old(self, jobs: list[Job]) -> None:
        limit = times.now() - _KEPT
        for job in jobs:
            if job.finished_at and _instant(job.finished_at) < limit:
                self._files.remove(f"{FOLDER}/{job.id}.json")


def _instant(text: str) -> datetime:
    return times.parse_instant(text)
