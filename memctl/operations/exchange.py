"""Moving memory between stores: JSON lines out and in, without loss."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from memctl.errors import UsageProblem
from memctl.memory import OpenMemory
from memctl.model import Fact, Problem, Result
from memctl.operations.lines import take_lines
from memctl.operations.looking import CURRENT
from memctl.rules.history import held_as_said
from memctl.rules.terms import analyse
from memctl.shapes import fact_from_shape
from memctl.store import Store
from memctl.store.types import Changes, FactWrite, Filter, RunInfo

_BATCH = 512
_REMEDY = "Give what memctl export wrote."


@dataclass(frozen=True, slots=True)
class Imported:
    """How many facts came in, and how many were there already."""

    added: int
    changed: int
    unchanged: int
    run: str = ""
    dry_run: bool = False


@dataclass(slots=True)
class Lines:
    """What export lines told: the facts, those of them that came without ``held``, and the lines that are none."""

    facts: dict[str, Fact] = field(default_factory=dict)
    undated: set[str] = field(default_factory=set)
    problems: list[Problem] = field(default_factory=list)


def export(memory: OpenMemory, *, agent: str | None = None, everything: bool = False) -> Iterator[Fact]:
    """Give the facts of a scope (or all) in a stable order: the current ones, or with ``everything`` all states."""
    now = memory.now()
    wanted = Filter(
        agents=(agent,) if agent else (),
        states=() if everything else CURRENT,
        alive_at=None if everything else now,
    )
    yield from sorted(memory.store.all_facts(wanted), key=lambda fact: (fact.agent, fact.said_at, fact.id))


def import_facts(
    memory: OpenMemory, lines: Iterable[str], name: str, *, agent: str | None = None, dry_run: bool = False
) -> Result[Imported]:
    """Take in what ``export`` wrote, by this store or another, embedding the texts with this store's model."""
    read = read_facts(lines, name, agent)
    store = memory.existing
    facts = _dated(read, store)
    added = changed = unchanged = 0
    run = ""
    for start in range(0, len(facts), _BATCH):
        part = facts[start : start + _BATCH]
        known = {fact.id: fact for fact in store.facts_by_ids([fact.id for fact in part])} if store else {}
        new = [fact for fact in part if known.get(fact.id) != fact]
        added += sum(fact.id not in known for fact in new)
        changed += sum(fact.id in known for fact in new)
        unchanged += len(part) - len(new)
        if new and not dry_run:
            run = _store(memory, new, name, run)
    return Result("import", Imported(added, changed, unchanged, run, dry_run), tuple(read.problems))


def read_facts(lines: Iterable[str], name: str, agent: str | None) -> Lines:
    """Read export lines; a line that is none is a problem that names its place. The last line of an id wins."""
    read = Lines()
    read.problems += take_lines(lines, name, lambda shape, _: _take_in(_moved(shape, agent), read), remedy=_REMEDY)
    return read


def _take_in(shape: dict[str, Any], read: Lines) -> None:
    fact = fact_from_shape(shape)
    read.facts[fact.id] = fact
    read.undated.discard(fact.id)
    if shape.get("held") is None:
        read.undated.add(fact.id)


def _dated(read: Lines, store: Store | None) -> list[Fact]:
    """Say of the facts that came without it when they held; successors are in the file or in the store."""
    named = {fact.superseded_by for fact in read.facts.values() if fact.id in read.undated and fact.superseded_by}
    elsewhere = store.facts_by_ids(sorted(named - read.facts.keys())) if store else []
    known = {fact.id: fact for fact in elsewhere} | read.facts
    return [
        held_as_said(fact, known.get(fact.superseded_by or "")) if fact.id in read.undated else fact
        for fact in read.facts.values()
    ]


def _moved(shape: Any, agent: str | None) -> dict[str, Any]:
    """Put a fact into another scope, with the id it has there."""
    if not isinstance(shape, dict):
        raise UsageProblem(reason="not a JSON object")
    if agent is None or shape.get("agent") == agent:
        return shape
    from memctl.rules.identity import fact_id

    return {**shape, "agent": agent, "id": fact_id(agent, str(shape["text"]))}


def _store(memory: OpenMemory, facts: Sequence[Fact], name: str, run: str) -> str:
    vectors = memory.embed([fact.text for fact in facts])
    writes = [FactWrite(fact, vector, analyse(fact.text)) for fact, vector in zip(facts, vectors, strict=True)]
    info = RunInfo("import", name, memory.now(), {"facts": len(facts)}, run or None)
    return memory.created.apply(Changes(facts=writes), info, wait=memory.wait).run_id
