import dataclasses

import numpy as np
import pytest
from storekit import START, export, make_fact, message, unit, write

from memctl.errors import NotFound, UndoBlocked
from memctl.model import State
from memctl.store import Changes, FactWrite, LedgerEntry, RunInfo, StateEntry, StoredMessage

RUN = RunInfo("test")


def everything(store):
    return (
        export(store),
        store.transcripts(),
        store.state_list(),
        store.messages_of("t"),
        sorted(map(repr, store.list_facts())),
    )


def ingest(store, number=0):
    stored = StoredMessage("t", "team", "chat.json", message(number, f"m{number}"), f"c{number}")
    entry = LedgerEntry("t", "team", "chat.json", f"digest{number}", number + 1, f"c{number}", START)
    changes = Changes(
        facts=[write(make_fact(f"fact {number}"), number)],
        messages=[stored],
        transcripts=[entry],
        state=[StateEntry("team", "k", number, START)],
    )
    return store.apply(changes, RunInfo("ingest"))


def test_undo_restores_everything_exactly(store):
    ingest(store)
    before = everything(store)
    receipt = ingest(store, 1)
    assert everything(store) != before
    undone = store.undo(receipt.run_id)
    assert everything(store) == before
    assert undone.runs == (receipt.run_id,)
    assert len(undone.removed) == 1


def test_undo_can_be_undone(store):
    ingest(store)
    after = everything(store)
    store.undo()
    assert everything(store)[0] == []
    store.undo(store.runs()[0].id)
    assert everything(store) == after
    [found] = store.search_facts(unit(0), "fact", ["team"])
    assert found.cosine == pytest.approx(1, abs=1e-5)
    assert found.bm25
    store.undo()
    assert everything(store)[0] == []


def test_a_changed_vector_is_restored(store):
    fact = make_fact("one")
    store.apply(Changes(facts=[write(fact, 1)]), RUN)
    store.apply(Changes(facts=[FactWrite(dataclasses.replace(fact, pinned=True))]), RUN)
    store.apply(Changes(facts=[FactWrite(dataclasses.replace(fact, text="edited"), unit(2), "edited")]), RUN)
    runs = store.runs()
    store.undo(runs[1].id, cascade=True)
    [(restored, vector)] = store.all_facts(vectors=True)
    assert restored == fact
    assert np.allclose(vector, unit(1))


def test_undo_is_refused_when_later_runs_built_on_it(store):
    fact = make_fact("one")
    first = store.apply(Changes(facts=[write(fact)]), RUN)
    second = store.apply(Changes(facts=[FactWrite(dataclasses.replace(fact, state=State.FORGOTTEN))]), RUN)
    with pytest.raises(UndoBlocked, match=second.run_id):
        store.undo(first.run_id)
    assert store.undo(first.run_id, cascade=True, dry_run=True).removed == (fact.id,)
    assert len(export(store)) == 1
    undone = store.undo(first.run_id, cascade=True)
    assert undone.runs == (second.run_id, first.run_id)
    assert export(store) == []


def test_an_undone_run_does_not_stand_in_the_way(store):
    fact = make_fact("one")
    first = store.apply(Changes(facts=[write(fact)]), RUN)
    store.apply(Changes(facts=[FactWrite(dataclasses.replace(fact, pinned=True))]), RUN)
    store.undo()
    store.undo(first.run_id)
    assert export(store) == []


def test_all_parts_of_a_run_are_undone(store):
    first = store.apply(Changes(facts=[write(make_fact("one"))]), RUN)
    store.apply(Changes(facts=[write(make_fact("two"))]), RunInfo("test", id=first.run_id))
    store.undo()
    assert export(store) == []


def test_what_was_undone_is_not_undone_again(store):
    receipt = ingest(store)
    store.undo()
    with pytest.raises(NotFound):
        store.undo(receipt.run_id)
    with pytest.raises(NotFound):
        store.undo()
    with pytest.raises(NotFound):
        store.undo("nonsense")


def test_undo_keeps_recall_counts(store):
    fact = make_fact("one")
    store.apply(Changes(facts=[write(fact)]), RUN)
    store.apply(Changes(facts=[FactWrite(dataclasses.replace(fact, pinned=True))]), RUN)
    store.record_use([fact.id], START)
    store.undo()
    assert store.fact(fact.id) == dataclasses.replace(fact, uses=1, last_used_at=START)
