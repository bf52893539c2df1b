"""Trimming the undo log: of runs that are long past only the line of the log stays, not what undoing them needs.

Only the beginning of the log is trimmed, in the order in which the batches were applied: whoever undoes a run needs
everything that later runs did, and never anything that earlier ones did.
"""

import json
from collections.abc import Sequence
from datetime import datetime

from memctl.errors import UndoGone
from memctl.store.filters import literal
from memctl.store.record import Record
from memctl.store.rows import Row, utc

_MARK = '{"trimmed":'


def left_of(row: Row) -> dict[str, int] | None:
    """Give the numbers that are left of a trimmed batch's changes to facts; None where it was not trimmed."""
    if not row["changes"].startswith(_MARK):
        return None
    left: dict[str, int] = json.loads(row["changes"])["trimmed"]
    return left


def require_whole(rows: Sequence[Row], run: str) -> None:
    """Raise UndoGone where a run's changes were trimmed."""
    for row in rows:
        if row["run"] == run and left_of(row) is not None:
            raise UndoGone(run=run, day=f"{utc(row['finished_at']):%Y-%m-%d}")


def plan_trim(record: Record, before: datetime) -> list[Row]:
    """Give the rows of the log to rewrite so that the runs that ended before an instant are trimmed."""
    floor = _floor(record.rows("runs", columns=["run", "sequence", "finished_at"]), before)
    if floor is None:
        return []
    whole = f"sequence < {floor} AND NOT starts_with(changes, {literal(_MARK)})"
    return [_trimmed(row) for row in record.rows("runs", where=whole)]


def _floor(rows: Sequence[Row], before: datetime) -> int | None:
    """Give the number of the first batch that must stay whole; None where that is the very first."""
    young = {row["run"] for row in rows if (utc(row["finished_at"]) or before) >= before}
    kept = [row["sequence"] for row in rows if row["run"] in young]
    all_numbers = [row["sequence"] for row in rows]
    floor: int = min(kept) if kept else max(all_numbers, default=0) + 1
    return floor if any(number < floor for number in all_numbers) else None


def _trimmed(row: Row) -> Row:
    log = json.loads(row["changes"])
    left = {"added": len(log["added"].get("facts", ())), "changed": len(log["before"].get("facts", ()))}
    changes = json.dumps({"trimmed": left, "added": {}, "before": {}}, separators=(",", ":"))
    return row | {"changes": changes}
