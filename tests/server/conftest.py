"""Real servers on loopback and socket files, over a small memory of facts."""

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from memctl.embedding.models import open_embedder
from memctl.memory import OpenMemory
from memctl.operations.exchange import import_facts
from memctl.rules.identity import fact_id
from memctl.settings import DEFAULT_MODEL
from memctl.store import Model, Store
from tests.conftest import NOW, CommandLine

FACTS = (
    ("bakery-team", "The ovens are switched on at four in the morning", "decision"),
    ("bakery-team", "Rye bread needs a sourdough starter", "fact"),
    ("bakery-team", "Customers prefer receipts by e-mail", "preference"),
    ("bakery-team/planner", "Freezing croissant dough overnight failed, it did not rise", "failure"),
    ("library-team", "Overdue books cost twenty cents a day", "fact"),
    ("global", "Minutes of meetings are written in English", "preference"),
)

# A chat with something in it that no reader of it would forget.
CHAT = (
    "Ines: Please remember that all invoices must be archived for ten years.\n"
    "Tomas: I tried the old scanner and it failed with a paper jam, so we use the new scanner instead.\n"
    "Ines: We decided to close the workshop on Mondays from now on.\n"
)


def short_folder() -> Path:
    """A folder whose path is short enough for a socket file."""
    return Path(tempfile.mkdtemp(prefix="mctl"))


def seeded(home: Path) -> Path:
    """A memory with facts in four scopes."""
    lines = [
        json.dumps(
            {
                "id": fact_id(agent, text),
                "agent": agent,
                "text": text,
                "type": kind,
                "state": "active",
                "said_at": "2026-04-20T09:00:00Z",
                "held": [{"since": "2026-04-20T09:00:00Z", "until": None}],
                "sources": [{"transcript": "chat.json", "message": 3, "speaker": "Mara", "quote": text}],
            }
        )
        for agent, text, kind in FACTS
    ]
    embedder = open_embedder(DEFAULT_MODEL)
    Store.create(home, Model(embedder.name, dimension=embedder.dimension))
    memory = OpenMemory.at_home(home=str(home))
    import_facts(memory, lines, "facts.jsonl")
    memory.close()
    return home


class Served:
    """A running ``memctl serve`` on one home."""

    def __init__(self, home: Path, *arguments: str, **environment: str) -> None:
        self.home = home
        self.command_line = CommandLine(home, **environment)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "memctl", "serve", "--port", "0", *arguments],
            env=self.command_line.env(),
            stderr=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.said = self._first_line()
        self.url = next((word for word in self.said.split() if word.startswith("http://")), "")
        self.socket = home / "serve.sock"

    def _first_line(self) -> str:
        assert self.process.stderr is not None
        ready, _, _ = select.select([self.process.stderr], [], [], 60)
        assert ready, "the server said nothing"
        return self.process.stderr.readline().decode()

    def client(self, key: str = "") -> httpx.Client:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        return httpx.Client(base_url=self.url, headers=headers, timeout=60)

    def stop(self, sign: int = signal.SIGTERM) -> int:
        if self.process.poll() is None:
            self.process.send_signal(sign)
        try:
            return self.process.wait(40)
        finally:
            for stream in (self.process.stderr, self.process.stdout):
                if stream is not None:
                    stream.close()


@pytest.fixture(scope="session")
def bakery() -> Iterator[Path]:
    """A memory that no test changes; copy it to change it."""
    folder = short_folder()
    yield seeded(folder / "home")
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def own_home(bakery: Path) -> Iterator[Path]:
    """A copy of the memory for one module."""
    folder = short_folder()
    shutil.copytree(bakery, folder / "home")
    yield folder / "home"
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def served(own_home: Path) -> Iterator[Served]:
    """A server without keys, one a module."""
    server = Served(own_home)
    yield server
    server.stop()


@pytest.fixture(scope="module")
def http(served: Served) -> Iterator[httpx.Client]:
    """A client of the module's server."""
    with served.client() as client:
        yield client


@pytest.fixture
def serve() -> Iterator[Callable[..., Served]]:
    """Start servers that end with the test."""
    started: list[Served] = []

    def start(home: Path, *arguments: str, **environment: str) -> Served:
        started.append(Served(home, *arguments, **environment))
        return started[-1]

    yield start
    for server in started:
        server.stop(signal.SIGKILL)


def until(condition: Callable[[], object], seconds: float = 30.0) -> object:
    """Wait for something to come true."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)
    return found


def id_of(text: str, agent: str = "bakery-team") -> str:
    """The id of a fact."""
    return fact_id(agent, text)


__all__ = ["CHAT", "FACTS", "NOW", "Served", "id_of", "os", "short_folder", "until"]
