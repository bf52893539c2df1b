import dataclasses
import os
import shutil
from datetime import timedelta

from storekit import START, export, make_fact, message, unit, write

from memctl.model import Source, State, Wording
from memctl.store import Changes, FactWrite, Filter, RunInfo, StateEntry, Store, StoredMessage

RUN = RunInfo("test")
SECRET = "Xylophone-zebra launches from Quixotania"


def bytes_of(home):
    return {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}


def holding(home, text):
    words = [text.encode(), text.encode("utf-16-le"), text.lower().encode()]
    return [path.name for path, data in bytes_of(home).items() if any(word in data for word in words)]


def tell(store):
    """Leave the secret in as many places as a life of a fact does."""
    secret = make_fact(SECRET)
    store.apply(Changes(facts=[write(secret, 1)]), RunInfo("remember", args=f"remember {SECRET}"))
    quote = Source("chat.json", 3, "ana", f"I said: {SECRET}!", START, "agent")
    wording = Wording(SECRET, START + timedelta(days=1), quote)
    again = dataclasses.replace(secret, wordings=(*secret.wordings, wording), pinned=True)
    store.apply(Changes(facts=[FactWrite(again)]), RUN)
    other = make_fact("harmless", because=f"replaced {SECRET}", supersedes=(secret.id,))
    gone = dataclasses.replace(again, state=State.SUPERSEDED, superseded_by=other.id)
    store.apply(Changes(facts=[write(other, 2), FactWrite(gone)]), RUN)
    said = [message(0, "hello"), message(3, f"Note: I said: {SECRET}! Yes."), message(4, "put differently")]
    stored = [StoredMessage("t", "team", "chat.json", one, str(one.index), one.text.lower(), unit(9)) for one in said]
    store.apply(Changes(messages=stored), RUN)
    return secret, other


def test_after_purge_no_byte_of_the_text_is_left(store, home):
    secret, other = tell(store)
    assert holding(home, SECRET)
    store.purge([secret.id])
    for word in (SECRET, "xylophone", "Quixotania", "quixotania"):
        assert holding(home, word) == []
    [left] = store.all_facts()
    assert left == dataclasses.replace(other, because="replaced [purged]", supersedes=())
    assert store.messages_of("t")[0].message.text == "hello"
    assert store.list_facts() == [left]
    assert Store.open(home).search_facts(unit(1), "xylophone harmless", ["team"])[0].fact == left


def test_an_index_that_cannot_be_built_anew_keeps_no_byte_of_what_was_purged(store, home):
    secret, other = tell(store)
    in_the_way = home / f".index.{os.getpid()}.tmp"
    (in_the_way / "x").mkdir(parents=True)
    store.purge([secret.id])
    assert holding(home, SECRET) == []
    shutil.rmtree(in_the_way)
    assert [fact.id for fact in Store.open(home).list_facts()] == [other.id]


def test_undo_of_older_runs_still_works_after_a_purge(store):
    secret, _ = tell(store)
    store.purge([secret.id])
    runs = store.runs()
    store.undo(next(run.id for run in runs if run.facts_added), cascade=True)
    assert SECRET not in "".join(export(store))


def test_purging_nothing_does_nothing(store):
    tell(store)
    before = export(store)
    assert store.purge(["unknown"]).run_id == ""
    assert export(store) == before


def test_dropped_and_replaced_rows_are_gone_after_compact(store, home):
    fact = make_fact(SECRET)
    store.apply(Changes(state=[StateEntry("team", "k", SECRET, START)]), RUN)
    store.apply(Changes(drop_state=[("team", "k")]), RUN)
    store.apply(Changes(facts=[write(fact)]), RUN)
    store.purge([fact.id])
    versions = [len(list(path.iterdir())) for path in (home / "record").glob("*/_versions")]
    assert max(versions) <= 3
    assert store.count_facts(Filter(agents=["team"])) == 0


def test_compact_changes_nothing_that_can_be_seen(store):
    tell(store)
    before, messages = export(store), store.messages_of("t")
    store.compact()
    store.compact()
    assert (export(store), store.messages_of("t")) == (before, messages)
    assert store.undo().runs
