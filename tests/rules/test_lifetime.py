"""How long memories last and how much they weigh."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memctl.model import Action, Fact, Interval, MemoryType, Source, State, Wording
from memctl.rules.lifetime import current, recency, reinforcement, review, select_contested, select_superseded

NOW = datetime(2026, 6, 1, tzinfo=UTC)


def fact(text: str = "The build is red.", *, age: float = 10, **fields) -> Fact:
    said = NOW - timedelta(days=age)
    wording = Wording(text, said, Source("a.json", 0, "QA", text, said))
    base = Fact(
        text, "team", text, MemoryType.FACT, State.ACTIVE, said, said, said, wordings=(wording,), held=(Interval(said),)
    )
    return replace(base, **fields)


def ago(days: float) -> datetime:
    return NOW - timedelta(days=days)


def test_a_fact_whose_time_is_over_is_not_current_even_before_pruning():
    assert current(fact(expires_at=ago(-1)), NOW)
    assert not current(fact(expires_at=NOW), NOW)
    assert not current(fact(state=State.SUPERSEDED), NOW)


def test_review_expires_what_is_due_and_closes_its_interval():
    (verdict,) = review([fact(expires_at=ago(2)), fact("b", expires_at=ago(-2)), fact("c")], NOW)

    assert (verdict.action, verdict.fact.state) == (Action.EXPIRE, State.EXPIRED)
    assert verdict.fact.held == (Interval(ago(10), ago(2)),)
    assert "2026-05-30" in verdict.because


def test_review_leaves_what_a_person_pinned():
    assert review([fact(expires_at=ago(2), pinned=True)], NOW) == []


def test_superseded_facts_are_chosen_by_when_they_ceased_to_hold():
    old = fact("old", age=200, state=State.SUPERSEDED, held=(Interval(ago(200), ago(100)),))
    recent = fact("recent", age=200, state=State.SUPERSEDED, held=(Interval(ago(200), ago(20)),))

    verdicts = select_superseded([old, recent, fact("active", age=300)], NOW, timedelta(days=90))

    assert [(v.fact.text, v.fact.state) for v in verdicts] == [("old", State.FORGOTTEN)]


def test_an_old_contest_is_settled_for_the_later_word():
    one = fact("one", age=60, state=State.CONTESTED, contested_with=("two",))
    two = fact("two", age=50, state=State.CONTESTED, contested_with=("one",))

    verdicts = {v.fact.text: v.fact for v in select_contested([one, two], NOW, timedelta(days=30))}

    assert verdicts["one"].state is State.SUPERSEDED
    assert verdicts["one"].superseded_by == "two"
    assert verdicts["two"].state is State.ACTIVE
    assert verdicts["two"].supersedes == ("one",)


def test_a_pinned_side_wins_a_contest_though_it_is_older():
    one = fact("one", age=60, state=State.CONTESTED, contested_with=("two",), pinned=True)
    two = fact("two", age=50, state=State.CONTESTED, contested_with=("one",))

    verdicts = {v.fact.text: v.fact.state for v in select_contested([one, two], NOW, timedelta(0))}

    assert verdicts == {"one": State.ACTIVE, "two": State.SUPERSEDED}


def test_a_contest_that_is_still_fresh_waits():
    one = fact("one", age=60, state=State.CONTESTED, contested_with=("two",))
    two = fact("two", age=5, state=State.CONTESTED, contested_with=("one",))
    assert select_contested([one, two], NOW, timedelta(days=30)) == []


def test_recency_is_a_half_after_thirty_days():
    assert recency(fact(age=30), NOW) == pytest.approx(0.5)
    assert recency(fact(age=0), NOW) > 0.9
    assert recency(fact(age=90), NOW) < 0.1


@given(st.floats(0, 40000), st.floats(0, 40000))
def test_recency_never_grows_with_age(one, other):
    younger, older = sorted((one, other))
    assert 0 <= recency(fact(age=older), NOW) <= recency(fact(age=younger), NOW) <= 1


def test_saying_it_again_and_using_it_strengthen_a_fact():
    once = fact()
    twice = replace(once, wordings=once.wordings * 2)
    assert reinforcement(once) == 0
    assert 0 < reinforcement(twice) < reinforcement(replace(twice, uses=5)) < 1
