"""Kill the writer at every labelled step and at random moments; the next writer must find the store whole."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from storekit import MODEL, START, make_fact, message, write

from memctl.store import Changes, LedgerEntry, RunInfo, StateEntry, Store, StoredMessage

RUN = RunInfo("test")
PATIENCE = 600  # a busy machine is no fault of the store
BEFORE = ("after-lock", "journal-temp")
AFTER = (
    *("journal-written", "facts-written", "messages-written", "transcripts-written", "state-written"),
    *("runs-written", "index-written", "journal-removed"),
)
COMPACT = ("facts-compacted", "runs-compacted", "index-rebuilt", "compacted")
STEPS = {
    "apply_one": AFTER,
    "compact": COMPACT,
    "purge": ("journal-written", "facts-written", "facts-compacted", "index-rebuilt"),
    "settle": ("facts-tidied", "runs-tidied"),
}

WORKER = """
import sys
sys.path.insert(0, sys.argv[2])
import test_crash
getattr(test_crash, sys.argv[3])(test_crash.Store.open(sys.argv[1]))
"""


def batch(number):
    stored = StoredMessage("t", "team", "chat.json", message(number, f"m{number}"), f"c{number}", f"m{number}")
    return Changes(
        facts=[write(make_fact(f"fact {number} {part}"), part) for part in range(3)],
        messages=[stored],
        transcripts=[LedgerEntry("t", "team", "chat.json", f"d{number}", number + 1, f"c{number}", START)],
        state=[StateEntry("team", "k", number, START)],
    )


def apply_one(store):
    store.apply(batch(1), RUN)


def apply_many(store):
    for number in range(2, 10_000):
        store.apply(batch(number), RUN)
        print(number, flush=True)


def compact(store):
    store.compact()


def settle(store):
    store.settle()


def upkeep_many(store):
    for number in range(2, 10_000):
        store.apply(batch(number), RUN)
        store.compact()
        print(number, flush=True)


def purge(store):
    store.purge([make_fact("fact 0 1").id])


def run_worker(home, task, **environment):
    argv = [sys.executable, "-c", WORKER, str(home), str(Path(__file__).parent), task]
    return subprocess.Popen(argv, env=os.environ | environment, stdout=subprocess.PIPE, text=True)


def run_killed(home, task, label):
    worker = run_worker(home, task, MEMCTL_CRASH_AT=label)
    worker.communicate(timeout=PATIENCE)
    assert worker.returncode == -signal.SIGKILL, label


def assert_whole(home, batches):
    """Exactly these batches are there, once each, in record and index."""
    store = Store.open(home)
    with store.writing("look"):
        pass
    assert list((home / "journal").iterdir()) == []
    facts = sorted(fact.text for fact in store.all_facts())
    assert facts == sorted(f"fact {number} {part}" for number in batches for part in range(3))
    assert sorted(fact.text for fact in store.list_facts()) == facts
    assert [one.message.text for one in store.messages_of("t")] == [f"m{number}" for number in sorted(batches)]
    assert [entry.digest for entry in store.transcripts()] == [f"d{max(batches)}"]
    assert store.state_get("team", "k").value == max(batches)
    assert len(store.runs()) == len(batches)
    assert store.index.watermark() == store.record.versions()
    assert [found.fact.text for found in store.search_facts(None, "0", ["team"])]
    return store


@pytest.fixture
def begun(home):
    store = Store.create(home, MODEL)
    store.apply(batch(0), RUN)
    return home


@pytest.mark.parametrize("label", BEFORE)
def test_killed_before_it_was_accepted_nothing_happened(begun, label):
    run_killed(begun, "apply_one", label)
    assert_whole(begun, [0])


@pytest.mark.parametrize("label", AFTER)
def test_killed_after_it_was_accepted_everything_happens(begun, label):
    run_killed(begun, "apply_one", label)
    if label != "journal-removed":
        assert list((begun / "journal").iterdir())
    store = assert_whole(begun, [0, 1])
    assert store.apply(batch(1), RUN).run_id == ""
    store.undo()
    assert_undone(begun)


def assert_undone(home):
    store = Store.open(home)
    assert len(list(store.all_facts())) == len(store.list_facts()) == 3
    assert store.state_get("team", "k").value == 0


@pytest.mark.parametrize("label", COMPACT)
def test_killed_in_compact_nothing_is_lost(begun, label):
    run_killed(begun, "compact", label)
    assert_whole(begun, [0])


@pytest.mark.parametrize("label", ["journal-written", "facts-compacted", "index-rebuilt"])
def test_a_purge_that_was_killed_is_finished_by_the_next_writer(begun, label):
    run_killed(begun, "purge", label)
    store = Store.open(begun)
    store.apply(Changes(state=[StateEntry("team", "other", 1, START)]), RUN)
    assert sorted(fact.text for fact in store.list_facts()) == ["fact 0 0", "fact 0 2"]
    left = [path for path in begun.rglob("*") if path.is_file() and b"fact 0 1" in path.read_bytes()]
    assert left == []


def repair(store):
    store.repair()


def test_a_repair_that_was_killed_loses_nothing_that_it_had_saved(begun):
    store = Store.open(begun)
    store.apply(batch(1), RUN)
    victim = min((begun / "record" / "facts.lance" / "data").iterdir(), key=lambda path: path.stat().st_mtime_ns)
    victim.unlink()
    run_killed(begun, "repair", "damaged-aside")
    store = Store.open(begun)
    store.apply(Changes(state=[StateEntry("team", "other", 1, START)]), RUN)
    expected = [f"fact 1 {part}" for part in range(3)]
    assert sorted(fact.text for fact in store.all_facts()) == expected
    assert sorted(fact.text for fact in store.list_facts()) == expected
    assert [found.fact.text for found in store.search_facts(None, "1", ["team"])]
    store.repair()
    assert Store.open(begun).check() == []
    assert sorted(fact.text for fact in store.all_facts()) == expected


def restore(store):
    Store.restore(Path(store.home.root).parent / "copy", Path(store.home.root).parent / "elsewhere")


def test_a_restore_that_was_killed_can_be_done_again(begun, tmp_path):
    Store.open(begun).backup(tmp_path / "copy")
    run_killed(begun, "restore", "part-restored")
    Store.restore(tmp_path / "copy", tmp_path / "elsewhere")
    restored = Store.open(tmp_path / "elsewhere")
    assert restored.check() == []
    restored.apply(batch(1), RUN)
    assert_whole(tmp_path / "elsewhere", [0, 1])
    assert not (tmp_path / "elsewhere" / "restore.todo").exists()


@pytest.mark.parametrize("task", STEPS)
@pytest.mark.parametrize("look", [Store.check, Store.check_new])
def test_a_check_takes_no_dead_writer_for_damage(begun, task, look):
    assert Store.open(begun).check_new() == []
    for label in STEPS[task]:
        copy = Path(shutil.copytree(begun, begun.parent / f"{task} {label}"))
        run_killed(copy, task, label)
        assert look(Store.open(copy)) == [], label


def test_what_is_lost_is_found_though_a_compaction_died(begun):
    run_killed(begun, "compact", "facts-compacted")
    store = Store.open(begun)
    with store.writing("finish"):
        pass
    next((begun / "record" / "facts.lance" / "data").iterdir()).unlink()
    assert "file_missing" in {finding.code for finding in store.check()}


def test_a_store_whose_compaction_died_can_be_backed_up(begun, tmp_path):
    run_killed(begun, "compact", "runs-compacted")
    Store.open(begun).backup(tmp_path / "backup")
    assert Store.open(tmp_path / "backup").check() == []


def test_a_check_takes_no_writer_at_work_for_damage(begun):
    worker = run_worker(begun, "upkeep_many")
    try:
        assert worker.stdout.readline()
        for _ in range(6):
            assert Store.open(begun).check(wait=PATIENCE) == []
    finally:
        worker.kill()
        worker.communicate()


def test_real_damage_is_found_while_somebody_else_holds_the_lock(begun):
    store = Store.open(begun)
    next((begun / "record" / "facts.lance" / "data").iterdir()).unlink()
    with Store.open(begun).writing("long"):
        assert "file_missing" in {finding.code for finding in store.check(wait=0)}


def test_recall_counts_are_not_doubled_by_a_kill(begun):
    store = Store.open(begun)
    fact = make_fact("fact 0 0")
    store.record_use([fact.id], START)
    run_killed(begun, "apply_one", "index-written")
    assert_whole(begun, [0, 1])
    assert store.fact(fact.id).uses == 1


def test_creating_a_store_survives_a_kill(home):
    code = "import sys; from memctl.store import *; Store.create(sys.argv[1], Model('toy', 'digest', 8))"
    environment = os.environ | {"MEMCTL_CRASH_AT": "tables-created"}
    assert subprocess.run([sys.executable, "-c", code, str(home)], env=environment, check=False).returncode == -9
    Store.create(home, MODEL).apply(batch(0), RUN)
    assert_whole(home, [0])


def test_killed_at_random_moments_what_was_reported_is_there(begun):
    chance = random.Random(7)
    apply_one(Store.open(begun))
    for _ in range(3):
        worker = run_worker(begun, "apply_many")
        worker.stdout.readline()
        time.sleep(chance.uniform(0, 0.4))
        worker.kill()
        said = [int(line) for line in worker.communicate()[0].split()]
        store = Store.open(begun)
        with store.writing("look"):
            done = store.state_get("team", "k").value
        assert done >= max(said, default=2)
        assert_whole_range(store, done)
        store.undo()
        for _run in range(len(store.runs())):
            effective = [run for run in store.runs() if not run.undone_by and not run.undoes]
            if len(effective) <= 2:
                break
            store.undo()


def assert_whole_range(store, done):
    facts = sorted(fact.text for fact in store.all_facts())
    assert facts == sorted(f"fact {number} {part}" for number in range(done + 1) for part in range(3))
    assert sorted(fact.text for fact in store.list_facts()) == facts
