"""Timing that stands noise: repetitions of several things taken in turn, medians, and processes with their memory."""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]  # where ``-m benchmarks.…`` is found
PYTHON = sys.executable
PASS = (PYTHON, "-c", "pass")
IMPORT_LANCEDB = (PYTHON, "-c", "import lancedb")


def memctl(*arguments: object) -> tuple[str, ...]:
    """Give the command line of memctl as its users call it."""
    script = Path(PYTHON).with_name("memctl")
    start = (str(script),) if script.exists() else (PYTHON, "-m", "memctl")
    return (*start, *map(str, arguments))


def environment(home: Path | None = None, **more: str) -> dict[str, str]:
    """Give an environment that names a memory and none of the caller's own settings.

    Bytecode is kept, as pip keeps it for what it installs; else a checkout would be compiled anew in every process.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MEMCTL_") or name in _KEPT}
    kept.pop("PYTHONDONTWRITEBYTECODE", None)
    return kept | ({"MEMCTL_HOME": str(home)} if home else {}) | more


_KEPT = {"MEMCTL_CACHE", "MEMCTL_THREADS"}


def run(command: Sequence[str], env: Mapping[str, str] | None = None) -> float:
    """Run a process to its end and give its seconds; one that fails ends the measurement with what it said."""
    began = time.perf_counter()
    done = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, check=False, cwd=ROOT)
    seconds = time.perf_counter() - began
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr.decode()[-2000:]}")
    return seconds


def peak_megabytes(command: Sequence[str], env: Mapping[str, str] | None = None) -> float:
    """Run a process to its end and give the most memory it held."""
    launched = (PYTHON, "-I", "-S", str(_LAUNCHER), *command)
    done = subprocess.run(
        launched, env=env, stdin=subprocess.DEVNULL, capture_output=True, check=False, text=True, cwd=ROOT
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return int(done.stderr.rpartition("\n")[2]) / _UNITS_PER_MEGABYTE


_LAUNCHER = Path(__file__).with_name("launcher.py")
_UNITS_PER_MEGABYTE = 2**20 if sys.platform == "darwin" else 2**10


def seconds_of(work: Callable[[], object]) -> float:
    """Time a call."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def in_turn(repetitions: int, **things: Callable[[], float]) -> dict[str, list[float]]:
    """Time several things in turn, so that a slow minute of the machine meets them all; one warm-up round first."""
    for thing in things.values():
        thing()
    rounds: dict[str, list[float]] = {name: [] for name in things}
    for _ in range(repetitions):
        for name, thing in things.items():
            rounds[name].append(thing())
    return rounds


def ratio(left: Sequence[float], right: Sequence[float]) -> float:
    """Give the median of the ratios of neighbouring repetitions."""
    return statistics.median(a / b for a, b in zip(left, right, strict=True))


def steady(left: Sequence[float], right: Sequence[float]) -> bool:
    """Tell whether a ratio can be trusted: the ratio of medians agrees with the median of ratios within a quarter."""
    apart = ratio(left, right) / (statistics.median(left) / statistics.median(right))
    return 0.8 <= apart <= 1.25


def percentile(values: Sequence[float], share: float) -> float:
    """Give the value below which a share of the values lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
