"""A crowd of real processes on one store: nobody fails, and in the end everything is there exactly once.

``MEMCTL_CROWD=full`` is the crowd of ``make soak``: four ingesting, four recalling, one pruning, one nightly run, one
server. It also prints how long recalls took before the crowd came, while it was there, and beside as many processes
that only compute: what the last two have in common is a matter of the machine's cores and not of the store.
"""

import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from memctl.memory import OpenMemory
from memctl.operations.exchange import export
from tests.conftest import SAMPLES, CommandLine
from tests.server.conftest import Served, short_folder

FULL = os.environ.get("MEMCTL_CROWD") == "full"
INGESTING, RECALLING = (4, 4) if FULL else (2, 1)
ROUNDS, QUIET_RECALLS = (3, 20) if FULL else (1, 2)
PATIENCE = 1800
_NAMES_HOLDER = re.compile(r"is being written by memctl [\w ]+, process \d+ on ")
CHATS = ("quillmark-1.groupchat.json", "quillmark-2.task_result.json", "quillmark-3.console.txt")
SHARED = "marginalia.history.json"
AT = ("--at", "2026-03-23T09:00:00Z")

Job = tuple[str, ...]


def jobs(folder: Path) -> dict[str, list[Job]]:
    """What each writer of the crowd does, in its own order: scopes of their own, and one chat that all of them read."""
    found: dict[str, list[Job]] = {}
    for number in range(INGESTING):
        own = [("ingest", str(SAMPLES / chat), "--agent", f"team-{number}", *AT) for chat in CHATS[: 1 + number % 3]]
        found[f"ingest {number}"] = [*own, ("ingest", str(SAMPLES / SHARED), "--agent", "shared", *AT)] * ROUNDS
    found["prune"] = [("prune", "--expired")] * ROUNDS
    found["nightly"] = [("nightly", str(folder / "night"), "--agent", "night")] * ROUNDS
    return found


@pytest.fixture
def folder():
    """A short path, since the server puts its socket into the store."""
    made = short_folder()
    (made / "night").mkdir()
    night = made / "night" / "chat.json"
    shutil.copy(SAMPLES / "marginalia.openai.json", night)
    os.utime(night, (1_774_256_400, 1_774_256_400))
    yield made
    shutil.rmtree(made, ignore_errors=True)


@pytest.fixture
def seeded(folder) -> Path:
    """A store with a fact whose time has ended but which nobody has pruned."""
    memctl = CommandLine(folder / "seed")
    done = memctl("remember", "The demo account is locked", "--agent", "q", "--ttl", "1d", MEMCTL_NOW="2026-04-01")
    assert done.code == 0, done.err
    assert memctl("ingest", SAMPLES / CHATS[0], "--agent", "q", *AT).code == 0
    return folder / "seed"


class Crowd:
    """Processes at work at the same time, each started in a thread of its own that sees it through."""

    def __init__(self, home: Path) -> None:
        self.command_line = CommandLine(home, MEMCTL_CONFIG=str(home / "none.toml"))
        self.failures: list[str] = []
        self.waits: Counter[str] = Counter()
        self.recalls: list[float] = []

    def run(self, works: Sequence[Callable[[], None]]) -> list[threading.Thread]:
        threads = [threading.Thread(target=self._noting_failures, args=(work,)) for work in works]
        for thread in threads:
            thread.start()
        return threads

    def _noting_failures(self, work: Callable[[], None]) -> None:
        try:
            work()
        except AssertionError as failure:
            self.failures.append(str(failure))

    def do(self, arguments: Job) -> None:
        """Do a command; one that waited in vain for another writer must say for whom, and is repeated."""
        while True:
            done = self._memctl(arguments)
            if done.returncode != 5:
                break
            assert _NAMES_HOLDER.search(done.stderr), f"{arguments}: {done.stderr}"
            self.waits[arguments[0]] += 1
        assert done.returncode == 0, f"{arguments}: {done.returncode}, {done.stderr}"
        assert "Traceback" not in done.stderr

    def recall(self) -> float:
        begun = time.monotonic()
        done = self._memctl(("recall", "which words are not used in the book", "--agent", "q"))
        assert done.returncode == 0, f"recall: {done.returncode}, {done.stderr}"
        return time.monotonic() - begun

    def recall_while(self, others: Sequence[threading.Thread]) -> None:
        while any(thread.is_alive() for thread in others):
            self.recalls.append(self.recall())

    def _memctl(self, arguments: Job) -> subprocess.CompletedProcess[str]:
        argv = [sys.executable, "-m", "memctl", *arguments]
        return subprocess.run(argv, env=self.command_line.env(), capture_output=True, text=True, timeout=PATIENCE)


