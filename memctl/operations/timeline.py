"""The memory in time: versions of a fact, what changed between two dates, runs and their undoing."""

from dataclasses import dataclass
from datetime import datetime

from memctl.errors import UsageProblem
from memctl.memory import OpenMemory
from memctl.model import Fact, Result
from memctl.rules.history import Difference, compare
from memctl.store.types import Filter, Run


@dataclass(frozen=True, slots=True)
class History:
    """Every version of a fact, oldest first, as they replaced each other."""

    asked: str
    versions: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Undone:
    """What an undo did or would do to how many facts, and how many of these are no longer known at all."""

    runs: tuple[str, ...]
    facts: int
    dry_run: bool = False
    removed: int = 0


def history(memory: OpenMemory, id_prefix: str) -> Result[History]:
    """Follow the pointers of a fact both ways."""
    start = memory.store.fact(id_prefix)
    seen = {start.id: start}
    frontier = [start]
    while frontier:
        wanted = {other for fact in frontier for other in _tied(fact)} - seen.keys()
        frontier = list(memory.store.facts_by_ids(sorted(wanted)))
        seen.update({fact.id: fact for fact in frontier})
    versions = sorted(seen.values(), key=lambda fact: (fact.said_at, fact.superseded_by is None, fact.id))
    return Result("history", History(start.id, tuple(versions)))


def diff(memory: OpenMemory, since: datetime, until: datetime, *, agent: str | None = None) -> Result[Difference]:
    """Tell what was learned, changed and dropped between two dates, by time of speaking."""
    if until < since:
        raise UsageProblem(reason="the second date lies before the first", remedy="Give the earlier date first.")
    wanted = Filter(agents=(agent,) if agent else (), until=until)
    return Result("diff", compare(list(memory.store.all_facts(wanted)), since, until))


def log(memory: OpenMemory, *, limit: int = 20) -> Result[tuple[Run, ...]]:
    """List the latest runs, newest first."""
    return Result("log", tuple(memory.store.runs(limit=limit)))


def undo(memory: OpenMemory, run: str | None = None, *, cascade: bool = False, dry_run: bool = False) -> Result[Undone]:
    """Take back a run exactly (the latest one that was not taken back yet, if none is named)."""
    done = memory.store.undo(run, cascade=cascade, dry_run=dry_run, wait=memory.wait)
    return Result("undo", Undone(done.runs, len(done.restored) + len(done.removed), dry_run, len(done.removed)))


def _tied(fact: Fact) -> list[str]:
    return [*fact.supersedes, *([fact.superseded_by] if fact.superseded_by else [])]
