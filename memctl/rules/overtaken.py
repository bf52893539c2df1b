"""Of memories that answer one question, the earlier is left out where a later one has likely taken its place.

The judge retires a memory only where it is sure, since a wrong retirement loses a true fact. Two memories that bear on
the same question are likelier about the same thing than any two, and leaving one out of one answer loses nothing: so
less certainty will do here.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from memctl.model import Fact, Hit
from memctl.rules.clusters import latest, moment
from memctl.rules.relation import Pair, Relate

if TYPE_CHECKING:
    import numpy as np

_COMPARED = 3  # of the best: every pair is read by a model, and with six a recall took three times as long


def without_overtaken(
    hits: Sequence[Hit], vectors: Mapping[str, "np.ndarray"], relate: Relate, least: float
) -> list[Hit]:
    """Leave out what a later hit replaced with a chance of at least ``least``; the later one gets the better score.

    ``vectors`` are those of the hits by id; one without a vector is left alone. What a person pinned, and the two
    sides of a contest that waits for a person, are shown as they are.
    """
    best = hits[:_COMPARED]
    compared = [(old, new) for old, new in _in_order(best) if _open(old.fact, new.fact, vectors)]
    if not compared:
        return list(hits)
    relations = relate([_pair(old.fact, new.fact, vectors) for old, new in compared])
    taken: dict[str, str] = {}
    for (old, new), relation in zip(compared, relations, strict=True):
        if relation.chances[2] >= least:
            taken.setdefault(old.fact.id, new.fact.id)
    scores = {hit.fact.id: hit.score for hit in hits}
    for hit in sorted(best, key=lambda hit: moment(latest(hit.fact))):  # so that of A, B and C the last gets the best
        if (later := taken.get(hit.fact.id)) is not None:
            scores[later] = max(scores[later], scores[hit.fact.id])
    kept = [replace(hit, score=scores[hit.fact.id]) for hit in hits if hit.fact.id not in taken]
    return sorted(kept, key=lambda hit: -hit.score)


def _in_order(hits: Sequence[Hit]) -> Iterator[tuple[Hit, Hit]]:
    """Give every two hits of different moments, the earlier first; for each earlier one the best later one first."""
    for old in hits:
        for new in hits:
            if moment(latest(old.fact)) < moment(latest(new.fact)):
                yield old, new


def _open(old: Fact, new: Fact, vectors: Mapping[str, "np.ndarray"]) -> bool:
    contested = new.id in old.contested_with
    return not (old.pinned or contested) and old.id in vectors and new.id in vectors


def _pair(old: Fact, new: Fact, vectors: Mapping[str, "np.ndarray"]) -> Pair:
    before, after = (replace(latest(fact), text=fact.text) for fact in (old, new))
    return Pair.of(before, after, float(vectors[old.id] @ vectors[new.id]), other_type=old.type is not new.type)
