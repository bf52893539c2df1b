"""Google Cloud Storage and Azure: the same store and the same lease, over what their protocols offer."""

import time

import pytest
from cloudkit import Azure, Google, cloud
from storekit import MODEL, export, make_fact, unit, write

from memctl.errors import StoreBusy
from memctl.store import Changes, RunInfo, Store
from memctl.store.home import locate, object_store_options
from memctl.store.lease import Lease
from memctl.store.objects import Changed, ObjectFiles

pytest.importorskip("obstore")

RUN = RunInfo("test")


@pytest.fixture(params=["gs", "az"])
def uri(request, monkeypatch, tmp_path):
    monkeypatch.setenv("MEMCTL_CACHE", str(tmp_path / "machine-a"))
    monkeypatch.setenv("MEMCTL_LEASE_SECONDS", "3")
    with cloud(Google if request.param == "gs" else Azure) as address:
        if request.param == "gs":
            monkeypatch.setenv("STORAGE_EMULATOR_HOST", address)
        else:
            monkeypatch.setenv("AZURE_STORAGE_ACCOUNT", "acme")
            monkeypatch.setenv("AZURE_STORAGE_KEY", "c2VjcmV0")
            monkeypatch.setenv("AZURE_STORAGE_ENDPOINT", f"{address}/acme")
        yield f"{request.param}://bucket/team"


def test_conditional_puts_let_only_one_through(uri):
    files = ObjectFiles(uri)
    tag = files.write_tagged("x", b"1", None)
    with pytest.raises(Changed):
        files.write_tagged("x", b"2", None)
    newer = files.write_tagged("x", b"3", tag)
    with pytest.raises(Changed):
        files.write_tagged("x", b"4", tag)
    assert files.read_tagged("x").tag.same(newer)
    assert not newer.same(tag)
    assert files.read("x") == b"3"
    files.remove("x")
    files.remove("x")
    assert files.read("x") is None


def test_a_lease_is_taken_kept_given_back_and_taken_over(uri):
    first, second = Lease(locate(uri)), Lease(locate(uri))
    second.seconds = 600
    with first.held("slow", 0):
        time.sleep(first.seconds / 2)  # renewed in the background meanwhile
        first.confirm()
        with pytest.raises(StoreBusy, match="memctl slow, process"), second.held("quick", 0):
            pass
        first._renewing.acquire()  # the holder hangs: it renews no more
        time.sleep(first.seconds + 0.5)
        with second.held("quick", 5):
            first._renewing.release()
            with pytest.raises(StoreBusy, match=r"quick|the lease was lost"):
                first.confirm()
    assert second.holder() is None


def test_a_fresh_lease_that_somebody_else_took_is_noticed_without_a_put(uri):
    lease = Lease(locate(uri))
    lease.seconds = 600
    with lease.held("slow", 0):
        lease.confirm()
        lease.files.write("lease.json", b'{"fence": 9, "until": 0}')
        with pytest.raises(StoreBusy):
            lease.confirm()


def test_two_machines_share_a_store(uri, tmp_path, monkeypatch):
    store = Store.create(uri, MODEL)
    store.apply(Changes(facts=[write(make_fact("one"), 1)]), RUN)
    monkeypatch.setenv("MEMCTL_CACHE", str(tmp_path / "machine-b"))
    other = Store.open(uri)
    other.apply(Changes(facts=[write(make_fact("two"), 2)]), RUN)
    assert sorted(fact.text for fact in store.list_facts()) == ["one", "two"]
    assert store.search_facts(unit(2), "two", ["team"])[0].fact.text == "two"
    other.undo()
    assert [fact.text for fact in store.list_facts()] == ["one"]
    assert store.check() == []
    assert export(other) == export(store)


@pytest.mark.parametrize(
    ("root", "environment", "options"),
    [
        ("gs://b/x", {}, {}),
        (
            "gs://b/x",
            {"STORAGE_EMULATOR_HOST": "localhost:4443"},
            {"google_base_url": "http://localhost:4443", "google_bearer_token": "emulator", "allow_http": "true"},
        ),
        ("gs://b/x", {"GOOGLE_BASE_URL": "http://localhost:4443"}, {"allow_http": "true"}),
        ("az://c/x", {"AZURE_STORAGE_ACCOUNT_NAME": "acme"}, {"azure_storage_account_name": "acme"}),
        (
            "az://c/x",
            {"AZURE_STORAGE_ACCOUNT": "acme", "AZURE_STORAGE_KEY": "k"},
            {"azure_storage_account_name": "acme", "azure_storage_account_key": "k"},
        ),
        ("az://c@other.blob.core.windows.net/x", {"AZURE_STORAGE_ACCOUNT": "acme"}, {}),
        ("az://c/x", {"AZURE_STORAGE_USE_EMULATOR": "true"}, {"azure_storage_account_name": "devstoreaccount1"}),
        ("AZ://c/x", {"AZURE_STORAGE_ENDPOINT": "http://localhost:10000/acme"}, {"allow_http": "true"}),
    ],
)
def test_what_the_clouds_own_tools_are_told_the_libraries_are_told(root, environment, options):
    assert object_store_options(root, environment) == options
