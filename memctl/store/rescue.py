"""Reading a damaged table: file by file, and in ever smaller pieces, everything that can still be read."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from memctl.errors import DamagedStore
from memctl.store.guard import lance_errors
from memctl.store.home import Home
from memctl.store.rows import Row, each_row, row_sum


@dataclass(slots=True)
class Rescued:
    """The good rows of a table by id, and what was lost: sentences that name the files."""

    rows: dict[str, Row] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)


def open_newest(home: Home, table: str) -> tuple[Any, list[str]]:
    """Open the newest version of a table that can be opened at all; None where there is none."""
    import lance

    problems: list[str] = []
    address, options = home.table(table), home.storage_options()
    for version in [None, *_older_versions(home, table)]:
        try:
            with lance_errors(address):
                data = lance.dataset(address, version=version, storage_options=options)
                data.count_rows()
                return data, problems
        except DamagedStore as error:
            problems.append(f"{table}: version {version or 'newest'} cannot be opened ({error.details['reason']})")
    return None, problems


def _older_versions(home: Home, table: str) -> list[int]:
    """Read the version numbers off the manifests' names: they count down from the highest 64-bit number."""
    from pathlib import Path

    names = [path.stem for path in Path(home.table(table), "_versions").glob("*.manifest")] if home.local else []
    numbers = [int(name) for name in names if name.isdigit()]
    return sorted((2**64 - 1 - number if number > 2**63 else number for number in numbers), reverse=True)


def readable(data: Any, columns: Sequence[str] | None, where: str = "") -> Iterator[tuple[Any, str]]:
    """Read a table file by file: an Arrow table, or for what cannot be read None, and the name of the file."""
    for fragment in data.get_fragments():
        name = ", ".join(part.path for part in fragment.data_files())
        yield from ((piece, name) for piece in _pieces(fragment, columns, where))


def _pieces(fragment: Any, columns: Sequence[str] | None, where: str) -> Iterator[Any]:
    picked = list(columns) if columns else None
    try:
        with lance_errors(""):
            yield fragment.to_table(columns=picked, filter=where or None)
            return
    except DamagedStore:
        pass
    if where:
        yield None
        return
    try:
        with lance_errors(""):
            count = fragment.count_rows()
    except DamagedStore:
        count = 0
    yield from _halves(fragment, picked, 0, count) if count else iter([None])


def _halves(fragment: Any, columns: list[str] | None, start: int, count: int) -> Iterator[Any]:
    """Read a range of rows; where it fails, its halves."""
    try:
        with lance_errors(""):
            yield fragment.to_table(columns=columns, offset=start, limit=count)
            return
    except DamagedStore:
        if count <= 1:
            yield None
            return
    half = count // 2
    yield from _halves(fragment, columns, start, half)
    yield from _halves(fragment, columns, start + half, count - half)


def rescue(home: Home, table: str) -> Rescued:
    """Read all rows of a table whose content agrees with its checksum; of two with one id the later."""
    result = Rescued()
    data, problems = open_newest(home, table)
    result.lost += problems
    if data is None:
        result.lost.append(f"{table}: no version of it can be opened")
        return result
    for piece, name in readable(data, None):
        if piece is None:
            result.lost.append(f"{table}: rows in {name} cannot be read")
            continue
        for row in each_row(piece):
            _keep(result, table, row, name)
    return result


def _keep(result: Rescued, table: str, row: Row, name: str) -> None:
    if row_sum(table, row) != row["sum"]:
        result.lost.append(f"{table}: row {row['id']!r} in {name} has changed bytes")
    elif row["id"] not in result.rows or result.rows[row["id"]]["changed"] <= row["changed"]:
        result.rows[row["id"]] = row
