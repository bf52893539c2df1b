import json
import shutil
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from storekit import MODEL, export, make_fact, unit, write

from memctl.errors import (
    DamagedBackup,
    DamagedStore,
    NewerStore,
    NoStore,
    ReadOnlyStore,
    StoreBusy,
    UnwritablePlace,
    UsageProblem,
)
from memctl.store import Changes, RunInfo, Store, guard, upgrades
from memctl.store.home import FORMAT, locate, read_meta, write_meta

RUN = RunInfo("test")
FIXTURES = Path(__file__).parent / "fixtures"


@pytest.fixture
def filled(store):
    store.apply(Changes(facts=[write(make_fact(f"fact {number}"), number) for number in range(5)]), RUN)
    return store


@pytest.mark.parametrize("name", ["copy", "copy.tar", "copy.tar.gz"])
def test_a_backup_restores_everything(filled, tmp_path, name):
    assert filled.backup(tmp_path / "backups" / name) > 1000
    restored = Store.restore(tmp_path / "backups" / name, tmp_path / "restored")
    assert export(restored) == export(filled)
    assert [run.id for run in restored.runs()] == [run.id for run in filled.runs()]
    assert restored.check() == []
    assert restored.undo().runs
    assert len(export(filled)) == 5
    assert [path.name for path in (tmp_path / "backups").iterdir()] == [name]


def test_a_backup_never_overwrites(filled, home, tmp_path):
    filled.backup(tmp_path / "copy")
    with pytest.raises(UsageProblem):
        filled.backup(tmp_path / "copy")
    with pytest.raises(UsageProblem):
        Store.restore(tmp_path / "copy", home)
    with pytest.raises(NoStore):
        Store.restore(tmp_path / "nothing", tmp_path / "restored")


@pytest.mark.parametrize("place", ["record/copy", "record/facts.lance/copy.tar"])
def test_a_backup_into_the_record_itself_is_refused_and_leaves_nothing_there(filled, home, place):
    with pytest.raises(UsageProblem, match="inside the record"):
        filled.backup(home / place)
    assert filled.check() == []
    assert list((home / "record").rglob(".memctl-backup-*")) == []


def test_a_backup_of_a_later_release_is_refused_and_put_nowhere(filled, tmp_path):
    filled.backup(tmp_path / "copy")
    meta = json.loads((tmp_path / "copy" / "memctl.json").read_text())
    (tmp_path / "copy" / "memctl.json").write_text(json.dumps(meta | {"format": FORMAT + 1, "release": "77.1"}))
    with pytest.raises(NewerStore, match="copy has format") as refused:
        Store.restore(tmp_path / "copy", tmp_path / "restored")
    assert refused.value.remedy == "Install memctl 77.1 or later."
    assert not (tmp_path / "restored").exists()


def test_a_restored_store_is_private_also_in_a_folder_that_was_open_to_others(filled, tmp_path):
    filled.backup(tmp_path / "copy")
    (tmp_path / "restored").mkdir()
    (tmp_path / "restored").chmod(0o755)
    Store.restore(tmp_path / "copy", tmp_path / "restored")
    paths = [tmp_path / "restored", *(tmp_path / "restored").rglob("*")]
    assert {path: mode for path in paths if (mode := path.stat().st_mode & 0o077)} == {}


@pytest.mark.parametrize("rest", ["journal/000000000007.batch", "record/facts.lance/x"])
def test_what_is_left_of_another_store_is_not_mixed_with_a_restored_one(filled, tmp_path, rest):
    filled.backup(tmp_path / "copy")
    (tmp_path / "restored" / rest).parent.mkdir(parents=True)
    (tmp_path / "restored" / rest).write_bytes(b"x")
    with pytest.raises(UsageProblem, match="left of another store"):
        Store.restore(tmp_path / "copy", tmp_path / "restored")
    assert (tmp_path / "restored" / rest).read_bytes() == b"x"


def test_a_backup_without_a_table_is_no_whole_backup(filled, tmp_path):
    filled.backup(tmp_path / "copy")
    shutil.rmtree(tmp_path / "copy" / "record")
    (tmp_path / "copy" / "sums.json").write_text("{}")
    with pytest.raises(DamagedBackup, match=r"record/facts\.lance is missing"):
        Store.restore(tmp_path / "copy", tmp_path / "restored")


@pytest.mark.parametrize(
    ("place", "reason"), [("a-file/copy", "{}/a-file is a file"), (f"{'n' * 300}/copy", "file name too long")]
)
def test_an_impossible_place_is_named_as_such_and_the_store_is_not_called_damaged(filled, tmp_path, place, reason):
    (tmp_path / "a-file").write_text("x")
    with pytest.raises(UnwritablePlace) as refused:
        filled.backup(tmp_path / place)
    assert str(refused.value) == f"Cannot write to {tmp_path / place}: {reason.format(tmp_path)}."
    assert filled.check() == []


