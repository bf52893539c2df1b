"""One question in SQL, answered in this process and no other: a program that ``memctl.store.asking`` starts.

It takes the question from standard input and writes the answer to standard output, both JSON, and then ends. It may
use so much memory and processor time and no more: DuckDB interrupts no function that it has begun, and counts only
part of what functions allocate, so only the system can hold it. It imports nothing of memctl, to start at once.
"""

import json
import math
import os
import re
import sys
import threading
import time
from datetime import date, datetime, timedelta
from datetime import time as clock
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

# In this order: once the configuration is locked, nothing else can be set.
OPTIONS: dict[str, Any] = {
    "threads": "1",
    "memory_limit": "256MB",
    "max_temp_directory_size": "0KiB",
    "autoinstall_known_extensions": "false",
    "enable_external_access": "false",
    "lock_configuration": "true",
}
_MEMORY = 800 * 1024 * 1024  # above what the process has when it begins; the rows as Python's objects among it
_LARGEST_ANSWER = 16_000_000  # bytes; as Python's objects they take ten times as much
_PAGES = Path("/proc/self/statm")
_TURNS = Path(f"/proc/self/task/{os.getpid()}/schedstat")  # of the thread that asks: worked, waited for a processor
_LOCKED = re.compile(r"\block\b", re.IGNORECASE)
_DAMAGED = re.compile(r"corrupt|checksum", re.IGNORECASE)
_PATIENCE = 2.0
_LOOK = 0.05


class Refused(Exception):
    """The question cannot be answered: why, and what to do."""

    def __init__(self, reason: str, remedy: str = "") -> None:
        super().__init__(reason)
        self.remedy = remedy


def main() -> int:
    """Answer the question on standard input."""
    asked = json.load(sys.stdin)
    try:
        answer = _answer(**asked)
    except Refused as problem:
        answer = {"refused": str(problem), "remedy": problem.remedy}
    except MemoryError:
        answer = {"too_much": "memory"}
    json.dump(answer, sys.stdout)
    return 0


def _answer(path: str, query: str, limit: int, seconds: float) -> dict[str, Any]:
    import duckdb
    import pyarrow as _  # noqa: F401  its code is no part of what the question may take

    connection = _open(path)
    limit_resources(seconds)
    _stop_after(connection, seconds)
    try:
        _require_select(query)
        _require_small(connection, query, limit)
        cursor = connection.execute(query)
        names = [column[0] for column in cursor.description or ()]
        return {"columns": names, "rows": [[packed(value) for value in row] for row in cursor.fetchmany(limit)]}
    except (duckdb.InterruptException, RuntimeError):  # in some places DuckDB raises the plain one
        return {"too_much": "time"}
    except duckdb.OutOfMemoryException:
        return {"too_much": "memory"}
    except (duckdb.DataError, duckdb.ProgrammingError, duckdb.NotSupportedError) as error:
        raise Refused(f"The query failed: {_plain(error)}") from error
    except duckdb.Error as error:
        if _DAMAGED.search(str(error)):
            return {"damaged": _plain(error)}
        raise Refused(f"The query failed: {_plain(error)}") from error


def _open(path: str) -> Any:
    """Open the index, waiting a moment for a writer."""
    import duckdb

    started = time.monotonic()
    while True:
        try:
            return duckdb.connect(path, read_only=True, config=dict(OPTIONS))
        except duckdb.Error as error:
            if not _LOCKED.search(str(error)) or time.monotonic() - started > _PATIENCE:
                raise Refused(f"The index cannot be opened: {_plain(error)}", "Try again in a moment.") from error
        time.sleep(_LOOK)


def limit_resources(seconds: float) -> None:
    """Let the system end this process when it takes too much; where the system cannot, DuckDB's limits are left."""
    try:
        import resource
    except ImportError:
        return
    for kind, most in (
        (resource.RLIMIT_AS, _address_space() + _MEMORY),
        (resource.RLIMIT_CPU, math.ceil(time.process_time() + seconds) + 1),
        (resource.RLIMIT_CORE, 0),
    ):
        try:
            resource.setrlimit(kind, (most, most))
        except (ValueError, OSError):
            continue


def _address_space() -> int:
    try:
        return int(_PAGES.read_text(encoding="ascii").split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 1024 * 1024 * 1024


def _stop_after(connection: Any, seconds: float) -> None:
    """Interrupt the query when it has taken so long; waiting for a processor does not count."""
    end = _spent() + seconds

    def watch() -> None:
        while _spent() < end:
            time.sleep(_LOOK)
        connection.interrupt()

    threading.Thread(target=watch, daemon=True).start()


def _spent() -> float:
    """Give the seconds that went by, without those in which the query waited for a processor; sleeping does count."""
    try:
        waited = int(_TURNS.read_text(encoding="ascii").split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return time.process_time()
    return time.monotonic() - waited


def _require_select(query: str) -> None:
    import duckdb

    try:
        statements = duckdb.extract_statements(query)
    except duckdb.Error as error:
        raise Refused(f"The query is not SQL: {_plain(error)}") from error
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise Refused("Only one SELECT is allowed")


def _require_small(connection: Any, query: str, limit: int) -> None:
    """Refuse a query whose first ``limit`` rows are too large: one value may be a list of millions.

    It is asked for the rows as DuckDB holds them; only of small ones Python's objects are made, by asking again.
    """
    size = rows = 0
    reader = connection.sql(query).to_arrow_reader(max(1, limit))
    try:
        for batch in reader:
            size, rows = size + batch.nbytes, rows + batch.num_rows
            if size > _LARGEST_ANSWER:
                reason = f"The answer is larger than {_LARGEST_ANSWER // 1_000_000} MB"
                raise Refused(reason, "Ask for fewer columns, or shorter ones.")
            if rows >= limit:
                break
    finally:
        reader.close()


def packed(value: Any) -> Any:
    """Write a value for JSON; what JSON does not know becomes an object with its kind."""
    if isinstance(value, list | tuple):
        return [packed(item) for item in value]
    if isinstance(value, dict):
        return {"dict": [[packed(key), packed(item)] for key, item in value.items()]}
    if isinstance(value, datetime | date | clock):
        return {type(value).__name__: value.isoformat()}
    if isinstance(value, timedelta):
        return {"timedelta": value.total_seconds()}
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if isinstance(value, Decimal | UUID):
        return {type(value).__name__: str(value)}
    return value


def _plain(error: BaseException) -> str:
    return " ".join(str(error).split())[:300]


if __name__ == "__main__":
    raise SystemExit(main())
