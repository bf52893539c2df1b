"""Play the memories of annotated teams through the judge, session by session, and count what becomes of them.

The judging is the package's own; only how two statements relate is looked up, in predictions of a model that has not
seen the team. Counted as the evaluation of whole projects does.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np

from memctl.model import Action, Claim, Fact, MemoryType, Source, State
from memctl.rules.judge import judge
from memctl.rules.relation import Pair, Relation
from training.judge_claims import Told
from training.judge_data import Embed
from training.keep_data import fits, says

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
APART = timedelta(days=14)
Relate = Callable[[list[Pair]], list[Relation]]


@dataclass(frozen=True)
class Chats:
    """A team's annotated facts, its memories by session as claims, and their vectors."""

    facts: list[dict]
    sessions: list[list[Claim]]
    vectors: dict[str, np.ndarray]


def chats(facts: list[dict], memories: Iterable[Told], embed: Embed) -> Chats:
    """Set a team up for playing."""
    sessions: dict[int, list[Claim]] = defaultdict(list)
    for memory in memories:
        at = START + memory.session * APART
        source = Source(f"session-{memory.session}", memory.message, memory.speaker, memory.text, at, memory.role)
        sessions[memory.session].append(Claim(memory.text, MemoryType(memory.type), "team", at, source))
    texts = list(dict.fromkeys(claim.text for claims in sessions.values() for claim in claims))
    vectors = dict(zip(texts, embed(texts), strict=True))
    return Chats(facts, [sessions[number] for number in sorted(sessions)], vectors)


def play(team: Chats, relate: Relate) -> list[Fact]:
    """Judge the sessions of a team in their order; give all facts that are left, of every state."""
    known: dict[str, Fact] = {}
    for claims in team.sessions:
        facts = list(known.values())
        new = np.array([team.vectors[claim.text] for claim in claims], np.float32)
        old = np.array([team.vectors[fact.text] for fact in facts], np.float32).reshape(len(facts), new.shape[1])
        for verdict in judge(claims, new, facts, old, relate=relate, now=claims[-1].said_at):
            if verdict.action is not Action.SKIP:
                known[verdict.fact.id] = verdict.fact
    return list(known.values())


def figures(teams: Iterable[tuple[Chats, list[Fact]]]) -> dict[str, float]:
    """Count over teams: what is still active though it was replaced, what was wrongly retired, what stayed twice."""
    counts: Counter[str] = Counter()
    for team, facts in teams:
        _count(team.facts, facts, counts)

    def ratio(part: str, whole: str) -> float:
        return round(counts[part] / max(1, counts[whole]), 4)

    return {
        "stale_active": ratio("stale", "changed"),
        "wrongly_retired": ratio("wrong", "standing"),
        "restated_twice": ratio("twice", "restated"),
        "found": ratio("found", "facts"),
        "changed": counts["changed"],
        "restated": counts["restated"],
    }


def _count(gold: list[dict], facts: list[Fact], counts: Counter[str]) -> None:
    is_gold = {f.id: {n for n, g in enumerate(gold) if fits(f.text, g) and says(f.text, g)} for f in facts}
    made = [
        [fact for fact in facts if n in is_gold[fact.id] and fact.rule != "same" and _said_there(fact, g)]
        for n, g in enumerate(gold)
    ]
    place = {g["id"]: n for n, g in enumerate(gold)}
    replaced = {place[old] for g in gold for old in g.get("supersedes") or []}
    for n, g in enumerate(gold):
        counts["facts"] += bool(g["required"])
        said_before = any(made[place[x]] for x in g.get("restates") or [])
        counts["found"] += bool(g["required"]) and (bool(made[n]) or said_before)
        for old in (place[x] for x in g.get("supersedes") or []):
            olds = [fact for fact in made[old] if n not in is_gold[fact.id]]
            if olds and made[n]:
                counts["changed"] += 1
                counts["stale"] += any(fact.state is State.ACTIVE for fact in olds)
        for other in (place[x] for x in g.get("restates") or []):
            if made[n] and made[other]:
                counts["restated"] += 1
                counts["twice"] += len({f.id for f in made[n] + made[other] if f.state is State.ACTIVE}) > 1
        if made[n] and n not in replaced and not g.get("expires_days"):
            counts["standing"] += 1
            counts["wrong"] += all(fact.state in (State.SUPERSEDED, State.CONTESTED) for fact in made[n])


def _said_there(fact: Fact, gold: Mapping[str, object]) -> bool:
    session, messages = f"session-{gold['session']}", gold["messages"]
    return any(w.source.transcript == session and w.source.message in messages for w in fact.wordings)  # type: ignore[operator]
