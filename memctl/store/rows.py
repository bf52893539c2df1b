"""Rows of the record: the tables' schemas, and facts, messages, ledger and state entries as rows and back."""

import base64
import hashlib
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from functools import cache
from typing import Any

from memctl.model import Fact, Interval, MemoryType, Message, Role, Source, State, ToolCall, ToolResult, Wording
from memctl.store.types import LedgerEntry, StateEntry, StoredMessage
from memctl.times import iso, parse_instant

Row = dict[str, Any]

_TIMES = {
    "facts": ("said_at", "last_said_at", "recorded_at", "expires_at", "last_used_at"),
    "messages": ("at",),
    "transcripts": ("mtime", "at", "recorded_at"),
    "state": ("updated_at", "expires_at"),
    "runs": ("started_at", "finished_at"),
}
_LISTS = {"tags", "supersedes", "contested_with", "speakers"}
_FLOATS = {"score", "confidence"}
_BOOLEANS = {"confirmed", "pinned"}
_NUMBERS = {"uses", "changed", "sum", "index", "size", "messages", "part_number", "sequence"}
_COLUMNS = {
    "facts": (
        *("id", "agent", "text", "terms", "vector", "type", "state", "tags", "said_at", "last_said_at"),
        *("recorded_at", "expires_at", "supersedes", "superseded_by", "contested_with", "because", "rule"),
        *("score", "confidence", "confirmed", "pinned", "uses", "last_used_at", "speakers", "wordings", "held"),
        *("changed", "sum"),
    ),
    "messages": (
        *("id", "transcript_id", "agent", "path", "index", "speaker", "role", "text", "terms", "vector"),
        *("at", "chain", "tool", "changed", "sum"),
    ),
    "transcripts": (
        *("id", "agent", "path", "part", "format", "digest", "size", "mtime", "messages", "chain", "at"),
        *("recorded_at", "notes", "changed", "sum"),
    ),
    "state": ("id", "agent", "key", "value", "updated_at", "expires_at", "changed", "sum"),
    "runs": (
        *("id", "run", "part_number", "sequence", "command", "args", "started_at", "finished_at"),
        *("counts", "changes", "undone_by", "undoes", "changed", "sum"),
    ),
}
# What a listing or a judge needs of a fact; the vector and the analysed words are read only on request.
_SELDOM = ("vector", "terms", "speakers", "changed", "sum")
FACT_COLUMNS = tuple(name for name in _COLUMNS["facts"] if name not in _SELDOM)
MESSAGE_COLUMNS = tuple(name for name in _COLUMNS["messages"] if name not in _SELDOM)


@cache
def schema(table: str, dimension: int) -> Any:
    """Give the Arrow schema of a table of the record."""
    import pyarrow as pa

    def kind(column: str) -> Any:
        if column == "vector":
            return pa.list_(pa.float32(), dimension)
        if column in _TIMES[table]:
            return pa.timestamp("us", tz="UTC")
        if column in _LISTS:
            return pa.list_(pa.string())
        if column in _FLOATS:
            return pa.float64()
        if column in _BOOLEANS:
            return pa.bool_()
        return pa.int64() if column in _NUMBERS else pa.string()

    return pa.schema([pa.field(name, kind(name), nullable=name != "id") for name in _COLUMNS[table]])


def columns(table: str) -> tuple[str, ...]:
    """Give the names of a table's columns, in order."""
    return _COLUMNS[table]


def to_table(table: str, rows: Sequence[Row], dimension: int) -> Any:
    """Make an Arrow table of rows. Text that is not Unicode (lone surrogates) is written with a mark instead."""
    import pyarrow as pa

    fields = schema(table, dimension)
    try:
        summed = [row | {"sum": row_sum(table, row)} for row in rows]
    except UnicodeEncodeError:
        clean = [{name: _encodable(value) for name, value in row.items()} for row in rows]
        summed = [row | {"sum": row_sum(table, row)} for row in clean]
    arrays = [_array(field, [row.get(field.name) for row in summed]) for field in fields]
    return pa.Table.from_arrays(arrays, schema=fields)


def row_sum(table: str, row: Row) -> int:
    """Give the checksum of a row's content, by which a check tells rows whose bytes were changed on disk."""
    picture = image(table, row)
    return zlib.crc32(_json([picture.get(name) for name in _COLUMNS[table] if name != "sum"]).encode())


