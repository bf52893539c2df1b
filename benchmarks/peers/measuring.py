"""The comparison: facts written, cold and warm recall, a fact added three times, a fact that changed."""

import json
import statistics
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.chats import Writer
from benchmarks.clock import PYTHON, environment, in_turn, memctl, percentile, run, seconds_of
from benchmarks.context import Context
from benchmarks.examples import CHANGED, SAID_AGAIN, verdict
from benchmarks.figures import Figure
from benchmarks.peers.environments import PEERS, NotInstalled, Peer, python_of

_INSIDE = Path(__file__).with_name("inside.py")
_QUESTION = "what is the limit for the backup of the orchard map"
OURS = Peer("memctl", "memctl_memory", ())


class Runner:
    """Runs jobs of one peer, each in a process of its own."""

    def __init__(self, peer: Peer, python: Path, folder: Path) -> None:
        """Take the peer, its interpreter, and a folder for its memories."""
        self.peer = peer
        self._python = python
        self._folder = folder

    def job(self, name: str, memory: str, **given: Any) -> dict[str, Any]:
        """Run a job on one of the peer's memories."""
        command = (str(self._python), str(_INSIDE), self.peer.adapter, name, str(self._folder / memory))
        done = subprocess.run(
            command, input=json.dumps(given), capture_output=True, text=True, check=False, env=environment()
        )
        if done.returncode:
            last = done.stderr.strip().splitlines()[-1:] or ["no reason given"]
            raise NotInstalled(last[0][:200])
        return dict(json.loads(done.stdout))

    def cold(self) -> float:
        """Start a process, ask one question, and end: how long it took."""
        if self.peer is OURS:
            ask = memctl("recall", _QUESTION, "--agent", "bench", "--limit", 5)
            return run(ask, environment(self._folder / "many"))
        return seconds_of(partial(self.job, "ask", "many", question=_QUESTION))


def measure(context: Context) -> Iterator[Figure]:
    """Compare memctl with every peer that can be installed here."""
    texts = _texts(context.size.peer_facts)
    runners = []
    for peer in (OURS, *PEERS):
        try:
            python = Path(PYTHON) if peer is OURS else python_of(peer, context.cache)
            runner = Runner(peer, python, context.folder(peer.adapter))
            context.say(f"{peer.name}: writing {len(texts)} facts")
            took = float(runner.job("fill", "many", texts=texts)["seconds"])
        except NotInstalled as reason:
            yield Figure(f"{peer.name}: left out", str(reason))
            continue
        yield Figure(f"{peer.name}: facts written", len(texts) / took, "/s")
        runners.append(runner)
    yield Figure("the model alone: sentences", _model_alone(texts), "/s", note="onnxruntime, in one go")
    yield from _cold(context, runners)
    for runner in runners:
        yield from _rest(runner, context.size.questions)


def _texts(count: int) -> list[str]:
    writer, texts = Writer(21), {}
    while len(texts) < count:
        texts[writer.statement()] = None
    return list(texts)


def _model_alone(texts: list[str]) -> float:
    from memctl.embedding.models import open_embedder

    embedder = open_embedder()
    embedder.embed(texts[:50])
    return len(texts) / seconds_of(partial(embedder.embed, texts))


def _cold(context: Context, runners: list[Runner]) -> Iterator[Figure]:
    """Let all of them start in turn."""
    repetitions = max(1, context.size.repetitions // 3)
    rounds = in_turn(repetitions, **{runner.peer.adapter: runner.cold for runner in runners})
    ours = statistics.median(rounds[OURS.adapter])
    for runner in runners:
        median = statistics.median(rounds[runner.peer.adapter])
        yield Figure(f"{runner.peer.name}: cold recall", median, "s", note=f"{median / ours:.1f} × memctl")


def _rest(runner: Runner, questions: int) -> Iterator[Figure]:
    name = runner.peer.name
    writer = Writer(31)
    asked = [writer.statement() for _ in range(min(50, questions) + 3)]
    seconds = runner.job("warm", "many", questions=asked)["seconds"]
    yield Figure(f"{name}: warm recall p50", 1000 * percentile(seconds, 0.5), "ms")
    count = runner.job("again", "again", texts=list(SAID_AGAIN))["count"]
    yield Figure(f"{name}: copies of a fact added three times", count / len(SAID_AGAIN))
    given = {
        "old": [c.old for c in CHANGED],
        "new": [c.new for c in CHANGED],
        "questions": [c.question for c in CHANGED],
    }
    counts = verdict(runner.job("changed", "changed", **given)["answers"])
    for what, number in counts.items():
        yield Figure(f"{name}: changed fact, {what}", number, f"of {len(CHANGED)}")
