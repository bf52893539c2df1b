"""The nightly run: ingest what is new, prune what has expired, fold recall counts, compact, check, report.

Each step costs what the day brought, not what the years did: small files are folded together, and what was written
since the last night is checked. ``memctl compact`` and ``memctl check`` go over everything.
"""

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from logging.handlers import RotatingFileHandler
from pathlib import Path
from types import TracebackType
from typing import Any

from memctl.errors import StoreBusy
from memctl.memory import OpenMemory
from memctl.model import Problem, Result
from memctl.operations.ingest import ingest
from memctl.operations.upkeep import check, compact, prune
from memctl.store.home import locate
from memctl.store.lock import FileLock
from memctl.times import iso

LOG_NAME = "nightly.log"
REPORT_NAME = "nightly.json"
_KEPT_LOGS = 5


@dataclass(frozen=True, slots=True)
class Nightly:
    """What a nightly run did, in numbers."""

    started_at: datetime
    seconds: float
    files: int
    unreadable: int
    messages: int
    counts: dict[str, int] = field(default_factory=dict)
    expired: int = 0
    bytes_before: int = 0
    bytes_after: int = 0
    findings: int = 0
    complete: bool = True
    failed: str = ""


def nightly(
    memory: OpenMemory,
    folders: Sequence[str],
    *,
    agent: str | None = None,
    max_minutes: float | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Result[Nightly]:
    """Do the night's work; a second start while one runs raises StoreBusy that names the first.

    A night that fails says so in the log before its error is passed on; what it did until then stays done.
    """
    night = _Night(memory, memory.now(), clock)
    with night:
        store = memory.created
    with _alone(store.home.near), night:
        before = store.size()
        read = ingest(
            memory,
            folders,
            agent=agent,
            deadline=lambda: max_minutes is not None and night.seconds() >= max_minutes * 60,
            alone=False,
        )
        pruned = prune(memory, agent=agent)
        compact(memory, whole=False)
        checked = check(memory, new=True)
        report = Nightly(
            night.started_at,
            night.seconds(),
            len(read.data.files),
            sum(file.status == "unreadable" for file in read.data.files),
            sum(file.new_messages for file in read.data.files),
            read.data.counts,
            len(pruned.data.verdicts),
            before,
            store.size(),
            len(checked.data.findings),
            not any(problem.code == "out_of_time" for problem in read.problems),
        )
        result = Result("nightly", report, (*read.problems, *checked.problems))
        night.note(result)
    return result


class _Night:
    """One run: when it began, how long it has been going on, and its place in the log. Notes what fails in a block."""

    def __init__(self, memory: OpenMemory, started_at: datetime, clock: Callable[[], float]) -> None:
        self.started_at = started_at
        self._memory = memory
        self._clock = clock
        self._begin = clock()

    def seconds(self) -> float:
        return round(self._clock() - self._begin, 3)

    def note(self, result: Result[Nightly]) -> None:
        kilobytes = int(self._memory.settings["nightly.log_kilobytes"])
        _write_log(locate(self._memory.location).near, kilobytes, result)

    def __enter__(self) -> None:
        """Begin the block."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Note any error, a bug of ours or Ctrl-C too, and let it pass."""
        if error is None or not locate(self._memory.location).near.is_dir():
            return
        because = " ".join(str(error).split()) or type(error).__name__
        failed = Nightly(self.started_at, self.seconds(), 0, 0, 0, complete=False, failed=because)
        with suppress(OSError):  # where not even the log can be written, the error itself must do
            self.note(Result("nightly", failed))


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Keep a second night out: it would only do the same work."""
    with ExitStack() as stack:
        try:
            stack.enter_context(FileLock(folder / "nightly.lock").held("nightly", 0))
        except StoreBusy as error:
            error.remedy = "Let it finish: it does the same work."
            raise
        yield


def sentence(report: Nightly) -> str:
    """The run in one line."""
    if report.failed:
        return f"failed after {report.seconds:.1f} s: {report.failed}"
    counts = report.counts
    return (
        f"{report.files} files ({report.unreadable} unreadable), {report.messages} new messages; "
        f"{counts.get('add', 0)} learned, {counts.get('supersede', 0)} replaced, {counts.get('contest', 0)} contested, "
        f"{report.expired} expired; {report.findings} findings; {report.seconds:.1f} s"
        + ("" if report.complete else "; time was up, the rest tomorrow")
    )


def last_report(folder: Path) -> dict[str, Any] | None:
    """What the last nightly run wrote down."""
    import json

    try:
        shape = json.loads((folder / REPORT_NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return shape if isinstance(shape, dict) else None


def _write_log(folder: Path, kilobytes: int, result: Result[Nightly]) -> None:
    """Add the run to the log, turning the file over when it has grown, and leave the report for the doctor."""
    import json

    from memctl.shapes import plain

    handler = RotatingFileHandler(
        folder / LOG_NAME, maxBytes=kilobytes * 1024, backupCount=_KEPT_LOGS, encoding="utf-8"
    )
    try:
        for text in (sentence(result.data), *(_problem_line(problem) for problem in result.problems)):
            stamped = f"{iso(result.data.started_at)} {text}"
            handler.emit(logging.LogRecord("memctl", logging.INFO, "", 0, stamped, None, None))
    finally:
        handler.close()
    (folder / LOG_NAME).chmod(0o600)
    report = folder / REPORT_NAME
    report.write_text(json.dumps(plain(result.data)), encoding="utf-8")
    report.chmod(0o600)


def _problem_line(problem: Problem) -> str:
    return f"problem {problem.code}: {problem.message}"
