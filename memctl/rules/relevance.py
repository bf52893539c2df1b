"""How probably a memory answers a question, from features that mean the same in every store.

A linear model over the features below, fitted on annotated teams by ``training/recall_fit.py``, which writes
``weights/recall.json``. There is a set of weights for the bundled model's question encoder and one, ``plain``, for any
other embedding model. Because the result is a probability and not a rank, one floor serves for silence.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from memctl.model import Fact, MemoryType
from memctl.rules.intent import Intent, intent_of
from memctl.rules.terms import analyse, query_terms

BASELINE_RANKS = slice(5, 15)  # cosines of so ranked memories tell what is usual for this question
USUAL_COSINE = 0.18  # where there are too few to tell


@dataclass(frozen=True, slots=True)
class Question:
    """A question as the ranking sees it."""

    text: str
    terms: tuple[str, ...]
    intent: Intent

    @classmethod
    def of(cls, text: str) -> "Question":
        """Take a question's terms and what it asks for."""
        return cls(text, tuple(query_terms(text)), intent_of(text))


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory that search met. ``cosine`` is None where it or the question has no vector."""

    fact: Fact
    cosine: float | None = None


@dataclass(frozen=True, slots=True)
class Weights:
    """A fitted model: what each feature adds to the log-odds, and below which probability silence is better.

    ``share`` is what a memory needs of the best one's probability to be shown beside it.
    """

    bias: float
    features: dict[str, float]
    floor: float
    share: float


@lru_cache(maxsize=4)
def fitted(name: str) -> Weights:
    """Read the weights called ``name``: ``tuned`` or ``plain``."""
    read = json.loads((files("memctl") / "weights" / "recall.json").read_text("utf-8"))[name]
    return Weights(read["bias"], read["features"], read["floor"], read["share"])


def probabilities(question: Question, candidates: Sequence[Candidate], weights: Weights) -> list[float]:
    """Tell for each memory how probably it answers the question."""
    rows = features(question, candidates)
    return [_probability(row, weights) for row in rows]


def features(question: Question, candidates: Sequence[Candidate]) -> list[dict[str, float]]:
    """Describe each memory in the light of the question and of the other memories that were met."""
    cosines = [candidate.cosine or 0.0 for candidate in candidates]
    usual, best = _usual(cosines), max(cosines, default=0.0)
    words = [frozenset(analyse(candidate.fact.text).split()) for candidate in candidates]
    worth = _worth(question.terms, words)
    return [
        {
            "cosine": cosine,
            "lift": cosine - usual,
            "gap": cosine - best,
            **_matches(question.terms, found, worth),
            **_kinds(question.intent, candidate.fact.type),
            "length": math.log1p(len(found)),
            "asked": math.log1p(len(question.terms)),
        }
        for candidate, cosine, found in zip(candidates, cosines, words, strict=True)
    ]


def _usual(cosines: Sequence[float]) -> float:
    middle = sorted(cosines, reverse=True)[BASELINE_RANKS]
    return sum(middle) / len(middle) if middle else USUAL_COSINE


def _worth(terms: Sequence[str], words: Sequence[frozenset[str]]) -> dict[str, float]:
    """Weigh the question's terms: the fewer memories have one, the more it tells."""
    count = len(words)
    having = {term: sum(term in found for found in words) for term in terms}
    return {term: math.log((count + 1) / (number + 0.5)) for term, number in having.items()}


def _matches(terms: Sequence[str], found: frozenset[str], worth: dict[str, float]) -> dict[str, float]:
    total = sum(worth.values())
    met = sum(worth[term] for term in terms if term in found)
    marked = [term for term in terms if any(map(str.isdigit, term))]
    return {
        "covered": met / total if total > 0 else 0.0,
        "met": met / (met + 4.0) if met > 0 else 0.0,
        "figures": sum(term in found for term in marked) / len(marked) if marked else 0.0,
    }


def _kinds(intent: Intent, kind: MemoryType) -> dict[str, float]:
    asked = {f"asked_{name}": float(name in intent and kind is name) for name in _ASKED}
    unasked = {f"unasked_{name}": float(name not in intent and kind is name) for name in _ASKED}
    return asked | unasked


_ASKED = (MemoryType.FAILURE, MemoryType.TEMPORARY, MemoryType.CONTEXT, MemoryType.PREFERENCE, MemoryType.DECISION)


def _probability(row: dict[str, float], weights: Weights) -> float:
    odds = weights.bias + sum(weight * row[name] for name, weight in weights.features.items())
    return 1 / (1 + math.exp(-max(-60.0, min(60.0, odds))))