def _array(field: Any, values: list[Any]) -> Any:
    import numpy as np
    import pyarrow as pa

    if field.name != "vector":
        return pa.array(values, type=field.type)
    size = field.type.list_size
    missing = np.array([value is None for value in values], dtype=bool)
    empty = np.zeros(size, dtype=np.float32)
    flat = [empty if value is None else np.asarray(value, dtype=np.float32) for value in values]
    numbers = pa.array(np.concatenate(flat) if flat else empty[:0])
    mask = pa.array(missing) if missing.any() else None
    return pa.FixedSizeListArray.from_arrays(numbers, size, mask=mask)


def _encodable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    return [_encodable(item) for item in value] if isinstance(value, list) else value


def from_table(table: Any) -> list[Row]:
    """Read an Arrow table as rows; vectors stay numpy arrays."""
    vectors = None
    if "vector" in table.column_names:
        vectors = vectors_of(table)
        table = table.drop_columns(["vector"])
    rows: list[Row] = table.to_pylist()
    for number, row in enumerate(rows):
        if vectors is not None:
            row["vector"] = vectors[number]
    return rows


def each_row(table: Any) -> Iterator[Row]:
    """Read an Arrow table row by row: as Python's objects a large one would take gigabytes."""
    for start in range(0, table.num_rows, _ROWS_AT_ONCE):
        yield from from_table(table.slice(start, _ROWS_AT_ONCE))


_ROWS_AT_ONCE = 4096


def vectors_of(table: Any) -> list[Any]:
    """Give the vector column as numpy arrays, None where a row has none."""
    column = table.column("vector").combine_chunks()
    matrix, present = matrix_of(column), column.is_valid().to_pylist()
    return [matrix[number] if present[number] else None for number in range(len(column))]


def matrix_of(column: Any) -> Any:
    """Give an Arrow array of vectors as one numpy matrix, without copying; a missing vector's numbers mean nothing."""
    size = column.type.list_size
    numbers = column.values.to_numpy(zero_copy_only=False)
    return numbers[column.offset * size : (column.offset + len(column)) * size].reshape(-1, size)


def fact_row(fact: Fact) -> Row:
    """Give a fact as a row, without vector, terms and change number."""
    row = {name: getattr(fact, name) for name in FACT_COLUMNS if name not in ("wordings", "held")}
    return row | {
        "type": str(fact.type),
        "state": str(fact.state),
        "score": float(fact.score),
        "confidence": float(fact.confidence),
        "tags": list(fact.tags),
        "supersedes": list(fact.supersedes),
        "contested_with": list(fact.contested_with),
        "speakers": sorted({source.speaker for source in fact.sources if source.speaker}),
        "wordings": _json([_wording_out(wording) for wording in fact.wordings]),
        "held": _json([[iso(span.since), iso(span.until)] for span in fact.held]),
    }


def fact_of(row: Mapping[str, Any]) -> Fact:
    """Give the fact that a row holds."""
    times: dict[str, Any] = {name: utc(row[name]) for name in _TIMES["facts"]}
    return Fact(
        **{name: row[name] for name in _PLAIN_FACT_COLUMNS},
        **times,
        type=MemoryType(row["type"]),
        state=State(row["state"]),
        tags=tuple(row["tags"] or ()),
        supersedes=tuple(row["supersedes"] or ()),
        contested_with=tuple(row["contested_with"] or ()),
        wordings=tuple(_wording_in(raw) for raw in json.loads(row["wordings"] or "[]")),
        held=tuple(Interval(parse_instant(since), _time(until)) for since, until in json.loads(row["held"] or "[]")),
    )


_PLAIN_FACT_COLUMNS = tuple(
    name for name in FACT_COLUMNS if name not in (*_TIMES["facts"], *_LISTS, "type", "state", "wordings", "held")
)


def message_row(stored: StoredMessage) -> Row:
    """Give a message as a row, without its change number."""
    message = stored.message
    return {
        "id": stored.id,
        "transcript_id": stored.transcript_id,
        "agent": stored.agent,
        "path": stored.path,
        "index": message.index,
        "speaker": message.speaker,
        "role": str(message.role),
        "text": message.text,
        "terms": stored.terms,
        "vector": stored.vector,
        "at": message.at,
        "chain": stored.chain,
        "tool": _tool_out(message),
    }


