"""The undo log keeps what undoing needs for a while; of what is long past only the line of the log stays."""

import dataclasses
from datetime import timedelta

import pytest
from storekit import START, make_fact, write

from memctl.errors import NotFound, UndoGone
from memctl.store import Changes, FactWrite, RunInfo, Store

RUN = RunInfo("test")
LATER = START + timedelta(days=100)


@pytest.fixture
def at(monkeypatch):
    return lambda moment: monkeypatch.setenv("MEMCTL_NOW", moment.isoformat())


@pytest.fixture
def long_past(store, at):
    """A fact that was put in other words long ago; only the undo log has the old words."""
    at(START)
    fact = make_fact("zanzibar is frozen")
    store.apply(Changes(facts=[write(fact)]), RUN)
    edited = dataclasses.replace(fact, text="the rollout is frozen", wordings=())
    store.apply(Changes(facts=[write(edited)]), RUN)
    at(LATER)
    return store


def held_by_files(home, text):
    return [path for path in home.rglob("*") if path.is_file() and text in path.read_bytes()]


def test_a_trimmed_run_says_that_it_is_gone_and_stays_in_the_log(long_past):
    before = long_past.runs()
    long_past.compact(undoable_since=LATER - timedelta(days=90))
    assert long_past.runs() == before
    for run in before:
        with pytest.raises(UndoGone, match=rf"{run.id} can no longer be undone.*2026-05-04"):
            long_past.undo(run.id, cascade=True)
    with pytest.raises(NotFound):
        long_past.undo()


def test_what_was_trimmed_is_in_no_file(long_past, home):
    long_past.compact()
    assert held_by_files(home, b"zanzibar")
    long_past.compact(undoable_since=LATER - timedelta(days=90))
    assert held_by_files(home, b"zanzibar") == []
    assert long_past.check() == []


def test_younger_runs_can_still_be_undone(long_past):
    [fact] = long_past.all_facts()
    recent = long_past.apply(Changes(facts=[FactWrite(dataclasses.replace(fact, pinned=True))]), RUN)
    long_past.compact(undoable_since=LATER - timedelta(days=90))
    long_past.undo(recent.run_id)
    assert list(long_past.all_facts()) == [fact]


def test_a_run_that_an_older_clock_wrote_later_is_kept_with_what_it_builds_on(long_past, at):
    [fact] = long_past.all_facts()
    first = long_past.apply(Changes(facts=[FactWrite(dataclasses.replace(fact, pinned=True))]), RUN)
    at(START)
    second = long_past.apply(Changes(facts=[FactWrite(dataclasses.replace(fact, tags=("x",)))]), RUN)
    long_past.compact(undoable_since=LATER - timedelta(days=90))
    undone = long_past.undo(first.run_id, cascade=True)
    assert undone.runs == (second.run_id, first.run_id)
    assert list(long_past.all_facts()) == [fact]


def test_a_purge_reaches_what_is_left_of_the_log(long_past, home):
    [fact] = long_past.all_facts()
    long_past.apply(Changes(facts=[FactWrite(dataclasses.replace(fact, pinned=True))]), RUN)
    long_past.compact(undoable_since=LATER - timedelta(days=90))
    assert held_by_files(home, b"rollout")
    long_past.purge([fact.id])
    assert held_by_files(home, b"rollout") == []
    assert len(long_past.runs()) == 4


def test_trimming_twice_is_trimming_once(long_past, home):
    long_past.compact(undoable_since=LATER - timedelta(days=90))
    rows = long_past.record.rows("runs")
    long_past.compact(undoable_since=LATER - timedelta(days=90))
    assert Store.open(home).record.rows("runs") == rows
