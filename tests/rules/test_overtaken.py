from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from memctl.model import Fact, Hit, MemoryType, Source, State, Wording
from memctl.rules.overtaken import without_overtaken
from memctl.rules.relation import Label, Pair, Relation

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
VECTOR = np.array([1.0, 0.0])


def hit(name: str, day: int, score: float) -> Hit:
    at = START + timedelta(days=day)
    wording = Wording(name, at, Source(f"day-{day}.json", 0, "Ann", name, at))
    return Hit(Fact(name, "team", name, MemoryType.FACT, State.ACTIVE, at, at, at, wordings=(wording,)), score)


def relating(chances: dict[tuple[str, str], float]):
    def relate(pairs: list[Pair]) -> list[Relation]:
        changed = [chances.get((pair.old, pair.new), 0.0) for pair in pairs]
        return [Relation(Label.COMPATIBLE, 1 - chance, "", (1 - chance, 0.0, chance)) for chance in changed]

    return relate


def shown(hits: list[Hit], chances: dict[tuple[str, str], float], least: float = 0.1) -> list[tuple[str, float]]:
    vectors = {one.fact.id: VECTOR for one in hits}
    return [(one.fact.id, one.score) for one in without_overtaken(hits, vectors, relating(chances), least)]


def test_the_later_of_two_answers_takes_the_place_of_the_one_it_likely_replaced():
    hits = [hit("30 seconds", 0, 0.8), hit("blue", 0, 0.6), hit("45 seconds", 5, 0.5)]
    assert shown(hits, {("30 seconds", "45 seconds"): 0.3}) == [("45 seconds", 0.8), ("blue", 0.6)]


def test_of_a_chain_the_last_one_is_left_with_the_best_score():
    hits = [hit("B", 5, 0.5), hit("A", 0, 0.9), hit("C", 9, 0.2)]
    assert shown(hits, {("A", "B"): 0.5, ("B", "C"): 0.5}) == [("C", 0.9)]


def test_an_earlier_answer_never_pushes_out_a_later_one():
    hits = [hit("old", 0, 0.8), hit("new", 5, 0.5)]
    assert shown(hits, {("new", "old"): 0.9}) == [("old", 0.8), ("new", 0.5)]


def test_below_the_bound_both_are_shown():
    hits = [hit("old", 0, 0.8), hit("new", 5, 0.5)]
    assert shown(hits, {("old", "new"): 0.09}) == [("old", 0.8), ("new", 0.5)]


@pytest.mark.parametrize("change", [{"pinned": True}, {"contested_with": ("new",), "state": State.CONTESTED}])
def test_what_a_person_pinned_or_has_yet_to_decide_stays(change):
    old = hit("old", 0, 0.8)
    hits = [replace(old, fact=replace(old.fact, **change)), hit("new", 5, 0.5)]
    assert shown(hits, {("old", "new"): 0.9}) == [("old", 0.8), ("new", 0.5)]


def test_a_memory_without_a_vector_is_left_alone():
    hits = [hit("old", 0, 0.8), hit("new", 5, 0.5)]
    assert without_overtaken(hits, {"new": VECTOR}, relating({("old", "new"): 0.9}), 0.1) == hits


def test_one_answer_asks_no_model():
    def relate(pairs: list[Pair]) -> list[Relation]:
        raise AssertionError("nothing to compare")

    one = [hit("only", 0, 0.8)]
    assert without_overtaken(one, {"only": VECTOR}, relate, 0.1) == one
