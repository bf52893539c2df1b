"""Where facts stood at an instant, and what changed between two."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from memctl.model import Fact, Interval, MemoryType, State
from memctl.rules.history import compare, state_at, versions

START = datetime(2026, 3, 1, tzinfo=UTC)


def day(number: float) -> datetime:
    return START + timedelta(days=number)


def fact(name: str, *held: tuple, **fields) -> Fact:
    spans = tuple(Interval(day(since), day(until) if until is not None else None) for since, until in held)
    first = spans[0].since
    return replace(Fact(name, "team", name, MemoryType.FACT, State.ACTIVE, first, first, first, held=spans), **fields)


RETURNED = fact("returned", (1, 5), (9, None))


@pytest.mark.parametrize(
    ("at", "state"),
    [(0, None), (1, State.ACTIVE), (4.9, State.ACTIVE), (5, State.SUPERSEDED), (9, State.ACTIVE), (99, State.ACTIVE)],
)
def test_a_fact_that_returned_held_twice(at, state):
    assert state_at(RETURNED, day(at)) is state


def test_a_temporary_fact_was_active_until_its_end():
    gone = fact("gone", (1, 4), expires_at=day(4), state=State.EXPIRED)
    assert state_at(gone, day(3)) is State.ACTIVE
    assert state_at(gone, day(4)) is State.EXPIRED
    assert state_at(fact("unpruned", (1, None), expires_at=day(4)), day(5)) is State.EXPIRED


def test_forgotten_and_quarantined_facts_are_so_at_any_time():
    assert state_at(fact("x", (1, None), state=State.FORGOTTEN), day(2)) is State.FORGOTTEN


def test_a_fact_that_was_taken_into_another_never_stood_for_itself():
    assert state_at(fact("x", (1, None), state=State.SUPERSEDED, rule="same"), day(2)) is State.SUPERSEDED


def test_versions_follow_the_pointers_both_ways():
    one = fact("one", (1, 2), superseded_by="two")
    two = fact("two", (2, 3), supersedes=("one",), superseded_by="three")
    three = fact("three", (3, None), supersedes=("two",))
    other = fact("other", (1, None))
    assert [f.id for f in versions(two, [three, other, one])] == ["one", "two", "three"]


def test_the_difference_names_what_was_learned_changed_and_dropped():
    old = fact("old", (1, 6), superseded_by="new", state=State.SUPERSEDED)
    new = fact("new", (6, None), supersedes=("old",))
    learned = fact("learned", (5, None))
    brief = fact("brief", (1, 7), expires_at=day(7), state=State.EXPIRED)
    before = fact("before", (0, None))

    found = compare([old, new, learned, brief, before], day(3), day(10))

    assert [f.id for f in found.learned] == ["learned"]
    assert [(c.old.id, c.new.id) for c in found.changed] == [("old", "new")]
    assert [f.id for f in found.dropped] == ["brief"]


def test_a_chain_within_the_time_shows_its_ends_only():
    one = fact("one", (1, 4), superseded_by="two", state=State.SUPERSEDED)
    two = fact("two", (4, 6), supersedes=("one",), superseded_by="three", state=State.SUPERSEDED)
    three = fact("three", (6, None), supersedes=("two",))

    found = compare([one, two, three], day(3), day(10))

    assert [(c.old.id, c.new.id) for c in found.changed] == [("one", "three")]
    assert not found.learned


def test_nothing_changes_between_an_instant_and_itself():
    assert compare([RETURNED], day(6), day(6)) == compare([], day(6), day(6))