def message_of(row: Mapping[str, Any]) -> StoredMessage:
    """Give the message that a row holds, with its vector and terms where they were read."""
    tool = json.loads(row["tool"] or "{}")
    message = Message(
        index=row["index"],
        speaker=row["speaker"],
        role=Role(row["role"]),
        text=row["text"],
        at=utc(row["at"]),
        recipient=tool.get("recipient", ""),
        tool_calls=tuple(ToolCall(**call) for call in tool.get("calls", ())),
        tool_results=tuple(ToolResult(**result) for result in tool.get("results", ())),
    )
    return StoredMessage(
        row["transcript_id"], row["agent"], row["path"], message, row["chain"], row.get("terms", ""), row.get("vector")
    )


def ledger_row(entry: LedgerEntry) -> Row:
    """Give a ledger entry as a row."""
    return asdict(entry) | {"notes": _json(list(entry.notes))}


def ledger_of(row: Mapping[str, Any]) -> LedgerEntry:
    """Give the ledger entry that a row holds."""
    plain = {name: row[name] for name in _COLUMNS["transcripts"] if name not in _SELDOM}
    times = {name: utc(row[name]) for name in _TIMES["transcripts"]}
    return LedgerEntry(**plain | times | {"notes": tuple(json.loads(row["notes"] or "[]"))})


def state_id(agent: str, key: str) -> str:
    """Give the id of a state value: a digest, since scopes and keys may hold any character."""
    return hashlib.sha256(f"{agent}\0{key}".encode("utf-8", "replace")).hexdigest()[:24]


def state_row(entry: StateEntry) -> Row:
    """Give a state value as a row."""
    return asdict(entry) | {"id": state_id(entry.agent, entry.key), "value": _json(entry.value)}


def state_of(row: Mapping[str, Any]) -> StateEntry:
    """Give the state value that a row holds."""
    updated = utc(row["updated_at"]) or datetime.fromtimestamp(0, UTC)
    return StateEntry(row["agent"], row["key"], json.loads(row["value"]), updated, utc(row["expires_at"]))


def image(table: str, row: Row) -> Row:
    """Give a row as JSON can carry it: the undo log's picture of how it was."""
    picture = {name: value for name, value in row.items() if name not in ("changed", "sum")}
    for name in _TIMES[table]:
        picture[name] = iso(utc(picture.get(name)))
    if picture.get("vector") is not None:
        import numpy as np

        picture["vector"] = base64.b64encode(np.asarray(picture["vector"], dtype="<f4").tobytes()).decode()
    return picture


def from_image(table: str, picture: Row) -> Row:
    """Give the row that a picture in the undo log shows."""
    row = dict(picture)
    for name in _TIMES[table]:
        row[name] = _time(row.get(name))
    if row.get("vector") is not None:
        import numpy as np

        row["vector"] = np.frombuffer(base64.b64decode(row["vector"]), dtype="<f4").astype(np.float32)
    return row


def utc(instant: datetime | None) -> datetime | None:
    """Give the instant with Python's own UTC, whatever zone object the library gave it."""
    return None if instant is None else instant.astimezone(UTC)


def _time(text: str | None) -> datetime | None:
    return None if text is None else parse_instant(text)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _tool_out(message: Message) -> str | None:
    parts = {
        "recipient": message.recipient,
        "calls": [asdict(call) for call in message.tool_calls],
        "results": [asdict(result) for result in message.tool_results],
    }
    kept = {name: part for name, part in parts.items() if part}
    return _json(kept) if kept else None


def _wording_out(wording: Wording) -> Row:
    said = wording.source
    source = {name: getattr(said, name) for name in said.__slots__} | {"at": iso(said.at)}
    return {"text": wording.text, "said_at": iso(wording.said_at), "confirmed": wording.confirmed, "source": source}


def _wording_in(raw: Row) -> Wording:
    source = Source(**raw["source"] | {"at": _time(raw["source"].get("at"))})
    return Wording(raw["text"], parse_instant(raw["said_at"]), source, raw["confirmed"])
