"""Planning a batch: from the changes that an operation wants to the exact rows, deletions and undo images."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from memctl.store.journal import Batch
from memctl.store.record import Record
from memctl.store.rows import Row, fact_row, image, ledger_row, message_row, state_id, state_row, to_table
from memctl.store.spool import Uses
from memctl.store.types import Changes, Receipt, RunInfo

UNDOABLE = ("facts", "messages", "transcripts", "state")


@dataclass(slots=True)
class Plan:
    """Rows to write and ids to delete by table, and what the undo log will say of them."""

    writes: dict[str, list[Row]] = field(default_factory=dict)
    deletes: dict[str, list[str]] = field(default_factory=dict)
    added: dict[str, list[str]] = field(default_factory=dict)
    before: dict[str, list[Row]] = field(default_factory=dict)

    def receipt(self, run: str, part: int) -> Receipt:
        """Tell what the batch does, in numbers."""
        changed = {table: len(self.writes.get(table, ())) - len(self.added.get(table, ())) for table in self.writes}
        return Receipt(
            run_id=run,
            part=part,
            added={table: len(ids) for table, ids in self.added.items() if ids},
            changed={table: count for table, count in changed.items() if count},
            dropped={table: len(ids) for table, ids in self.deletes.items() if ids},
        )

    def log(self) -> str:
        """Give the undo log's entry: ids of added rows, and how changed and deleted rows were."""
        return json.dumps({"added": self.added, "before": self.before}, ensure_ascii=False, separators=(",", ":"))


def rows_of(changes: Changes) -> dict[str, list[Row]]:
    """Give the rows that the changes want, by table. Of two for one id the later counts."""
    wanted = {
        "facts": [fact_row(w.fact) | {"vector": w.vector, "terms": w.terms} for w in changes.facts],
        "messages": [message_row(stored) for stored in changes.messages],
        "transcripts": [ledger_row(entry) for entry in changes.transcripts],
        "state": [state_row(entry) for entry in changes.state],
    }
    return {table: list({row["id"]: row for row in rows}.values()) for table, rows in wanted.items()}


def drops_of(changes: Changes) -> dict[str, list[str]]:
    """Give the ids that the changes want to be rid of, by table."""
    return {
        "facts": list(changes.drop_facts),
        "messages": list(changes.drop_messages),
        "transcripts": list(changes.drop_transcripts),
        "state": [state_id(agent, key) for agent, key in changes.drop_state],
    }


def plan(record: Record, rows: dict[str, list[Row]], drops: dict[str, list[str]]) -> Plan:
    """Compare what is wanted with what is there. Rows that would stay as they are, are left out."""
    result = Plan()
    for table in UNDOABLE:
        wanted, gone = rows.get(table, []), drops.get(table, [])
        if not wanted and not gone:
            continue
        known = record.by_ids(table, [row["id"] for row in wanted] + gone)
        writes = [_completed(table, row, known.get(row["id"])) for row in wanted]
        writes = [row for row in writes if _differs(table, row, known.get(row["id"]))]
        deletes = [name for name in dict.fromkeys(gone) if name in known]
        result.writes[table] = writes
        result.deletes[table] = deletes
        result.added[table] = [row["id"] for row in writes if row["id"] not in known]
        result.before[table] = [_before(table, known[row["id"]], row) for row in writes if row["id"] in known]
        result.before[table] += [image(table, known[name]) for name in deletes]
    return result


def _completed(table: str, row: Row, known: Row | None) -> Row:
    """Take from the known row what the wanted one leaves open, and what only the store may change."""
    if table == "facts":
        row = row | {"terms": row["terms"] if row["terms"] is not None else (known or {}).get("terms", "")}
        if known is not None:
            row |= {"uses": max(row["uses"], known["uses"]), "last_used_at": _later(row, known)}
    if row.get("vector") is None and known is not None and "vector" in known:
        row = row | {"vector": known["vector"]}
    return row


def _later(row: Row, known: Row) -> datetime | None:
    return max((one["last_used_at"] for one in (row, known) if one["last_used_at"]), default=None)


def _differs(table: str, row: Row, known: Row | None) -> bool:
    return known is None or image(table, row) != image(table, {name: known.get(name) for name in row})


def _before(table: str, known: Row, row: Row) -> Row:
    """Give the picture of a changed row; its vector is kept only where the change replaces it."""
    picture = image(table, known)
    if "vector" in picture and picture["vector"] == image(table, row).get("vector"):
        del picture["vector"]
    return picture


def fold(record: Record, result: Plan, uses: Uses) -> None:
    """Add recall counts to the facts. They are no part of the undo log: undoing a run keeps them."""
    written = {row["id"]: row for row in result.writes.get("facts", ())}
    dropped = set(result.deletes.get("facts", ()))
    others = [name for name in uses.counts if name not in written and name not in dropped]
    known = record.by_ids("facts", others)
    for name, count in uses.counts.items():
        row = written.get(name) or known.get(name)
        if row is not None:
            row["uses"] = (row["uses"] or 0) + count
            row["last_used_at"] = max(uses.last[name], row["last_used_at"] or uses.last[name])
    result.writes["facts"] = [*result.writes.get("facts", ()), *known.values()]


def assemble(result: Plan, run_rows: Sequence[Row], sequence: int, uses: Uses, dimension: int) -> Batch:
    """Make the journal's batch of a plan and the rows of the run log that go with it."""
    rows: dict[str, Sequence[Row]] = {**result.writes, "runs": run_rows}
    writes = {
        table: to_table(table, [row | {"changed": sequence} for row in listed], dimension)
        for table, listed in rows.items()
        if listed
    }
    return Batch(sequence, writes, {table: ids for table, ids in result.deletes.items() if ids}, uses.files)


def run_row(run: RunInfo, name: str, part: int, sequence: int, finished: datetime, result: Plan) -> Row:
    """Give the row of the run log for a batch."""
    counts: dict[str, Any] = dict(run.counts)
    return {
        "id": f"{name}.{part}",
        "run": name,
        "part_number": part,
        "sequence": sequence,
        "command": run.command,
        "args": run.args,
        "started_at": run.started_at or finished,
        "finished_at": finished,
        "counts": json.dumps(counts),
        "changes": result.log(),
        "undone_by": "",
        "undoes": run.undoes,
    }
