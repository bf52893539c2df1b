"""The judge's decisions, case by case; how sentences relate is given, so only the judging is tested."""

import tomllib
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from memctl.model import Action, Claim, Fact, MemoryType, Role, Source, State
from memctl.rules.judge import judge
from memctl.rules.relation import Label, Relation

CASES = tomllib.loads((Path(__file__).parents[1] / "cases" / "judge.toml").read_text(encoding="utf-8"))["case"]
START = datetime(2026, 3, 1, tzinfo=UTC)


def day(number: float) -> datetime:
    return START + timedelta(days=number)


def claim(said: dict) -> Claim:
    at = day(said["day"])
    transcript, message = said.get("transcript", f"chat-{said['day']}.json"), said.get("message", 0)
    source = Source(transcript, message, said.get("by", "QA"), said["text"], at, said.get("role", Role.USER))
    return Claim(
        said["text"],
        MemoryType.FACT,
        said.get("agent", "team"),
        at,
        source,
        expires_at=day(said["ends"]) if "ends" in said else None,
        confirmed=said.get("confirmed", False),
        quarantined=said.get("quarantined", False),
    )


def relate_from(case: dict):
    score = case.get("score", 0.95)
    table = {(old, new): (label, *own, score) for old, new, label, *own in case.get("relations", [])}

    def relate(pairs):
        found = [table.get((pair.old, pair.new), ("compatible", score)) for pair in pairs]
        return [Relation(Label(label), sure) for label, sure, *_ in found]

    return relate


def by_hand(fact: Fact, said: dict) -> Fact:
    if said.get("pin"):
        return replace(fact, pinned=True)
    if said.get("forget"):
        return replace(fact, state=State.FORGOTTEN, rule="by hand")
    if said.get("prune"):
        return replace(fact, state=State.FORGOTTEN, rule="prune")
    return fact


def play(case: dict) -> tuple[list[Action], dict[str, Fact]]:
    """Ingest the sentences of a case one by one."""
    known: dict[str, Fact] = {}
    actions = []
    now = day(case.get("now", 100))
    for said in case["said"]:
        facts = list(known.values())
        vectors, known_vectors = np.ones((1, 2), np.float32), np.ones((len(facts), 2), np.float32)
        for verdict in judge([claim(said)], vectors, facts, known_vectors, relate=relate_from(case), now=now):
            actions.append(verdict.action)
            assert verdict.because, "every verdict says why"
            if verdict.action is not Action.SKIP:
                known[verdict.fact.id] = by_hand(verdict.fact, said)
    return actions, known


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_judging(case):
    actions, known = play(case)

    assert actions == case.get("actions", actions)
    for state in State:
        assert sorted(f.text for f in known.values() if f.state is state) == sorted(case.get(state, []))
    facts = {fact.text: fact for fact in known.values()}
    for text, reason in case.get("because", {}).items():
        assert reason in facts[text].because
    for text, successor in case.get("pointers", {}).items():
        assert facts[text].superseded_by == facts[successor].id
        assert facts[text].id in facts[successor].supersedes
    for text, intervals in case.get("held", {}).items():
        expected = [(day(span[0]), day(span[1]) if len(span) > 1 else None) for span in intervals]
        assert [(span.since, span.until) for span in facts[text].held] == expected


def test_a_batch_is_judged_in_the_order_of_speaking():
    batch = [claim({"text": "Limit 2", "day": 2}), claim({"text": "Limit 1", "day": 1})]
    relate = relate_from({"relations": [["Limit 1", "Limit 2", "supersedes"]]})

    verdicts = judge(batch, np.ones((2, 2), np.float32), [], np.ones((0, 2), np.float32), relate=relate, now=day(9))

    assert [(v.action, v.fact.text) for v in verdicts] == [
        (Action.ADD, "Limit 1"),
        (Action.ADD, "Limit 2"),
        (Action.SUPERSEDE, "Limit 1"),
    ]


def test_the_model_is_asked_once_and_about_each_pair_once():
    asked = []

    def relate(pairs):
        asked.append([(p.old, p.new) for p in pairs])
        return [Relation(Label.COMPATIBLE, 0.9) for _ in pairs]

    batch = [claim({"text": text, "day": number}) for number, text in enumerate(["a b", "c d", "e f", "a b"])]
    judge(batch, np.ones((4, 2), np.float32), [], np.ones((0, 2), np.float32), relate=relate, now=day(9))

    assert len(asked) == 1
    assert len(asked[0]) == len(set(asked[0]))


def test_statements_that_are_not_near_are_not_compared():
    vectors = np.array([[1, 0], [0, 1]], np.float32)
    batch = [claim({"text": "Apples are red.", "day": 1}), claim({"text": "Trains are late.", "day": 2})]

    def relate(pairs):
        raise AssertionError("nothing to relate")

    assert len(judge(batch, vectors, [], np.ones((0, 2), np.float32), relate=relate, now=day(9))) == 2


def test_statements_that_name_the_same_thing_are_compared_however_far_apart():
    vectors = np.array([[1, 0], [0, 1]], np.float32)
    batch = [claim({"text": "B6-417 is healthy.", "day": 1}), claim({"text": "Keep B6-417 out.", "day": 2})]
    asked = []

    def relate(pairs):
        asked.extend(pairs)
        return [Relation(Label.COMPATIBLE, 0.9) for _ in pairs]

    judge(batch, vectors, [], np.ones((0, 2), np.float32), relate=relate, now=day(9))
    assert len(asked) == 1


def test_a_fact_retired_by_one_that_is_not_at_hand_stays_retired():
    said = [{"text": "Limit 1", "day": 1}, {"text": "Limit 2", "day": 5}]
    _, known = play({"said": said, "relations": [["Limit 1", "Limit 2", "supersedes"]]})
    old = next(fact for fact in known.values() if fact.text == "Limit 1")
    relate = relate_from({"relations": [["Limit 0", "Limit 1", "supersedes"]]})

    ones = np.ones((1, 2), np.float32)
    verdicts = judge([claim({"text": "Limit 0", "day": 0})], ones, [old], ones, relate=relate, now=day(9))

    assert [verdict.fact.state for verdict in verdicts] == [State.SUPERSEDED]
