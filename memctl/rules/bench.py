"""The court of one scope: hears claims one after the other and gives the verdicts.

It knows how any two statements relate (that was asked before); it decides what follows from it.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from memctl.model import Action, Claim, Fact, Role, State, Verdict, Wording
from memctl.rules import reasons
from memctl.rules.board import BY_HAND, Board, Dispute, doubted, settled
from memctl.rules.clusters import evidence, joined, latest, moment, new_fact, speaking, wording_of
from memctl.rules.cues import corrects
from memctl.rules.history import ABSORBED
from memctl.rules.identity import fact_id, normalised, place
from memctl.rules.relation import Label, Relation, Ties

_SAME_WORDS = Relation(Label.DUPLICATE, 1.0, "same words", (0.0, 1.0, 0.0))
_STATE_ACTIONS = {State.SUPERSEDED: Action.SUPERSEDE, State.CONTESTED: Action.CONTEST, State.EXPIRED: Action.EXPIRE}
_DISPUTES = {
    Label.SUPERSEDES: Dispute.CONFLICT,
    Label.LIKELY: Dispute.CONFLICT,
    Label.UNSURE: Dispute.CONTEST,
}
_RANKS = (Label.COMPATIBLE, Label.UNSURE, Label.ALIKE, Label.LIKELY, Label.SUPERSEDES, Label.DUPLICATE)
_CHANGES = (Label.SUPERSEDES, Label.LIKELY)


def comparable(fact: Fact) -> bool:
    """Tell whether claims are compared with a fact: not with quarantined ones, nor with those taken into others."""
    return fact.state is not State.QUARANTINED and fact.rule != ABSORBED


class Bench:
    """The facts of a scope, how statements relate, and where everything was said."""

    def __init__(self, board: Board, ties: Ties, now: datetime, overrule: float) -> None:
        """Sit down; ``open`` is the usual way in."""
        self.board = board
        self.ties = ties
        self.now = now
        self.overrule = overrule
        self.heard = 0
        self.places: dict[tuple[str, ...], str] = {}
        self.holders: dict[str, set[str]] = defaultdict(set)

    @classmethod
    def open(cls, known: Sequence[Fact], ties: Ties, now: datetime, overrule: float) -> "Bench":
        """Seat the known facts of one scope."""
        bench = cls(Board.of(known), ties, now, overrule)
        for fact in known:
            bench._index(fact)
        return bench

    def hear(self, claim: Claim) -> list[Verdict]:
        """Judge one claim: its own verdict first, then what it changes."""
        self.heard += 1
        where = place(claim.source, claim.text)
        if where in self.places:
            return [_skip(self.board.facts[self.places[where]], "already read from this place", "seen")]
        if claim.quarantined:
            return [self._quarantine(claim)]
        same = self._restated(self._related(claim))
        gone = [fact for fact, _ in same if fact.state is State.FORGOTTEN and fact.rule == BY_HAND]
        if gone:
            return [_skip(gone[0], "forgotten by hand", "forgotten")]
        return self._admit(claim, same)

    def _restated(self, related: list[tuple[Fact, Relation]]) -> list[tuple[Fact, Relation]]:
        """Choose the facts that a claim says again: the sure ones, else the likeliest, unless it changes something."""
        same = [entry for entry in related if entry[1].label is Label.DUPLICATE]
        if same or not related:
            return same
        fact, best = max(related, key=lambda entry: (entry[1].label in (*_CHANGES, Label.ALIKE), entry[1].score))
        return [(fact, best)] if best.label is Label.ALIKE else []

    def _index(self, fact: Fact) -> None:
        """Remember where a fact was said and which texts speak for it."""
        for wording in evidence(fact):
            self.places[place(wording.source, wording.text)] = fact.id
        for wording in speaking(fact) if comparable(fact) else ():
            self.holders[normalised(wording.text)].add(fact.id)

    def _related(self, claim: Claim) -> list[tuple[Fact, Relation]]:
        """Relate a claim to each fact near it: by the strongest relation to any wording, duplicates first."""
        texts = (normalised(claim.text), *self.ties.partners(claim.text))
        near = {holder for other in texts for holder in self.holders.get(other, ())}
        facts = [self.board.facts[identity] for identity in sorted(near) if comparable(self.board.facts[identity])]
        related = [(fact, max(self._relations(claim, fact), key=_weight, default=None)) for fact in facts]
        return [(fact, relation) for fact, relation in related if relation is not None]

    def _relations(self, claim: Claim, fact: Fact) -> Iterator[Relation]:
        said = wording_of(claim)
        for wording in speaking(fact):
            if normalised(wording.text) == normalised(claim.text):
                yield _SAME_WORDS
                continue
            old, new = (said, wording) if moment(said) < moment(wording) else (wording, said)
            relation = self.ties.between(old.text, new.text)
            if relation is not None:
                yield in_context(relation, old, new, self.overrule)

    def _admit(self, claim: Claim, same: list[tuple[Fact, Relation]]) -> list[Verdict]:
        """Join a claim to the facts that say the same, or add it; then see whom it is at odds with."""
        parts = [fact for fact, _ in same]
        fact = joined([*parts, new_fact(claim, self.now)])
        before = {identity: self.board.facts.get(identity) for identity in (fact.id, *(part.id for part in parts))}
        rivals = self._related(claim)
        self._seat(fact, parts)
        self._dispute(claim, fact, [rival for rival, _ in rivals if rival not in parts])
        touched = self._touched(fact.id, parts)
        before |= {identity: self.board.facts[identity] for identity in touched if identity not in before}
        self._settle(touched, spoken=fact.id)
        self._explain(claim, fact.id, max((relation.score for _, relation in same), default=claim.confidence), parts)
        return self._verdicts(fact.id, before, touched)

    def _seat(self, fact: Fact, parts: Sequence[Fact]) -> None:
        """Put a fact on the board; the others that said the same go into it."""
        for part in parts:
            if part.id != fact.id:
                self.board.merge(part.id, fact.id)
                self.board.facts[part.id] = _absorbed(part, fact)
        self.board.facts[fact.id] = fact
        self.board.arrivals[fact.id] = self.heard
        self._index(fact)

    def _dispute(self, claim: Claim, fact: Fact, others: Sequence[Fact]) -> None:
        for other in others:
            for relation in self._relations(claim, other):
                if relation.label in _DISPUTES and (
                    relation.label is not Label.LIKELY or self._meant(claim, fact, other)
                ):
                    self.board.dispute(fact.id, other.id, _DISPUTES[relation.label], relation.score)

    def _meant(self, claim: Claim, fact: Fact, other: Fact) -> bool:
        """Whether, of all that the newer of two facts may replace, nothing is likelier than the older one."""
        older, newer = (other, fact) if moment(wording_of(claim)) >= moment(latest(other)) else (fact, other)
        bid = self._bid(older, newer)
        texts = {text for wording in speaking(newer) for text in self.ties.partners(wording.text)}
        others = {identity for text in texts for identity in self.holders.get(text, ())} - {older.id, newer.id}
        facts = [self.board.facts[identity] for identity in others]
        return not any(self._bid(fact, newer) > bid for fact in facts if not self._gone_before(fact, newer))

    def _bid(self, older: Fact, newer: Fact) -> float:
        """Tell how likely a fact is what a newer one replaces."""
        pairs = [(old, new) for old in speaking(older) for new in speaking(newer) if moment(old) < moment(new)]
        ties = [(self.ties.between(old.text, new.text), old, new) for old, new in pairs]
        weighed = [in_context(tie, old, new, self.overrule) for tie, old, new in ties if tie is not None]
        return max((tie.score for tie in weighed if tie.label in _CHANGES), default=0.0)

    def _gone_before(self, fact: Fact, newer: Fact) -> bool:
        """Whether a fact no longer held when a newer one was said: then it is not what that one replaces."""
        if not comparable(fact) or fact.state is State.FORGOTTEN:
            return True
        winner = self.board.facts.get(fact.superseded_by or "")
        return winner is not None and winner.id != newer.id and moment(latest(winner)) < moment(latest(newer))

    def _touched(self, identity: str, parts: Sequence[Fact]) -> list[str]:
        """List the facts whose standing may change: the fact, its rivals, and those in doubt about its rivals."""
        rivals = self.board.neighbours(identity)
        doubted = [other for rival in rivals for other in self.board.neighbours(rival)]
        return list(dict.fromkeys([identity, *(part.id for part in parts), *rivals, *doubted]))

    def _settle(self, identities: Iterable[str], spoken: str) -> None:
        for identity in identities:
            fact = self.board.facts[identity]
            by_hand = fact.rule == BY_HAND and identity != spoken
            out = fact.state is State.FORGOTTEN and identity != spoken
            if comparable(fact) and not by_hand and not out:
                self.board.facts[identity] = settled(fact, self.board, self.now)
            elif by_hand and fact.pinned and fact.state is State.ACTIVE and self._contests(spoken, fact):
                self.board.facts[identity] = doubted(fact, self.board.facts[spoken])

    def _contests(self, spoken: str, fact: Fact) -> bool:
        """Tell whether what was just said stands against a fact; it is settled before the others."""
        said = self.board.facts[spoken]
        return said.state is State.CONTESTED and fact.id in said.contested_with

    def _explain(self, claim: Claim, spoken: str, score: float, parts: Sequence[Fact]) -> None:
        """Give the spoken fact its reason, unless its state already carries one."""
        fact = self.board.facts[spoken]
        if fact.state in (State.ACTIVE, State.EXPIRED):
            rule = "refresh" if parts else "new"
            self.board.facts[spoken] = replace(fact, because=self._reason(claim, fact, parts), rule=rule, score=score)

    def _reason(self, claim: Claim, fact: Fact, parts: Sequence[Fact]) -> str:
        if fact.state is State.EXPIRED:
            return f"its time ended on {fact.expires_at:%Y-%m-%d}"
        retired = [self.board.facts[other] for other in fact.supersedes if other in self.board.facts]
        if retired and not parts:
            return reasons.replaces(latest(max(retired, key=lambda old: moment(latest(old)))), wording_of(claim))
        return reasons.said_again(wording_of(claim)) if parts else reasons.first_said(wording_of(claim))

    def _verdicts(self, spoken: str, before: Mapping[str, Fact | None], touched: Iterable[str]) -> list[Verdict]:
        fact = self.board.facts[spoken]
        action = Action.ADD if before[spoken] is None else Action.REFRESH
        own = Verdict(action, fact, before[spoken], fact.because, fact.rule, fact.score)
        changes = [_change(before[other], self.board.facts[other]) for other in touched if other != spoken]
        return [own, *(change for change in changes if change is not None)]

    def _quarantine(self, claim: Claim) -> Verdict:
        """Keep a suspicious claim apart, under an id that no fact can have."""
        because = claim.because or "looks like an instruction from an untrusted place"
        identity = fact_id(f"{claim.agent}\0quarantined", claim.text)
        known = self.board.facts.get(identity)
        if known is not None:
            return _skip(known, "already in quarantine", "seen")
        rule = claim.rule or "quarantine"
        fact = replace(
            new_fact(claim, self.now), id=identity, state=State.QUARANTINED, held=(), because=because, rule=rule
        )
        self.board.facts[identity] = fact
        self._index(fact)
        return Verdict(Action.QUARANTINE, fact, None, because, rule)


def in_context(relation: Relation, old: Wording, new: Wording, overrule: float) -> Relation:
    """Weigh who speaks and where: one message lists rather than contradicts; an agent alone seldom overrules."""
    if relation.label not in _DISPUTES:
        return relation
    if _one_message(old, new) and not corrects(new.text):
        return replace(relation, label=Label.COMPATIBLE, rule="one message")
    if _mere_guess(old, new) and relation.score < overrule:
        unsure = Label.COMPATIBLE if relation.label is Label.LIKELY else Label.UNSURE
        return replace(relation, label=unsure, rule="an agent alone")
    return relation


def _one_message(old: Wording, new: Wording) -> bool:
    there, here = old.source, new.source
    return here.message is not None and (there.transcript, there.message) == (here.transcript, here.message)


def _mere_guess(old: Wording, new: Wording) -> bool:
    """Tell whether an agent, confirmed by nobody, speaks against what a person said or the team confirmed."""
    certain = old.confirmed or old.source.role == Role.USER
    return certain and new.source.role == Role.AGENT and not new.confirmed


def _weight(relation: Relation) -> tuple[int, float]:
    """Rank the relations of one claim to one fact: what says the same joins it, whatever else is said."""
    return _RANKS.index(relation.label), relation.score


def _absorbed(part: Fact, into: Fact) -> Fact:
    return replace(
        part,
        state=State.SUPERSEDED,
        superseded_by=into.id,
        supersedes=(),
        contested_with=(),
        because=reasons.same_as(into.text),
        rule=ABSORBED,
    )


def _change(before: Fact | None, after: Fact) -> Verdict | None:
    """Report a fact that somebody else's claim changed; where only its links did, that is a refresh."""
    if before is None or before == after:
        return None
    moved = (before.state, before.superseded_by) != (after.state, after.superseded_by)
    action = _STATE_ACTIONS.get(after.state, Action.RESTORE) if moved else Action.REFRESH
    return Verdict(action, after, before, after.because, after.rule, after.score)


def _skip(fact: Fact, because: str, rule: str) -> Verdict:
    return Verdict(Action.SKIP, fact, fact, because, rule)
