"""The record: five LanceDB tables that hold everything.

``lancedb`` makes the tables and their indexes; rows are read and merged through ``lance``, the library underneath,
which starts four times as quickly. Reading takes no lock and works on a read-only folder; writing is for the holder
of the writer lock.
"""

import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

from memctl.store.filters import one_of
from memctl.store.guard import crash_point, is_missing_file, lance_errors, private_files
from memctl.store.home import Home
from memctl.store.rows import Row, from_table, schema
from memctl.store.types import TABLES

Answer = TypeVar("Answer")

_IDS_PER_CONDITION = 2000
_INDEXES = {
    "facts": {"terms": "FTS", "agent": "BITMAP", "state": "BITMAP", "id": "BTREE", "changed": "BTREE"},
    "messages": {"terms": "FTS", "agent": "BITMAP", "transcript_id": "BTREE", "id": "BTREE", "chain": "BTREE"},
    "transcripts": {},
    "state": {},
    "runs": {},
}
# A reader may still be looking at an old version of a table: so much time and so many commits it is given.
_READERS_PATIENCE = timedelta(minutes=10)
_VERSIONS_KEPT = 60
_ROWS_PER_FILE = 100_000
_UNINDEXED_ROWS = 1_000
_DELETED_SHARE = 0.1  # of a file's rows, from which on it is written anew without them
# Files and parts of indexes are merged with newer ones only when these have come to a quarter of their size: a row is
# then rewritten a few times in its life, however many nights there are, and the parts stay as few as the logarithm.
_TIMES_LARGER = 4
_SMALL = 256
# Every commit makes new files, and what is cached of the old ones is never asked for again: without a bound a process
# that writes for hours would hold them all.
_CACHED_INDEX_BYTES = 256 * 2**20
_CACHED_METADATA_BYTES = 64 * 2**20