def test_a_backup_whose_packing_is_broken_is_refused(filled, tmp_path):
    filled.backup(tmp_path / "copy.tar.gz")
    packed = bytearray((tmp_path / "copy.tar.gz").read_bytes())
    for place in (200, len(packed) // 2):
        broken = bytearray(packed)
        broken[place] ^= 0xFF
        (tmp_path / "bad.tar.gz").write_bytes(broken)
        with pytest.raises(DamagedBackup, match=r"bad.tar.gz is no whole backup: [^\n]+\.$"):
            Store.restore(tmp_path / "bad.tar.gz", tmp_path / "restored")
        assert not (tmp_path / "restored" / "memctl.json").exists()


def test_damage_is_not_backed_up_or_restored_silently(filled, home, tmp_path):
    filled.backup(tmp_path / "copy.tar")
    (tmp_path / "bad.tar").write_bytes((tmp_path / "copy.tar").read_bytes()[:3000])
    with pytest.raises(DamagedStore):
        Store.restore(tmp_path / "bad.tar", tmp_path / "restored")
    assert not (tmp_path / "restored" / "memctl.json").exists()
    victim = next((home / "record" / "facts.lance" / "data").iterdir())
    victim.write_bytes(b"x" + victim.read_bytes()[1:])
    with pytest.raises(DamagedStore, match=victim.name):
        filled.backup(tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_backups_taken_while_writers_run_are_whole(filled, tmp_path):
    def work():
        for number in range(10):
            facts = [write(make_fact(f"{part} of {number}"), number) for part in ("a", "b")]
            Store.open(filled.home.root).apply(Changes(facts=facts), RUN)

    writer = threading.Thread(target=work)
    writer.start()
    for number in range(3):
        filled.backup(tmp_path / f"copy{number}")
    writer.join()
    for number in range(3):
        copy = Store.open(tmp_path / f"copy{number}")
        texts = [fact.text for fact in copy.all_facts()]
        assert len([text for text in texts if text.startswith("a")]) == len(
            [text for text in texts if text.startswith("b")]
        )
        assert copy.check() == []


def test_upgrades_run_in_order_and_are_noted(filled, home):
    done = []
    steps = {FORMAT: lambda record: done.append(record.count("facts")), FORMAT + 1: lambda _: done.append("second")}
    meta = upgrades.upgrade(filled.home, filled.record, filled.meta, upgrades=steps, newest=FORMAT + 2)
    assert done == [5, "second"]
    assert read_meta(locate(home)) == meta == replace(filled.meta, format=FORMAT + 2)


def test_every_old_format_has_its_upgrade(filled, home):
    assert sorted(upgrades.UPGRADES) == list(range(1, FORMAT))
    write_meta(filled.home, replace(filled.meta, format=0))
    with pytest.raises(DamagedStore, match="format 0"):
        Store.open(home)


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*.tar.gz")), ids=lambda path: path.name)
def test_stores_of_earlier_releases_open(path, tmp_path):
    store = Store.restore(path, tmp_path / "restored")
    assert store.meta.format == FORMAT
    assert sorted(fact.text for fact in store.list_facts()) == [f"fact {number}" for number in range(5)]
    assert store.search_facts(unit(3), "fact 3", ["team"])[0].fact.text == "fact 3"
    assert store.check() == []
    store.apply(Changes(facts=[write(make_fact("new"))]), RUN)
    store.undo(store.runs()[-1].id)
    assert [fact.text for fact in store.list_facts()] == ["new"]


def test_this_release_has_a_fixture():
    assert (FIXTURES / f"format-{FORMAT}.tar.gz").exists()


ERRORS = [
    (OSError(28, "No space left on device"), ReadOnlyStore),
    (RuntimeError("LanceError(IO): ... os error 28"), ReadOnlyStore),
    (PermissionError(13, "Permission denied"), ReadOnlyStore),
    (OSError("Read-only file system (os error 30)"), ReadOnlyStore),
    (RuntimeError("Commit conflict for version 7"), StoreBusy),
    (ValueError("Encountered corrupt file binary mini-block, /home/x/lance/src/a.rs:1:2"), DamagedStore),
    (OSError("Not found: data/x.lance"), DamagedStore),
]


@pytest.mark.parametrize(("error", "kind"), ERRORS)
def test_errors_of_the_libraries_become_ours(error, kind):
    with pytest.raises(kind) as caught, guard.lance_errors("/store"):
        raise error
    assert ".rs:" not in str(caught.value)


def test_a_panic_of_native_code_is_damage_and_our_own_mistakes_stay_mistakes():
    panic = type("PanicException", (BaseException,), {})
    with pytest.raises(DamagedStore), guard.lance_errors("/store"):
        raise panic("index out of bounds")
    with pytest.raises(ValueError, match="tokenizing"), guard.lance_errors("/store"):
        raise ValueError("Error tokenizing statement")
    with pytest.raises(KeyboardInterrupt), guard.lance_errors("/store"):
        raise KeyboardInterrupt


def make_fixture(target):
    """Write the fixture of the present format; run this module to make it anew after a change of FORMAT."""
    folder = target.parent / "fixture-home"
    store = Store.create(folder, MODEL)
    store.apply(Changes(facts=[write(make_fact(f"fact {number}"), number) for number in range(5)]), RUN)
    store.compact()
    store.backup(target)
    shutil.rmtree(folder)


if __name__ == "__main__":
    FIXTURES.mkdir(exist_ok=True)
    make_fixture(FIXTURES / f"format-{FORMAT}.tar.gz")
