import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from storekit import MODEL, START, export, make_fact, message, unit, write

from memctl.errors import DamagedStore, NoStore, ReadOnlyStore
from memctl.store import Changes, FactWrite, Filter, LedgerEntry, RunInfo, Store, StoredMessage, rows

RUN = RunInfo("test")


@pytest.fixture
def filled(store):
    for group in range(3):
        facts = [make_fact(f"fact {group} {number}") for number in range(20)]
        stored = [
            StoredMessage("t", "team", "c", message(group * 9 + n, f"m {n}"), f"{group} {n}", "m") for n in range(9)
        ]
        entry = LedgerEntry("t", "team", "c", f"d{group}", 9, "x", START)
        changes = Changes(facts=[write(f, n) for n, f in enumerate(facts)], messages=stored, transcripts=[entry])
        store.apply(changes, RUN)
    return store


def data_files(home, table="facts"):
    return sorted((home / "record" / f"{table}.lance" / "data").iterdir(), key=lambda path: path.stat().st_mtime)


def flip(path, place, bits=0xFF):
    data = bytearray(path.read_bytes())
    data[place % len(data)] ^= bits
    path.write_bytes(bytes(data))


def test_a_healthy_store_has_no_findings(filled):
    assert filled.check() == []
    filled.undo()
    filled.compact()
    assert filled.check() == []
    assert [finding for finding in filled.repair() if finding.code == "lost"] == []
    assert filled.check() == []


def test_a_damaged_row_far_down_in_a_file_is_found(store, home, monkeypatch):
    monkeypatch.setattr(rows, "_ROWS_AT_ONCE", 7)  # files are read piece by piece
    store.apply(Changes(facts=[write(make_fact(f"fact number {number:03d}"), number) for number in range(50)]), RUN)
    victim = data_files(home)[0]

    flip(victim, victim.read_bytes().index(b"fact number 043"), 0x01)

    assert "row_damaged" in {finding.code for finding in Store.open(home).check()}


def test_every_flipped_byte_of_the_record_is_found_and_its_file_named(filled, home):
    chance = random.Random(3)
    files = [path for path in (home / "record").rglob("*") if path.is_file() and path.suffix != ".json"]
    for path in chance.sample(files, 12):
        good = path.read_bytes()
        if not good:
            continue
        flip(path, chance.randrange(len(good)))
        assert any(path.name in finding.where for finding in Store.open(home).check()), path
        path.write_bytes(good)
    assert Store.open(home).check() == []


@pytest.mark.parametrize(("bits", "code"), [(0x01, "row_damaged"), (0xFF, "rows_unreadable")])
def test_repair_keeps_what_reads_right_and_names_what_was_lost(filled, home, bits, code):
    before = export(filled)
    victim = data_files(home)[0]
    place = victim.read_bytes().index(b"fact 0 7")
    flip(victim, place, bits)
    store = Store.open(home)
    assert {"file_damaged", code} <= {finding.code for finding in store.check()}
    findings = store.repair()
    assert any(finding.code == "lost" for finding in findings)
    after = export(store)
    assert 0 < len(before) - len(after) <= 1
    assert set(after) < set(before)
    assert store.check() == []
    assert len(store.list_facts()) == len(after)
    assert store.apply(Changes(facts=[write(make_fact("new"))]), RUN).added == {"facts": 1}


def test_a_missing_data_file_costs_only_its_rows(filled, home):
    data_files(home)[1].unlink()
    store = Store.open(home)
    codes = {finding.code for finding in store.check()}
    assert {"file_missing", "rows_unreadable"} <= codes
    found = store.search_facts(unit(3), "2", ["team"], limit=5)
    assert found[0].cosine == pytest.approx(1, abs=1e-5)
    assert "cannot be read" in store.notes[0]
    assert store.repair()
    assert len(export(store)) == 40
    assert store.check() == []


def test_a_damaged_manifest_is_repaired(filled, home):
    newest = min((home / "record" / "facts.lance" / "_versions").glob("*.manifest"))
    newest.write_bytes(newest.read_bytes()[:50])
    store = Store.open(home)
    assert store.check()
    store.repair()
    assert Store.open(home).check() == []
    assert len(export(Store.open(home))) >= 40


def test_a_damaged_index_of_words_is_rebuilt_without_loss(filled, home):
    before = export(filled)
    filled.tidy()
    for path in (home / "record" / "facts.lance" / "_indices").rglob("*.lance"):
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    store = Store.open(home)
    assert store.check()
    store.search_facts(None, "7", ["team"])
    store.repair()
    assert export(store) == before
    assert store.check() == []
    assert store.search_facts(None, "7", ["team"])[0].bm25


