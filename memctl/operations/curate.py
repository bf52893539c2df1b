"""People's word on single facts: settle, edit, pin, forget, restore. Each change is a verdict that can be undone."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from memctl.errors import NotFound, UsageProblem
from memctl.extraction.llm_cache import LlmCache, default_folder
from memctl.extraction.redact import redact
from memctl.memory import OpenMemory
from memctl.model import Action, Fact, Interval, Result, Source, State, Verdict, Wording
from memctl.operations.remember import checked_text, checked_type
from memctl.rules.identity import fact_id
from memctl.rules.terms import analyse
from memctl.store.types import Changes, FactWrite, Filter, RunInfo
from memctl.times import parse_duration

BY_HAND = "by hand"
_MOST_FORGOTTEN = 20
WAYS = ("keep", "drop", "both")


@dataclass(frozen=True, slots=True)
class Conflict:
    """Facts that say different things about the same matter, oldest first."""

    sides: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Curated:
    """What was done by hand, or would be."""

    verdicts: tuple[Verdict, ...]
    run: str = ""
    dry_run: bool = False
    purged: int = 0


@dataclass(frozen=True, slots=True)
class Edit:
    """New values for a fact; None leaves a field as it is. ``ttl`` "never" takes the expiry away."""

    text: str | None = None
    type: str | None = None
    ttl: str | None = None
    tags: Sequence[str] | None = None


def conflicts(memory: OpenMemory, agent: str | None = None) -> Result[tuple[Conflict, ...]]:
    """List what waits for a decision."""
    wanted = Filter(agents=(agent,) if agent else (), states=(State.CONTESTED,))
    waiting = {fact.id: fact for fact in memory.store.all_facts(wanted)}
    others = {other for fact in waiting.values() for other in fact.contested_with} - waiting.keys()
    known = {**waiting, **{fact.id: fact for fact in memory.store.facts_by_ids(sorted(others))}}
    groups = _connected(known)
    return Result("conflicts", tuple(Conflict(_by_time(group)) for group in groups))


def resolve(memory: OpenMemory, id_prefix: str, way: str, *, dry_run: bool = False) -> Result[Curated]:
    """Settle a conflict: ``keep`` this fact and retire its rivals, ``drop`` it, or let ``both`` stand."""
    if way not in WAYS:
        raise UsageProblem(reason=f"{way!r} does not settle a conflict", remedy="Use --keep, --drop or --both.")
    fact = memory.store.fact(id_prefix)
    sides = next((c.sides for c in conflicts(memory, fact.agent).data if fact.id in {side.id for side in c.sides}), ())
    rivals = [side for side in sides if side.id in fact.contested_with or fact.id in side.contested_with]
    if not rivals:
        raise NotFound(what="conflict", name=id_prefix, remedy="List the open ones with memctl conflicts.")
    verdicts = _settled(fact, rivals, way, memory.now())
    return _write(memory, "resolve", verdicts, dry_run=dry_run)


def edit(memory: OpenMemory, id_prefix: str, change: Edit, *, dry_run: bool = False) -> Result[Curated]:
    """Change a fact by hand; a new text makes a new fact that supersedes the old one."""
    fact = memory.store.fact(id_prefix)
    text = fact.text if change.text is None else checked_text(change.text)
    now = memory.now()
    after = replace(
        fact,
        type=fact.type if change.type is None else checked_type(change.type),
        expires_at=_new_expiry(fact, change.ttl, now),
        tags=tuple(change.tags) if change.tags is not None else fact.tags,
        because="edited by hand",
        rule=BY_HAND,
    )
    if text == fact.text:
        if after == replace(fact, because=after.because, rule=after.rule):
            raise UsageProblem(reason="nothing to change", remedy="Give another text, type, lifetime or tag.")
        return _write(memory, "edit", [_verdict(Action.EDIT, fact, after)], dry_run=dry_run)
    safe = redact(text, memory.cleaning_rules().redaction).text
    return _write(memory, "edit", _reworded(fact, after, safe, now), dry_run=dry_run)


def pin(memory: OpenMemory, ids: Sequence[str], *, pinned: bool = True, dry_run: bool = False) -> Result[Curated]:
    """Protect facts from being retired by a machine, or take the protection away."""
    word = "pinned" if pinned else "unpinned"
    verdicts = [
        _verdict(Action.EDIT, fact, replace(fact, pinned=pinned, because=f"{word} by hand", rule=BY_HAND))
        for fact in (memory.store.fact(prefix) for prefix in ids)
        if fact.pinned is not pinned
    ]
    return _write(memory, "pin" if pinned else "unpin", verdicts, dry_run=dry_run)


def find_to_forget(memory: OpenMemory, ids: Sequence[str], query: str | None, agent: str | None) -> list[Fact]:
    """Name the facts that ids or a question mean."""
    if query is None:
        return [memory.store.fact(prefix) for prefix in ids]
    from memctl.operations.recall import recall

    hits = recall(memory, query, agent=agent, limit=_MOST_FORGOTTEN).data.hits
    return [hit.fact for hit in hits]


def forget(memory: OpenMemory, facts: Sequence[Fact], *, purge: bool = False, dry_run: bool = False) -> Result[Curated]:
    """Forget facts: undoable, or with ``purge`` for good, out of every file of the store."""
    verdicts = [
        _verdict(Action.FORGET, fact, replace(fact, state=State.FORGOTTEN, because="forgotten by hand", rule=BY_HAND))
        for fact in facts
        if purge or fact.state is not State.FORGOTTEN
    ]
    if not purge:
        return _write(memory, "forget", verdicts, dry_run=dry_run)
    if not dry_run:
        memory.store.purge([fact.id for fact in facts], wait=memory.wait)
        LlmCache(default_folder()).clear()  # what a model once said of these facts goes too
    return Result("forget", Curated(tuple(verdicts), "", dry_run, purged=len(facts)))


def restore(memory: OpenMemory, ids: Sequence[str], *, dry_run: bool = False) -> Result[Curated]:
    """Bring back facts that were forgotten, expired, superseded or quarantined; they hold from now on."""
    now = memory.now()
    facts = [memory.store.fact(prefix) for prefix in ids]
    verdicts = [_verdict(Action.RESTORE, fact, _restored(fact, now)) for fact in facts if fact.state != State.ACTIVE]
    return _write(memory, "restore", verdicts, dry_run=dry_run)


def _verdict(action: Action, before: Fact, after: Fact) -> Verdict:
    return Verdict(action, after, before, after.because, after.rule)


def _write(memory: OpenMemory, command: str, verdicts: Sequence[Verdict], *, dry_run: bool) -> Result[Curated]:
    """Apply verdicts that were spoken by hand; a text that is new to the record is embedded first."""
    run = ""
    if verdicts and not dry_run:
        names = ", ".join(verdict.fact.id[:8] for verdict in verdicts)
        changes = Changes(facts=[_fact_write(memory, verdict) for verdict in verdicts])
        info = RunInfo(command, names[:500], memory.now(), {command: len(verdicts)})
        run = memory.store.apply(changes, info, wait=memory.wait).run_id
    return Result(command, Curated(tuple(verdicts), run, dry_run))


def _fact_write(memory: OpenMemory, verdict: Verdict) -> FactWrite:
    if verdict.before is not None:
        return FactWrite(verdict.fact)
    return FactWrite(verdict.fact, memory.embed([verdict.fact.text])[0], analyse(verdict.fact.text))


def _new_expiry(fact: Fact, ttl: str | None, now: datetime) -> datetime | None:
    if ttl is None:
        return fact.expires_at
    return None if ttl == "never" else now + parse_duration(ttl)


def _reworded(fact: Fact, after: Fact, text: str, now: datetime) -> list[Verdict]:
    """Make a new fact of the new words and retire the old one in its favour."""
    source = Source(BY_HAND, None, "user", text, now, "user")
    new = replace(
        after,
        id=fact_id(fact.agent, text),
        text=text,
        state=State.ACTIVE,
        said_at=now,
        last_said_at=now,
        recorded_at=now,
        wordings=(Wording(text, now, source, confirmed=True),),
        held=(Interval(now),),
        supersedes=(*fact.supersedes, fact.id),
        superseded_by=None,
    )
    old = replace(
        _closed(fact, now), state=State.SUPERSEDED, superseded_by=new.id, because="edited by hand", rule=BY_HAND
    )
    return [Verdict(Action.EDIT, new, None, "edited by hand", BY_HAND), _verdict(Action.SUPERSEDE, fact, old)]


def _settled(fact: Fact, rivals: Sequence[Fact], way: str, now: datetime) -> list[Verdict]:
    """Decide what becomes of both sides."""
    if way == "both":
        return [
            _verdict(
                Action.EDIT,
                side,
                replace(side, state=State.ACTIVE, contested_with=(), because="both stand, by hand", rule=BY_HAND),
            )
            for side in (fact, *rivals)
        ]
    winners, losers = ([fact], list(rivals)) if way == "keep" else (list(rivals), [fact])
    kept = [
        _verdict(
            Action.EDIT,
            side,
            replace(
                side,
                state=State.ACTIVE,
                contested_with=(),
                supersedes=tuple(dict.fromkeys((*side.supersedes, *(loser.id for loser in losers)))),
                because="kept by hand",
                rule=BY_HAND,
            ),
        )
        for side in winners
    ]
    dropped = [
        _verdict(
            Action.SUPERSEDE,
            side,
            replace(
                _closed(side, now),
                state=State.SUPERSEDED,
                contested_with=(),
                superseded_by=winners[0].id,
                because="retired by hand",
                rule=BY_HAND,
            ),
        )
        for side in losers
    ]
    return [*kept, *dropped]


def _closed(fact: Fact, now: datetime) -> Fact:
    """End the interval in which the fact holds."""
    return replace(fact, held=tuple(span if span.until else Interval(span.since, now) for span in fact.held))


def _restored(fact: Fact, now: datetime) -> Fact:
    held = fact.held if any(span.until is None for span in fact.held) else (*fact.held, Interval(now))
    ended = fact.expires_at is not None and fact.expires_at <= now
    return replace(
        fact,
        state=State.ACTIVE,
        superseded_by=None,
        contested_with=(),
        expires_at=None if ended else fact.expires_at,
        held=held,
        because="restored by hand",
        rule=BY_HAND,
    )


def _connected(facts: dict[str, Fact]) -> list[list[Fact]]:
    """Group facts that are contested with each other, from either side, directly or through others."""
    rivals: dict[str, set[str]] = {fact_id: set() for fact_id in facts}
    for fact in facts.values():
        for other in fact.contested_with:
            if other in facts:
                rivals[fact.id].add(other)
                rivals[other].add(fact.id)
    groups: list[list[Fact]] = []
    left = sorted(facts)
    while left:
        group, frontier = {left[0]}, {left[0]}
        while frontier:
            frontier = {other for name in frontier for other in rivals[name]} - group
            group |= frontier
        left = [name for name in left if name not in group]
        groups.append([facts[name] for name in group])
    return sorted(groups, key=lambda group: min((fact.said_at, fact.id) for fact in group))


def _by_time(group: Sequence[Fact]) -> tuple[Fact, ...]:
    return tuple(sorted(group, key=lambda fact: (fact.said_at, fact.id)))
