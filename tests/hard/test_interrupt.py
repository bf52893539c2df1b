"""Ctrl-C in the middle of a folder: nothing half-written, and the next run ends where an undisturbed one ends."""

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from memctl.errors import MemctlError
from memctl.memory import OpenMemory
from memctl.operations.exchange import export
from memctl.operations.ingest import ingest
from memctl.shapes import fact_shape
from tests.conftest import CommandLine

FILES = 40
PER_BATCH = 10  # chats with the same opening are never in one batch, so that so many make one
STORES = ("PostgreSQL", "SQLite", "MySQL", "Redis")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Forty small chats, one of them cut off."""
    found = tmp_path / "chats"
    found.mkdir()
    for number in range(FILES):
        service = f"{('ledger', 'search', 'mailer', 'courier')[number % 4]} {number}"
        turns = (
            ("Ines", f"Let us plan day {number % PER_BATCH}."),
            ("Ines", f"Decision: the {service} service keeps its rows in {STORES[number % 3]}."),
            ("Coder", f"I tried to move {service} to the old host and it failed with a timeout."),
        )
        messages = [{"name": name, "role": "user", "content": text} for name, text in turns]
        (found / f"chat-{number:02d}.json").write_text(json.dumps(messages))
    (found / "chat-25.json").write_text('[{"name": "Ines", "content": "cut o')
    return found


def open_at(home: Path) -> OpenMemory:
    return OpenMemory.at_home(home=str(home))


def facts_in(home: Path) -> list[str]:
    return [json.dumps(fact_shape(fact), sort_keys=True) for fact in export(open_at(home), everything=True)]


def ids(facts: list[str]) -> set[str]:
    return {json.loads(fact)["id"] for fact in facts}


def standing(facts: list[str]) -> dict[str, tuple[str, str]]:
    """What is remembered and how it stands; when it was written down differs between two runs."""
    return {fact["id"]: (fact["text"], fact["state"]) for fact in map(json.loads, facts)}


def chats_in(home: Path) -> int:
    try:
        return len(open_at(home).store.transcripts(agent="many"))
    except MemctlError:  # not there yet, or just being made
        return 0


class OnTerminal:
    """An ingest whose stderr is a terminal."""

    def __init__(self, home: Path, folder: Path) -> None:
        self._screen, terminal = pty.openpty()
        os.set_blocking(self._screen, False)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "memctl", "ingest", str(folder), "--agent", "many"],
            env=CommandLine(home).env(TERM="xterm", COLUMNS="80"),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=terminal,
        )
        os.close(terminal)
        self.shown = b""

    def look(self) -> None:
        try:
            self.shown += os.read(self._screen, 65536)
        except OSError:  # nothing new, or the other end is closed
            time.sleep(0.005)

    def interrupt(self) -> int:
        """Press the keys until it ends: a library that is being imported may swallow the first signal."""
        for _ in range(20):
            self.process.send_signal(signal.SIGINT)
            deadline = time.monotonic() + 5
            while self.process.poll() is None and time.monotonic() < deadline:
                self.look()
            if self.process.poll() is not None:
                break
        self.look()
        os.close(self._screen)
        return self.process.wait(1)


def interrupted(folder: Path, homes: Path) -> tuple[OnTerminal, Path]:
    """Interrupt an ingest after its first batch; one that was done before the keys were pressed is tried again."""
    for number in range(8):
        home = homes / f"home-{number}"
        running = OnTerminal(home, folder)
        while not chats_in(home) and running.process.poll() is None:
            running.look()
        if running.interrupt() == 130:
            return running, home
    raise AssertionError(running.shown.decode(errors="replace")[-2000:])


def test_an_interrupted_folder_is_whole_and_the_next_run_goes_on_to_the_same_end(folder, tmp_path):
    undisturbed = ingest(open_at(tmp_path / "undisturbed"), [str(folder)], agent="many")
    expected = facts_in(tmp_path / "undisturbed")

    running, home = interrupted(folder, tmp_path)

    assert b"/40" in running.shown
    assert b"interrupted" in running.shown
    assert b"Traceback" not in running.shown
    store = open_at(home).store
    assert store.check() == []
    with store.writing("test"):  # the next writer, which finishes what was accepted
        pass
    assert store.check() == []
    assert 0 < chats_in(home) < FILES - 1
    assert ids(facts_in(home)) < ids(expected)

    again = ingest(open_at(home), [str(folder)], agent="many")

    statuses = {file.status for file in again.data.files}
    assert {"unchanged", "unreadable"} < statuses < {"unchanged", "read", "grown", "unreadable", "copy"}
    assert [problem.where for problem in again.problems] == [str(folder / "chat-25.json")]
    assert standing(facts_in(home)) == standing(expected)
    assert len(expected) == undisturbed.data.counts["add"]
    assert open_at(home).store.check() == []
