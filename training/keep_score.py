"""Score what the extractor keeps against the annotated facts, without the product around it.

A memory counts for a fact when it says every part of it, is no longer than a sentence or two, and was
said in one of the fact's messages. What says no fact is junk; only required facts can be missed.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import timedelta

from memctl.extraction.types import Extraction
from training.keep_data import Team, fits, says


def score(team: Team, extractions: Sequence[Extraction], notes: list[str] | None = None) -> Counter:
    """Count hits and misses of one team; ``notes`` collects what went wrong in words."""
    counts: Counter = Counter()
    made = defaultdict(list)
    for session, extraction in zip(team.sessions, extractions, strict=True):
        for claim in extraction.claims:
            said = [fact for fact in team.facts if fits(claim.text, fact) and says(claim.text, fact)]
            counts["stored"] += 1
            counts["good"] += bool(said)
            if not said and notes is not None:
                where = f"{team.name} {session.number}/{claim.source.message}"
                notes.append(f"junk   {where} [{claim.type}] {claim.confidence:.2f} {claim.text!r}")
            for fact in said:
                if fact["session"] == session.number and claim.source.message in fact["messages"]:
                    made[fact["id"]].append((session, claim))
    for fact in team.facts:
        _count(fact, made, counts, team, notes)
    return counts


def _count(fact: dict, made: dict, counts: Counter, team: Team, notes: list[str] | None) -> None:
    found = made[fact["id"]]
    if fact["required"]:
        hit = bool(found) or any(made[x] for x in fact["restates"])
        counts["required"] += 1
        counts["found"] += hit
        if not hit and notes is not None:
            where = f"{team.name} {fact['session']}/{fact['messages']}"
            notes.append(f"missed {where} [{fact['type']}] {fact['text']} {fact['must']}")

    if not found:
        return
    counts["typed"] += 1
    right = any(claim.type == fact["type"] for _, claim in found)
    counts["typed_right"] += right
    if not right and notes is not None:
        notes.append(f"type   {fact['type']} read as {found[0][1].type}: {found[0][1].text!r}")
    start = found[0][0].date
    ends = [claim.expires_at for _, claim in found if claim.expires_at]
    if fact["expires_days"]:
        days = timedelta(days=fact["expires_days"])
        counts["timed"] += 1
        counts["timed_right"] += any(
            start + days / 4 <= end <= start + max(days * 5, timedelta(days=14)) for end in ends
        )
    else:
        counts["lasting"] += 1
        counts["lost"] += bool(ends) and all(end < start + timedelta(days=30) for end in ends)


def figures(counts: Counter) -> dict[str, float]:
    """Turn counts into the figures of the report."""

    def ratio(part: str, whole: str) -> float:
        return counts[part] / counts[whole] if counts[whole] else 0.0

    precision, recall = ratio("good", "stored"), ratio("found", "required")
    return {
        "precision": precision,
        "recall": recall,
        "f1": 2 * precision * recall / (precision + recall) if precision + recall else 0.0,
        "type_accuracy": ratio("typed_right", "typed"),
        "expiry_right": ratio("timed_right", "timed"),
        "lasting_lost": ratio("lost", "lasting"),
        "stored": float(counts["stored"]),
    }
