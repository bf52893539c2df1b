"""Two machines on one object store: a real S3 server process on loopback."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from storekit import MODEL, START, export, make_fact, unit, write

from memctl.errors import NoStore, StoreBusy
from memctl.store import Changes, RunInfo, StateEntry, Store
from memctl.store.home import locate
from memctl.store.lease import Lease
from memctl.store.objects import Changed, ObjectFiles
from tests.s3 import s3_server

pytest.importorskip("moto")
pytest.importorskip("obstore")

RUN = RunInfo("test")
WRITER = """
import sys
sys.path.insert(0, sys.argv[2])
from storekit import make_fact, write
from memctl.store import *
store = Store.open(sys.argv[1])
for number in range(3):
    facts = [write(make_fact(f"shared {number}"), number), write(make_fact(f"{sys.argv[3]} {number}"), 1)]
    store.apply(Changes(facts=facts), RunInfo("write"), wait=90)
"""


@pytest.fixture(scope="module")
def server():
    with s3_server() as url:
        yield url


@pytest.fixture
def uri(server, monkeypatch, tmp_path, request):
    import boto3

    for name, value in {
        "AWS_ENDPOINT_URL": server,
        "AWS_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "MEMCTL_CACHE": str(tmp_path / "machine-a"),
        "MEMCTL_LEASE_SECONDS": "3",
    }.items():
        monkeypatch.setenv(name, value)
    bucket = f"b{abs(hash(request.node.name))}"
    boto3.client("s3", endpoint_url=server, region_name="us-east-1").create_bucket(Bucket=bucket)
    return f"s3://{bucket}/team"


def test_a_store_lives_on_an_object_store_with_a_cache_on_each_machine(uri, tmp_path, monkeypatch):
    with pytest.raises(NoStore):
        Store.open(uri)
    store = Store.create(uri, MODEL)
    store.apply(Changes(facts=[write(make_fact("one"), 1)], state=[StateEntry("team", "k", 1, START)]), RUN)
    monkeypatch.setenv("MEMCTL_CACHE", str(tmp_path / "machine-b"))
    other = Store.open(uri)
    assert [fact.text for fact in other.list_facts()] == ["one"]
    other.apply(Changes(facts=[write(make_fact("two"), 2)]), RUN)
    assert sorted(fact.text for fact in store.list_facts()) == ["one", "two"]
    assert store.search_facts(unit(2), "two", ["team"])[0].fact.text == "two"
    other.undo()
    assert [fact.text for fact in store.list_facts()] == ["one"]
    assert store.check() == []
    store.compact()
    assert export(other) == export(store)
    assert (tmp_path / "machine-a").exists()
    assert (tmp_path / "machine-b").exists()


def test_two_machines_write_and_nothing_is_doubled(uri, tmp_path):
    Store.create(uri, MODEL)
    crowd = []
    for name in ("a", "b"):
        environment = os.environ | {"MEMCTL_CACHE": str(tmp_path / name)}
        argv = [sys.executable, "-c", WRITER, uri, str(Path(__file__).parent), name]
        crowd.append(subprocess.Popen(argv, env=environment, stderr=subprocess.PIPE, text=True))
    for process in crowd:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
    expected = sorted(f"{name} {number}" for name in ("a", "b", "shared") for number in range(3))
    assert sorted(fact.text for fact in Store.open(uri).all_facts()) == expected


@pytest.mark.parametrize("label", ["journal-temp", "journal-written", "facts-written"])
def test_a_machine_that_dies_is_taken_over(uri, tmp_path, label):
    store = Store.create(uri, MODEL)
    environment = os.environ | {"MEMCTL_CACHE": str(tmp_path / "dying"), "MEMCTL_CRASH_AT": label}
    argv = [sys.executable, "-c", WRITER, uri, str(Path(__file__).parent), "dying"]
    assert subprocess.run(argv, env=environment, check=False).returncode == -signal.SIGKILL
    with pytest.raises(StoreBusy, match="memctl write, process"):
        store.apply(Changes(facts=[write(make_fact("x"))]), RUN, wait=0)
    store.apply(Changes(facts=[write(make_fact("x"))]), RUN, wait=20)
    dead = [] if label == "journal-temp" else ["dying 0", "shared 0"]
    assert sorted(fact.text for fact in store.all_facts()) == [*dead, "x"]
    assert sorted(fact.text for fact in store.list_facts()) == [*dead, "x"]
    assert ObjectFiles(uri).names("journal") == []


def test_a_lease_that_was_taken_over_stops_its_old_holder(uri):
    first, second = Lease(locate(uri)), Lease(locate(uri))
    second.seconds = 600  # it must not run out on a busy machine
    with first.held("slow", 0):
        first._renewing.acquire()  # the old holder hangs: it renews no more
        time.sleep(first.seconds + 0.5)
        with second.held("quick", 5):
            first._renewing.release()
            with pytest.raises(StoreBusy, match=r"quick|the lease was lost"):
                first.confirm()
    assert second._body["fence"] == 2
    assert first.holder() is None


def test_conditional_puts_let_only_one_through(uri):
    files = ObjectFiles(uri)
    tag = files.write_tagged("x", b"1", None)
    with pytest.raises(Changed):
        files.write_tagged("x", b"2", None)
    newer = files.write_tagged("x", b"3", tag)
    with pytest.raises(Changed):
        files.write_tagged("x", b"4", tag)
    assert files.read_tagged("x").tag == newer
    assert files.read("x") == b"3"
    files.remove("x")
    files.remove("x")
    assert files.read("x") is None
