"""What the fuzz tests share: a corpus of real files, ways to break them, and a guard around every input.

``MEMCTL_FUZZ`` says how many inputs there are in all (2,000 in CI, always the same ones; 50,000 in ``make fuzz``, new
ones each time). ``MEMCTL_FUZZ_CORPUS`` names a folder of further transcripts to break.
"""

import json
import os
import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

from tests.conftest import SAMPLES

TOTAL = int(os.environ.get("MEMCTL_FUZZ", "2000"))
CI_TOTAL = 2000
HANG_SECONDS = 5
MOST_GROWTH = 512 * 1024 * 1024  # what one input may add; a process with the models loaded stays below 1 GB so
_LARGEST = 300_000

# Pieces that readers, parsers and databases have stumbled over.
TOKENS = (
    *(
        b"",
        b"\x00",
        b"\xff",
        b"\xed\xa0\x80",
        b"\xef\xbb\xbf",
        b"\xff\xfe",
        b"\x1f\x8b",
        b"\r",
        b"\n",
        b"\n\n",
        b"\t",
        b" ",
    ),
    *(
        b'"',
        b"'",
        b"\\",
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b":",
        b"(",
        b")",
        b"<",
        b">",
        b"`",
        b";",
        b"--",
        b"/*",
        b"%s",
        b"${x}",
    ),
    *(b"null", b"true", b"NaN", b"-Infinity", b"1e999", b"-0", b"9" * 30, b"9" * 5000, b"0x1F", b"\\ud800", b"\\u0000"),
    *(b"[" * 3000, b'{"a":' * 3000, b"(" * 3000, b"a" * 20_000, b"a " * 10_000, b"-" * 5000, b"=" * 5000, b"1" * 5000),
    *(
        b"\n" * 5000,
        b"\n- " * 2000,
        b"a@" * 3000,
        b"a." * 3000,
        b"://" * 2000,
        b"<b>" * 2000,
        b"'\"" * 2000,
        b"\\" * 5000,
    ),
    *("é".encode(), "漢字".encode(), "\u202e".encode(), "🚀".encode(), "e\u0301".encode() * 2000, "\u2028".encode()),
    *(b"' OR 1=1 --", b"'; DROP TABLE facts; --", b"$(reboot)", b"../../etc/passwd", b"{reason}", b"{0.__class__}"),
    *(
        b"---------- user ----------\n",
        b"user (to planner):\n\n",
        b"TERMINATE",
        b"[TextMessage(",
        b"datetime.datetime(0, 0",
    ),
    *(b"2026-13-45T99:99:99Z", b"-1", b"99999-01-01", b"0001-01-01T00:00:00+14:00", b"9999-12-31T23:59:59-14:00"),
)
_KINDS = ("flip", "drop", "double", "insert", "replace", "cut", "splice", "swap")

odd_values: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([0, -1, 2**63, -(2**63) - 1, 10**400, 1e308, float("nan"), float("inf"), 0.5]),
    st.text(max_size=20),
    st.sampled_from([token.decode("utf-8", "surrogateescape") for token in TOKENS]),
    st.sampled_from(
        [[], {}, [[]], [None], [{}], {"": ""}, {"text": []}, [1, "a", None], "\ud800", "a\x00b", [["x"] * 50]]
    ),
)


def fuzz(share: float) -> Callable[..., Any]:
    """Settings for a target that gets this share of all inputs."""
    return settings(
        max_examples=max(1, round(TOTAL * share)),
        derandomize=TOTAL <= CI_TOTAL,
        deadline=None,
        database=None,
        phases=(Phase.explicit, Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )


@cache
def corpus() -> tuple[tuple[str, bytes], ...]:
    """Give the sample transcripts, and those of the folder that the environment names: path and bytes."""
    folders = [SAMPLES, *filter(None, [os.environ.get("MEMCTL_FUZZ_CORPUS")])]
    files = [path for folder in folders for path in sorted(Path(folder).rglob("*")) if path.is_file()]
    kept = [path for path in files if path.suffix not in (".md", ".sh") and path.stat().st_size <= _LARGEST]
    return tuple((str(path), path.read_bytes()) for path in kept)


@st.composite
def broken_bytes(draw: st.DrawFn, sources: Callable[[], tuple[tuple[str, bytes], ...]] = corpus) -> tuple[str, bytes]:
    """A real file with a few things done to it."""
    path, data = draw(st.sampled_from(sources()))
    for _ in range(draw(st.integers(1, 4))):
        data = _broken(draw, data, sources)
    return path, data


def _broken(draw: st.DrawFn, data: bytes, sources: Callable[[], tuple[tuple[str, bytes], ...]]) -> bytes:
    kind = draw(st.sampled_from(_KINDS))
    start = draw(st.integers(0, len(data)))
    end = min(len(data), start + draw(st.integers(1, 200)))
    match kind:
        case "flip":
            return (
                data[:start] + bytes(byte ^ draw(st.integers(1, 255)) for byte in data[start : start + 1]) + data[end:]
            )
        case "drop":
            return data[:start] + data[end:]
        case "double":
            return data[:end] + data[start:end] * draw(st.integers(1, 50)) + data[end:]
        case "insert":
            return data[:start] + draw(st.sampled_from(TOKENS)) + data[start:]
        case "replace":
            return data[:start] + draw(st.sampled_from(TOKENS)) + data[end:]
        case "cut":
            return data[:start]
        case "swap":
            return data[end:] + data[:end]
    other = draw(st.sampled_from(sources()))[1]
    return data[:start] + other[draw(st.integers(0, len(other))) :]


@st.composite
def broken_values(draw: st.DrawFn, value: Any) -> Any:
    """A JSON value with odd things in the places of some of its parts."""
    if draw(st.integers(0, 5)) == 0:
        return draw(odd_values)
    if isinstance(value, dict) and value:
        name = draw(st.sampled_from(sorted(value)))
        fate = draw(st.integers(0, 5))
        if fate == 0:
            return {key: item for key, item in value.items() if key != name}
        if fate == 1:
            return {**value, draw(st.text(max_size=8)): draw(odd_values)}
        return {**value, name: draw(broken_values(value[name]))}
    if isinstance(value, list) and value:
        place = draw(st.integers(0, len(value) - 1))
        return [*value[:place], draw(broken_values(value[place])), *value[place + 1 :]]
    return draw(odd_values)


def dumped(value: Any) -> str:
    """JSON as careless programs write it, with NaN and lone surrogates."""
    return json.dumps(value)


@contextmanager
def guarded() -> Iterator[None]:
    """Fail where one input takes more than 5 seconds of work or half a gigabyte; sleeping does not count as work."""
    before = _resident()
    _forget_peak()
    previous = signal.signal(signal.SIGPROF, _give_up)
    signal.setitimer(signal.ITIMER_PROF, HANG_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, previous)
    assert _peak() - before < MOST_GROWTH, "one input took too much memory"


def _give_up(*_: object) -> None:
    raise AssertionError(f"one input took more than {HANG_SECONDS} seconds of work")


def _status(name: str) -> int:
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:  # not Linux: the highest since the process began
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))


def _resident() -> int:
    return _status("VmRSS:")


def _peak() -> int:
    return _status("VmHWM:")


def _forget_peak() -> None:
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:  # then the peak is the highest so far, which can only be too strict
        return
