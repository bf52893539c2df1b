"""The nightly round: a check of what was written since the last one, and of some old files in turn.

``audit.check`` reads everything. A round reads what is new, so that it costs in a large store what it costs in a small
one; the old files are compared with their digests a few megabytes a night, those first that nobody looked at for
longest. Only a round without findings is noted: what it found, the next one finds again.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from memctl.errors import DamagedStore
from memctl.model import Finding
from memctl.store import audit, sums
from memctl.store.files import Files, LocalFiles
from memctl.store.home import Home
from memctl.store.index import Index
from memctl.store.record import Record
from memctl.store.rows import Row, from_table
from memctl.store.types import TABLES

NOTE = "checked.json"
_BYTES_A_ROUND = 32 * 2**20
_REMEDY = "Run memctl check --repair."


@dataclass(frozen=True, slots=True)
class Note:
    """How far rounds have come: their number, the last batch looked at, and the round that last read each file."""

    number: int = 0
    sequence: int = 0
    files: dict[str, int] = field(default_factory=dict)


def go(home: Home, index: Index, files: Files) -> list[Finding]:
    """Make a round; the first one looks at everything. No finding means that all it looked at is well."""
    before, listed = _read(home, index.identity), list(sums.load(home) or ())
    sequence = index.record.sequence()
    if before is None or before.sequence > sequence:
        before, chosen = Note(), set(listed)
        findings = audit.check(home, index, files)
    else:
        chosen = _choose(home, before, listed)
        findings = list(_look(home, index, files, before.sequence, chosen))
    if not findings:
        number = before.number + 1
        read = {name: number if name in chosen else before.files.get(name, 0) for name in listed}
        _write(home, index.identity, Note(number, sequence, read))
    return findings


def _choose(home: Home, before: Note, names: Sequence[str]) -> set[str]:
    """Pick the files that are new, then the ones that were read longest ago, as far as the night's share goes."""
    chosen = {name for name in names if name not in before.files}
    room = _BYTES_A_ROUND
    for name in sorted(before.files.keys() & set(names), key=lambda name: (before.files[name], name)):
        room -= _size(Path(home.root, name))
        chosen.add(name)
        if room <= 0:
            break
    return chosen


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:  # gone or unreadable: comparing it with its digest will tell
        return 0


def _look(home: Home, index: Index, files: Files, since: int, chosen: set[str]) -> Iterator[Finding]:
    yield from audit.check_journals(home, files)
    yield from audit.check_files(home, chosen)
    try:
        for table in TABLES:
            yield from _check_new_rows(index.record, table, since)
    except DamagedStore as error:
        yield Finding("rows_unreadable", str(error), "", _REMEDY)
        return
    yield from audit.check_index(index, since)


def _check_new_rows(record: Record, table: str, since: int) -> Iterator[Finding]:
    """Compare the rows of later batches with their checksums; look for doubled ids and pointers to nothing."""
    rows = from_table(record.arrow(table, where=f"changed > {since}"))
    for row in rows:
        yield from audit.check_row(table, row, table)
    names = list(dict.fromkeys(row["id"] for row in rows))
    for name, count in _copies(record, table, names).items():
        if count > 1:
            yield Finding("id_doubled", f"{table} has {count} rows of one id.", name, _REMEDY)
    if table == "facts":
        yield from _check_pointers(record, rows)


def _copies(record: Record, table: str, names: Sequence[str]) -> Counter[str]:
    """Count the rows of each id."""
    return Counter(row["id"] for row in record.rows_of_ids(table, names, ["id"]))


def _check_pointers(record: Record, rows: Sequence[Row]) -> Iterator[Finding]:
    pointers = {row["id"]: audit.pointers(row) for row in rows}
    targets = set().union(*pointers.values()) - pointers.keys()
    there = _copies(record, "facts", sorted(targets))
    for name, pointed in pointers.items():
        for target in sorted(pointed - pointers.keys() - there.keys()):
            yield Finding("pointer_broken", f"It points to {target}, which does not exist.", name)


def _read(home: Home, store: str) -> Note | None:
    """Give the last round's note; None where there is none, or it is about a store that was here before."""
    data = LocalFiles(home.near).read(NOTE)
    try:
        shape = json.loads(data or b"")
        return Note(shape["number"], shape["sequence"], shape["files"]) if shape["store"] == store else None
    except (ValueError, KeyError, TypeError):
        return None


def _write(home: Home, store: str, note: Note) -> None:
    shape = {"store": store, "number": note.number, "sequence": note.sequence, "files": note.files}
    LocalFiles(home.near).write(NOTE, json.dumps(shape).encode())
