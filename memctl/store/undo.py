"""Undoing runs exactly: what the log's pictures say, put back. Pure decisions; ``Store.undo`` applies them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from memctl.errors import Ambiguous, NotFound, UndoBlocked
from memctl.store.rows import Row, from_image
from memctl.store.trim import require_whole
from memctl.store.types import Receipt

Touched = set[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Undoing:
    """What undoing means: the runs that go, newest first, the rows to put back, and the ids to remove."""

    runs: tuple[str, ...]
    rows: dict[str, list[Row]] = field(default_factory=dict)
    drops: dict[str, list[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Undone:
    """What an undo did, or, with an empty receipt, would do: the runs, newest first, and the facts' ids."""

    runs: tuple[str, ...]
    restored: tuple[str, ...]
    removed: tuple[str, ...]
    receipt: Receipt


def touched(row: Row) -> Touched:
    """Tell which rows of which tables a batch of the log added, changed or deleted."""
    log = json.loads(row["changes"])
    added = {(table, name) for table, names in log["added"].items() for name in names}
    return added | {(table, picture["id"]) for table, pictures in log["before"].items() for picture in pictures}


def find_run(rows: Sequence[Row], name: str | None) -> str:
    """Find the run that a user means by (the beginning or the end of) its id; None means the last one in effect."""
    if name is None:
        effective = [row for row in rows if in_effect(row) and touched(row)]
        if not effective:
            raise NotFound(what="run", name="the last run", remedy="There is nothing to undo.")
        return str(max(effective, key=lambda row: row["sequence"])["run"])
    known: list[str] = sorted({row["run"] for row in rows})
    alike = [run for run in known if run.startswith(name) or run.endswith(name)]
    fitting = [run for run in known if run == name] or alike
    if not fitting or not name:
        raise NotFound(what="run", name=name or "an empty name", remedy="List the runs with memctl log.")
    if len(fitting) > 1:
        raise Ambiguous(what="run", name=name, count=len(fitting))
    return fitting[0]


def in_effect(row: Row) -> bool:
    """Tell whether a batch still stands: not undone, and not itself an undoing."""
    return not row["undone_by"] and not row["undoes"]


def plan_undo(rows: Sequence[Row], run: str, *, cascade: bool) -> Undoing:
    """Decide what undoing a run means; UndoBlocked where later runs built on its rows and ``cascade`` is off.

    UndoGone where the run is so long past that the log was trimmed.
    """
    if any(row["undone_by"] for row in rows if row["run"] == run):
        raise NotFound(what="run in effect", name=run, remedy="It was undone already.")
    require_whole(rows, run)
    chosen = {run}
    while later := _built_on(rows, chosen):
        if not cascade:
            raise UndoBlocked(run=run, later=", ".join(later))
        chosen |= set(later)
    batches = sorted((row for row in rows if row["run"] in chosen), key=lambda row: -row["sequence"])
    return _reverse(batches)


def _built_on(rows: Sequence[Row], chosen: set[str]) -> list[str]:
    """Find the runs in effect, not chosen yet, that touched rows of the chosen ones after them."""
    marks: dict[tuple[str, str], int] = {}
    for row in rows:
        if row["run"] in chosen:
            for key in touched(row):
                marks[key] = min(row["sequence"], marks.get(key, row["sequence"]))
    later = {
        row["run"]
        for row in rows
        if row["run"] not in chosen
        and in_effect(row)
        and any(row["sequence"] > marks[key] for key in touched(row) & marks.keys())
    }
    return sorted(later)


def _reverse(batches: Sequence[Row]) -> Undoing:
    """Go back through batches, newest first: what the oldest one met is what must be there again."""
    pictures: dict[tuple[str, str], Row | None] = {}
    for row in batches:
        log = json.loads(row["changes"])
        for table, listed in log["before"].items():
            for picture in listed:
                key = (table, picture["id"])
                pictures[key] = _with_vector(picture, pictures.get(key))
        for table, names in log["added"].items():
            pictures |= {(table, name): None for name in names}
    result = Undoing(tuple(dict.fromkeys(row["run"] for row in batches)))
    for (table, name), picture in pictures.items():
        if picture is None:
            result.drops.setdefault(table, []).append(name)
        else:
            result.rows.setdefault(table, []).append(from_image(table, picture))
    return result


def _with_vector(picture: Row, newer: Row | None) -> Row:
    """Add the vector to an older picture that left it out because its own batch did not change it."""
    if "vector" not in picture and newer and "vector" in newer:
        return picture | {"vector": newer["vector"]}
    return picture


def marked(rows: Sequence[Row], undone: Sequence[str], name: str) -> list[Row]:
    """Give the log rows to rewrite: the undone runs name ``name``, and what they had undone stands again."""
    revived = {run for row in rows if row["run"] in undone for run in row["undoes"].split()}
    changed: list[Row] = []
    for row in rows:
        if row["run"] in undone:
            changed.append(row | {"undone_by": name})
        elif row["run"] in revived:
            changed.append(row | {"undone_by": ""})
    return changed


def summary(undoing: Undoing, receipt: Receipt) -> Undone:
    """Say what an undoing does to facts."""
    restored: list[Any] = undoing.rows.get("facts", [])
    return Undone(
        runs=undoing.runs,
        restored=tuple(row["id"] for row in restored),
        removed=tuple(undoing.drops.get("facts", [])),
        receipt=receipt,
    )
