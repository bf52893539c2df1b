"""The memory in time: where a fact stood at an instant, its versions, and what changed between two dates."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from memctl.model import Fact, Interval, State

ABSORBED = "same"  # the rule of a fact that another one has taken in
_TIMELESS = (State.FORGOTTEN, State.QUARANTINED)


@dataclass(frozen=True, slots=True)
class Change:
    """A fact that took another one's place."""

    old: Fact
    new: Fact


@dataclass(frozen=True, slots=True)
class Difference:
    """What happened to a memory between two dates.

    ``learned`` are facts that hold at the end and replaced nothing, ``changed`` pairs of a fact and the one that took
    its place, ``dropped`` facts that ceased to hold without a successor.
    """

    since: datetime
    until: datetime
    learned: tuple[Fact, ...] = ()
    changed: tuple[Change, ...] = ()
    dropped: tuple[Fact, ...] = ()


def state_at(fact: Fact, instant: datetime) -> State | None:
    """Tell where a fact stood at an instant, by the time of speaking; None before it was first said."""
    if fact.state in _TIMELESS:
        return fact.state
    if fact.said_at > instant:
        return None
    if fact.rule == ABSORBED or not _held(fact, instant):
        return State.EXPIRED if _over(fact, instant) and fact.state is State.EXPIRED else State.SUPERSEDED
    if _over(fact, instant):
        return State.EXPIRED
    return State.CONTESTED if fact.state is State.CONTESTED and _still(fact, instant) else State.ACTIVE


def holds_at(fact: Fact, instant: datetime) -> bool:
    """Tell whether a fact was current at an instant."""
    return state_at(fact, instant) in (State.ACTIVE, State.CONTESTED)


def held_as_said(fact: Fact, successor: Fact | None) -> Fact:
    """Give a fact of which only the times of speaking are known the interval that they tell of.

    It held from when it was said. One that stands holds still; a retired one held until its successor was said, or
    it expired, or, where neither is known, until it was last said. What is in quarantine never held.
    """
    if fact.state is State.QUARANTINED:
        return fact
    end = None
    if fact.state not in (State.ACTIVE, State.CONTESTED):
        end = max(fact.said_at, (successor.said_at if successor else fact.expires_at) or fact.last_said_at)
    return replace(fact, held=(Interval(fact.said_at, end),))


def versions(fact: Fact, others: Iterable[Fact]) -> tuple[Fact, ...]:
    """Give a fact and all that it replaced or was replaced by, through any number of steps, oldest first."""
    known = {other.id: other for other in (*others, fact)}
    links: dict[str, set[str]] = {identity: set() for identity in known}
    for one in known.values():
        for other in (*one.supersedes, one.superseded_by):
            if other in known:
                links[one.id].add(str(other))
                links[str(other)].add(one.id)
    found, frontier = {fact.id}, [fact.id]
    while frontier:
        frontier = sorted({other for identity in frontier for other in links[identity]} - found)
        found.update(frontier)
    return tuple(sorted((known[identity] for identity in found), key=lambda one: (one.said_at, one.id)))


def compare(facts: Sequence[Fact], since: datetime, until: datetime) -> Difference:
    """Tell what was learned, changed and dropped between two instants, by the time of speaking."""
    known = {fact.id: fact for fact in facts}
    ordered = sorted(facts, key=lambda fact: (fact.said_at, fact.id))
    began = [fact for fact in ordered if holds_at(fact, until) and not holds_at(fact, since)]
    ceased = [fact for fact in ordered if holds_at(fact, since) and not holds_at(fact, until)]
    changed = [Change(fact, known[successor]) for fact in ceased if (successor := _successor(fact, known, until))]
    replaced = {change.old.id for change in changed}
    successors = {change.new.id for change in changed}
    return Difference(
        since,
        until,
        learned=tuple(fact for fact in began if fact.id not in successors),
        changed=tuple(changed),
        dropped=tuple(fact for fact in ceased if fact.id not in replaced),
    )


def _successor(fact: Fact, known: dict[str, Fact], instant: datetime) -> str | None:
    """Follow the pointers of a retired fact to the first successor that held at an instant."""
    seen = {fact.id}
    following = fact.superseded_by
    while following in known and following not in seen:
        seen.add(following)
        if holds_at(known[following], instant):
            return following
        following = known[following].superseded_by
    return None


def _held(fact: Fact, instant: datetime) -> bool:
    return any(span.since <= instant and (span.until is None or instant < span.until) for span in fact.held)


def _still(fact: Fact, instant: datetime) -> bool:
    """Tell whether an instant lies in the interval that is still open."""
    return any(span.since <= instant and span.until is None for span in fact.held)


def _over(fact: Fact, instant: datetime) -> bool:
    return fact.expires_at is not None and fact.expires_at <= instant
