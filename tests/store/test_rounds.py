"""What a night does to the store: small files folded together, and a check of what is new."""

import dataclasses
import json

import pytest
from storekit import START, export, make_fact, unit, write

from memctl.store import Changes, FactWrite, RunInfo, Store, rounds

RUN = RunInfo("test")


def add(store, *texts):
    return store.apply(Changes(facts=[write(make_fact(text)) for text in texts]), RUN)


def flip(path, word):
    data = bytearray(path.read_bytes())
    data[data.index(word)] ^= 0x01
    path.write_bytes(bytes(data))


def data_files(home, table="facts"):
    return sorted((home / "record" / f"{table}.lance" / "data").iterdir(), key=lambda path: path.stat().st_mtime)


def index_files(home):
    return {path for path in (home / "record" / "facts.lance" / "_indices").rglob("*") if path.is_file()}


def rows_per_file(store):
    return [part.count_rows() for part in store.record._fresh("facts").get_fragments()]


def test_a_round_without_findings_is_noted_and_the_next_one_starts_there(store, home):
    add(store, "one", "two")
    assert store.check_new() == []
    first = json.loads((home / rounds.NOTE).read_text())
    add(store, "three")
    assert store.check_new() == []
    second = json.loads((home / rounds.NOTE).read_text())
    assert second["sequence"] == first["sequence"] + 1
    assert second["files"].keys() > first["files"].keys()


def test_damage_in_what_is_new_is_found_by_every_round_until_it_is_repaired(store, home):
    add(store, "an old fact")
    store.check_new()
    add(store, "a new fact")
    flip(data_files(home)[-1], b"a new fact")
    for _ in range(2):
        assert {"file_damaged", "row_damaged"} <= {finding.code for finding in Store.open(home).check_new()}
    Store.open(home).repair()
    assert Store.open(home).check_new() == []


def test_old_files_are_looked_at_in_turn(store, home, monkeypatch):
    for text in ("first", "second", "third"):
        add(store, f"the {text} fact")
    store.check_new()
    flip(data_files(home)[1], b"the second fact")
    monkeypatch.setattr(rounds, "_BYTES_A_ROUND", 1)
    assert any(store.check_new() for _ in json.loads((home / "sums.json").read_text()))


@pytest.mark.parametrize(("target", "found"), [("known", set()), ("new", set()), ("missing", {"pointer_broken"})])
def test_pointers_of_new_facts_are_followed(store, target, found):
    known, fresh = make_fact("known"), make_fact("new")
    store.apply(Changes(facts=[write(known)]), RUN)
    store.check_new()
    names = {"known": known.id, "new": fresh.id, "missing": "nowhere"}
    pointing = make_fact("pointing", supersedes=(names[target],))
    store.apply(Changes(facts=[write(fresh), write(pointing)]), RUN)
    assert {finding.code for finding in store.check_new()} == found


def test_an_index_that_lost_new_rows_is_found(store):
    add(store, "one")
    store.check_new()
    add(store, "two")
    from memctl.store.connection import connected

    with connected(store.index.path, read_only=False) as connection:
        connection.execute("DELETE FROM facts WHERE text = 'two'")
    assert [finding.code for finding in store.check_new()] == ["index_differs"]


def test_the_note_of_another_store_counts_for_nothing(store, home):
    add(store, "one")
    store.check_new()
    shape = json.loads((home / rounds.NOTE).read_text())
    (home / rounds.NOTE).write_text(json.dumps(shape | {"store": "another", "sequence": 99}))
    flip(data_files(home)[0], b"one")
    assert store.check_new()


def test_settling_changes_nothing_that_can_be_seen_and_leaves_large_files_alone(store, home):
    add(store, *(f"fact {number}" for number in range(1500)))
    store.settle()
    [large], old_indexes = data_files(home), index_files(home)
    for night in range(6):
        add(store, *(f"night {night} fact {number}" for number in range(10)))
        store.settle()
    before = export(store)
    store.settle()
    assert export(store) == before
    assert large in data_files(home)
    assert old_indexes <= index_files(home)
    assert rows_per_file(store) == [1500, 60]
    assert store.search_facts(unit(0), "1499", ["team"])[0].fact is not None
    assert store.check() == []


def test_what_has_come_together_is_merged_when_it_has_grown(store):
    add(store, *(f"fact {number}" for number in range(1500)))
    store.settle()
    seen = []
    for night in range(3):
        add(store, *(f"night {night} fact {number}" for number in range(150)))
        store.settle()
        seen.append(rows_per_file(store))
    assert seen == [[1500, 150], [1500, 300], [1950]]


def test_rows_that_were_replaced_are_written_out_of_large_files_when_they_are_many(store):
    facts = [make_fact(f"fact {number}") for number in range(1200)]
    store.apply(Changes(facts=[write(fact) for fact in facts]), RUN)
    pinned = [FactWrite(dataclasses.replace(fact, pinned=True)) for fact in facts[:400]]
    store.apply(Changes(facts=pinned), RUN)
    store.settle()
    fragments = store.record._fresh("facts").get_fragments()
    assert sum(fragment.num_deletions for fragment in fragments) == 0
    assert sum(fragment.count_rows() for fragment in fragments) == 1200


def test_files_and_parts_of_indexes_stay_few_over_many_small_writes(store):
    for number in range(120):
        store.apply(Changes(facts=[write(make_fact(f"fact {number}", at=START))]), RUN)
        if number % 10 == 9:
            store.settle()
    data = store.record._fresh("facts")
    assert len(data.get_fragments()) <= 12
    assert max(data.stats.index_stats(index["name"])["num_indices"] for index in data.list_indices()) <= 4
