"""How long memories last and how much they weigh: expiry, upkeep, recency and reinforcement."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from memctl.model import Action, Fact, Interval, State, Verdict
from memctl.rules.clusters import latest, moment

_CURRENT = (State.ACTIVE, State.CONTESTED)
_STEEPNESS = 3.0  # how many times the middle of the sigmoid is wider than its slope
_SAID_AGAIN = 0.25
_USED = 0.1


def current(fact: Fact, now: datetime) -> bool:
    """Tell whether a fact may be recalled: active or contested, and its time not over, prune or no prune."""
    return fact.state in _CURRENT and not ended(fact, now)


def ended(fact: Fact, now: datetime) -> bool:
    """Tell whether the time of a fact is over."""
    return fact.expires_at is not None and fact.expires_at <= now


def review(facts: Iterable[Fact], now: datetime) -> list[Verdict]:
    """Judge which facts have outlived their time; what a person pinned stays."""
    return [_expired(fact) for fact in facts if fact.state in _CURRENT and ended(fact, now) and not fact.pinned]


def select_superseded(facts: Iterable[Fact], now: datetime, older_than: timedelta) -> list[Verdict]:
    """Choose superseded facts that ceased to hold at least ``older_than`` ago, to be forgotten."""
    return [
        _forgotten(fact, f"replaced since {ceased(fact):%Y-%m-%d}")
        for fact in facts
        if fact.state is State.SUPERSEDED and not fact.pinned and ceased(fact) <= now - older_than
    ]


def select_contested(facts: Sequence[Fact], now: datetime, older_than: timedelta) -> list[Verdict]:
    """Settle contests that nobody settled for ``older_than``: the later word stands, pinned facts always do."""
    waiting = {fact.id: fact for fact in facts if fact.state is State.CONTESTED}
    due = [fact for fact in waiting.values() if _waited(fact, waiting, now, older_than)]
    return [_settled(fact, waiting) for fact in due]


def ceased(fact: Fact) -> datetime:
    """Tell when a fact last ceased to hold; one that never did, when it was last said."""
    ends = [span.until for span in fact.held if span.until is not None]
    return max(ends) if ends else fact.last_said_at


def recency(fact: Fact, now: datetime, days: float = 30.0) -> float:
    """Weigh how fresh a fact is: near 1 when just said, a half after ``days``, then falling to 0."""
    age = max(0.0, (now - fact.last_said_at).total_seconds() / 86400)
    return 1 / (1 + math.exp(min(700.0, (age - days) * _STEEPNESS / days)))


def reinforcement(fact: Fact) -> float:
    """Weigh how often a fact was said again and used: 0 when said once, towards 1 the more often."""
    again = max(0, len(fact.wordings) - 1)
    return 1 - 1 / (1 + _SAID_AGAIN * again + _USED * fact.uses)


def _expired(fact: Fact) -> Verdict:
    because = f"its time ended on {fact.expires_at:%Y-%m-%d}"
    after = replace(fact, state=State.EXPIRED, held=_closed(fact, fact.expires_at), because=because, rule="expiry")
    return Verdict(Action.EXPIRE, after, fact, because, "expiry")


def _forgotten(fact: Fact, because: str) -> Verdict:
    after = replace(fact, state=State.FORGOTTEN, because=because, rule="prune")
    return Verdict(Action.FORGET, after, fact, because, "prune")


def _waited(fact: Fact, waiting: dict[str, Fact], now: datetime, older_than: timedelta) -> bool:
    sides = [fact, *(waiting[other] for other in fact.contested_with if other in waiting)]
    return all(side.last_said_at <= now - older_than for side in sides)


def _settled(fact: Fact, waiting: dict[str, Fact]) -> Verdict:
    """Let a contested fact give way to the latest of its rivals, or stand where it is the latest itself."""
    rivals = [waiting[other] for other in fact.contested_with if other in waiting]
    winner = max([fact, *rivals], key=lambda side: (side.pinned, moment(latest(side)), side.id))
    if winner is fact or fact.pinned:
        after = replace(
            fact,
            state=State.ACTIVE,
            contested_with=(),
            supersedes=tuple(dict.fromkeys((*fact.supersedes, *(rival.id for rival in rivals if not rival.pinned)))),
            because="nobody settled the contest, the later word stands",
            rule="prune",
        )
        return Verdict(Action.RESTORE, after, fact, after.because, after.rule)
    because = f"nobody settled the contest, the later word of {winner.last_said_at:%Y-%m-%d} stands"
    after = replace(
        fact,
        state=State.SUPERSEDED,
        contested_with=(),
        superseded_by=winner.id,
        held=_closed(fact, winner.last_said_at),
        because=because,
        rule="prune",
    )
    return Verdict(Action.SUPERSEDE, after, fact, because, "prune")


def _closed(fact: Fact, at: datetime | None) -> tuple[Interval, ...]:
    """End the interval in which the fact still holds."""
    return tuple(span if span.until or at is None else Interval(span.since, max(at, span.since)) for span in fact.held)
