import dataclasses
import itertools
import json
import stat
from datetime import timedelta

import pytest
from storekit import DIMENSION, MODEL, START, export, make_fact, message, unit, write

from memctl import __version__
from memctl.errors import Ambiguous, NewerStore, NoStore, NotFound, OtherModel
from memctl.model import State, ToolCall, ToolResult
from memctl.store import Changes, FactWrite, Filter, LedgerEntry, Model, RunInfo, StateEntry, Store, StoredMessage
from memctl.store.home import Meta, locate, write_meta

RUN = RunInfo("test")


def test_a_fact_comes_back_as_it_went_in(store):
    fact = make_fact(
        'It\'s "odd"\n数据',
        tags=("a", "b'c"),
        expires_at=START + timedelta(days=7),
        supersedes=("x",),
        superseded_by="y",
        contested_with=("z",),
        because="why",
        rule="r",
        score=0.25,
        confidence=0.5,
        confirmed=True,
        pinned=True,
        uses=3,
        last_used_at=START,
    )
    store.apply(Changes(facts=[write(fact)]), RUN)
    assert list(store.all_facts()) == [fact]
    assert store.list_facts() == [fact]
    assert store.facts_by_ids([fact.id, "unknown"]) == [fact]
    assert store.fact(fact.id[:6]) == fact


def test_lone_surrogates_are_written_with_a_mark(store):
    store.apply(Changes(facts=[write(make_fact("broken \ud800 text"))]), RUN)
    assert [fact.text for fact in store.all_facts()] == ["broken ? text"]


def test_applying_the_same_again_changes_nothing_and_leaves_no_run(store):
    changes = Changes(facts=[write(make_fact("one"), 1)])
    assert store.apply(changes, RUN).added == {"facts": 1}
    assert store.apply(changes, RUN).run_id == ""
    assert len(store.runs()) == 1


def test_a_change_of_state_keeps_vector_and_words(store):
    fact = make_fact("Deploys run on Fly")
    store.apply(Changes(facts=[write(fact, 5)]), RUN)
    receipt = store.apply(Changes(facts=[FactWrite(dataclasses.replace(fact, state=State.SUPERSEDED))]), RUN)
    assert receipt.changed == {"facts": 1}
    [found] = store.search_facts(unit(5), "fly", ["team"])
    assert found.fact.state is State.SUPERSEDED
    assert found.cosine == pytest.approx(1, abs=1e-5)
    assert found.bm25


def test_of_two_writes_for_one_fact_the_later_counts(store):
    fact = make_fact("one")
    pinned = dataclasses.replace(fact, pinned=True)
    store.apply(Changes(facts=[write(fact), write(pinned)]), RUN)
    assert list(store.all_facts()) == [pinned]


def test_a_run_may_have_several_parts(store):
    first = store.apply(Changes(facts=[write(make_fact("one"))]), RunInfo("ingest", counts={"files": 1}))
    more = RunInfo("ingest", counts={"files": 2}, id=first.run_id)
    second = store.apply(Changes(facts=[write(make_fact("two"))]), more)
    assert second.run_id == first.run_id
    [run] = store.runs()
    assert (run.parts, run.counts, run.facts_added) == (2, {"files": 3}, 2)


def test_messages_ledger_and_state_come_back(store):
    call = dataclasses.replace(
        message(1, "result"), tool_calls=(ToolCall("run", "{}", "7"),), tool_results=(ToolResult("ok", exit_code=0),)
    )
    stored = [
        StoredMessage("t", "team", "chat.json", said, f"c{said.index}", "words", unit(said.index))
        for said in (message(0, "hello"), call, message(2, "bye"))
    ]
    entry = LedgerEntry("t", "team", "chat.json", "digest", 3, "c2", START, notes=("n",), mtime=START)
    value = StateEntry("team", "key'\n", {"a": [1, None]}, START)
    store.apply(Changes(messages=stored, transcripts=[entry], state=[value]), RUN)
    assert [one.message for one in store.messages_of("t")] == [one.message for one in stored]
    assert store.transcripts(agent="team", digest="digest") == [entry]
    assert store.state_get("team", "key'\n") == value
    assert store.state_list() == [value]
    store.apply(Changes(drop_state=[("team", "key'\n")]), RUN)
    assert store.state_get("team", "key'\n") is None


def test_expired_state_is_not_given(store):
    store.apply(Changes(state=[StateEntry("team", "k", 1, START, START + timedelta(hours=1))]), RUN)
    assert store.state_get("team", "k", at=START)
    assert store.state_get("team", "k", at=START + timedelta(hours=1)) is None


