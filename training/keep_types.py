"""Which type to lean to: our own authors called more things decisions than those of the given teams did.

What the model learnt of that is taken back by a small number a type, added to the logarithm of its chance, chosen on
given teams that the model has not seen.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from memctl.extraction.compose import Bar
from memctl.extraction.local import LABELS, Card, LocalExtractor, mixed
from memctl.model import MemoryType
from training.keep_data import Team, fits, says

TYPES = LABELS[1:]
_STEPS = np.round(np.arange(-0.6, 0.61, 0.1), 1)
_PRICE = 0.01  # what leaning by one must gain
_ROUNDS = 3


@dataclass(frozen=True)
class Typed:
    """A memory that says a gold fact: which, of what type, and the logarithms of the chances of all types."""

    fact: tuple[str, str]
    wanted: str
    logs: np.ndarray


class _Probe(LocalExtractor):
    """The extractor, keeping what it decides types by."""

    def __init__(self, classify: Callable[..., Any], bar: Bar) -> None:
        super().__init__(classify, Card(bar=bar))
        self.logs: dict[str, np.ndarray] = {}

    def _settled(self, made: Any, row: Any) -> MemoryType:
        parts = made.judged[made.memory.first : made.memory.last + 1]
        there = [sum(part.chances[i] for part in parts) / len(parts) for i in range(len(LABELS))]
        self.logs[made.memory.text] = np.array(mixed(there, row)[1:])
        return super()._settled(made, row)


def typed(teams: Sequence[Team], classify: Callable[..., Any], bar: Bar) -> list[Typed]:
    """Collect the memories of teams that say a gold fact of their message."""
    found = []
    for team in teams:
        probe = _Probe(classify, bar)
        read = probe.extract([session.transcript for session in team.sessions], team.name)
        for session, extraction in zip(team.sessions, read, strict=True):
            for claim in extraction.claims:
                found += [
                    Typed((team.name, fact["id"]), fact["type"], probe.logs[claim.text])
                    for fact in session.facts
                    if claim.source.message in fact["messages"] and fits(claim.text, fact) and says(claim.text, fact)
                ]
    return found


def best_lean(memories: Sequence[Typed]) -> dict[str, float]:
    """Choose what to add to each type, one after the other; a fact is typed right where one of its memories is."""
    wanted = np.array([TYPES.index(memory.wanted) for memory in memories])
    logs = np.array([memory.logs for memory in memories])
    places = {fact: place for place, fact in enumerate(dict.fromkeys(memory.fact for memory in memories))}
    facts = np.array([places[memory.fact] for memory in memories])

    def value(lean: np.ndarray) -> float:
        right = facts[(logs + lean).argmax(axis=1) == wanted]
        return len(np.unique(right)) / len(places) - _PRICE * float(np.abs(lean).sum())

    lean = np.zeros(len(TYPES))
    for _ in range(_ROUNDS):
        for place in range(len(TYPES)):
            tried = [np.concatenate([lean[:place], [step], lean[place + 1 :]]) for step in _STEPS]
            lean = max([lean, *tried], key=value)
    return {name: float(step) for name, step in zip(TYPES, lean, strict=True) if step}
