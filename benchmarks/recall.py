"""Recall: from a cold process, through the server, and in a process that stays, as the memory grows."""

import contextlib
import json
import os
import socket
import statistics
import subprocess
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from benchmarks.chats import Writer
from benchmarks.clock import (
    IMPORT_LANCEDB,
    PASS,
    environment,
    in_turn,
    memctl,
    peak_megabytes,
    percentile,
    ratio,
    run,
    seconds_of,
    steady,
)
from benchmarks.context import Context
from benchmarks.figures import Figure, Target, at_most
from benchmarks.stores import built, scope_name
from memctl.client import STORE_SOCKET
from memctl.memory import OpenMemory
from memctl.operations.recall import recall

_QUESTION = "what is the limit for the backup of the orchard map"
_PATIENCE = 60


def measure(context: Context) -> Iterator[Figure]:
    """Measure the three ways to ask on stores of all sizes, and the memory they take."""
    yield from _beside_others(context)
    for facts in context.size.facts:
        yield from _processes(context, facts)
    yield from _in_process(context)


def _beside_others(context: Context) -> Iterator[Figure]:
    """Time whole processes on one scope, beside processes that do next to nothing."""
    facts = context.size.facts[1]
    home = built(context.cache, facts, facts)
    env, ask = environment(home), memctl("recall", _QUESTION, "--agent", scope_name(0))
    cold = in_turn(
        context.size.repetitions,
        recall=lambda: run(ask, env),
        lancedb=lambda: run(IMPORT_LANCEDB),
        bare=lambda: run(PASS),
    )
    note = f"{facts} facts in one scope"
    yield _beside("cold recall : import lancedb", cold["recall"], cold["lancedb"], at_most(0.75), note)
    yield Figure("peak memory of a cold recall", peak_megabytes(ask, env), "MB", at_most(400))
    with serving(home, env):
        served = in_turn(context.size.repetitions * 2, recall=lambda: run(ask, env), bare=lambda: run(PASS))
    name = "recall through memctl serve : python -c pass"
    yield _beside(name, served["recall"], served["bare"], at_most(8), "process start included")


def _processes(context: Context, facts: int) -> Iterator[Figure]:
    """Time cold processes and ones that ask a server, on a store of one size, each about another scope."""
    size = context.size
    home = built(context.cache, facts, size.scope)
    env, scopes = environment(home), facts // size.scope
    asks = [
        memctl("recall", _QUESTION, "--agent", scope_name(number * 37 % scopes)) for number in range(size.repetitions)
    ]
    context.say(f"{len(asks)} processes on {facts} facts")
    run(asks[0], env)
    yield from _percentiles("cold recall", facts, [run(ask, env) for ask in asks])
    yield Figure(f"cold recall, peak memory, {facts} facts", peak_megabytes(asks[0], env), "MB")
    with serving(home, env) as server:
        run(asks[0], env)
        yield from _percentiles("recall through the server", facts, [run(ask, env) for ask in asks * 2])
        yield Figure(f"memory of the server, {facts} facts", _held_megabytes(server), "MB")
    many = context.work / f"questions-{facts}.jsonl"
    many.write_text("".join(_lines(size.questions, scopes)), encoding="utf-8")
    peak = peak_megabytes(memctl("recall", "--from", many, "--format", "jsonl"), env)
    yield Figure(f"peak memory of {size.questions} recalls in one process, {facts} facts", peak, "MB")


def _percentiles(name: str, facts: int, seconds: list[float], note: str = "") -> Iterator[Figure]:
    for share in (0.5, 0.95):
        value = 1000 * percentile(seconds, share)
        yield Figure(f"{name} p{100 * share:.0f}, {facts} facts", value, "ms", note=note)


def _lines(questions: int, scopes: int) -> Iterator[str]:
    writer = Writer(11)
    for number in range(questions):
        yield json.dumps({"query": writer.statement(), "agent": scope_name(number * 37 % scopes)}) + "\n"


def _held_megabytes(pid: int) -> float | None:
    """Give the most memory that a running process held, where the system tells."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    return None


def _beside(name: str, left: list[float], right: list[float], target: Target, note: str) -> Figure:
    """Give a ratio of two things timed in turn; one that the machine's noise drowns is not held to its target."""
    told = f"{_ms(left)} against {_ms(right)}; {note}"
    if steady(left, right):
        return Figure(name, ratio(left, right), "×", target, told)
    return Figure(name, ratio(left, right), "×", None, f"too noisy to judge ({target}): {told}")


def _ms(seconds: list[float]) -> str:
    return f"{1000 * statistics.median(seconds):.0f} ms"


@contextlib.contextmanager
def serving(home: Path, env: dict[str, str]) -> Iterator[int]:
    """Let ``memctl serve`` run on a store for a while; gives its process id."""
    server = subprocess.Popen(
        memctl("serve", "--port", "0"), env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    try:
        _wait_for(home / STORE_SOCKET, server)
        yield server.pid
    finally:
        server.terminate()
        server.communicate(timeout=_PATIENCE)


def _wait_for(path: Path, server: "subprocess.Popen[bytes]") -> None:
    for _ in range(_PATIENCE * 20):
        if server.poll() is not None:
            raise RuntimeError(f"the server ended: {(server.communicate()[1] or b'').decode()[-1000:]}")
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as link:
            link.connect(os.fspath(path))
            return
        time.sleep(0.05)
    raise RuntimeError("the server did not start")


def _in_process(context: Context) -> Iterator[Figure]:
    """Ask stores of all sizes in turn, each time another scope and another question."""
    size = context.size
    memories = {}
    for facts in size.facts:
        context.say(f"a store of {facts} facts")
        memories[facts] = OpenMemory.at_home(home=str(built(context.cache, facts, size.scope)))
    times = _ask_all(memories, size.scope, size.questions)
    for facts, seconds in times.items():
        yield from _percentiles("warm recall", facts, seconds, f"{facts // size.scope} scopes")
    base, most = size.facts[1], size.facts[-1]
    if most > base:
        growth = percentile(times[most], 0.95) / percentile(times[base], 0.95)
        yield Figure(f"warm recall p95, {most} : {base} facts", growth, "×", at_most(2))


def _ask_all(memories: dict[int, OpenMemory], scope: int, questions: int) -> dict[int, list[float]]:
    writer = Writer(11)
    times: dict[int, list[float]] = {facts: [] for facts in memories}
    warming = 5
    for number in range(questions + warming):
        question = writer.statement()
        for facts, memory in memories.items():
            agent = scope_name((number * 37) % (facts // scope))
            took = seconds_of(partial(recall, memory, question, agent=agent, count=False))
            if number >= warming:
                times[facts].append(took)
    return times
