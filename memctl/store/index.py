"""The index: a DuckDB file with the metadata of the record, for listing, counting and SQL.

It is derived. It carries the versions of the record's tables; behind → caught up, damaged or of another schema →
built anew from the record. No process keeps it open: DuckDB lets a writer keep all others out, and a reader the
writer. Where it cannot be opened or written, the same index is built in memory for the one question.
"""

import json
import os
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from memctl.shapes import writable
from memctl.store import queries
from memctl.store.asking import ask
from memctl.store.connection import (
    READ_ONLY,
    Unusable,
    connect,
    connected,
    memory,
    shows_damage,
    transaction,
)
from memctl.store.guard import crash_point, file_errors, plain_reason, private_files
from memctl.store.home import Home
from memctl.store.record import Record
from memctl.store.rows import columns
from memctl.store.types import TABLES

Answer = TypeVar("Answer")

SCHEMA = 1
_LEFT_OUT = {"vector", "terms", "changes", "tool", "value", "sum"}
_WITHOUT_TEXT = {"messages": {"text"}}

_turns: dict[str, threading.RLock] = {}


class Known(NamedTuple):
    """How far the index knows a table: the version it looked at, and the highest number of a change."""

    version: int
    sequence: int


class Index:
    """The index of one store."""

    def __init__(self, home: Home, record: Record, identity: str, note: Callable[[str], None]) -> None:
        """``identity`` is the store's id; ``note`` is told when the index had to be rebuilt."""
        self.path = home.index
        self.record = record
        self.identity = identity
        self.note = note
        self._turn = _turns.setdefault(str(self.path), threading.RLock())

    def read(self, look: Callable[[Any], Answer]) -> Answer:
        """Call ``look`` with a connection to an index that agrees with the record, for a short read.

        Damage far down in the file shows only when it is read: then the file is built anew, and ``look`` called again.
        """
        import duckdb

        with self._turn:
            try:
                with closing(self._current()) as connection:
                    return look(connection)
            except duckdb.Error as error:
                if not shows_damage(error):
                    raise
                mended = self._mend(plain_reason(error))
            with closing(self._current() if mended else self._in_memory()) as connection:
                return look(connection)

    def _mend(self, reason: str) -> bool:
        """Build a damaged file anew and say so; False where it cannot be written."""
        self.note(f"The index was rebuilt from the record: {reason}.")
        return self.rebuild()

    def catch_up(self) -> bool:
        """Bring the file up to the record; False where it cannot be written now (the next reader will)."""
        with self._turn:
            try:
                self._catch_up()
            except Unusable as problem:
                if not problem.rebuild:
                    return False
                return self._mend(str(problem)) if self.path.exists() else self.rebuild()
        crash_point("index-written")
        return True

    def rebuild(self) -> bool:
        """Build the file anew from the record, beside the old one, and put it in its place."""
        temporary = self.path.with_name(f".index.{os.getpid()}.tmp")
        with self._turn:
            try:
                with private_files():
                    self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                    temporary.unlink(missing_ok=True)
                    self._fill(temporary)
                    crash_point("index-rebuilt")
                    temporary.replace(self.path)
                    _wal(self.path).unlink(missing_ok=True)
            except (OSError, Unusable):
                return False
            finally:
                with suppress(OSError):
                    temporary.unlink(missing_ok=True)
        return True

    def remove(self) -> None:
        """Remove the file: the next reader builds it anew."""
        with file_errors(str(self.path.parent)):
            self.path.unlink(missing_ok=True)
            _wal(self.path).unlink(missing_ok=True)

    def sweep(self) -> None:
        """Remove what processes that died while building the file left beside it."""
        for path in self.path.parent.glob(".index.*.tmp*"):
            if not _alive(path.name.split(".")[2]):
                path.unlink(missing_ok=True)

    def sql(self, query: str, *, limit: int, seconds: float) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Answer one SELECT over the index; it can change nothing and read no file. Column names, then rows."""
        question, mended = writable(query), True
        with self._file() as path:
            try:
                return ask(path, question, limit=limit, seconds=seconds)
            except Unusable as problem:
                with self._turn:
                    mended = self._mend(str(problem))
        with self._file(sound=mended) as path:
            return ask(path, question, limit=limit, seconds=seconds)

    @contextmanager
    def _file(self, *, sound: bool = True) -> Iterator[Path]:
        """Name a file that agrees with the record: the index itself, or where that cannot be, one for the moment."""
        with self._turn:
            connection = self._from_file() if sound else None
        if connection is not None:
            connection.close()
            yield self.path
            return
        with tempfile.TemporaryDirectory(prefix="memctl-") as folder:
            path = Path(folder) / "index.duckdb"
            self._fill(path)
            yield path

    def watermark(self) -> dict[str, int] | None:
        """Give the record's versions that the file knows, or None where it cannot be read."""
        with self._turn:
            try:
                with connected(self.path, read_only=True) as connection:
                    return self._versions(connection)
            except Unusable:
                return None

    def difference(self, since: int = -1) -> str:
        """Say how the file disagrees with the record where it claims to agree; empty where it does not.

        ``since`` looks only at rows that batches after this one wrote, and at the number of all.
        """
        import duckdb

        with self._turn:
            try:
                with connected(self.path, read_only=True) as connection:
                    if self._versions(connection) != self.record.versions():
                        return ""
                    return next(filter(None, (self._compare(connection, table, since) for table in TABLES)), "")
            except Unusable as problem:
                return "" if not problem.rebuild or not self.path.exists() else str(problem)
            except duckdb.Error as error:
                if not shows_damage(error):
                    raise
                return plain_reason(error)

    def _compare(self, connection: Any, table: str, since: int) -> str:
        where = f"changed > {since}"
        indexed_rows = set(connection.execute(f"SELECT id, changed FROM {table} WHERE {where}").fetchall())  # noqa: S608
        known = {(row["id"], row["changed"]) for row in self.record.rows(table, columns=["id", "changed"], where=where)}
        if odd := indexed_rows ^ known:
            return f"{len(odd)} rows of {table}, such as {min(odd)[0]!r}"
        counts = queries.total(connection, table), self.record.count(table)
        return "" if counts[0] == counts[1] else f"{counts[0]} rows of {table} where there are {counts[1]}"

    def _current(self) -> Any:
        """Give a read-only connection to the file if it is, or can be made, current; else one to memory."""
        return self._from_file() or self._in_memory()

    def _from_file(self) -> Any | None:
        """Give a read-only connection to the file if it is, or can be made, current."""
        for attempt in range(2):
            try:
                connection = connect(self.path, read_only=True)
                if self._agrees(connection):
                    return connection
            except Unusable as problem:
                if not problem.rebuild:
                    break
            if attempt or not self.catch_up():
                break
        return None

    def _agrees(self, connection: Any) -> bool:
        """Tell whether an open index knows all of the record; closed where it does not."""
        agrees = False
        try:
            agrees = self._versions(connection) == self.record.versions()
        finally:
            if not agrees:
                connection.close()
        return agrees

    def _in_memory(self) -> Any:
        connection = memory()
        _create(connection)
        self._load(connection, {})
        for name, value in READ_ONLY.items():
            connection.execute(f"SET {name} = '{value}'")
        return connection

    def _catch_up(self) -> None:
        with private_files(), connected(self.path, read_only=False) as connection:
            mark = self._mark(connection)
            with transaction(connection):
                self._load(connection, mark)

    def _fill(self, path: Path) -> None:
        with connected(path, read_only=False, create=True) as connection:
            _create(connection)
            with transaction(connection):
                self._load(connection, {})

    def _load(self, connection: Any, known: Mapping[str, Known]) -> None:
        """Take in the rows that changed since, from the tables whose version is not the known one.

        Versions are read before rows: a table that moves on meanwhile is looked at again the next time. Each table
        has its own number, since a writer commits them one after the other.
        """
        mark = dict(known)
        for table, version in self.record.versions().items():
            before = known.get(table)
            if before is None or before.version != version:
                highest = self._take_in(connection, table, before)
                mark[table] = Known(version, max(highest, before.sequence if before else 0))
        marks = {table: [*one] for table, one in mark.items()}
        connection.execute("UPDATE memctl SET store = ?, mark = ?", [self.identity, json.dumps(marks)])

    def _take_in(self, connection: Any, table: str, known: Known | None) -> int:
        """Take in a table, whole or what changed since; gives the highest number of a change."""
        highest, where = 0, f"changed > {known.sequence}" if known else ""
        for batch in self.record.batches(table, columns=indexed(table), where=where):
            if batch.num_rows:
                highest = max(highest, *batch.column("changed").to_pylist())
                _upsert(connection, table, batch, replacing=bool(known))
        if known and queries.total(connection, table) != self.record.count(table):
            # Rows were deleted (an undo, a purge, a repair, perhaps by another machine): take the table in whole.
            connection.execute(f"DELETE FROM {table}")  # noqa: S608
            return self._take_in(connection, table, None)
        return highest

    def _mark(self, connection: Any) -> dict[str, Known]:
        """Read how far an open index knows the record."""
        import duckdb

        try:
            rows = connection.execute("SELECT schema, store, mark FROM memctl").fetchall()
            if len(rows) != 1 or rows[0][0] != SCHEMA:
                raise Unusable("it has another schema", rebuild=True)
            if rows[0][1] != self.identity:
                raise Unusable("it belongs to another store", rebuild=True)
            return {table: Known(*one) for table, one in json.loads(rows[0][2]).items()}
        except (duckdb.Error, ValueError, TypeError) as error:
            raise Unusable(plain_reason(error), rebuild=True) from error

    def _versions(self, connection: Any) -> dict[str, int]:
        return {table: one.version for table, one in self._mark(connection).items()}