def test_messages_without_vectors_are_found_by_words(store):
    stored = StoredMessage("t", "team", "chat.json", message(0, "the Zurich office"), "c", "zurich office", None)
    store.apply(
        Changes(messages=[stored, dataclasses.replace(stored, message=message(1, "x"), terms="x", vector=unit(1))]), RUN
    )
    [first, *_] = [one for one in store.search_messages(unit(1), "zurich", ["team"]) if one.bm25]
    assert (first.stored.message.text, first.cosine) == ("the Zurich office", None)


def test_opening_nothing_is_no_store(home):
    with pytest.raises(NoStore):
        Store.open(home)
    assert not home.exists()


def test_a_store_of_another_model_is_refused(store, home):
    with pytest.raises(OtherModel):
        Store.open(home, model=Model("other", "", DIMENSION))
    assert Store.open(home, model=MODEL).meta.model == MODEL


def test_a_newer_store_is_refused(store, home):
    write_meta(locate(home), Meta(99, MODEL, START))
    with pytest.raises(NewerStore, match="99"):
        Store.open(home)


@pytest.mark.parametrize("about", [{"format": 99, "release": "7.1"}, {"format": 99, "release": "7.1", "model": "x"}])
def test_a_newer_store_is_refused_with_the_release_to_install(store, home, about):
    (home / "memctl.json").write_text(json.dumps(about))
    with pytest.raises(NewerStore) as refused:
        Store.open(home)
    assert refused.value.remedy == "Install memctl 7.1 or later."


def test_a_store_says_which_release_wrote_it(store, home):
    assert json.loads((home / "memctl.json").read_text())["release"] == __version__


def test_ambiguous_and_unknown_ids_are_not_found(store):
    store.apply(Changes(facts=[write(make_fact(f"fact {number}")) for number in range(40)]), RUN)
    ids = sorted(fact.id for fact in store.all_facts())
    shared = next(a[:1] for a, b in itertools.pairwise(ids) if a[0] == b[0])
    for name in (shared, "zzz", ""):
        with pytest.raises(NotFound):
            store.fact(name)
    alike = sum(name.startswith(shared) for name in ids)
    with pytest.raises(Ambiguous) as refused:
        store.fact(shared)
    assert (str(refused.value), refused.value.remedy) == (f"{alike} facts match {shared}.", "Give more of the id.")


def test_files_are_private(store, home):
    store.apply(Changes(facts=[write(make_fact("one"))]), RUN)
    store.record_use(["x"], START)
    for path in [home, *home.rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path


def test_a_store_can_be_copied_and_opened_elsewhere(store, home, tmp_path):
    import shutil

    store.apply(Changes(facts=[write(make_fact("one"))]), RUN)
    shutil.copytree(home, tmp_path / "copy")
    copy = Store.open(tmp_path / "copy")
    assert export(copy) == export(store)
    copy.apply(Changes(facts=[write(make_fact("two"))]), RUN)
    assert len(copy.list_facts()) == 2
    assert len(store.list_facts()) == 1


def test_recall_counts_are_folded_in_once(store, home):
    fact = make_fact("one")
    store.apply(Changes(facts=[write(fact)]), RUN)
    for hour in range(3):
        store.record_use([fact.id, "unknown"], START + timedelta(hours=hour))
    store.apply(Changes(facts=[write(make_fact("two"))]), RUN)
    store.apply(Changes(facts=[FactWrite(dataclasses.replace(fact, pinned=True))]), RUN)
    found = store.fact(fact.id)
    assert (found.uses, found.last_used_at, found.pinned) == (3, START + timedelta(hours=2), True)
    assert list((home / "spool").iterdir()) == []
    assert store.list_facts(Filter(ids=[fact.id])) == [found]


def test_files_and_versions_stay_few_over_many_small_runs(store, home):
    for number in range(60):
        store.apply(Changes(facts=[write(make_fact(f"fact {number}"))]), RUN)
    assert store.record.read("facts", lambda table: len(table.get_fragments())) <= 30
    assert len(list((home / "record" / "facts.lance" / "_versions").iterdir())) <= 100
    assert len(store.list_facts()) == 60


def test_compact_counts_recalls_in_without_a_run_that_people_see(store, home):
    fact = make_fact("one")
    store.apply(Changes(facts=[write(fact)]), RUN)
    store.record_use([fact.id], START)
    store.compact()
    store.compact()
    assert store.fact(fact.id).uses == store.list_facts()[0].uses == 1
    assert len(store.runs()) == 1
    store.undo()
    assert export(store) == []
