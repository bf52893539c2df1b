"""Real ``memctl`` processes, killed with SIGKILL: the next command works, nothing is lost, nothing is doubled.

``MEMCTL_KILLS`` says how many processes die (20 in CI, 300 in ``make soak``): at every labelled step that a command
passes, then at random moments, half of them while it writes. After each, the store must be as before the command or
as after it; and doing the command again must end exactly where an undisturbed run ends.
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
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner

from memctl.cli import app
from memctl.memory import OpenMemory
from memctl.operations.exchange import export
from memctl.shapes import fact_shape
from memctl.store import Changes, RunInfo, StateEntry, Store
from memctl.times import parse_instant
from tests.conftest import NOW, SAMPLES, CommandLine

KILLS = int(os.environ.get("MEMCTL_KILLS", "20"))
TABLES = ("facts", "messages", "transcripts", "state", "runs")
APPLY = (
    *("after-lock", "journal-temp", "journal-written", *(f"{table}-written" for table in TABLES)),
    *("index-written", "journal-removed"),
)
COMPACT = (*(f"{table}-compacted" for table in TABLES), "index-rebuilt", "compacted")
COMMANDS = ("ingest", "prune", "compact", "import", "undo")
PATIENCE = 1800  # a busy machine is no fault of the store
FROM_START, WHILE_WRITING = "from its start", "while it writes"

Picture = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Base:
    """A store with history, and what each command is called with on a copy of it."""

    home: Path
    calls: dict[str, tuple[str, ...]]
    before: Picture


@dataclass(frozen=True)
class Undisturbed:
    """Where a command ends when nobody kills it, and how long it takes: in all, and from its lock on."""

    picture: Picture
    seconds: float
    writing: float


@pytest.fixture(scope="module")
def base(tmp_path_factory) -> Base:
    """A store with two chats, facts by hand, one of them expired, and recalls that no writer has counted yet."""
    folder = tmp_path_factory.mktemp("kill")
    home = folder / "home"
    memctl = CommandLine(home)
    for done in (
        memctl("ingest", SAMPLES / "quillmark-1.groupchat.json", "--agent", "q", "--at", "2026-03-02T09:00:00Z"),
        memctl("ingest", SAMPLES / "quillmark-2.task_result.json", "--agent", "q"),
        memctl("remember", "The demo account is locked", "--agent", "q", "--ttl", "1d", MEMCTL_NOW="2026-04-01"),
    ):
        assert done.code == 0, done.err
    other = CommandLine(folder / "other")
    other("remember", "Proofs are printed on Tuesdays", "--agent", "q", "--type", "decision")
    (folder / "extra.jsonl").write_text(other("export", "--all").out)
    store = Store.open(home)
    store.record_use([fact.id for fact in store.all_facts()][:2], parse_instant(NOW))
    chat = str(SAMPLES / "quillmark-3.console.txt")
    calls = {
        "ingest": ("ingest", chat, "--agent", "q", "--at", "2026-03-23T09:00:00Z"),
        "prune": ("prune", "--expired"),
        "compact": ("compact",),
        "import": ("import", str(folder / "extra.jsonl")),
        "undo": ("undo", store.runs()[0].id),
    }
    untouched = copied(home, folder / "untouched")
    write_something(untouched)
    return Base(home, calls, picture(untouched))


@pytest.fixture(scope="module")
def ends(base, tmp_path_factory) -> dict[str, Undisturbed]:
    """Let every command run to its end once, and keep the time."""
    return {name: let_run(base, name, tmp_path_factory.mktemp(name)) for name in base.calls}


@pytest.fixture(scope="module")
def tally() -> Iterator[Counter[str]]:
    """Count what died how; said at the end of the module, for ``make soak``."""
    counts: Counter[str] = Counter()
    yield counts
    told = "".join(f"\n  {number:4d}  {what}" for what, number in sorted(counts.items()))
    print(f"\n{counts['killed']} processes were killed:{told}")


@pytest.fixture
def memctl_here(monkeypatch):
    """Run a command line in this process, which has the models already."""

    def run(home: Path, *arguments: str) -> int:
        monkeypatch.setenv("MEMCTL_HOME", str(home))
        monkeypatch.setenv("MEMCTL_NOW", NOW)
        return CliRunner().invoke(app, list(arguments)).exit_code

    return run


def copied(source: Path, target: Path) -> Path:
    return Path(shutil.copytree(source, target))


def picture(home: Path) -> Picture:
    """All that people can see of a store: facts with their counts, messages, the ledger."""
    memory = OpenMemory.at_home(home=str(home))
    facts = (json.dumps(fact_shape(fact), sort_keys=True) for fact in export(memory, everything=True))
    messages = (f"{one.transcript_id} {one.chain} {one.message}" for one in memory.store.all_messages())
    return tuple(facts), tuple(sorted(messages)), tuple(sorted(map(repr, memory.store.transcripts())))


def write_something(home: Path) -> list[str]:
    """Be the next writer, which finishes what a dead one left; then look for anything wrong."""
    store = Store.open(home)
    store.apply(Changes(state=[StateEntry("q", "after", 1, parse_instant(NOW))]), RunInfo("state set"), wait=10)
    return [finding.message for finding in store.check()]


def start(home: Path, arguments: tuple[str, ...], **environment: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "memctl", *arguments],
        env=CommandLine(home).env(**environment),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL,
    )


def let_run(base: Base, name: str, folder: Path) -> Undisturbed:
    home = copied(base.home, folder / "home")
    begun = time.monotonic()
    process = start(home, base.calls[name])
    wait_for_lock(home, process)
    locked = time.monotonic()
    assert process.wait(timeout=PATIENCE) == 0, name
    ended = time.monotonic()
    write_something(home)
    return Undisturbed(picture(home), ended - begun, ended - locked)


def wait_for_lock(home: Path, process: subprocess.Popen[bytes]) -> None:
    while not (home / "lock.holder").exists() and process.poll() is None:
        time.sleep(0.001)


def die(home: Path, base: Base, command: str, moment: str, share: float, usual: Undisturbed) -> int:
    """Start a command and let it be killed: at a step by its own hand, or from outside after a share of its time."""
    if moment not in (FROM_START, WHILE_WRITING):
        return start(home, base.calls[command], MEMCTL_CRASH_AT=moment).wait(timeout=PATIENCE)
    process = start(home, base.calls[command])
    if moment == WHILE_WRITING:
        wait_for_lock(home, process)
    time.sleep(share * (usual.writing if moment == WHILE_WRITING else usual.seconds))
    process.send_signal(signal.SIGKILL)
    return process.wait(timeout=PATIENCE)


def plan() -> list[tuple[str, str]]:
    """Every labelled step, with few kills each once, the commands in turn; then random moments."""
    writers = itertools.cycle(("ingest", "prune", "import", "undo"))
    once = [(next(writers), step) for step in APPLY] + [("compact", step) for step in COMPACT]
    every = [(command, step) for command in COMMANDS for step in APPLY] + [("compact", step) for step in COMPACT]
    rest = [pair for pair in every if pair not in once]
    commands, moments = itertools.cycle(COMMANDS), itertools.cycle((WHILE_WRITING, FROM_START))
    chance = [(next(commands), next(moments)) for _ in range(KILLS)]
    return ([*once, *rest, *chance] if len(every) < KILLS else [*once, *chance])[:KILLS]


@pytest.mark.parametrize(("number", "command", "moment"), [(n, c, m) for n, (c, m) in enumerate(plan())])
def test_a_killed_command_leaves_the_store_as_before_it_or_as_after_it(
    base, ends, tally, memctl_here, tmp_path, number, command, moment
):
    chance = random.Random(number)
    for attempt in range(8):
        home = copied(base.home, tmp_path / f"home{attempt}")
        if die(home, base, command, moment, chance.random() / (attempt + 1), ends[command]) == -signal.SIGKILL:
            break
    else:
        pytest.fail(f"{command} always ended before it could be killed {moment}")

    if number % 2:  # the others meet what is left as the next writer does
        assert Store.open(home).check() == []
    assert write_something(home) == []
    now, end = picture(home), ends[command].picture
    assert now in (base.before, end)
    again = memctl_here(home, *base.calls[command])
    assert again == (2 if command == "undo" and now == end else 0)
    assert picture(home) == end
    assert Store.open(home).check() == []
    tally.update(["killed", f"{command} {moment}" if " " in moment else f"{command} at a labelled step"])
    tally["then the store was as before"] += now == base.before
    tally["then the store was as after"] += now == end != base.before
