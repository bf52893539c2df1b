"""Looking at the memory: listing, showing, explaining, counting. Nothing here writes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from memctl.errors import UsageProblem
from memctl.memory import OpenMemory
from memctl.model import Fact, MemoryType, Result, Source, State
from memctl.rules.history import state_at
from memctl.rules.lifetime import recency, reinforcement
from memctl.store.filters import both, literal
from memctl.store.types import Filter, StoredMessage

CURRENT = (State.ACTIVE, State.CONTESTED)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which facts a person asks for; an empty field does not restrict. ``below`` takes sub-scopes in."""

    agent: str | None = None
    types: Sequence[str] = ()
    states: Sequence[str] = ()
    tags: Sequence[str] = ()
    speaker: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Listed:
    """Facts that match, and how many there are beyond the limit."""

    facts: tuple[Fact, ...]
    total: int


@dataclass(frozen=True, slots=True)
class Shown:
    """A fact with what its score is made of besides similarity, and what it is tied to."""

    fact: Fact
    recency: float
    reinforcement: float
    related: tuple[Fact, ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """One place where a fact was said, with the turns around it."""

    transcript: str
    message: int | None
    speaker: str
    quote: str
    at: datetime | None
    wording: str
    around: tuple[StoredMessage, ...] = ()


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a fact is in the memory and stands as it does."""

    fact: Fact
    evidence: tuple[Evidence, ...]


def list_facts(
    memory: OpenMemory, wanted: Wanted, *, sort: str = "said", limit: int | None = 50, as_of: datetime | None = None
) -> Result[Listed]:
    """List facts; without a state, the ones that hold now (or held at ``as_of``)."""
    if as_of is not None:
        return Result("list", _listed_then(memory, wanted, sort, limit, as_of))
    now = memory.now()
    if not wanted.states or not {*CURRENT, State.EXPIRED} & set(wanted.states):
        states = tuple(wanted.states) or CURRENT
        meant = to_filter(wanted, states=states, alive_at=None if wanted.states else now)
        found = tuple(memory.store.list_facts(meant, sort=sort, limit=limit))
        return Result("list", Listed(found, memory.store.count_facts(meant) if len(found) == limit else len(found)))
    # whether a fact has expired is told by the clock, not by its row: only then can the limit be applied
    meant = to_filter(wanted, states=_with_lapsed(wanted.states))
    known = [_lapsed(fact, now) for fact in memory.store.list_facts(meant, sort=sort)]
    kept = [fact for fact in known if fact.state in wanted.states]
    return Result("list", Listed(tuple(kept[:limit]), len(kept)))


def show(memory: OpenMemory, id_prefix: str) -> Result[Shown]:
    """Show one fact whole."""
    fact = memory.store.fact(id_prefix)
    now = memory.now()
    tied = [*fact.supersedes, *fact.contested_with, *([fact.superseded_by] if fact.superseded_by else [])]
    related = tuple(memory.store.facts_by_ids(tied))
    days = float(memory.settings["recall.recency_days"])
    return Result("show", Shown(_lapsed(fact, now), recency(fact, now, days), reinforcement(fact), related))


def why(memory: OpenMemory, id_prefix: str, *, around: int = 1) -> Result[Explanation]:
    """Tell where a fact was said, in whose words, and what kept it."""
    fact = memory.store.fact(id_prefix)
    evidence = tuple(
        Evidence(
            wording.source.transcript,
            wording.source.message,
            wording.source.speaker,
            wording.source.quote,
            wording.said_at,
            wording.text,
            _around(memory, fact.agent, wording.source, around),
        )
        for wording in fact.wordings
    )
    return Result("why", Explanation(fact, evidence))


def stats(memory: OpenMemory, agent: str | None = None) -> Result[dict[str, Any]]:
    """Count facts by scope, type, state and month, and measure the store."""
    return Result("stats", memory.store.stats(Filter(agents=(agent,) if agent else ())))


def sql(memory: OpenMemory, query: str, *, limit: int = 1000) -> Result[dict[str, Any]]:
    """Answer a read-only SQL question over the index."""
    columns, rows = memory.store.sql(query, limit=limit)
    return Result("sql", {"columns": columns, "rows": rows})


def _around(memory: OpenMemory, agent: str, source: Source, reach: int) -> tuple[StoredMessage, ...]:
    """The stored turns around the place where something was said, as far as the record has them."""
    if source.message is None:
        return ()
    near = range(source.message - reach, source.message + reach + 1)
    for name in _chats_read_from(memory, agent, source.transcript):
        found = tuple(item for item in memory.store.messages_of(name) if item.message.index in near)
        if found:
            return found
    return ()


def _chats_read_from(memory: OpenMemory, agent: str, path: str) -> list[str]:
    """Name the chats that have messages of a file; the ledger may know a chat by the file it went on in."""
    where = both(f"agent = {literal(agent)}", f"path = {literal(path)}")
    rows = memory.store.record.rows("messages", columns=["transcript_id"], where=where)
    return list(dict.fromkeys(row["transcript_id"] for row in rows))


def to_filter(wanted: Wanted, **more: Any) -> Filter:
    """Translate what a person asks for into the store's filter, refusing types and states that do not exist."""
    _known(wanted.types, MemoryType, "memory type")
    _known(more.get("states") or wanted.states, State, "state")
    options: dict[str, Any] = {
        "agents": (wanted.agent,) if wanted.agent else (),
        "types": tuple(wanted.types),
        "states": tuple(wanted.states),
        "tags": tuple(wanted.tags),
        "speakers": (wanted.speaker,) if wanted.speaker else (),
        "since": wanted.since,
        "until": wanted.until,
        "contains": wanted.text,
    }
    return Filter(**{**options, **more})


def _known(given: Sequence[str], kind: type[MemoryType] | type[State], what: str) -> None:
    for name in given:
        if name not in list(kind):
            raise UsageProblem(reason=f"there is no {what} {name!r}", remedy=f"Use {', '.join(kind)}.")


def _with_lapsed(states: Sequence[str]) -> tuple[str, ...]:
    """Asking for expired facts includes those whose time ended but which no prune has marked yet."""
    return tuple(dict.fromkeys((*states, *CURRENT))) if State.EXPIRED in states else tuple(states)


def _lapsed(fact: Fact, now: datetime) -> Fact:
    """Show a fact whose time has ended as expired, prune or no prune."""
    ended = fact.expires_at is not None and fact.expires_at <= now and fact.state in CURRENT
    return replace(fact, state=State.EXPIRED) if ended else fact


def _listed_then(memory: OpenMemory, wanted: Wanted, sort: str, limit: int | None, as_of: datetime) -> Listed:
    """List what held at an instant: every version is looked at, none of today's states counts."""
    states = tuple(wanted.states) or CURRENT
    _known(states, State, "state")
    known = memory.store.list_facts(to_filter(wanted, states=(), until=as_of), sort=sort)
    then = [(fact, state_at(fact, as_of)) for fact in known]
    kept = [replace(fact, state=state) for fact, state in then if state is not None and state in states]
    return Listed(tuple(kept[:limit]), len(kept))
