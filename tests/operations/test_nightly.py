"""The night's work through the real command line: what it does, what it leaves behind, and how it ends."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from memctl.memory import OpenMemory
from memctl.operations.nightly import LOG_NAME, nightly
from memctl.operations.state import set_value
from memctl.store.lock import FileLock
from tests.server.conftest import until

OPENING = ("Ines", "Let us plan the week.")
MONDAY = (OPENING, ("Ines", "Decision: the workshop is closed on Mondays from now on."))
TUESDAY = (OPENING, ("Ines", "Decision: the bakery delivers flour on Tuesdays from now on."))


@pytest.fixture
def folder(chats) -> Path:
    """Two chats that begin alike, which makes two batches of them."""
    chats("monday.json", *MONDAY)
    chats("tuesday.json", *TUESDAY)
    return chats.folder


def log_of(home: Path) -> list[str]:
    return (home / LOG_NAME).read_text().splitlines()


def test_a_night_reads_what_is_new_retires_what_expired_and_tells_it_in_one_line(memctl, home, folder):
    memctl("remember", "The scanner is lent out", "--agent", "bakery", "--ttl", "1d", MEMCTL_NOW="2026-05-01T09:00:00Z")

    first = memctl("nightly", folder, "--agent", "bakery")
    second = memctl("nightly", folder, "--agent", "bakery", "--json")

    assert first.code == 0, first.err
    [line] = first.out.splitlines()
    assert line.startswith("2 files (0 unreadable), 3 new messages; ")
    assert "1 expired; 0 findings" in line
    data = second.json["data"]
    assert (data["files"], data["messages"], data["expired"], data["findings"]) == (2, 0, 0, 0)
    assert data["counts"]["add"] == 0
    assert data["complete"] is True
    assert [entry.split(" ", 1)[1].split(";")[0] for entry in log_of(home)] == [
        "2 files (0 unreadable), 3 new messages",
        "2 files (0 unreadable), 0 new messages",
    ]
    assert (home / LOG_NAME).stat().st_mode & 0o077 == 0


def test_a_second_start_names_the_first_and_leaves_with_5(memctl, home, folder):
    memctl("state", "set", "made", "1")
    # the first night waits for us at its first write, so that the second surely comes while it runs
    with FileLock(home / "lock").held("test", 10):
        first = subprocess.Popen(
            [sys.executable, "-m", "memctl", "nightly", str(folder), "--agent", "bakery", "--wait", "200", "--json"],
            env=memctl.env(),
            stdout=subprocess.PIPE,
            text=True,
        )
        until((home / "nightly.lock.holder").exists, 100)
        second = memctl("nightly", folder, "--agent", "bakery")
        told = memctl("nightly", folder, "--agent", "bakery", "--json")
    out, _ = first.communicate(timeout=200)

    assert second.code == told.code == 5
    assert f"memctl nightly, process {first.pid} on " in second.err
    assert "Let it finish" in second.err
    assert len(second.err.splitlines()) == 1
    assert [problem["code"] for problem in told.json["problems"]] == ["store_busy"]
    assert first.returncode == 0
    assert json.loads(out)["data"]["messages"] == 3


def test_an_unreadable_file_is_named_in_the_log_and_the_night_ends_with_1(memctl, home, folder):
    (folder / "broken.json").write_bytes(b"\x00\x01\x02 binary")

    done = memctl("nightly", folder, "--agent", "bakery")

    assert done.code == 1
    assert "3 files (1 unreadable)" in done.out
    assert "broken.json" in done.err
    assert any("problem" in line and "broken.json" in line for line in log_of(home))


def test_a_damaged_store_ends_the_night_with_6_and_the_log_says_so(memctl, home, folder):
    memctl("state", "set", "made", "1")
    (home / "memctl.json").write_text("not json")

    assert memctl("nightly", folder).code == 6
    [line] = log_of(home)
    assert line.startswith("2026-05-04T09:00:00")
    assert "failed after" in line
    assert "memctl.json cannot be read" in line


def test_a_night_that_fails_on_the_way_is_in_the_log_and_the_doctor_names_the_cause(memctl, home, folder):
    memctl("state", "set", "made", "1")
    with FileLock(home / "lock").held("test", 10):
        done = memctl("nightly", folder, "--agent", "bakery", "--wait", "0")
    told = memctl("doctor")

    assert done.code == 5
    assert len(log_of(home)) == 1
    assert "is being written by memctl test" in log_of(home)[0]
    assert told.code == 1
    assert "failed: The store" in told.out


def test_a_second_start_leaves_the_log_to_the_first(memctl, home, folder):
    memctl("state", "set", "made", "1")
    with FileLock(home / "nightly.lock").held("nightly", 10):
        assert memctl("nightly", folder).code == 5
    assert not (home / LOG_NAME).exists()


def test_an_interrupted_night_is_in_the_log(memory, home, folder):
    def interrupted():
        raise KeyboardInterrupt

    set_value(memory, "made", "1")
    seconds = iter([lambda: 0.0, interrupted])

    with pytest.raises(KeyboardInterrupt):
        nightly(memory, [str(folder)], agent="bakery", max_minutes=1, clock=lambda: next(seconds, lambda: 1.0)())

    assert log_of(home)[0].endswith("failed after 1.0 s: KeyboardInterrupt")


def test_a_night_that_has_no_time_left_stops_reading_and_the_next_one_goes_on(memory, folder):
    seconds = iter([0.0])

    first = nightly(memory, [str(folder)], agent="bakery", max_minutes=1, clock=lambda: next(seconds, 61.0))
    second = nightly(memory, [str(folder)], agent="bakery", max_minutes=60)

    assert (first.data.complete, second.data.complete) == (False, True)
    assert [problem.code for problem in first.problems] == ["out_of_time"]
    assert (first.data.messages, second.data.messages) == (2, 1)


def test_the_log_is_turned_over_and_only_the_last_five_are_kept(home, tmp_path):
    memory = OpenMemory.at_home(nightly_log_kilobytes=1)
    set_value(memory, "made", "1")
    missing = [str(tmp_path / f"{number:02d}-{'long-name-' * 12}.json") for number in range(6)]
    for _ in range(8):
        nightly(memory, missing)

    logs = sorted(path.name for path in home.glob(f"{LOG_NAME}*"))
    assert logs == [LOG_NAME, *(f"{LOG_NAME}.{number}" for number in range(1, 6))]
    assert all(path.stat().st_size <= 1024 for path in home.glob(f"{LOG_NAME}*"))
    assert all(line.startswith("2026-05-04T09:00:00") for path in home.glob(f"{LOG_NAME}*") for line in path.open())


def test_a_folder_that_does_not_exist_is_a_problem_and_not_the_end_of_the_night(memctl, tmp_path):
    done = memctl("nightly", tmp_path / "gone")

    assert done.code == 1
    assert "gone" in done.err
    assert "0 findings" in done.out