def test_a_damaged_journal_is_told_and_dropped(filled, home):
    (home / "journal").mkdir(exist_ok=True)
    (home / "journal" / "000000000099.batch").write_bytes(b"half a jour")
    store = Store.open(home)
    assert [finding.code for finding in store.check()] == ["journal_damaged"]
    with pytest.raises(DamagedStore, match="000000000099"):
        store.apply(Changes(facts=[write(make_fact("x"))]), RUN)
    assert [finding.code for finding in store.repair()] == ["batch_lost"]
    assert store.check() == []


def test_pointers_to_nothing_are_found_and_dropped(store):
    store.apply(Changes(facts=[write(make_fact("a", superseded_by="gone", supersedes=("gone", "too")))]), RUN)
    assert {finding.code for finding in store.check()} == {"pointer_broken"}
    store.repair()
    assert store.check() == []


def test_an_index_that_lies_is_found(filled, home):
    import duckdb

    with duckdb.connect(str(home / "index.duckdb")) as connection:
        connection.execute("DELETE FROM facts WHERE text LIKE '%7'")
    assert [finding.code for finding in filled.check()] == ["index_differs"]
    filled.repair()
    assert filled.check() == []
    assert filled.count_facts() == 60


def test_a_half_copied_folder_is_damaged_not_empty(filled, home):
    (home / "memctl.json").unlink()
    with pytest.raises(DamagedStore, match=r"memctl\.json"):
        Store.open(home)
    assert len(export(Store.create(home, MODEL))) == 60
    shutil.rmtree(home / "record" / "runs.lance")
    store = Store.open(home)
    assert any(finding.code == "table_unreadable" for finding in store.check())
    store.repair()
    assert store.check() == []
    assert len(export(store)) == 60


def test_after_lost_runs_new_batches_still_reach_the_index(filled, home):
    shutil.rmtree(home / "record" / "runs.lance")
    store = Store.open(home)
    store.repair()
    fact = make_fact("fact 0 0", pinned=True)
    store.apply(Changes(facts=[FactWrite(fact)]), RUN)
    assert store.list_facts(Filter(pinned=True)) == [fact]
    assert [run.command for run in store.runs()] == ["test", "repair"]


def test_an_empty_folder_is_no_store(home):
    home.mkdir()
    with pytest.raises(NoStore):
        Store.open(home)


@pytest.fixture
def closed_record(filled, home):
    """The record on a disk that became read-only, in a store that can be written otherwise."""
    record = home / "record"
    if os.geteuid() or subprocess.run(["mount", "--bind", record, record], check=False).returncode:
        pytest.skip("needs to mount a folder read-only")
    subprocess.run(["mount", "-o", "remount,ro,bind", record], check=True)
    yield record
    subprocess.run(["umount", "-l", record], check=False, stderr=subprocess.DEVNULL)


def test_an_accepted_undo_that_could_not_be_finished_says_not_to_ask_again_and_is_done_once(home, closed_record):
    before = len(Store.open(home).runs())
    with pytest.raises(ReadOnlyStore) as failed:
        Store.open(home).undo()
    assert "must not be asked for again" in failed.value.remedy
    subprocess.run(["umount", closed_record], check=True)
    store = Store.open(home)
    with store.writing("the next command that writes"):
        pass
    assert store.check() == []
    assert len(export(store)) == 40
    assert len(store.runs()) == before + 1


FULL_DISK = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from storekit import MODEL, make_fact, write
from memctl.errors import MemctlError
from memctl.store import *
store = Store.create(sys.argv[1], MODEL)
done = 0
try:
    for number in range(400):
        text = f"{number} " + "".join(chr(0x4E00 + (number * 7919 + i * 31) % 20000) for i in range(40000))
        store.apply(Changes(facts=[write(make_fact(text), number)]), RunInfo("test"))
        done += 1
except MemctlError as error:
    print(type(error).__name__, int(error.exit_code), done)
"""


@pytest.fixture
def small_disk(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    if (
        os.geteuid()
        or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs", str(disk)], check=False).returncode
    ):
        pytest.skip("needs to mount a small tmpfs")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_a_full_disk_is_told_and_the_old_state_stays(small_disk):
    argv = [sys.executable, "-c", FULL_DISK, str(small_disk / "home"), str(Path(__file__).parent)]
    said = subprocess.run(argv, capture_output=True, text=True, check=True).stdout.split()
    assert said[:2] == [ReadOnlyStore.__name__, "5"]
    store = Store.open(small_disk / "home")
    assert len(list(store.all_facts(Filter(agents=["team"])))) in (int(said[2]), int(said[2]) + 1)
    subprocess.run(["mount", "-o", "remount,size=64m", str(small_disk)], check=True)
    store.apply(Changes(facts=[FactWrite(make_fact("after"), unit(1), "after")]), RUN)
    assert store.check() == []
    assert store.count_facts() in (int(said[2]) + 1, int(said[2]) + 2)
