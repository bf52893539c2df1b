"""Checking a store without changing it, and repairing it: the record against its digests, the index against the record.

Each finding names the file or the row. A repair keeps everything that reads right, rebuilds what is derived,
and says what was lost.
"""

from collections import Counter
from collections.abc import Container, Iterator, Mapping
from typing import Any

from memctl.errors import DamagedStore, MemctlError
from memctl.model import Finding
from memctl.store import journal, sums
from memctl.store.files import Files
from memctl.store.home import Home
from memctl.store.index import Index
from memctl.store.rescue import open_newest, readable, rescue
from memctl.store.rows import each_row, fact_of, row_sum, to_table
from memctl.store.types import TABLES

_POINTERS = ("supersedes", "contested_with", "superseded_by")


def check(home: Home, index: Index, files: Files) -> list[Finding]:
    """Look at everything; nothing is changed and no lock is taken. No finding means all is well.

    A writer at work, or one that died, may look like damage: the lock's holder should look again at what is found.
    """
    findings = list(check_journals(home, files))
    findings += check_files(home)
    for table in TABLES:
        findings += _check_rows(home, table)
    if not any(finding.code in ("row_damaged", "table_unreadable", "rows_unreadable") for finding in findings):
        findings += check_index(index)
    return findings


def check_journals(home: Home, files: Files) -> Iterator[Finding]:
    """Look for accepted batches that cannot be read; one that only waits for the next writer is no finding."""
    for name in journal.left(files):
        try:
            journal.read(files, name, home.root)
        except DamagedStore as error:
            yield Finding("journal_damaged", str(error), name, "Run memctl check --repair.")


def check_files(home: Home, names: Container[str] | None = None) -> Iterator[Finding]:
    """Compare the record's files, or those named, with their digests."""
    for name, problem in sums.verify(home, names).items():
        code = "file_missing" if "missing" in problem else "file_damaged"
        yield Finding(code, f"{name} {problem}.", name, "Run memctl check --repair, or restore a backup.")


def _check_rows(home: Home, table: str) -> Iterator[Finding]:
    """Read every row, compare it with its checksum, and look for doubled ids and pointers to nothing."""
    data, problems = open_newest(home, table)
    for problem in problems:
        yield Finding("table_unreadable", problem, table, "Run memctl check --repair.")
    if data is None:
        return
    seen: Counter[str] = Counter()
    targets: dict[str, set[str]] = {}
    for piece, name in readable(data, None):
        if piece is None:
            yield Finding("rows_unreadable", f"Rows of {table} cannot be read.", name, "Run memctl check --repair.")
            continue
        for row in each_row(piece):
            seen[row["id"]] += 1
            if table == "facts" and (pointed := pointers(row)):
                targets[row["id"]] = pointed
            yield from check_row(table, row, name)
    doubled = [name for name, count in seen.items() if count > 1]
    yield from (
        Finding("id_doubled", f"{table} has {seen[name]} rows of one id.", name, "Run memctl check --repair.")
        for name in doubled
    )
    yield from _check_pointers(targets, seen)


def check_row(table: str, row: Mapping[str, Any], name: str) -> Iterator[Finding]:
    """Compare a row with its checksum, and try to understand it."""
    if row_sum(table, dict(row)) != row["sum"]:
        yield Finding("row_damaged", f"A row of {table} has changed bytes (in {name}).", row["id"])
    elif table == "facts":
        try:
            fact_of(row)
        except (ValueError, KeyError, TypeError, MemctlError) as error:
            yield Finding("row_invalid", f"A fact cannot be understood: {error}", row["id"])


def pointers(row: Mapping[str, Any]) -> set[str]:
    """Name the facts that a row of facts points to."""
    return {*(row["supersedes"] or ()), *(row["contested_with"] or ()), *filter(None, [row["superseded_by"]])}


def _check_pointers(found: Mapping[str, set[str]], there: Mapping[str, int]) -> Iterator[Finding]:
    for name, targets in found.items():
        for target in sorted(targets - there.keys()):
            yield Finding("pointer_broken", f"It points to {target}, which does not exist.", name)


def check_index(index: Index, since: int = -1) -> Iterator[Finding]:
    """Compare the index with the record row by row; one that is only behind, or not there yet, is no finding."""
    problem = index.difference(since)
    if problem:
        yield Finding("index_differs", f"The index disagrees with the record: {problem}.", index.path.name)


def repair(home: Home, index: Index, files: Files, record: Any) -> list[Finding]:
    """Make the store whole again; for the holder of the writer lock. Findings say what was repaired and lost."""
    record.finish_replacing()
    findings = list(_repair_journals(home, files))
    wrong = sums.verify(home)
    for table in TABLES:
        damaged = any(name.startswith(f"record/{table}.lance/") for name in wrong)
        problems = list(_check_rows(home, table))
        if damaged or any(problem.code != "pointer_broken" for problem in problems):
            findings += _rebuild(home, record, table)
    findings += [
        Finding("file_repaired", f"{name} {problem}; it was replaced.", name, repaired=True)
        for name, problem in wrong.items()
    ]
    findings += _repair_pointers(record)
    if _check_index_quietly(index) or not index.path.exists() or index.watermark() is None:
        findings.append(Finding("index_rebuilt", "The index was rebuilt.", index.path.name, repaired=True))
    index.rebuild()
    sums.renew(home)
    return findings


def _check_index_quietly(index: Index) -> bool:
    return bool(index.difference())


def _repair_journals(home: Home, files: Files) -> Iterator[Finding]:
    for name in journal.left(files):
        try:
            journal.read(files, name, home.root)
        except DamagedStore as error:
            files.remove(name)
            yield Finding("batch_lost", f"An interrupted write was lost: {error}", name, repaired=True)


def _rebuild(home: Home, record: Any, table: str) -> Iterator[Finding]:
    """Write the good rows of a table into a new one in its place."""
    good = rescue(home, table)
    record.replace(table, to_table(table, list(good.rows.values()), record.dimension))
    note = f"{table} was rebuilt with {len(good.rows)} rows."
    yield Finding("table_rebuilt", note, table, repaired=True)
    yield from (Finding("lost", f"Lost: {problem}.", table, repaired=True) for problem in dict.fromkeys(good.lost))


def _repair_pointers(record: Any) -> Iterator[Finding]:
    """Drop pointers to facts that do not exist any more."""
    rows = {row["id"]: row for row in record.rows("facts", columns=["id", *_POINTERS])}
    broken = {name: pointers(row) - rows.keys() for name, row in rows.items()}
    names = [name for name, targets in broken.items() if targets]
    if not names:
        return
    fixed = []
    for row in record.by_ids("facts", names).values():
        gone = broken[row["id"]]
        row["supersedes"] = [name for name in row["supersedes"] or () if name not in gone]
        row["contested_with"] = [name for name in row["contested_with"] or () if name not in gone]
        row["superseded_by"] = None if row["superseded_by"] in gone else row["superseded_by"]
        fixed.append(row)
    record.upsert("facts", to_table("facts", fixed, record.dimension))
    yield from (Finding("pointer_dropped", "It pointed to a lost fact.", name, repaired=True) for name in names)
