"""What stands behind the routes: the warm memory, threads with a limit, background jobs, keys and counters."""

import asyncio
import contextvars
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from memctl.model import Action, Result, State
from memctl.server import calls
from memctl.server.access import Access
from memctl.server.arguments import Arguments, Ingest
from memctl.server.catalog import Operation
from memctl.server.failures import RequestRefused
from memctl.server.jobs import Jobs
from memctl.server.keys import KeyFile, keys_path
from memctl.server.metrics import Metrics
from memctl.server.warm import Warm
from memctl.settings import Settings
from memctl.store.home import locate

Answer = TypeVar("Answer")
RunCommand = Callable[[dict[str, Any]], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one request may take."""

    body_bytes: int = 1024 * 1024
    concurrent: int = 32
    seconds: float = 30.0

    @classmethod
    def of(cls, settings: Settings) -> "Limits":
        """Take the limits from the settings."""
        return cls(
            int(settings["server.max_body_kilobytes"]) * 1024,
            int(settings["server.max_concurrent"]),
            float(settings["server.timeout_seconds"]),
        )


class Service:
    """One memory being served. ``run_command`` runs a command line in this process, where the face can do that."""

    def __init__(self, location: str, limits: Limits | None = None, run_command: RunCommand | None = None) -> None:
        """Name the memory; nothing is opened yet."""
        self.location = location
        self.warm = Warm(location)
        self.limits = limits or Limits.of(self.warm.open().settings)
        self.run_command = run_command
        self.keys = KeyFile(keys_path(location))
        self.metrics = Metrics()
        self.jobs = Jobs(self.near, self._extract)
        self._pool = ThreadPoolExecutor(self.limits.concurrent, thread_name_prefix="memctl-request")
        self._turn = threading.Lock()
        self._busy = 0

    @property
    def near(self) -> Path:
        """The folder of this machine that belongs to the memory."""
        return locate(self.location).near

    @property
    def busy(self) -> int:
        """How many requests are being worked on, those that nobody waits for any more among them."""
        return self._busy

    async def perform(
        self,
        operation: Operation,
        given: Arguments,
        access: Access,
        shape: Callable[[Result[Any]], Answer],
    ) -> Answer:
        """Do an operation in a thread and shape its result there too."""
        return await self.in_thread(lambda: shape(self.now(operation, given, access)))

    def now(self, operation: Operation, given: Arguments, access: Access) -> Result[Any]:
        """Do an operation in this thread."""
        memory = self.warm.open()
        try:
            return operation.perform(memory, given, access)
        finally:
            memory.close()

    async def in_thread(self, work: Callable[[], Answer]) -> Answer:
        """Work in a thread within the time of a request; refuse where too many are at work already.

        A thread cannot be stopped: one whose time is over goes on and keeps its place until it ends.
        """
        future = self._submit(work)
        try:
            return await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(future)), self.limits.seconds)
        except TimeoutError as error:
            raise RequestRefused(
                "timeout",
                f"it took longer than {self.limits.seconds:g} s",
                "What was written stays written; look before you send it again.",
            ) from error

    def _submit(self, work: Callable[[], Answer]) -> "Future[Answer]":
        with self._turn:
            if self._busy >= self.limits.concurrent:
                raise RequestRefused("overloaded", "the server has too much to do", "Try again in a moment.")
            self._busy += 1
        future = self._pool.submit(contextvars.copy_context().run, work)
        future.add_done_callback(self._leave)
        return future

    def _leave(self, _: "Future[Any]") -> None:
        with self._turn:
            self._busy -= 1

    def _extract(self, agent: str, request: dict[str, Any]) -> dict[str, Any]:
        """Do a background job. Its outcome names facts by id only: a job file must not outlive a purge with texts."""
        given = Ingest.model_validate({**request, "agent": agent})
        memory = self.warm.open()
        result = calls.ingest(memory, given, Access(), deadline=lambda: self.jobs.stopping)
        memory.close()
        return extraction_shape(result)

    def close(self, seconds: float) -> bool:
        """Let the job that is running end, for at most so long; False where something still runs."""
        self.jobs.stop(seconds)
        self._pool.shutdown(wait=False, cancel_futures=True)
        return not self.jobs.waiting and not self.busy


def extraction_shape(result: Result[Any]) -> dict[str, Any]:
    """Say what an ingest did, in the words of hosted memory services: how many memories were stored, and which."""
    stored = dict.fromkeys(
        verdict.fact.id
        for verdict in result.data.verdicts
        if verdict.fact.state in (State.ACTIVE, State.CONTESTED) and verdict.action is not Action.SKIP
    )
    return {
        "status": result.status,
        "memories_stored": len(stored),
        "memory_ids": list(stored),
        "counts": dict(result.data.counts),
        "run": result.data.run,
    }