class Record:
    """The tables below a home."""

    def __init__(self, home: Home, dimension: int, note: Callable[[str], None] = lambda _: None) -> None:
        """Address the tables; nothing is opened yet. ``note`` is told what people should know on the side."""
        self.home = home
        self.note = note
        self.dimension = dimension
        self._options = home.storage_options()
        self._open: dict[str, Any] = {}
        self._session: Any = None
        self._database: Any = None

    # Reading

    def read(self, table: str, look: Callable[[Any], Answer]) -> Answer:
        """Call ``look`` with the table's newest version; once more if a compaction took files away meanwhile."""
        for attempt in range(3):
            with lance_errors(self.home.root):
                try:
                    return look(self._dataset(table))
                except (OSError, ValueError, RuntimeError) as error:
                    outdated = self._open.pop(table, None)
                    if attempt == 2 or not is_missing_file(error) or not self._moved_on(table, outdated):
                        raise
        raise AssertionError("unreachable")

    def rows(
        self, table: str, *, columns: Sequence[str] | None = None, where: str = "", limit: int | None = None
    ) -> list[Row]:
        """Give the rows that meet a condition."""
        return from_table(self.arrow(table, columns=columns, where=where, limit=limit))

    def arrow(
        self, table: str, *, columns: Sequence[str] | None = None, where: str = "", limit: int | None = None
    ) -> Any:
        """Give the rows that meet a condition, as an Arrow table."""
        picked = list(columns) if columns else None
        return self.read(table, lambda data: data.to_table(columns=picked, filter=where or None, limit=limit))

    def batches(self, table: str, *, columns: Sequence[str], where: str = "", size: int = 8192) -> Iterator[Any]:
        """Stream the rows that meet a condition as Arrow batches; ``columns`` must have the id.

        If a compaction takes files away meanwhile, the newest version is read on, without what was given already.
        """
        given: set[str] = set()
        while True:
            data = self.read(table, lambda newest: newest)
            with lance_errors(self.home.root):
                try:
                    for batch in data.to_batches(columns=list(columns), filter=where or None, batch_size=size):
                        fresh = _without(batch, given)
                        given.update(fresh.column("id").to_pylist())
                        yield fresh
                    return
                except (OSError, ValueError, RuntimeError) as error:
                    if not is_missing_file(error) or not self._moved_on(table, data):
                        raise

    def by_ids(self, table: str, ids: Sequence[str], columns: Sequence[str] | None = None) -> dict[str, Row]:
        """Give the rows with these ids, by id."""
        return {row["id"]: row for row in self.rows_of_ids(table, ids, columns)}

    def rows_of_ids(self, table: str, ids: Sequence[str], columns: Sequence[str] | None = None) -> Iterator[Row]:
        """Give every row with one of these ids, in no order; in a sound table each id has at most one."""
        unique = list(dict.fromkeys(ids))
        for start in range(0, len(unique), _IDS_PER_CONDITION):
            where = one_of("id", unique[start : start + _IDS_PER_CONDITION])
            yield from self.rows(table, columns=columns, where=where)

    def count(self, table: str, where: str = "") -> int:
        """How many rows meet a condition."""
        return int(self.read(table, lambda data: data.count_rows(where or None)))

    def version(self, table: str) -> int:
        """Give the number of the table's newest version."""
        return int(self.read(table, lambda data: data.version))

    def versions(self) -> dict[str, int]:
        """Give the newest version of every table."""
        return {table: self.version(table) for table in TABLES}

    def sequence(self) -> int:
        """Give the number of the last batch that was applied; 0 in a new store."""
        numbers = self.arrow("runs", columns=["sequence"]).column("sequence").to_pylist()
        return max(numbers, default=0)

    def highest_change(self) -> int:
        """Give the highest number of a change in any table; where runs were lost it is above ``sequence``."""
        numbers = (self.arrow(table, columns=["changed"]).column("changed").to_pylist() for table in TABLES)
        return max((max(listed, default=0) for listed in numbers), default=0)

    def _dataset(self, table: str) -> Any:
        import lance

        known = self._open.get(table)
        if known is not None and known.latest_version == known.version:
            return known
        if self._session is None:
            self._session = lance.Session(_CACHED_INDEX_BYTES, _CACHED_METADATA_BYTES)
        opened = lance.dataset(self.home.table(table), storage_options=self._options, session=self._session)
        self._open[table] = opened
        return opened

    def _moved_on(self, table: str, outdated: Any) -> bool:
        return outdated is not None and self._dataset(table).version != outdated.version

    # Writing

    def stored_dimension(self) -> int | None:
        """Give the length of the vectors of facts on disk; None where there is no such table, or it has no rows."""
        try:
            data = self._fresh("facts")
            return int(data.schema.field("vector").type.list_size) if data.count_rows() else None
        except (OSError, ValueError, RuntimeError):
            return None

    def create(self) -> None:
        """Make the tables and their indexes; those that are there already are left alone."""
        with lance_errors(self.home.root), private_files():
            existing = set(self._db().table_names(limit=1000))
            for table in TABLES:
                if table not in existing:
                    self._db().create_table(table, schema=schema(table, self.dimension), exist_ok=True)
                self._index(table, missing_only=True)

    def upsert(self, table: str, rows: Any) -> None:
        """Write an Arrow table of rows in one commit, replacing those with the same id: safe to repeat.

        A row that a later batch wrote is never replaced: a writer that was taken for dead does no harm.
        """
        if not rows.num_rows:
            return
        with lance_errors(self.home.root), private_files():
            merge = self._fresh(table).merge_insert("id")
            merge.when_matched_update_all("source.changed >= target.changed").when_not_matched_insert_all().execute(
                rows
            )

    def delete(self, table: str, ids: Sequence[str]) -> None:
        """Remove the rows with these ids: safe to repeat."""
        for start in range(0, len(ids), _IDS_PER_CONDITION):
            with lance_errors(self.home.root), private_files():
                self._fresh(table).delete(one_of("id", ids[start : start + _IDS_PER_CONDITION]))

    def tidy(self, table: str, *, due: bool) -> None:
        """Keep searches quick and files few, at a cost that follows what was written and not what is there.

        Does nothing until enough has come together or it is ``due``.
        """
        with lance_errors(self.home.root), private_files():
            data = self._fresh(table)
            indexes = _statistics(data)
            unindexed = max((index["num_unindexed_rows"] for index in indexes), default=0)
            if unindexed > (0 if due else _UNINDEXED_ROWS):
                data.optimize.optimize_indices(num_indices_to_merge=_recent_parts(indexes))
            if due:
                data = self._fresh(table)
                data.optimize.compact_files(
                    target_rows_per_fragment=_ROWS_PER_FILE,
                    materialize_deletions_threshold=_DELETED_SHARE,
                    excluded_fragment_ids=_settled(data),
                )
                self._drop_versions(self._fresh(table))
                self._open.clear()  # what is cached of files and indexes that were just replaced goes with its session
                self._session = None

    @staticmethod
    def _drop_versions(data: Any) -> None:
        """Drop versions that no reader can still be looking at: long past, or many commits behind."""
        listed = sorted(data.versions(), key=lambda version: -version["version"])[1:]
        long_past = datetime.now() - _READERS_PATIENCE
        old = [
            entry["version"]
            for place, entry in enumerate(listed)
            if place >= _VERSIONS_KEPT or entry["timestamp"].replace(tzinfo=None) < long_past
        ]
        if old:
            data.cleanup_old_versions(versions=old)

    def compact(self, table: str) -> None:
        """Rewrite without deleted rows, build the indexes anew and drop all that is not the newest version.

        Afterwards nothing that was deleted or replaced is in any file of the table.
        """
        with lance_errors(self.home.root), private_files():
            data = self._fresh(table)
            if len(data.versions()) > 1:
                data.optimize.compact_files(
                    target_rows_per_fragment=_ROWS_PER_FILE,
                    materialize_deletions=True,
                    materialize_deletions_threshold=0.0,
                )
                self._index(table, missing_only=False)
            self._fresh(table).cleanup_old_versions(older_than=timedelta(0), delete_unverified=True)

    def replace(self, table: str, rows: Any) -> None:
        """Put a new table with these rows in the place of a damaged one, which is kept aside until a compaction."""
        with lance_errors(self.home.root), private_files():
            self._open.pop(table, None)
            if not self.home.local:
                self._db().create_table(table, data=rows, schema=schema(table, self.dimension), mode="overwrite")
                self._index(table, missing_only=False)
                return
            # Made whole beside the old one before that goes: killed anywhere, one of the two is there.
            beside = self.home.repaired / f"{table}.lance"
            shutil.rmtree(beside, ignore_errors=True)
            database = self._connect(str(self.home.repaired))
            database.create_table(table, data=rows, schema=schema(table, self.dimension), mode="overwrite")
            self._index(table, missing_only=False, database=database)
            self._set_aside(table)
            crash_point("damaged-aside")
            beside.rename(self.home.table(table))

    def finish_replacing(self) -> bool:
        """Put a table in place that a dead process had made and whose old one it had put aside; whether there was one.

        For the holder of the writer lock.
        """
        if not self.home.local or not self.home.repaired.exists():
            return False
        found = False
        with lance_errors(self.home.root):
            for table in TABLES:
                beside, place = self.home.repaired / f"{table}.lance", Path(self.home.table(table))
                if beside.exists() and not place.exists():
                    beside.rename(place)
                    found = True
            shutil.rmtree(self.home.repaired, ignore_errors=True)
        return found

    def _set_aside(self, table: str) -> None:
        old = Path(self.home.table(table))
        if old.exists():
            aside = self.home.damaged / f"{table}-{time.time_ns()}"
            aside.parent.mkdir(mode=0o700, exist_ok=True)
            old.rename(aside)
        old.parent.mkdir(mode=0o700, exist_ok=True)

    def _db(self) -> Any:
        if self._database is None:
            self._database = self._connect(self.home.record)
        return self._database

    def _connect(self, address: str) -> Any:
        import lancedb

        return lancedb.connect(address, storage_options=self._options)

    def _fresh(self, table: str) -> Any:
        import lance

        return lance.dataset(self.home.table(table), storage_options=self._options)

    def _index(self, table: str, *, missing_only: bool, database: Any = None) -> None:
        from lancedb.index import FTS, Bitmap, BTree

        # Words come analysed by the caller, so the index splits at spaces and changes nothing.
        words = FTS(
            base_tokenizer="whitespace",
            language="English",
            with_position=False,
            max_token_length=None,
            lower_case=False,
            stem=False,
            remove_stop_words=False,
            ascii_folding=False,
        )
        kinds = {"FTS": words, "BITMAP": Bitmap(), "BTREE": BTree()}
        opened = (database or self._db()).open_table(table)
        present = {column for index in opened.list_indices() for column in index.columns}
        for column, kind in _INDEXES[table].items():
            if not missing_only or column not in present:
                opened.create_index(column, config=kinds[kind], replace=True)


