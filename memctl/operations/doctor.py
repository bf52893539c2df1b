"""The doctor: is everything in order, and if not, what to do."""

import platform
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from importlib.metadata import PackageNotFoundError, version

from memctl import __version__
from memctl.errors import MemctlError
from memctl.memory import OpenMemory
from memctl.model import Problem, Result
from memctl.operations.nightly import last_report
from memctl.store.home import locate
from memctl.times import parse_instant

_PACKAGES = ("lancedb", "pylance", "duckdb", "onnxruntime", "tokenizers", "sentence-transformers", "pyautogen")
_SHOWN = 5
_LITTLE_SPACE = 1_000_000_000
_LATE = timedelta(hours=36)
_AGAIN = "Mend that, then run memctl nightly by hand; the next night goes on where this one ended."


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the doctor: a subject, whether it is well, what was seen, what to do."""

    subject: str
    well: bool
    seen: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """All that the doctor looked at."""

    findings: tuple[Finding, ...]


def doctor(memory: OpenMemory) -> Result[Diagnosis]:
    """Look at versions, model, store, index, lock, schedule, last nightly run and disk; writes nothing."""
    findings = tuple(finding for look in _LOOKS for finding in _safely(look, memory))
    problems = tuple(
        Problem(f"doctor_{finding.subject}", f"{finding.subject}: {finding.seen}", "", finding.remedy)
        for finding in findings
        if not finding.well
    )
    return Result("doctor", Diagnosis(findings), problems)


def _safely(look: Callable[[OpenMemory], Iterator[Finding]], memory: OpenMemory) -> list[Finding]:
    """An examination that fails is itself a finding."""
    try:
        return list(look(memory))
    except MemctlError as error:
        return [Finding(look.__name__.strip("_"), False, str(error), error.remedy)]


def _versions(_: OpenMemory) -> Iterator[Finding]:
    yield Finding("memctl", True, f"{__version__} on Python {platform.python_version()}")
    for name in _PACKAGES:
        try:
            yield Finding(name, True, version(name))
        except PackageNotFoundError:
            yield Finding(name, False, "not installed", "Install memctl again: pip install .")


def _model(memory: OpenMemory) -> Iterator[Finding]:
    vector = memory.embed(["in order?"])
    yield Finding("model", True, f"{memory.embedder.name}, {vector.shape[1]} dimensions, answers")


def _store(memory: OpenMemory) -> Iterator[Finding]:
    store = memory.existing
    if store is None:
        place = locate(memory.location)
        if place.local and place.near.exists() and not place.near.is_dir():
            yield Finding("store", False, f"{memory.location} is a file", "Set MEMCTL_HOME to a folder.")
        else:
            yield Finding("store", True, f"none yet at {memory.location}")
        return
    yield Finding("store", True, f"{memory.location}, format {store.meta.format}, model {store.meta.model.name}")
    findings = store.check()
    for finding in findings[:_SHOWN]:
        yield Finding("check", False, finding.message, finding.remedy or "Run memctl check --repair.")
    if len(findings) > _SHOWN:
        yield Finding("check", False, f"and {len(findings) - _SHOWN} more", "Run memctl check to see them all.")
    if not findings:
        yield Finding("check", True, "record and index agree")
    holder = store.holder()
    yield Finding("lock", True, f"held by {holder}" if holder else "free")


def _night(memory: OpenMemory) -> Iterator[Finding]:
    report = last_report(locate(memory.location).near)
    if report is None:
        yield Finding("nightly", True, "never ran; memctl schedule install makes it")
        return
    try:
        started = parse_instant(str(report["started_at"]))
        counts = f"{report['findings']} findings, {report['unreadable']} unreadable files"
    except (MemctlError, KeyError):
        yield Finding("nightly", False, "the last run's report cannot be read", "Run memctl nightly by hand.")
        return
    if report.get("failed"):
        yield Finding("nightly", False, f"last run {started:%Y-%m-%d %H:%M} failed: {report['failed']}", _AGAIN)
        return
    late = memory.now() - started > _LATE
    seen = f"last run {started:%Y-%m-%d %H:%M}, {counts}"
    yield Finding("nightly", not late, seen, "Look at the schedule: memctl schedule show." if late else "")


def _schedule(_: OpenMemory) -> Iterator[Finding]:
    from memctl.operations.schedule import installed

    lines = installed()
    yield Finding("schedule", True, lines[0] if lines else "no crontab line (memctl schedule install)")


def _disk(memory: OpenMemory) -> Iterator[Finding]:
    folder = locate(memory.location).near
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    yield Finding("disk", free > _LITTLE_SPACE, f"{free / 1e9:.1f} GB free", "Make room before the next run.")


_LOOKS = (_versions, _model, _store, _night, _schedule, _disk)
