"""Judge claims against what is known: said again, changed, contradicted, or simply something else.

``judge`` is pure: the same claims and facts give the same verdicts, and the only model access is the ``relate`` that
is handed in, called once, and once more where a claim comes late. Truth follows the time of speaking, so any order of
ingesting ends in the same memory.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from memctl.model import Claim, Fact, Verdict, Wording
from memctl.rules.bench import Bench, comparable
from memctl.rules.candidates import naming, near
from memctl.rules.clusters import latest, moment, texts, wording_of
from memctl.rules.identity import normalised
from memctl.rules.relation import Pair, Relate, Ties

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True, slots=True)
class JudgeSettings:
    """What is compared, and how sure an agent alone must be to overrule a person.

    ``floor`` is the least cosine of a candidate, ``nearest`` how many a claim meets at most, ``wordings`` how many
    texts of a fact it is compared with, ``overrule`` the least score of an unconfirmed agent against a person.
    """

    floor: float = 0.15
    nearest: int = 8
    wordings: int = 6
    overrule: float = 0.9


def judge(
    claims: Sequence[Claim],
    vectors: "np.ndarray",
    known: Sequence[Fact],
    known_vectors: "np.ndarray",
    *,
    relate: Relate,
    now: datetime,
    settings: JudgeSettings | None = None,
) -> list[Verdict]:
    """Judge claims in the order of speaking, each also against the verdicts before it.

    ``known`` are facts of every state, of any scopes; a claim meets only those of its own. It should hold the facts
    near the claims and those linked to them (``supersedes``, ``superseded_by``, ``contested_with``); the whole scope
    is best. Every claim gets one verdict; changes of other facts follow it.
    """
    settings = settings or JudgeSettings()
    order = sorted(range(len(claims)), key=lambda place: moment(wording_of(claims[place])))
    scopes = _by_agent((claims[place].agent, place) for place in order)
    facts = _by_agent((fact.agent, place) for place, fact in enumerate(known))
    met = {agent: [place for place in facts.get(agent, ()) if comparable(known[place])] for agent in scopes}
    plan = _Plan(settings)
    for agent, mine in scopes.items():
        heard = [place for place in mine if not claims[place].quarantined]
        theirs = met[agent]
        plan.against([claims[i] for i in heard], vectors[heard], [known[k] for k in theirs], known_vectors[theirs])
        plan.among([claims[i] for i in heard], vectors[heard])
    ties = plan.related(relate)
    for theirs in met.values():
        plan.behind(ties, [known[k] for k in theirs], known_vectors[theirs])
    ties = plan.related(relate, ties)
    benches = {
        agent: Bench.open([known[k] for k in facts.get(agent, ())], ties, now, settings.overrule) for agent in scopes
    }
    return [verdict for place in order for verdict in benches[claims[place].agent].hear(claims[place])]


def _by_agent(entries: Iterable[tuple[str, int]]) -> dict[str, list[int]]:
    """Group places by scope, in the order in which they come up."""
    groups: dict[str, list[int]] = defaultdict(list)
    for agent, place in entries:
        groups[agent].append(place)
    return groups


class _Plan:
    """Every pair of statements that may matter, the older first, each once."""

    def __init__(self, settings: JudgeSettings) -> None:
        self.settings = settings
        self.pairs: dict[tuple[str, str], Pair] = {}

    def against(
        self, claims: Sequence[Claim], vectors: "np.ndarray", facts: Sequence[Fact], known: "np.ndarray"
    ) -> None:
        """Pair claims with the wordings of the facts that are near them."""
        if not facts or not claims:
            return
        wordings = [texts(fact, self.settings.wordings) for fact in facts]
        names = [fact.text for fact in facts]
        for row, claim in zip(vectors @ known.T, claims, strict=True):
            chosen = self._chosen(row, claim.text, names)
            for place in chosen:
                setting = _Setting(float(row[place]), facts[place].type is not claim.type, len(chosen))
                for wording in wordings[place]:
                    self._note(wording, wording_of(claim), setting)

    def behind(self, ties: Ties, facts: Sequence[Fact], known: "np.ndarray") -> None:
        """Pair known facts that likely replace a claim which comes late with what else they may have replaced."""
        for place, fact in enumerate(facts):
            newer = latest(fact)
            if not ties.likely_replaces(newer.text):
                continue
            before = [k for k, other in enumerate(facts) if k != place and moment(latest(other)) < moment(newer)]
            row = known[before] @ known[place]
            chosen = self._chosen(row, newer.text, [facts[k].text for k in before])
            for near_place in chosen:
                other = facts[before[near_place]]
                setting = _Setting(float(row[near_place]), other.type is not fact.type, len(chosen))
                for wording in texts(other, self.settings.wordings):
                    self._note(wording, newer, setting)

    def among(self, claims: Sequence[Claim], vectors: "np.ndarray") -> None:
        """Pair claims with those said before them in the batch."""
        names = [claim.text for claim in claims]
        for place in range(1, len(claims)):
            row = vectors[:place] @ vectors[place]
            chosen = self._chosen(row, claims[place].text, names[:place])
            for earlier in chosen:
                setting = _Setting(float(row[earlier]), claims[earlier].type is not claims[place].type, len(chosen))
                self._note(wording_of(claims[earlier]), wording_of(claims[place]), setting)

    def related(self, relate: Relate, ties: Ties | None = None) -> Ties:
        """Ask for the relations of all pairs at once; of those that ``ties`` does not know yet, where it is given."""
        ties = ties or Ties()
        pairs = [pair for pair in self.pairs.values() if ties.between(pair.old, pair.new) is None]
        ties.add(pairs, relate(pairs) if pairs else [])
        return ties

    def _chosen(self, row: "np.ndarray", text: str, names: Sequence[str]) -> list[int]:
        chosen = near(row, self.settings.floor, self.settings.nearest) + naming(text, names)
        return list(dict.fromkeys(chosen))

    def _note(self, one: Wording, other: Wording, setting: "_Setting") -> None:
        if normalised(one.text) == normalised(other.text):
            return
        old, new = (other, one) if moment(other) < moment(one) else (one, other)
        pair = Pair.of(old, new, setting.cosine, other_type=setting.other_type, among=setting.among)
        self.pairs.setdefault((old.text, new.text), pair)


@dataclass(frozen=True, slots=True)
class _Setting:
    """What a comparison of two statements knows beside them."""

    cosine: float
    other_type: bool
    among: int