def _without(batch: Any, given: set[str]) -> Any:
    """Leave out the rows whose ids were given already; as a rule none was, and the batch stays as it is."""
    names = batch.column("id").to_pylist()
    if given.isdisjoint(names):
        return batch
    import pyarrow as pa

    return batch.filter(pa.array([name not in given for name in names]))


def _settled(data: Any) -> list[int]:
    """Name the files that are so much larger than all that came after them that merging them does not pay yet."""
    settled, after = [], 0
    for fragment in reversed(data.get_fragments()):
        rows, deleted = fragment.count_rows(), fragment.num_deletions
        if rows > _TIMES_LARGER * max(after, _SMALL) and deleted <= _DELETED_SHARE * (rows + deleted):
            settled.append(fragment.fragment_id)
        after += rows
    return settled


def _statistics(data: Any) -> list[dict[str, Any]]:
    """Describe each index of a table: how many rows it does not know yet, and how many each part of it knows."""
    return [data.stats.index_stats(name) for name in dict.fromkeys(index["name"] for index in data.list_indices())]


def _recent_parts(indexes: Sequence[Mapping[str, Any]]) -> int:
    """Count the newest parts of the indexes that are not much larger than what is to be added to them.

    All indexes of a table are extended together and so cut alike; one that has fewer parts merges what it has.
    """
    merged, after = 0, max((index["num_unindexed_rows"] for index in indexes), default=0)
    parts: list[int] = max((index["num_indexed_rows_per_delta"] for index in indexes), key=len, default=[])
    for rows in reversed(parts):
        if rows > _TIMES_LARGER * max(after, _SMALL):
            break
        merged, after = merged + 1, after + rows
    return merged
