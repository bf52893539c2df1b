"""How probably a memory answers a question, from features that mean the same in every store.

A linear model over the features below, fitted on annotated teams by ``training/recall_fit.py``, which writes
``weights/recall.json``. There is a set of weights for the bundled model's question encoder (``tuned``) and one for any
other embedding model (``plain``). With the first, the likeliest memories are then read beside the question by a model
of their own, and a second line weighs what it says. Because the result is a probability and not a rank, it can be told
when to be silent.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from memctl.model import Fact, MemoryType
from memctl.rules.intent import Intent, intent_of
from memctl.rules.terms import analyse, query_terms

Features = dict[str, float]

_BASELINE_RANKS = slice(5, 15)  # cosines of so ranked memories tell what is usual for this question
_USUAL_COSINE = 0.18  # where there are too few to tell
_MET_HALF = 4.0  # worth of matched terms at which the saturating feature is a half
_KINDS = (MemoryType.FAILURE, MemoryType.TEMPORARY, MemoryType.CONTEXT, MemoryType.PREFERENCE, MemoryType.DECISION)


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
    """A memory that search met.

    ``cosine`` is None where it or the question has no vector. ``around`` is the likeness of the message that it was
    made of and of that message's neighbours; None where there is no such message. ``before`` is the text of the
    message before that one.
    """

    fact: Fact
    cosine: float | None = None
    around: float | None = None
    before: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A linear model: what each feature adds to the log-odds."""

    bias: float
    features: Mapping[str, float]

    def probability(self, row: Features) -> float:
        """Turn features into a probability."""
        odds = self.bias + sum(weight * row[name] for name, weight in self.features.items())
        return 1 / (1 + math.exp(-max(-60.0, min(60.0, odds))))


@dataclass(frozen=True, slots=True)
class Weights:
    """What was fitted: relevance of a memory, answerability of a question, and where to cut.

    ``read`` is the relevance of a memory that was read beside the question. Below ``least`` answerability silence is
    better; a memory below ``share`` of the best one's relevance, or below ``floor``, is not shown. Nor is one that a
    later one among those shown replaced with a chance of ``overtaken``.
    """

    relevance: Line
    answerable: Line
    least: float
    share: float
    floor: float
    overtaken: float
    read: Line | None = None


@lru_cache(maxsize=4)
def fitted(name: str) -> Weights:
    """Read the weights called ``name``: ``tuned`` or ``plain``."""
    read = json.loads((files("memctl") / "weights" / "recall.json").read_text("utf-8"))[name]
    second = Line(**read["read"]) if "read" in read else None
    cuts = (read["least"], read["share"], read["floor"], read["overtaken"])
    return Weights(Line(**read["relevance"]), Line(**read["answerable"]), *cuts, second)


def features(question: Question, candidates: Sequence[Candidate]) -> list[Features]:
    """Describe each memory in the light of the question and of the other memories that were met."""
    cosines = [candidate.cosine or 0.0 for candidate in candidates]
    around = [
        cosine if candidate.around is None else candidate.around
        for candidate, cosine in zip(candidates, cosines, strict=True)
    ]
    words = [frozenset(analyse(candidate.fact.text).split()) for candidate in candidates]
    worth = _worth(question.terms, words)
    known = _known(question.terms, words)
    return [
        {
            **_standing("cosine", cosine, cosines),
            **_standing("around", near, around),
            **_matches(question.terms, found, worth),
            **_kinds(question.intent, candidate.fact.type),
            "length": math.log1p(len(found)),
            "known": known,
        }
        for candidate, cosine, near, found in zip(candidates, cosines, around, words, strict=True)
    ]


def read_features(rows: Sequence[Features], chances: Sequence[float], logits: Sequence[float]) -> list[Features]:
    """Put beside the features of memories what their reader says of them."""
    best = max(logits, default=0.0)
    return [
        {**row, "odds": _odds(chance), "read": logit, "read_gap": logit - best}
        for row, chance, logit in zip(rows, chances, logits, strict=True)
    ]


def outlook(question: Question, rows: Sequence[Features], chances: Sequence[float]) -> Features:
    """Describe whether the memories that were met can answer the question at all."""
    ordered = sorted(chances, reverse=True)
    best = rows[max(range(len(rows)), key=chances.__getitem__)]
    first, second = ordered[0], ordered[1] if len(ordered) > 1 else 0.0
    return {
        "first": _odds(first),
        "second": _odds(second),
        "sum": math.log(sum(chances) + 1e-3),
        "cosine": max(row["cosine"] for row in rows),
        "lift": max(row["cosine_lift"] for row in rows),
        "around": max(row["around_lift"] for row in rows),
        "known": best["known"],
        "covered": best["covered"],
        "read": max((row["read"] for row in rows if "read" in row), default=0.0),
        **{f"wants_{kind}": float(kind in question.intent) for kind in _KINDS if kind is not MemoryType.CONTEXT},
        "kind": max(best[f"asked_{kind}"] for kind in _KINDS),
    }


def _standing(name: str, value: float, values: Sequence[float]) -> Features:
    """Give a likeness itself, above what is usual for the question, and below the best."""
    middle = sorted(values, reverse=True)[_BASELINE_RANKS]
    usual = sum(middle) / len(middle) if middle else _USUAL_COSINE
    return {name: value, f"{name}_lift": value - usual, f"{name}_gap": value - max(values)}


def _worth(terms: Sequence[str], words: Sequence[frozenset[str]]) -> Features:
    """Weigh the question's terms: the fewer memories have one, the more it tells."""
    having = {term: sum(term in found for found in words) for term in terms}
    return {term: math.log((len(words) + 1) / (number + 0.5)) for term, number in having.items()}


def _known(terms: Sequence[str], words: Sequence[frozenset[str]]) -> float:
    """Give the share of the question's terms that occur in any memory that was met."""
    everywhere = frozenset().union(*words)
    return sum(term in everywhere for term in terms) / max(1, len(terms))


def _matches(terms: Sequence[str], found: frozenset[str], worth: Features) -> Features:
    total = sum(worth.values())
    met = sum(worth[term] for term in terms if term in found)
    marked = [term for term in terms if any(map(str.isdigit, term))]
    return {
        "covered": met / total if total > 0 else 0.0,
        "met": met / (met + _MET_HALF) if met > 0 else 0.0,
        "figures": sum(term in found for term in marked) / len(marked) if marked else 0.0,
    }


def _kinds(intent: Intent, kind: MemoryType) -> Features:
    asked = {f"asked_{name}": float(name in intent and kind is name) for name in _KINDS}
    unasked = {f"unasked_{name}": float(name not in intent and kind is name) for name in _KINDS}
    return asked | unasked


def _odds(chance: float) -> float:
    bounded = min(max(chance, 1e-6), 1 - 1e-6)
    return math.log(bounded / (1 - bounded))
