"""Ingest against its physical limit: the models alone on the same texts. And reading again."""

import statistics
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from benchmarks.chats import write_folder
from benchmarks.clock import environment, memctl, run, seconds_of
from benchmarks.context import Context
from benchmarks.figures import Figure, at_least, at_most
from benchmarks.models import Passes, recorded
from memctl.memory import OpenMemory
from memctl.operations.ingest import ingest
from memctl.store import Filter

AGENT = "bench"
_MESSAGES_PER_FILE = 5


def measure(context: Context) -> Iterator[Figure]:
    """Ingest slice by slice into one store, the models alone on the same texts after each; then read all again."""
    size = context.size
    folder, home = context.folder("chats"), context.work / "home"
    slices = _write_slices(context, folder)
    took, alone, texts = [], [], 0
    with recorded() as passes:  # from before the models are loaded: what uses them keeps hold of how to run them
        memory = warm_memory(context, home)
        for part in slices:
            passes.clear()
            took.append(seconds_of(partial(ingest, memory, [str(part)], agent=AGENT)))
            passed = {encoder: list(inputs) for encoder, inputs in passes.items()}
            alone.append(seconds_of(partial(run_alone, passed)))
            texts += sum(map(len, passed.values()))
            context.say(f"{part.name}: {took[-1]:.1f} s, the models alone {alone[-1]:.1f} s")
    facts = memory.store.count_facts(Filter(agents=(AGENT,)))
    spread = f"slices of {size.messages // size.slices}: {_spread([a / t for a, t in zip(alone, took, strict=True)])}"
    yield Figure("share of the models' own throughput", sum(alone) / sum(took), "×", at_least(0.70), spread)
    yield Figure("messages", size.messages / sum(took), "/s", note=f"{size.messages} messages in {sum(took):.0f} s")
    yield Figure("facts", facts / sum(took), "/s", note=f"{facts} facts")
    yield Figure(
        "texts through a model", texts / sum(took), "/s", note=f"{texts} texts; alone {texts / sum(alone):.0f}/s"
    )
    again = statistics.median(_read_again(folder, home) for _ in range(3))
    note = f"{again:.2f} s, process start included, against {sum(took):.0f} s"
    yield Figure("reading the unchanged folder again", 100 * again / sum(took), "%", at_most(2), note)


def _write_slices(context: Context, folder: Path) -> list[Path]:
    size = context.size
    each = size.messages // size.slices
    parts = [folder / f"slice-{number:02d}" for number in range(size.slices)]
    for number, part in enumerate(parts):
        write_folder(part, each, max(1, each // _MESSAGES_PER_FILE), seed=number)
    return parts


def warm_memory(context: Context, home: Path) -> OpenMemory:
    """Open a memory whose models are loaded: what is measured is work, not starting."""
    memory = OpenMemory.at_home(home=str(home))
    folder = context.work / "warming"
    write_folder(folder, 8, 1, seed=99)
    ingest(memory, [str(folder)], agent="warming")
    return memory


def run_alone(passes: Passes) -> None:
    """Run the same texts through the same models, each in one go, with nothing else to do."""
    for encoder, inputs in passes.items():
        encoder.run(inputs)


def _read_again(folder: Path, home: Path) -> float:
    return run(memctl("ingest", folder, "--agent", AGENT), environment(home))


def _spread(values: list[float]) -> str:
    return f"{min(values):.2f}–{max(values):.2f}"
