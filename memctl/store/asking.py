"""SQL that people write. It runs in a process of its own, which can be stopped and cannot harm this one."""

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

from memctl.errors import UsageProblem
from memctl.store.connection import Unusable

_PROGRAM = Path(__file__).with_name("asked.py")
_WAITING_SECONDS = 60.0  # on top of the query's own: a busy machine starts and runs slowly
_KINDS: dict[str, Callable[[Any], Any]] = {
    "dict": lambda pairs: {unpacked(key): unpacked(value) for key, value in pairs},
    "datetime": datetime.fromisoformat,
    "date": date.fromisoformat,
    "time": time.fromisoformat,
    "timedelta": lambda seconds: timedelta(seconds=seconds),
    "bytes": bytes.fromhex,
    "Decimal": Decimal,
    "UUID": UUID,
}
_OUT_OF_TIME = {getattr(signal, name, None) for name in ("SIGXCPU", "SIGKILL")}
_REMEDY = "Ask for less: fewer rows, fewer columns, a condition."


def ask(path: Path, query: str, *, limit: int, seconds: float) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Answer one SELECT over an index file; it can change nothing and read no file. Column names, then rows.

    Raises Unusable where the file turns out to be damaged.
    """
    asked = {"path": str(path), "query": query, "limit": limit, "seconds": seconds}
    try:
        done = subprocess.run(
            [sys.executable, "-P", str(_PROGRAM)],
            input=json.dumps(asked).encode(),
            capture_output=True,
            timeout=seconds + _WAITING_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise _too_long(seconds) from error
    answer = _read(done)
    match answer:
        case {"columns": names, "rows": rows}:
            return names, [tuple(map(unpacked, row)) for row in rows]
        case {"refused": reason, "remedy": remedy}:
            raise UsageProblem(reason=reason, remedy=remedy)
        case {"too_much": "time"}:
            raise _too_long(seconds)
        case {"damaged": reason}:
            raise Unusable(reason, rebuild=True)
    raise UsageProblem(reason="The query needs more memory than it may have", remedy=_REMEDY)


def _read(done: "subprocess.CompletedProcess[bytes]") -> Any:
    """Read the answer; a process that was ended has none, and how it ended tells what it took too much of."""
    if done.returncode == 0 and done.stdout:
        return json.loads(done.stdout)
    return {"too_much": "time" if -done.returncode in _OUT_OF_TIME else "memory"}


def unpacked(value: Any) -> Any:
    """Read a value that ``asked.packed`` wrote."""
    if isinstance(value, list):
        return [unpacked(item) for item in value]
    if isinstance(value, dict):
        ((kind, written),) = value.items()
        return _KINDS[kind](written)
    return value


def _too_long(seconds: float) -> UsageProblem:
    return UsageProblem(reason=f"The query took longer than {seconds:g} s", remedy=_REMEDY)
