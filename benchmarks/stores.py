"""Large stores in little time: made-up facts with plausible vectors, written through the store's own writer.

A million sentences would take an hour to embed. Here a few hundred are embedded and the others get the vector of
one of these with some noise, so that a question finds near facts and far ones as it would in a grown memory.
"""

import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

from benchmarks.chats import START, Writer
from memctl.memory import OpenMemory
from memctl.model import Fact, Interval, MemoryType, Source, State, Wording
from memctl.rules.identity import fact_id
from memctl.rules.terms import analyse
from memctl.store import Changes, FactWrite, Model, RunInfo, Store, rounds, sums

_BATCH = 20_000
_TOPICS = 400
_NOISE = 0.6
_LAYOUT = 1  # part of the name of a kept store: raise it when stores are made differently


def scope_name(number: int) -> str:
    """Name one of the made-up teams."""
    return f"team-{number:04d}"


def built(cache: Path, facts: int, scope: int) -> Path:
    """Give a store of ``facts`` facts, ``scope`` a team; made on the first call and kept for the next ones.

    A build that was interrupted goes on with the batch it had come to.
    """
    home = cache / f"store-{_LAYOUT}-{facts}-{scope}"
    if not (home / "done").exists():
        _build(home, facts, scope)
        (home / "done").touch()
    return home


def checked(home: Path) -> Path:
    """Let a store be one that had nights before: its first check would look at everything, the later ones do not."""
    if not (home / rounds.NOTE).exists():
        store = Store.open(home)
        files = dict.fromkeys(sums.load(store.home) or (), 1)
        rounds._write(store.home, store.index.identity, rounds.Note(1, store.record.sequence(), files))
    return home


def copied(home: Path, target: Path) -> Path:
    """Copy a store, for a measurement that writes; LanceDB's large files are never changed and so only linked."""
    return Path(shutil.copytree(home, target, copy_function=_link_or_copy))


def _link_or_copy(source: str, target: str) -> None:
    if source.endswith(".lance"):
        with suppress(OSError):  # another disk, or one without links
            os.link(source, target)
            return
    shutil.copy2(source, target)


def _build(home: Path, facts: int, scope: int) -> None:
    memory = OpenMemory.at_home(home=str(home))
    store = Store.create(home, Model(memory.embedder.name, dimension=memory.embedder.dimension))
    topics = _topics(memory)
    runs = store.runs()
    run = runs[0].id if runs else None
    for start in range(store.record.count("facts"), facts, _BATCH):
        numbers = range(start, min(start + _BATCH, facts))
        changes = Changes(facts=list(_writes(numbers, scope, topics)))
        run = store.apply(changes, RunInfo("benchmark", id=run)).run_id
    store.compact()


def _topics(memory: OpenMemory) -> tuple[list[str], Any]:
    writer = Writer(7)
    texts = [writer.statement() for _ in range(_TOPICS)]
    return texts, memory.embed(texts)


def _writes(numbers: range, scope: int, topics: tuple[list[str], Any]) -> Iterator[FactWrite]:
    import numpy as np

    texts, vectors = topics
    drawn = np.random.default_rng(numbers.start)
    picked = drawn.integers(0, len(texts), len(numbers))
    noise = drawn.normal(0, _NOISE / np.sqrt(vectors.shape[1]), (len(numbers), vectors.shape[1]))
    mixed = (vectors[picked] + noise).astype(np.float32)
    mixed /= np.linalg.norm(mixed, axis=1, keepdims=True)
    for number, topic, vector in zip(numbers, picked, mixed, strict=True):
        text = f"{texts[topic][:-1]} (case {number})."
        yield FactWrite(_fact(scope_name(number // scope), text, number), vector, analyse(text))


def _fact(agent: str, text: str, number: int) -> Fact:
    at = START + timedelta(minutes=number % 100_000)
    source = Source(f"chat-{number // 20}.json", number % 20, "planner", text, at, "agent")
    return Fact(
        id=fact_id(agent, text),
        agent=agent,
        text=text,
        type=list(MemoryType)[int(hashlib.md5(text.encode(), usedforsecurity=False).hexdigest(), 16) % 4],
        state=State.ACTIVE,
        said_at=at,
        last_said_at=at,
        recorded_at=at,
        wordings=(Wording(text, at, source),),
        held=(Interval(at),),
    )