def ask_server(served: Served) -> None:
    """Remember and recall over HTTP; a busy store is a 503 that names the holder, and is asked again."""
    with served.client() as client:
        client.timeout = PATIENCE
        for number in range(3 * ROUNDS):
            body = {"text": f"Shelf {number} holds the atlases of volume {number}", "agent": "served", "type": "fact"}
            while (answer := client.post("/v1/remember", json=body)).status_code == 503:
                assert "written by memctl" in answer.text or "Retry-After" in answer.headers
            assert answer.status_code == 200, answer.text
            asked = client.post("/v1/recall", json={"query": "where are the atlases", "agent": "served"})
            assert asked.status_code == 200, asked.text


def left(home: Path) -> tuple[Counter[tuple[object, ...]], Counter[tuple[str, str]], list[str]]:
    """What a store holds in the end: facts with how often they were said, messages by scope, findings of a check."""
    memory = OpenMemory.at_home(home=str(home))
    facts = Counter((one.agent, one.text, str(one.state), len(one.wordings)) for one in export(memory, everything=True))
    messages = Counter((one.agent, one.message.text) for one in memory.store.all_messages())
    return facts, messages, [finding.message for finding in memory.store.check()]


@contextmanager
def computing(number: int) -> Iterator[None]:
    """Keep so many processes busy with nothing, as many as write in the crowd."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(number)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def recalls_on_a_busy_machine(home: Path) -> list[float]:
    """Recall with as many readers as in the crowd from a store that nobody writes."""
    alone = Crowd(home)
    with computing(len(jobs(home)) + 1):
        readers = alone.run([lambda: alone.recalls.extend([alone.recall() for _ in range(QUIET_RECALLS)])] * RECALLING)
        for thread in readers:
            thread.join()
    assert alone.failures == []
    return alone.recalls


def p95(seconds: Sequence[float]) -> float:
    return sorted(seconds)[max(0, round(0.95 * len(seconds)) - 1)]


def test_a_crowd_leaves_exactly_what_its_members_leave_one_after_the_other(folder, seeded):
    alone = Crowd(Path(shutil.copytree(seeded, folder / "alone")))
    for arguments in [job for member in jobs(folder).values() for job in member]:
        alone.do(arguments)
    with_server = Served(folder / "alone")
    ask_server(with_server)
    with_server.stop()

    crowd = Crowd(Path(shutil.copytree(seeded, folder / "home")))
    quiet = [crowd.recall() for _ in range(QUIET_RECALLS)]
    served = Served(folder / "home")
    writers = crowd.run(
        [lambda member=member: [crowd.do(job) for job in member] for member in jobs(folder).values()]
        + [lambda: ask_server(served)]
    )
    readers = crowd.run([lambda: crowd.recall_while(writers)] * RECALLING)
    for thread in [*writers, *readers]:
        thread.join()
    served.stop()

    assert crowd.failures == []
    assert left(folder / "home") == left(folder / "alone")
    assert left(folder / "home")[2] == []
    beside = recalls_on_a_busy_machine(folder / "alone") if FULL else quiet
    print(
        f"\n{INGESTING} ingesting, {RECALLING} recalling, a prune, a nightly run, a server: no error; "
        f"bounded waits {dict(crowd.waits)}; recall p95 quiet {p95(quiet):.2f} s ({len(quiet)}), "
        f"in the crowd {p95(crowd.recalls):.2f} s ({len(crowd.recalls)}), ratio {p95(crowd.recalls) / p95(quiet):.2f}; "
        f"beside as many processes that only compute {p95(beside):.2f} s ({len(beside)})"
    )
