"""From claims to verdicts to the store: the one road by which anything becomes a memory.

Models take seconds and a commit milliseconds, so judging is done before the writer lock is taken. ``Draft`` tells under
the lock whether others wrote meanwhile, and judges again where they did.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memctl.memory import OpenMemory
from memctl.model import Action, Claim, Fact, Verdict
from memctl.rules.judge import judge
from memctl.rules.relation import Pair, Relate, Relation
from memctl.rules.terms import analyse
from memctl.store.types import FactWrite, Filter

if TYPE_CHECKING:
    import numpy as np

    from memctl.store import Store

# A scope of this size is judged against as a whole; beyond it, a claim meets the facts nearest to it.
_WHOLE_SCOPE = 4000
_NEIGHBOURS = 48
_FLOOR = 0.15


@dataclass(frozen=True, slots=True)
class Judged:
    """Verdicts over a batch of claims, and the vectors of the sentences in it."""

    verdicts: tuple[Verdict, ...]
    vectors: "dict[str, np.ndarray]"

    def writes(self) -> list[FactWrite]:
        """The facts to write: the last word on each, with vector and terms where its text is new to the record."""
        final = {verdict.fact.id: verdict for verdict in self.verdicts if verdict.action is not Action.SKIP}
        known = {verdict.fact.id for verdict in self.verdicts if verdict.before is not None}
        return [self._write(verdict.fact, fact_id in known) for fact_id, verdict in final.items()]

    def _write(self, fact: Fact, known: bool) -> FactWrite:
        vector = self.vectors.get(fact.text)
        if known and vector is None:
            return FactWrite(fact)
        return FactWrite(fact, vector, analyse(fact.text))


class AskedOnce:
    """Relates pairs and remembers the answers, so that judging again asks only about what is new."""

    def __init__(self, memory: OpenMemory) -> None:
        """Answer with the memory's own judge, which is loaded when the first pair comes."""
        self._memory = memory
        self._known: dict[Pair, Relation] = {}

    def __call__(self, pairs: Sequence[Pair]) -> list[Relation]:
        """Relate pairs, in the order given."""
        unknown = [pair for pair in dict.fromkeys(pairs) if pair not in self._known]
        if unknown:
            self._known.update(zip(unknown, self._memory.relate(unknown), strict=True))
        return [self._known[pair] for pair in pairs]


class Draft:
    """Claims judged against the store as it is now; ``settled`` makes sure that it still is."""

    def __init__(self, memory: OpenMemory, claims: Sequence[Claim], vectors: "np.ndarray") -> None:
        """Judge the claims; no lock is needed."""
        self._memory = memory
        self._claims = claims
        self._vectors = vectors
        self._relate = AskedOnce(memory)
        self._seen = _version(memory.existing)
        self._judged = self._judge()

    def settled(self) -> Judged:
        """Give the verdicts; called by the one writer, who judges again where another wrote since."""
        present = _version(self._memory.existing)
        if present != self._seen:
            self._seen, self._judged = present, self._judge()
        return self._judged

    def _judge(self) -> Judged:
        return judge_claims(self._memory, self._claims, self._vectors, self._relate)


def _version(store: "Store | None") -> int:
    """The version of the facts; taken before they are read, so that no change is missed."""
    return store.record.version("facts") if store else 0


def judge_claims(memory: OpenMemory, claims: Sequence[Claim], vectors: "np.ndarray", relate: Relate) -> Judged:
    """Judge claims, each against what its scope knows and the claims before it; writes nothing."""
    import numpy as np

    known: list[tuple[Fact, Any]] = []
    for scope in dict.fromkeys(claim.agent for claim in claims):
        mine = [vector for claim, vector in zip(claims, vectors, strict=True) if claim.agent == scope]
        known += _known(memory.existing, scope, mine)
    facts = [fact for fact, _ in known]
    known_vectors = np.array([vector for _, vector in known], np.float32).reshape(len(facts), vectors.shape[1])
    verdicts = judge(claims, vectors, facts, known_vectors, relate=relate, now=memory.now())
    by_text = {claim.text: vector for claim, vector in zip(claims, vectors, strict=True)}
    return Judged(tuple(verdicts), by_text)


def _known(store: "Store | None", scope: str, vectors: Sequence[Any]) -> list[tuple[Fact, Any]]:
    """The facts of a scope that claims with these vectors may touch, with their own vectors."""
    if store is None:
        return []
    if store.scope_size(scope) <= _WHOLE_SCOPE:
        return list(store.all_facts(Filter(agents=(scope,)), vectors=True))
    found = store.near(vectors, scope, limit=_NEIGHBOURS, floor=_FLOOR)
    return list({near.fact.id: (near.fact, near.vector) for part in found for near in part}.values())
