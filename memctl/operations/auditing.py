"""The audit: how much of a memory is rot, measured on the memory itself."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from memctl.extraction.echoes import cut_echoes
from memctl.extraction.redact import redact
from memctl.memory import OpenMemory
from memctl.model import Fact, Result, State
from memctl.operations.remember import BY_HAND
from memctl.rules.identity import normalised
from memctl.rules.lifetime import ended
from memctl.store.types import Filter

_SAME = 0.95
_BLOCK = 2048


@dataclass(frozen=True, slots=True)
class Rate:
    """One kind of rot: how many facts have it, what share of those looked at, and a few of them."""

    name: str
    about: str
    count: int
    share: float
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Audit:
    """All the rates, over the facts that recall may show."""

    facts: int
    rates: tuple[Rate, ...]


def audit(memory: OpenMemory, agent: str | None = None) -> Result[Audit]:
    """Measure duplicates, near-duplicates, recall loops, secrets, stale, contested and unsourced facts."""
    wanted = Filter(agents=(agent,) if agent else (), states=(State.ACTIVE, State.CONTESTED))
    pairs = list(memory.store.all_facts(wanted, vectors=True))
    facts = [fact for fact, _ in pairs]
    now = memory.now()
    rules = memory.cleaning_rules().redaction
    # The ledger names a chat that grew by its latest file only.
    read = {entry.path for entry in memory.store.transcripts()} | memory.store.message_paths()
    found = {
        "duplicate": _duplicates(facts),
        "near-duplicate": _near_duplicates(pairs),
        "recall-loop": [fact for fact in facts if cut_echoes(fact.text).text.strip() != fact.text.strip()],
        "secret": [fact for fact in facts if redact(fact.text, rules).found],
        "stale": [fact for fact in facts if ended(fact, now)],
        "contested": [fact for fact in facts if fact.state is State.CONTESTED],
        "unsourced": [fact for fact in facts if not _sourced(fact, read)],
    }
    rates = tuple(_rate(name, found[name], len(facts)) for name in _ABOUT)
    return Result("audit", Audit(len(facts), rates))


_ABOUT = {
    "duplicate": "the same sentence twice in a scope",
    "near-duplicate": "almost the same vector as another of its scope",
    "recall-loop": "looks like a recall block that came back",
    "secret": "holds what looks like a credential",
    "stale": "its time has ended, prune will retire it",
    "contested": "waits for a decision",
    "unsourced": "no source, or one that was never read",
}


def _rate(name: str, facts: Sequence[Fact], total: int) -> Rate:
    examples = tuple(f"{fact.id[:8]} {fact.text}" for fact in facts[:3])
    return Rate(name, _ABOUT[name], len(facts), round(len(facts) / total, 4) if total else 0.0, examples)


def _duplicates(facts: Sequence[Fact]) -> list[Fact]:
    counts = Counter((fact.agent, normalised(fact.text)) for fact in facts)
    return [fact for fact in facts if counts[fact.agent, normalised(fact.text)] > 1]


def _near_duplicates(pairs: Sequence[tuple[Fact, Any]]) -> list[Fact]:
    """Compare vectors within each scope, in blocks, so that a large scope does not need a square of memory."""
    import numpy as np

    found: list[Fact] = []
    for scope in sorted({fact.agent for fact, _ in pairs}):
        mine = [(fact, vector) for fact, vector in pairs if fact.agent == scope]
        matrix = np.array([vector for _, vector in mine], np.float32)
        for start in range(0, len(mine), _BLOCK):
            close = matrix[start : start + _BLOCK] @ matrix.T >= _SAME
            found += [mine[start + row][0] for row in np.flatnonzero(close.sum(axis=1) > 1)]
    return found


def _sourced(fact: Fact, read: set[str]) -> bool:
    return any(source.transcript == BY_HAND or source.transcript in read for source in fact.sources)