def indexed(table: str) -> list[str]:
    """Give the columns of a table that the index carries."""
    left_out = _LEFT_OUT | _WITHOUT_TEXT.get(table, set())
    return [name for name in columns(table) if name not in left_out]


def _upsert(connection: Any, table: str, batch: Any, *, replacing: bool) -> None:
    import pyarrow as pa

    incoming = pa.Table.from_batches([batch]).select(indexed(table))
    connection.register("incoming", _without_zones(incoming))
    if replacing:
        connection.execute(f"DELETE FROM {table} WHERE id IN (SELECT id FROM incoming)")  # noqa: S608
    connection.execute(f"INSERT INTO {table} SELECT * FROM incoming")  # noqa: S608
    connection.unregister("incoming")


def _without_zones(table: Any) -> Any:
    """All times of the index are UTC without saying so, which DuckDB compares without an extension."""
    import pyarrow as pa

    for number, field in enumerate(table.schema):
        if pa.types.is_timestamp(field.type):
            table = table.set_column(number, field.name, table.column(number).cast(pa.timestamp("us")))
    return table


def _create(connection: Any) -> None:
    for statement in queries.SCHEMA:
        connection.execute(statement)
    connection.execute("CREATE TABLE memctl (schema INTEGER, store VARCHAR, mark VARCHAR)")
    connection.execute("INSERT INTO memctl VALUES (?, '', '{}')", [SCHEMA])


def _alive(pid: str) -> bool:
    try:
        os.kill(int(pid), 0)
    except (ProcessLookupError, ValueError):
        return False
    except PermissionError:
        return True
    return True


def _wal(path: Path) -> Path:
    return path.with_name(path.name + ".wal")
