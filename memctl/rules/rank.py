"""Which memories answer a question, best first: relevance, recency, frequency, each memory once.

The score is a weighted mean of three parts between 0 and 1. Only relevance decides whether a memory is shown
at all: something fresh or often said that does not bear on the question stays out. Relevance is worked out from
likeness and shared words; the likeliest memories are then read beside the question, where a reader is at hand.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from memctl.model import Fact, Hit
from memctl.rules.identity import normalised
from memctl.rules.lifetime import recency, reinforcement
from memctl.rules.passages import asked, passage
from memctl.rules.relevance import Candidate, Features, Question, Weights, features, outlook, read_features
from memctl.rules.terms import analyse

if TYPE_CHECKING:
    from memctl.settings import Settings

CONFIRMED_PRIOR = 0.02  # added to the score of what somebody else agreed to
PINNED_PRIOR = 0.10  # added to the score of what a person pinned
NEAR_DUPLICATE = 0.85  # share of common words from which two memories say the same
READ_AT_MOST = 12  # measured: the answer is among so many nearly always, and reading takes time

_LIKELIER_THAN_NOT = 0.5
Read = Callable[[Sequence[tuple[str, str]]], Sequence[float]]


@dataclass(frozen=True, slots=True)
class Balance:
    """How much each part of the score counts, and how quickly memories age."""

    similarity: float = 0.6
    recency: float = 0.2
    frequency: float = 0.2
    days: float = 30.0

    @classmethod
    def of(cls, settings: "Settings") -> "Balance":
        """Take the balance from the settings."""
        return cls(
            float(settings["recall.similarity_weight"]),
            float(settings["recall.recency_weight"]),
            float(settings["recall.frequency_weight"]),
            float(settings["recall.recency_days"]),
        )


def rank(
    question: Question,
    candidates: Sequence[Candidate],
    *,
    now: datetime,
    weights: Weights,
    balance: Balance | None = None,
    floor: float | None = None,
    read: Read | None = None,
) -> list[Hit]:
    """Give the memories that bear on the question, best first and each said once; none where none does.

    ``read`` tells for pairs of a question and a passage how surely it answers; without it, or without weights for it,
    memories are not read. A ``floor`` from 0 to 1 replaces the calibrated cut. The same input gives the same order:
    equal scores are settled by the later word, then by id.
    """
    if not candidates:
        return []
    balance = balance or Balance()
    rows = features(question, candidates)
    chances = [weights.relevance.probability(row) for row in rows]
    if read is not None and weights.read is not None:
        rows, chances = _reread(question, candidates, rows, chances, weights, read)
    least = _least(question, rows, chances, weights) if floor is None or floor < 0 else floor
    hits = [
        _hit(candidate, chance, now, balance)
        for candidate, chance in zip(candidates, chances, strict=True)
        if chance >= least
    ]
    hits.sort(key=lambda hit: (-hit.score, -hit.fact.last_said_at.timestamp(), hit.fact.id))
    return once(hits)


def _reread(
    question: Question,
    candidates: Sequence[Candidate],
    rows: Sequence[Features],
    chances: Sequence[float],
    weights: Weights,
    read: Read,
) -> tuple[list[Features], list[float]]:
    """Read the likeliest memories beside the question and weigh anew; the others come after them."""
    likeliest = chosen(candidates, chances)
    pairs = [(asked(question.text), told(candidates[place])) for place in likeliest]
    seen = read_features([rows[k] for k in likeliest], [chances[k] for k in likeliest], [float(x) for x in read(pairs)])
    line = weights.read or weights.relevance
    read_rows = dict(zip(likeliest, seen, strict=True))
    read_chances = {place: line.probability(row) for place, row in read_rows.items()}
    lowest = min(read_chances.values())
    return (
        [read_rows.get(place, row) for place, row in enumerate(rows)],
        [read_chances.get(place, min(chance, lowest)) for place, chance in enumerate(chances)],
    )


def chosen(candidates: Sequence[Candidate], chances: Sequence[float]) -> list[int]:
    """Name the places of the memories that are worth reading, likeliest first."""
    order = sorted(range(len(chances)), key=lambda place: (-chances[place], candidates[place].fact.id))
    return order[:READ_AT_MOST]


def told(candidate: Candidate) -> str:
    """Write a memory for the reader."""
    return passage(candidate.fact.type, candidate.fact.text, candidate.before)


def once(hits: Sequence[Hit]) -> list[Hit]:
    """Leave out memories that say the same as a better one."""
    kept: list[tuple[Hit, str, frozenset[str]]] = []
    for hit in hits:
        words, text = frozenset(analyse(hit.fact.text).split()), normalised(hit.fact.text)
        if not any(text == other or _alike(words, others) for _, other, others in kept):
            kept.append((hit, text, words))
    return [hit for hit, _, _ in kept]


def _least(question: Question, rows: Sequence[Features], chances: Sequence[float], weights: Weights) -> float:
    """Tell the least relevance that is shown: more than any where the question cannot be answered.

    A memory that is likelier than not to be the answer is always worth showing.
    """
    doubtful = max(chances) < _LIKELIER_THAN_NOT
    if doubtful and weights.answerable.probability(outlook(question, rows, chances)) < weights.least:
        return math.inf
    return max(weights.floor, weights.share * max(chances))


def _hit(candidate: Candidate, chance: float, now: datetime, balance: Balance) -> Hit:
    fact = candidate.fact
    parts = {
        "similarity": chance,
        "recency": recency(fact, now, balance.days),
        "frequency": reinforcement(fact),
        "prior": _prior(fact),
    }
    total = balance.similarity + balance.recency + balance.frequency or 1.0
    mean = (
        balance.similarity * parts["similarity"]
        + balance.recency * parts["recency"]
        + balance.frequency * parts["frequency"]
    ) / total
    if candidate.cosine is not None:
        parts["cosine"] = candidate.cosine
    return Hit(fact, mean + parts["prior"], parts)


def _prior(fact: Fact) -> float:
    return CONFIRMED_PRIOR * fact.confirmed + PINNED_PRIOR * fact.pinned


def _alike(words: frozenset[str], others: frozenset[str]) -> bool:
    """Tell whether two memories share nearly all words; a figure that differs makes them two memories."""
    if {word for word in words ^ others if any(map(str.isdigit, word))}:
        return False
    return len(words & others) >= NEAR_DUPLICATE * max(1, len(words | others))
