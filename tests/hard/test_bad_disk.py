"""A disk that is full, a folder that may not be written, an index that is gone: the old state stays intact."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from memctl.errors import MemctlError
from memctl.settings import load as load_settings
from memctl.store import Store
from tests.conftest import CommandLine


@pytest.fixture(scope="module")
def filled(tmp_path_factory) -> Path:
    home = tmp_path_factory.mktemp("disk") / "home"
    command = CommandLine(home)
    assert command("remember", "The API is written in Go", "--agent", "team").code == 0
    assert command("remember", "Deploys go out on Tuesdays", "--agent", "team").code == 0
    return home


@pytest.fixture
def home(filled, tmp_path) -> Path:
    return Path(shutil.copytree(filled, tmp_path / "home"))


@pytest.fixture
def small_disk(tmp_path):
    """A file system of a few megabytes."""
    if os.geteuid() != 0:
        pytest.skip("mounting a small file system needs root")
    folder = tmp_path / "small"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", folder], capture_output=True).returncode:
        pytest.skip("this machine does not let us mount a tmpfs")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


def texts(command: CommandLine) -> set[str]:
    return {fact["text"] for fact in command("export").lines}


def test_a_full_disk_is_a_clear_error_and_the_old_state_is_intact(filled, small_disk):
    home = Path(shutil.copytree(filled, small_disk / "home"))
    command = CommandLine(home)
    before = texts(command)
    with (small_disk / "ballast").open("wb", buffering=0) as ballast:
        try:
            while ballast.write(b"x" * 4096):
                pass
        except OSError:
            pass

    done = command("remember", "The cache is Valkey", "--agent", "team")

    assert done.code in (5, 6)
    assert "Traceback" not in done.err
    (small_disk / "ballast").unlink()
    assert texts(command) >= before
    assert command("remember", "The cache is Valkey", "--agent", "team").code == 0
    assert command("check").code == 0


@pytest.fixture
def closed(home):
    """The store in a folder that cannot be written, by root neither."""
    root = os.geteuid() == 0
    if not root:
        home.chmod(0o500)
    elif subprocess.run(["mount", "--bind", home, home], capture_output=True).returncode:
        pytest.skip("this machine does not let us mount read-only")
    else:
        subprocess.run(["mount", "-o", "remount,ro,bind", home], check=True)
    yield home
    if root:
        subprocess.run(["umount", "-l", home], check=True)
    else:
        home.chmod(0o700)


def test_a_read_only_folder_can_be_recalled_from_and_says_that_it_cannot_be_written(closed):
    command = CommandLine(closed)

    recalled = command("recall", "which language is the API written in", "--agent", "team")
    written = command("remember", "The cache is Valkey", "--agent", "team")

    assert (recalled.code, "Go" in recalled.out) == (0, True), recalled.err
    assert written.code == 5
    assert "Traceback" not in written.err


def as_stranger(work) -> str:
    """Do something in a child process that has no rights to root's files; gives the code of the error it met."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        if os.geteuid() == 0:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
        try:
            work()
            os.write(writing, b"none")
        except MemctlError as error:
            os.write(writing, f"{error.code} {error.exit_code:d}".encode())
        finally:
            os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    with os.fdopen(reading, "rb") as told:
        return told.read().decode()


def test_a_store_of_somebody_else_is_said_to_be_closed(home, tmp_path):
    for folder in [home, *home.parents]:
        if folder.is_relative_to(tmp_path.parent.parent):
            folder.chmod(0o755)
    home.chmod(0o000)
    try:
        told = [as_stranger(lambda: Store.open(home)), as_stranger(lambda: load_settings(str(home)))]
    finally:
        home.chmod(0o700)
        tmp_path.parent.parent.chmod(0o700)

    assert told == ["store_closed 5", "store_closed 5"]


@pytest.mark.parametrize("damage", ["deleted", "truncated", "garbage"])
def test_a_damaged_index_is_rebuilt_by_itself(home, damage):
    index = home / "index.duckdb"
    if damage == "deleted":
        index.unlink()
    else:
        index.write_bytes(index.read_bytes()[:4000] if damage == "truncated" else b"not a database" * 500)

    done = CommandLine(home)("list", "--agent", "team")

    assert done.code == 0, done.err
    assert "Tuesdays" in done.out


def test_a_flipped_byte_in_the_record_is_found_and_named_and_repaired(home):
    data = max((home / "record" / "facts.lance" / "data").iterdir(), key=lambda path: path.stat().st_size)
    content = bytearray(data.read_bytes())
    content[len(content) // 3] ^= 0xFF
    data.write_bytes(bytes(content))
    command = CommandLine(home)

    found = command("check")
    assert found.code in (1, 6)
    assert data.name in found.out + found.err

    assert command("recall", "deploys", "--agent", "team").code == 0
    assert "Traceback" not in command("check", "--repair").err
    assert command("check").code == 0


@pytest.mark.parametrize("content", [None, b"", b"\xff\xfe{"])
def test_a_lost_or_unreadable_description_is_repaired_as_the_error_says(home, content):
    command = CommandLine(home)
    before = command("export", "--all").out
    (home / "memctl.json").unlink()
    if content is not None:
        (home / "memctl.json").write_bytes(content)

    listed = command("list", "--agent", "team")
    repaired = command("check", "--repair")

    assert (listed.code, "check --repair" in listed.err) == (6, True), listed.err
    assert repaired.code == 0, repaired.err
    assert "memctl.json" in repaired.out + repaired.err
    assert command("check").code == 0
    assert command("export", "--all").out == before


def test_a_store_can_be_copied_and_opened_under_another_path(home, tmp_path):
    moved = Path(shutil.move(home, tmp_path / "elsewhere"))

    command = CommandLine(moved)

    assert len(texts(command)) == 2
    assert command("remember", "The cache is Valkey", "--agent", "team").code == 0


def test_a_backup_can_be_restored_elsewhere(home, tmp_path):
    command = CommandLine(home)
    target = tmp_path / "backup"

    assert command("backup", target).code == 0
    restored = CommandLine(tmp_path / "restored")
    assert restored("restore", "--backup", target).code == 0

    assert restored("export", "--all").out == command("export", "--all").out


def test_store_files_are_private(home):
    modes = {path: path.stat().st_mode & 0o077 for path in [home, *home.rglob("*")]}

    assert {path: mode for path, mode in modes.items() if mode} == {}
