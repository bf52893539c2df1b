"""Quality beside speed: facts said thrice, facts that changed, and the evaluation where its data is given."""

import json
import os
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

from benchmarks.clock import PYTHON, memctl
from benchmarks.context import Context
from benchmarks.examples import CHANGED, SAID_AGAIN, verdict
from benchmarks.figures import Figure, at_least, at_most
from memctl.memory import OpenMemory
from memctl.model import Result
from memctl.operations.recall import recall
from memctl.operations.remember import Entry, Remembered, remember
from memctl.store import Filter

_TARGETS = {
    "extract_f1": at_least(0.75),
    "extract_precision": at_least(0.68),
    "extract_recall": at_least(0.68),
    "type_accuracy": at_least(0.75),
    "expiry_right": at_least(0.70),
    "lasting_lost": at_most(0.05),
    "secrets_stored": at_most(0),
    "poison_active": at_most(0),
    "recall_hit5": at_least(0.75),
    "recall_hit1": at_least(0.50),
    "stale_shown": at_most(0.10),
    "silent_when_unknown": at_least(0.50),
    "recall_precision": at_least(0.35),
}


def measure(context: Context) -> Iterator[Figure]:
    """Measure what becomes of repeated and changed facts, then the evaluation."""
    yield from _said_again(context)
    yield from _changed(context)
    if context.data is not None:
        yield from _evaluation(context.data)
        yield from _locomo(context.data)


def _said_again(context: Context) -> Iterator[Figure]:
    memory = OpenMemory.at_home(home=str(context.work / "again"))
    for day in (1, 2, 3):
        for text in SAID_AGAIN:
            _tell(memory, text, day)
    copies = memory.store.count_facts(Filter()) / len(SAID_AGAIN)
    yield Figure("copies of a fact added three times", copies, "", at_most(1))


def _changed(context: Context) -> Iterator[Figure]:
    memory = OpenMemory.at_home(home=str(context.work / "changed"))
    for day, said in enumerate(("old", "new"), start=1):
        for changed in CHANGED:
            _tell(memory, getattr(changed, said), day)
    shown = [_shown(memory, changed.question) for changed in CHANGED]
    counts, total = verdict(shown), len(CHANGED)
    yield Figure("changed facts: the present one first", counts["current first"], f"of {total}", at_least(total))
    yield Figure("changed facts: the old one still shown", counts["stale shown"], f"of {total}", at_most(0))


def _tell(memory: OpenMemory, text: str, day: int) -> Result[Remembered]:
    return remember(memory, [Entry(text, agent="bench", at=f"2026-05-{day:02d}T09:00:00Z")])


def _shown(memory: OpenMemory, question: str) -> list[str]:
    return [hit.fact.text for hit in recall(memory, question, agent="bench", limit=5, count=False).data.hits]


def _evaluation(data: Path) -> Iterator[Figure]:
    """Run the evaluation's own script on its projects, through the command line."""
    script, projects = data / "score.py", sorted(path for path in (data / "dev").glob("*/") if path.is_dir())
    if not script.exists() or not projects:
        return
    command = (PYTHON, str(script), "projects", *map(str, projects), "--json")
    env = os.environ | {"MEMCTL": shlex.join(memctl())}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    for name, value in json.loads(done.stdout).items():
        if name in _TARGETS:
            yield Figure(name, value, "", _TARGETS[name], "score.py")


def _locomo(data: Path) -> Iterator[Figure]:
    """Measure how much of each question's evidence a deep recall finds."""
    from benchmarks import locomo

    for file in sorted((data / "locomo").glob("*.json")):
        score = locomo.measure(file)
        yield Figure("LoCoMo evidence among the first ten messages", score, "", at_least(0.73), file.name)
