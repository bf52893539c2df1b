"""Where the processor time goes: the stages of an ingest and of a cold recall, from a sampling profiler."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping

from benchmarks.chats import write_folder
from benchmarks.clock import PYTHON, environment, run
from benchmarks.context import Context
from benchmarks.figures import Figure
from benchmarks.ingest import AGENT, warm_memory
from benchmarks.sampler import Stages, sampled
from benchmarks.stores import built, scope_name
from memctl.operations.ingest import ingest

INGEST: Stages = {
    "models: the keep classifier": [("extraction/local.py", "_judge")],
    "models: the judge of pairs": [("rules/relation.py", "inputs")],
    "models: sentence vectors": [("memctl/memory.py", "embed")],
    "extract: cutting, windows, composing": [("extraction/", "")],
    "judge: reading the known facts": [("operations/learning.py", "_known")],
    "judge: choosing pairs, verdicts": [("rules/", "")],
    "write: LanceDB": [("store/record.py", "")],
    "write: DuckDB index": [("store/index.py", "")],
    "write: digests of files": [("store/sums.py", "")],
    "write: rows, journal": [("store/", "")],
    "waiting for the reader thread": [("operations/ingest.py", "_batches")],
}
_STARTS = 5


def measure(context: Context) -> Iterator[Figure]:
    """Profile an ingest and a cold recall."""
    yield from _ingest(context)
    yield from _recall(context)


def _ingest(context: Context) -> Iterator[Figure]:
    memory = warm_memory(context, context.work / "home")
    folder = context.work / "chats"
    messages = min(1_000, context.size.messages)
    write_folder(folder, messages, max(1, messages // 5), seed=77)
    with sampled(INGEST) as spent:
        ingest(memory, [str(folder)], agent=AGENT)
    yield from _shares("ingest", spent, f"{messages} messages")


def _recall(context: Context) -> Iterator[Figure]:
    """Profile a few processes from their first line on."""
    facts = context.size.facts[1]
    home = built(context.cache, facts, facts)
    target = context.work / "recall.json"
    question = ("recall", "what is the limit for the backup of the orchard map", "--agent", scope_name(0))
    spent: Counter[str] = Counter()
    for _ in range(_STARTS):
        command = (PYTHON, "-m", "benchmarks.sampler", str(target), *question)
        run(command, environment(home))
        stages = json.loads(target.read_text())
        spent.update({stage: seconds / _STARTS for stage, seconds in stages.items()})
    yield from _shares("cold recall", spent, f"{facts} facts")


def _shares(what: str, stages: Mapping[str, float], note: str) -> Iterator[Figure]:
    total = sum(stages.values())
    for name, seconds in sorted(stages.items(), key=lambda item: -item[1]):
        yield Figure(f"{what}: {name}", 100 * seconds / total, "%", note=f"{1000 * seconds:.0f} ms of {note}")
