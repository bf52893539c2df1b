"""Many processes on one store: exact counts, named holders, readers that never wait."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from storekit import START, make_fact, write

from memctl.errors import StoreBusy
from memctl.store import Changes, RunInfo, StateEntry, Store

WRITER = """
import sys
sys.path.insert(0, sys.argv[2])
from storekit import make_fact, write
from memctl.store import *
store = Store.open(sys.argv[1])
for number in range(8):
    shared, own = make_fact(f"shared {number}"), make_fact(f"{sys.argv[3]} {number}")
    store.apply(Changes(facts=[write(shared, number), write(own, number)]), RunInfo("write"), wait=60)
"""
COMPACTER = """
import sys
from memctl.store import *
store = Store.open(sys.argv[1])
for _ in range(3):
    store.compact(wait=60)
"""
READER = """
import sys
sys.path.insert(0, sys.argv[2])
from storekit import unit
from memctl.store import *
store = Store.open(sys.argv[1])
for number in range(40):
    store.search_facts(unit(number), f"shared {number}", ["team"])
    store.near([unit(number)], "team")
    len(list(store.all_facts()))
    store.list_facts(limit=5)
    store.record_use(["x"], store.meta.created)
assert not any("rebuilt" in note for note in store.notes), store.notes
"""
HOLDER = """
import sys, time
from memctl.store import *
with Store.open(sys.argv[1]).writing("nightly"):
    print("held", flush=True)
    time.sleep(60)
"""


def start(code, home, *arguments):
    argv = [sys.executable, "-c", code, str(home), str(Path(__file__).parent), *arguments]
    return subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_writers_readers_and_a_compacter_do_not_disturb_each_other(store, home):
    store.apply(Changes(facts=[write(make_fact("first"))]), RunInfo("test"))
    crowd = [start(WRITER, home, name) for name in ("a", "b", "c")]
    crowd += [start(READER, home), start(COMPACTER, home)]
    for process in crowd:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
    store = Store.open(home)
    facts = sorted(fact.text for fact in store.all_facts())
    expected = ["first", *(f"{name} {number}" for name in ("a", "b", "c", "shared") for number in range(8))]
    assert facts == sorted(expected)
    assert sorted(fact.text for fact in store.list_facts()) == facts


def test_a_busy_store_names_its_holder_and_a_dead_one_lets_go(store, home):
    holder = start(HOLDER, home)
    assert holder.stdout.readline() == "held\n"
    changes = Changes(state=[StateEntry("team", "k", 1, START)])
    with pytest.raises(StoreBusy, match=rf"memctl nightly, process {holder.pid} on .*, since 2") as caught:
        store.apply(changes, RunInfo("test"), wait=0.1)
    assert caught.value.exit_code == 5
    assert Store.open(home).holder().command == "nightly"
    assert store.list_facts() == []
    holder.send_signal(signal.SIGKILL)
    holder.communicate()
    assert store.apply(changes, RunInfo("test"), wait=5).run_id
    assert store.holder() is None


def test_threads_of_one_process_take_turns(store):
    import threading

    order = []

    def work(number):
        with store.writing("thread", wait=20):
            order.append(number)
            time.sleep(0.01)
            order.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert order[::2] == order[1::2]
