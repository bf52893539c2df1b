"""What a memory costs as it grows: one night's work, bytes, and the files and versions that many runs leave."""

import statistics
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.chats import Writer, write_folder
from benchmarks.clock import seconds_of
from benchmarks.context import Context
from benchmarks.figures import Figure, at_most
from benchmarks.stores import built, checked, copied, scope_name
from memctl.memory import OpenMemory
from memctl.operations import nightly as nights
from memctl.operations.remember import Entry, remember

_NIGHTS = 3
_STAGES = ("ingest", "prune", "compact", "check")


def measure(context: Context) -> Iterator[Figure]:
    """Measure nights, bytes and files."""
    yield from _nights(context)
    yield from _many_runs(context)


def _nights(context: Context) -> Iterator[Figure]:
    """Run a few nights on stores of growing size."""
    medians = {}
    for facts in context.size.facts:
        home = copied(checked(built(context.cache, facts, context.size.scope)), context.work / f"night-{facts}")
        memory = OpenMemory.at_home(home=str(home))
        size = memory.store.size()
        took, stages = _spend_nights(context, memory, facts)
        medians[facts] = took
        parts = ", ".join(f"{name} {statistics.median(seconds):.1f}" for name, seconds in stages.items() if seconds)
        context.say(f"a night on {facts} facts: {took:.1f} s ({parts})")
        messages = context.size.nightly_messages
        yield Figure(f"nightly of {messages} messages, {facts} facts", took, "s", note=f"seconds: {parts}")
        yield Figure(
            f"bytes a fact, {facts} facts", size / facts, "B", note="vector, full text and DuckDB index included"
        )
    least, most = context.size.facts[0], context.size.facts[-1]
    yield Figure(f"nightly, {most} : {least} facts", medians[most] / medians[least], "×", at_most(2))


def _spend_nights(context: Context, memory: OpenMemory, facts: int) -> tuple[float, dict[str, list[float]]]:
    took = []
    with _stages_timed() as stages:
        for night in range(_NIGHTS + 1):
            folder = context.work / f"night-{facts}-chats-{night}"
            write_folder(folder, context.size.nightly_messages, max(1, context.size.nightly_messages // 10), seed=night)
            took.append(seconds_of(partial(nights.nightly, memory, [str(folder)], agent=scope_name(0))))
    # The first night also loads the models.
    return statistics.median(took[1:]), {name: seconds[1:] for name, seconds in stages.items()}


@contextmanager
def _stages_timed() -> Iterator[dict[str, list[float]]]:
    """Note how long each stage of a night takes."""
    stages: dict[str, list[float]] = {name: [] for name in _STAGES}
    originals = {name: getattr(nights, name) for name in _STAGES if hasattr(nights, name)}
    for name, original in originals.items():
        setattr(nights, name, _timed(original, stages[name]))
    try:
        yield stages
    finally:
        for name, original in originals.items():
            setattr(nights, name, original)


def _timed(original: Callable[..., Any], seconds: list[float]) -> Callable[..., Any]:
    def call(*arguments: Any, **options: Any) -> Any:
        began = perf_counter()
        try:
            return original(*arguments, **options)
        finally:
            seconds.append(perf_counter() - began)

    return call


def _many_runs(context: Context) -> Iterator[Figure]:
    """Remember one thing at a time, and look at what lies in the folder after each; then compact."""
    runs = context.size.small_runs
    memory = OpenMemory.at_home(home=str(context.work / "many-runs"))
    writer = Writer(5)
    files, versions, seconds = [], [], []
    for _ in range(runs):
        entry = Entry(writer.statement(), agent="bench", at=datetime(2026, 5, 4, tzinfo=UTC).isoformat())
        seconds.append(seconds_of(partial(remember, memory, [entry])))
        files.append(_files(memory))
        versions.append(_versions(memory))
    half = runs // 2
    yield Figure(
        f"most files, runs {half + 1}–{runs} : 1–{half}", max(files[half:]) / max(files[:half]), "×", at_most(1.25)
    )
    yield Figure(f"most files in {runs} small runs", max(files), "", note=f"{files[-1]} at the end")
    yield Figure(f"most versions of a table in {runs} small runs", max(versions), "", note=f"{versions[-1]} at the end")
    yield Figure(
        "one small run", 1000 * statistics.median(seconds[half:]), "ms", note="remember one sentence, in process"
    )
    before = memory.store.size()
    memory.store.compact()
    yield Figure(
        "size after compact",
        100 * memory.store.size() / before,
        "%",
        note=f"{_files(memory)} files, {before} bytes before",
    )


def _files(memory: OpenMemory) -> int:
    return sum(path.is_file() for path in Path(memory.location, "record").rglob("*"))


def _versions(memory: OpenMemory) -> int:
    return max(memory.store.record.read(table, lambda data: len(data.versions())) for table in ("facts", "runs"))
