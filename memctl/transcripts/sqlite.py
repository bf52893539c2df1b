"""SQLite files as rows, from their bytes in memory: nothing is opened on disk, nothing is written."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from memctl.errors import UnreadableInput
from memctl.transcripts.document import Document, tame

_JOURNAL_BYTES = slice(18, 20)
_COPY_AGAIN = "Copy it again while nobody writes to it."
_ROLLBACK_JOURNAL = b"\x01\x01"


class Database:
    """A database that can only be looked at."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Wrap an open connection."""
        self._connection = connection

    def tables(self) -> frozenset[str]:
        """Name the tables."""
        return frozenset(str(row["name"]) for row in self.rows("SELECT name FROM sqlite_master WHERE type = 'table'"))

    def columns(self, table: str) -> frozenset[str]:
        """Name the columns of a table."""
        return frozenset(str(row["name"]) for row in self.rows("SELECT name FROM pragma_table_info(?)", table))

    def rows(self, query: str, *values: Any) -> list[dict[str, Any]]:
        """Give the rows of a query as dictionaries."""
        cursor = self._connection.execute(query, values)
        names = [column[0] for column in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor]


@contextmanager
def opened(document: Document) -> Iterator[Database]:
    """Open the database in ``document``; UnreadableInput where it is damaged."""
    _refuse_cut(document)
    connection = sqlite3.connect(":memory:")
    try:
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        connection.deserialize(_without_wal(document.data))
        connection.execute("PRAGMA query_only = ON")
        connection.execute("PRAGMA trusted_schema = OFF")
        yield Database(connection)
    except (sqlite3.Error, OverflowError, UnicodeDecodeError) as error:  # even the message of an error may be damaged
        reason = f"the SQLite database is damaged or cut off ({tame(error)})"
        raise UnreadableInput(path=document.path, reason=reason, remedy=_COPY_AGAIN) from error
    finally:
        connection.close()


def _refuse_cut(document: Document) -> None:
    """Compare the length that the header tells with the length there is; SQLite itself may not notice."""
    data = document.data
    page_size = int.from_bytes(data[16:18]) or 1
    told = (65536 if page_size == 1 else page_size) * int.from_bytes(data[28:32])
    if data[24:28] == data[92:96] and len(data) < told:
        reason = f"the SQLite database is cut off: {len(data)} of {told} bytes"
        raise UnreadableInput(path=document.path, reason=reason, remedy=_COPY_AGAIN)


def _without_wal(data: bytes) -> bytes:
    """Mark a write-ahead-log database as a plain one: in memory there is no log to look for."""
    return data[: _JOURNAL_BYTES.start] + _ROLLBACK_JOURNAL + data[_JOURNAL_BYTES.stop :]
