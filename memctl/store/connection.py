"""Opening the index's DuckDB file: for moments, read-only where reading is meant, with patience for other processes."""

import os
import re
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from memctl.errors import UsageProblem
from memctl.store.guard import plain_reason

# In this order: once the configuration is locked, nothing else can be set.
READ_ONLY = {"autoinstall_known_extensions": "false", "enable_external_access": "false", "lock_configuration": "true"}
# What people write themselves may ask for anything: it gets less memory than the machine has.
ASKED = {"memory_limit": "256MB", "max_temp_directory_size": "0KiB", **READ_ONLY}
_FILLING = re.compile(r"\b(?:repeat|[lr]pad)\s*\(", re.IGNORECASE)  # DuckDB does not count their texts
_LARGEST_ANSWER = 16_000_000  # bytes; as Python's objects they take ten times as much
_PATIENCE = 1.0


class Unusable(Exception):
    """The index file cannot serve (now): the reason, and whether building it anew would help."""

    def __init__(self, reason: str, *, rebuild: bool) -> None:
        super().__init__(reason)
        self.rebuild = rebuild


@contextmanager
def transaction(connection: Any) -> Iterator[None]:
    """Do a block in one transaction; where DuckDB fails, the file is to be built anew."""
    import duckdb

    try:
        connection.execute("BEGIN")
        yield
        connection.execute("COMMIT")
    except duckdb.Error as error:
        raise Unusable(plain_reason(error), rebuild=True) from error


@contextmanager
def connected(path: Path, *, read_only: bool, create: bool = False) -> Iterator[Any]:
    """Open the file for a block."""
    connection = connect(path, read_only=read_only, create=create)
    try:
        yield connection
    finally:
        connection.close()


def connect(path: Path, *, read_only: bool, create: bool = False, options: Mapping[str, str] = READ_ONLY) -> Any:
    """Open the file, waiting a moment for other processes; ``options`` hold where it is only read."""
    import duckdb

    if not create and not path.exists():
        raise Unusable("it is missing", rebuild=True)
    started = time.monotonic()
    while True:
        try:
            return duckdb.connect(str(path), read_only=read_only, config=dict(options) if read_only else {})
        except duckdb.Error as error:
            if "lock" not in str(error).lower():
                raise Unusable(plain_reason(error), rebuild=not _forbidden(path, error)) from error
            if time.monotonic() - started > _PATIENCE:
                raise Unusable("another process has it open", rebuild=False) from error
        time.sleep(0.01)


def _forbidden(path: Path, error: Exception) -> bool:
    text = str(error).lower()
    return "permission denied" in text or "read-only" in text or not os.access(path.parent, os.W_OK)


def memory() -> Any:
    """Open a database that is nowhere but in memory."""
    import duckdb

    return duckdb.connect(":memory:")


def require_select(query: str) -> None:
    """Refuse everything but one SELECT."""
    import duckdb

    try:
        statements = duckdb.extract_statements(query)
    except duckdb.Error as error:
        raise UsageProblem(reason=f"The query is not SQL: {plain_reason(error)}") from error
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise UsageProblem(reason="Only one SELECT is allowed")
    if _FILLING.search(query):
        raise UsageProblem(reason="The query uses repeat, lpad or rpad, which can fill the memory past any limit")


def require_small(connection: Any, query: str, limit: int) -> None:
    """Refuse a query whose first ``limit`` rows are too large: one value may be a list of millions.

    It is asked for the rows as DuckDB holds them; only of small ones Python's objects are made, by asking again.
    """
    size = rows = 0
    reader = connection.sql(query).to_arrow_reader(max(1, limit))
    try:
        for batch in reader:
            size, rows = size + batch.nbytes, rows + batch.num_rows
            if size > _LARGEST_ANSWER:
                raise UsageProblem(
                    reason=f"The answer is larger than {_LARGEST_ANSWER // 1_000_000} MB",
                    remedy="Ask for fewer columns, or shorter ones.",
                )
            if rows >= limit:
                break
    finally:
        reader.close()


@contextmanager
def deadline(connection: Any, seconds: float) -> Iterator[None]:
    """Interrupt the connection's query after so many seconds."""
    timer = threading.Timer(seconds, connection.interrupt)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
