"""The facts of one scope while claims are judged, and which of them are at odds.

A dispute between two facts is kept as an edge; who wins it is worked out anew from the times of speaking, so that a
fact which is said again wins back its place and one that is found late comes in already retired.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import IntEnum

from memctl.model import Fact, Interval, State, Wording
from memctl.rules.clusters import evidence, intervals, latest, moment
from memctl.rules.history import ABSORBED
from memctl.rules.reasons import disputed, replaced

BY_HAND = "by hand"
_OUT = (State.FORGOTTEN, State.QUARANTINED)


class Dispute(IntEnum):
    """How two facts are at odds."""

    CONTEST = 1
    CONFLICT = 2


@dataclass(slots=True)
class Board:
    """Facts by id, and the disputes between them."""

    facts: dict[str, Fact] = field(default_factory=dict)
    disputes: dict[str, dict[str, tuple[Dispute, float]]] = field(default_factory=dict)
    arrivals: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, known: Iterable[Fact]) -> "Board":
        """Lay out known facts and the disputes that their links tell of."""
        board = cls()
        for fact in known:
            board.facts[fact.id] = fact
        for fact in list(board.facts.values()):
            if fact.superseded_by and fact.rule != ABSORBED:
                board.dispute(fact.id, fact.superseded_by, Dispute.CONFLICT, fact.score)
            for other in fact.supersedes:
                board.dispute(fact.id, other, Dispute.CONFLICT, fact.score)
            for other in fact.contested_with:
                board.dispute(fact.id, other, Dispute.CONTEST, fact.score)
        return board

    def dispute(self, one: str, other: str, kind: Dispute, score: float) -> None:
        """Note that two facts are at odds; the graver dispute stays."""
        if one == other:
            return
        for here, there in ((one, other), (other, one)):
            links = self.disputes.setdefault(here, {})
            links[there] = max(links.get(there, (kind, score)), (kind, score))

    def merge(self, gone: str, into: str) -> None:
        """Hand the disputes of a fact over to the one that took it in."""
        for other, (kind, score) in self.disputes.pop(gone, {}).items():
            self.disputes.get(other, {}).pop(gone, None)
            self.dispute(into, other, kind, score)

    def rivals(self, fact: Fact) -> list[tuple[Fact, Dispute, float]]:
        """Give the facts at odds with one that still count, in the order of their ids."""
        links = sorted(self.disputes.get(fact.id, {}).items())
        known = [(self.facts[other], *link) for other, link in links if other in self.facts]
        return [entry for entry in known if entry[0].state not in _OUT and entry[0].rule != ABSORBED]

    def later(self, one: Fact, other: Fact) -> bool:
        """Tell whether a fact was said after another.

        Where the clock cannot tell, the one that a claim of this batch joined last wins, then what was decided before.
        """
        first, second = moment(latest(one)), moment(latest(other))
        if first != second:
            return first > second
        if self.arrivals.get(one.id, 0) != self.arrivals.get(other.id, 0):
            return self.arrivals.get(one.id, 0) > self.arrivals.get(other.id, 0)
        if other.superseded_by == one.id or one.superseded_by == other.id:
            return other.superseded_by == one.id
        return (one.recorded_at, one.id) > (other.recorded_at, other.id)

    def neighbours(self, identity: str) -> list[str]:
        """Give the ids at odds with one."""
        return sorted(other for other in self.disputes.get(identity, {}) if other in self.facts)


def settled(fact: Fact, board: Board, now: datetime) -> Fact:
    """Work out where a fact stands among its rivals: state, links, intervals and the reason."""
    if _replaced_unseen(fact, board):
        return fact
    conflicts = [(rival, score) for rival, kind, score in board.rivals(fact) if kind is Dispute.CONFLICT]
    doubts = [(rival, score) for rival, kind, score in board.rivals(fact) if kind is Dispute.CONTEST]
    # A machine never retires what a person pinned: that conflict waits for a person.
    pinned = [entry for entry in conflicts if (fact if board.later(entry[0], fact) else entry[0]).pinned]
    conflicts = [entry for entry in conflicts if entry not in pinned]
    winners = [entry for entry in conflicts if board.later(entry[0], fact)]
    losers = [entry for entry in conflicts if not board.later(entry[0], fact)]
    fact = replace(
        fact,
        supersedes=tuple(rival.id for rival, _ in losers),
        superseded_by=None,
        contested_with=tuple(sorted(rival.id for rival, _ in doubts + pinned)),
        held=_held(fact, [rival for rival, _ in conflicts], board),
    )
    if winners:
        return _retired(fact, winners)
    live = [entry for entry in doubts + pinned if not _lost(entry[0], board)]
    if live:
        rival, score = live[0]
        return replace(fact, state=State.CONTESTED, because=disputed(latest(rival)), rule="contest", score=score)
    if fact.expires_at is not None and fact.expires_at <= now:
        return replace(fact, state=State.EXPIRED)
    if fact.state in (State.SUPERSEDED, State.CONTESTED):
        fact = replace(fact, because="nothing that was said since speaks against it", rule="restore")
    return replace(fact, state=State.ACTIVE)


def doubted(fact: Fact, rival: Fact) -> Fact:
    """Mark a pinned fact that a person settled when somebody speaks against it: it still holds, and waits for a person.

    What a person decided about others stays as it is.
    """
    return replace(
        fact,
        state=State.CONTESTED,
        supersedes=tuple(other for other in fact.supersedes if other != rival.id),
        contested_with=tuple(sorted({*fact.contested_with, rival.id})),
        because=disputed(latest(rival)),
        rule="contest",
        score=rival.score,
    )


def _retired(fact: Fact, winners: list[tuple[Fact, float]]) -> Fact:
    """Point to the rival that was said next after the fact's last wording."""
    end = moment(latest(fact))

    def following(rival: Fact) -> Wording:
        after = [wording for wording in evidence(rival) if moment(wording) >= end]
        return min(after, key=moment)

    winner, score = min(winners, key=lambda entry: (moment(following(entry[0])), entry[0].id))
    reason = replaced(latest(fact), following(winner))
    return replace(fact, state=State.SUPERSEDED, superseded_by=winner.id, because=reason, rule="supersede", score=score)


def _replaced_unseen(fact: Fact, board: Board) -> bool:
    """Tell whether a fact was retired by one that is not on the board, and has not been said since."""
    if not fact.superseded_by or fact.superseded_by in board.facts:
        return False
    return fact.id not in board.arrivals or any(held.until and held.until > fact.last_said_at for held in fact.held)


def _lost(fact: Fact, board: Board) -> bool:
    """Tell whether a fact has itself been replaced or has run out, and so disputes nothing any more."""
    beaten = any(kind is Dispute.CONFLICT and board.later(rival, fact) for rival, kind, _ in board.rivals(fact))
    dropped = fact.state is State.SUPERSEDED and fact.rule == BY_HAND
    return (beaten and not fact.pinned) or dropped or fact.state is State.EXPIRED


def _held(fact: Fact, rivals: list[Fact], board: Board) -> tuple[Interval, ...]:
    """Work the intervals out where all rivals are at hand; else keep what was known of them."""
    missing = [other for other in board.disputes.get(fact.id, {}) if other not in board.facts]
    if missing and fact.held:
        return fact.held
    return intervals(evidence(fact), [wording for rival in rivals for wording in evidence(rival)])
