"""Real ``memctl`` processes, killed with SIGKILL: the next command works, nothing is lost, nothing is doubled.

``MEMCTL_KILLS`` says how many processes die (20 in CI, 300 in ``make soak``): first one at each labelled step,
the rest at random moments. After each, the store must be as before the command or as after it; and doing the
command again must end exactly where an undisturbed run ends.
"""

import itertools
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from memctl.memory import OpenMemory
from memctl.operations.exchange import export
from memctl.shapes import fact_shape
from memctl.store import Changes, RunInfo, StateEntry
from memctl.times import parse_instant
from tests.conftest import NOW, SAMPLES, CommandLine

KILLS = int(os.environ.get("MEMCTL_KILLS", "20"))
STEPS = [
    "after-lock",
    "journal-temp",
    "journal-written",
    "facts-written",
    "messages-written",
    "transcripts-written",
    "state-written",
    "runs-written",
    "index-written",
    "journal-removed",
    "facts-compacted",
    "compacted",
]
COMMANDS = {
    "ingest": ("ingest", str(SAMPLES / "quillmark-3.console.txt"), "--agent", "q", "--at", "2026-03-23T09:00:00Z"),
    "prune": ("prune", "--expired"),
    "compact": ("compact",),
    "import": ("import", "extra.jsonl"),
    "undo": ("undo",),
}


@pytest.fixture(scope="module")
def base(tmp_path_factory) -> Path:
    """A store with history: two chats, facts by hand, one of them expired."""
    folder = tmp_path_factory.mktemp("kill")
    memctl = CommandLine(folder / "home")
    for done in (
        memctl("ingest", SAMPLES / "quillmark-1.groupchat.json", "--agent", "q", "--at", "2026-03-02T09:00:00Z"),
        memctl("ingest", SAMPLES / "quillmark-2.task_result.json", "--agent", "q"),
        memctl("remember", "The demo account is locked", "--agent", "q", "--ttl", "1d", "--at", "2026-04-01"),
    ):
        assert done.code == 0, done.err
    other = CommandLine(folder / "other")
    other("remember", "Proofs are printed on Tuesdays", "--agent", "q", "--type", "decision")
    (folder / "extra.jsonl").write_text(other("export", "--all").out)
    return folder


@pytest.fixture(scope="module")
def ends(base, tmp_path_factory) -> dict[str, list[str]]:
    """Where each command ends when nobody disturbs it."""
    found = {}
    for name, arguments in COMMANDS.items():
        home = tmp_path_factory.mktemp(name) / "home"
        shutil.copytree(base / "home", home)
        assert CommandLine(home)(*arguments, cwd=base).code == 0
        found[name] = facts_in(home)
    return found


def facts_in(home: Path) -> list[str]:
    memory = OpenMemory.at_home(home=str(home))
    return [json.dumps(fact_shape(fact), sort_keys=True) for fact in export(memory, everything=True)]


def write_something(home: Path) -> list[str]:
    """Be the next writer, which finishes what a dead one left; then look for anything wrong."""
    store = OpenMemory.at_home(home=str(home)).store
    store.apply(Changes(state=[StateEntry("q", "after", 1, parse_instant(NOW))]), RunInfo("state set"), wait=10)
    return [finding.message for finding in store.check()]


def plan() -> list[tuple[str, str]]:
    """Every labelled step once, the commands in turn; then random moments."""
    commands = itertools.cycle(COMMANDS)
    labelled = [("compact" if "compact" in step else next(commands), step) for step in STEPS]
    return (labelled + [(next(commands), "") for _ in range(KILLS)])[:KILLS]


def die(home: Path, arguments: tuple[str, ...], step: str, moment: float, cwd: Path) -> int:
    """Start the command and let it be killed, at a step by its own hand or from outside after a while."""
    environment = CommandLine(home).env(**({"MEMCTL_CRASH_AT": step} if step else {}))
    process = subprocess.Popen(
        [sys.executable, "-m", "memctl", *arguments],
        cwd=cwd,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL,
    )
    if not step:
        time.sleep(moment)
        process.send_signal(signal.SIGKILL)
    return process.wait(timeout=120)


@pytest.mark.parametrize(("number", "command", "step"), [(n, c, s) for n, (c, s) in enumerate(plan())])
def test_a_killed_command_leaves_the_store_as_before_it_or_as_after_it(base, ends, tmp_path, number, command, step):
    home = tmp_path / "home"
    shutil.copytree(base / "home", home)
    before = facts_in(home)
    moment = random.Random(number).uniform(0.2, 4.0)

    die(home, COMMANDS[command], step, moment, base)
    findings = write_something(home)

    assert findings == []
    now = facts_in(home)
    assert now in (before, ends[command])
    if command != "undo" or now == before:
        again = CommandLine(home)(*COMMANDS[command], cwd=base)
        expected = ends[command] if command != "undo" else now
        assert again.code == 0, again.err
        assert facts_in(home) == expected
    assert OpenMemory.at_home(home=str(home)).store.check() == []
