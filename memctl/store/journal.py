"""Journals: a batch that was accepted but may not be applied yet, as one file that is there whole or not at all.

The file is a line of JSON (header), then for each table the bytes of an Arrow stream, and is guarded by a digest.
Applying a batch twice does the same as once, so the next writer simply finishes what a dead one began.
"""

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

from memctl.errors import DamagedStore
from memctl.store.files import Files
from memctl.store.guard import crash_point

FOLDER = "journal"


@dataclass(frozen=True, slots=True)
class Batch:
    """What is to be done to the record: rows by table, ids to delete by table, spool files to remove afterwards."""

    sequence: int
    writes: dict[str, Any] = field(default_factory=dict)
    deletes: dict[str, list[str]] = field(default_factory=dict)
    spool: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The name of the journal file; names sort in the order of the batches."""
        return f"{FOLDER}/{self.sequence:012d}.batch"


def write(files: Files, batch: Batch) -> None:
    """Accept a batch: from here on it will be applied, whatever happens to this process."""
    files.write(batch.name, encode(batch))
    crash_point("journal-written")


def left(files: Files) -> list[str]:
    """Give the journals that wait to be finished, oldest first."""
    return files.names(FOLDER)


def read(files: Files, name: str, where: str) -> Batch | None:
    """Give the batch in a journal, or None where another writer finished it."""
    data = files.read(name)
    if data is None:
        return None
    try:
        return decode(data)
    except (ValueError, KeyError) as error:
        raise DamagedStore(path=where, reason=f"{name} cannot be read ({error})") from error


def remove(files: Files, batch: Batch) -> None:
    """Give the batch is applied: forget its journal."""
    files.remove(batch.name)
    crash_point("journal-removed")


def encode(batch: Batch) -> bytes:
    """Give the bytes of a journal."""
    streams = {table: _stream(rows) for table, rows in batch.writes.items()}
    header = {
        "sequence": batch.sequence,
        "deletes": batch.deletes,
        "spool": batch.spool,
        "tables": {table: len(stream) for table, stream in streams.items()},
    }
    body = json.dumps(header).encode() + b"\n" + b"".join(streams.values())
    return hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def decode(data: bytes) -> Batch:
    """Give the batch that the bytes of a journal hold; ValueError where they are damaged."""
    import pyarrow as pa

    digest, _, body = data.partition(b"\n")
    if hashlib.sha256(body).hexdigest().encode() != digest:
        raise ValueError("its digest does not match")
    head, _, rest = body.partition(b"\n")
    header = json.loads(head)
    writes, start = {}, 0
    for table, length in header["tables"].items():
        writes[table] = pa.ipc.open_stream(rest[start : start + length]).read_all()
        start += length
    return Batch(header["sequence"], writes, header["deletes"], header["spool"])


def _stream(rows: Any) -> bytes:
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write_table(rows)
    return bytes(sink.getvalue().to_pybytes())
