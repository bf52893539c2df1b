"""From claims to verdicts to the store: the one road by which anything becomes a memory."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from memctl.memory import OpenMemory
from memctl.model import Action, Claim, Fact, Verdict
from memctl.rules.judge import judge
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


def judge_claims(memory: OpenMemory, claims: Sequence[Claim], vectors: "np.ndarray") -> Judged:
    """Judge claims, each against what its scope knows and the claims before it; writes nothing."""
    import numpy as np

    known: list[tuple[Fact, Any]] = []
    for scope in dict.fromkeys(claim.agent for claim in claims):
        mine = [vector for claim, vector in zip(claims, vectors, strict=True) if claim.agent == scope]
        known += _known(memory.existing, scope, mine)
    facts = [fact for fact, _ in known]
    known_vectors = np.array([vector for _, vector in known], np.float32).reshape(len(facts), vectors.shape[1])
    verdicts = judge(claims, vectors, facts, known_vectors, relate=memory.relate, now=memory.now())
    by_text = {claim.text: vector for claim, vector in zip(claims, vectors, strict=True)}
    return Judged(tuple(verdicts), by_text)


def _known(store: "Store | None", scope: str, vectors: Sequence[Any]) -> list[tuple[Fact, Any]]:
    """The facts of a scope that claims with these vectors may touch, with their own vectors."""
    if store is None:
        return []
    whole = list(islice(store.all_facts(Filter(agents=(scope,)), vectors=True), _WHOLE_SCOPE + 1))
    if len(whole) <= _WHOLE_SCOPE:
        return whole
    found = store.near(vectors, scope, limit=_NEIGHBOURS, floor=_FLOOR)
    return list({near.fact.id: (near.fact, near.vector) for part in found for near in part}.values())
