"""Opening the index's DuckDB file: for moments, read-only where reading is meant, with patience for other processes."""

import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from memctl.store.guard import plain_reason

# In this order: once the configuration is locked, nothing else can be set.
READ_ONLY = {"autoinstall_known_extensions": "false", "enable_external_access": "false", "lock_configuration": "true"}
_LOCKED = re.compile(r"\block\b", re.IGNORECASE)  # and no block, of which damage is told
_DAMAGED = re.compile(r"corrupt|checksum", re.IGNORECASE)
_PATIENCE = 1.0


class Unusable(Exception):
    """The index file cannot serve (now): the reason, and whether building it anew would help."""

    def __init__(self, reason: str, *, rebuild: bool) -> None:
        super().__init__(reason)
        self.rebuild = rebuild


def shows_damage(error: Exception) -> bool:
    """Tell an error that a damaged file causes from one of the query."""
    import duckdb

    of_the_query = (duckdb.DataError, duckdb.ProgrammingError, duckdb.NotSupportedError)
    return not isinstance(error, of_the_query) and bool(_DAMAGED.search(str(error)))


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


def connect(path: Path, *, read_only: bool, create: bool = False) -> Any:
    """Open the file, waiting a moment for other processes."""
    import duckdb

    if not create and not path.exists():
        raise Unusable("it is missing", rebuild=True)
    started = time.monotonic()
    while True:
        try:
            return duckdb.connect(str(path), read_only=read_only, config=dict(READ_ONLY) if read_only else {})
        except duckdb.Error as error:
            if not _LOCKED.search(str(error)):
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
