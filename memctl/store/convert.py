"""Converting a store to another embedding model: every text is embedded anew, table by table.

Killed in the middle, some tables have the new vectors and the description still names the old model;
running the conversion again finishes it, because it starts from the texts and never from old vectors.
"""

import json
import uuid
from collections.abc import Callable, Sequence
from typing import Any

from memctl.store import sums
from memctl.store.home import FORMAT, Meta, write_meta
from memctl.store.record import Record
from memctl.store.rows import Row, columns, from_image, image, to_table
from memctl.store.store import Store
from memctl.store.types import Model

Embed = Callable[[Sequence[str]], Any]
_CHUNK = 1024


def reembed(store: Store, model: Model, embed: Embed, *, wait: float) -> tuple[int, int]:
    """Give every fact, message and picture of the undo log a vector of ``model``; says how many of the first two."""
    with store.writing("reembed", wait=wait):
        record = Record(store.home, model.dimension)
        facts = _convert(record, "facts", embed)
        messages = _convert(record, "messages", embed)
        _convert_log(record, embed)
        # A new id: the tables count their versions anew, so no index of the old ones may be trusted.
        write_meta(store.home, Meta(FORMAT, model, store.meta.created, uuid.uuid4().hex))
        sums.refresh(store.home)
    fresh = Store.open(store.home.root)
    fresh.compact(wait=wait)
    return facts, messages


def _convert(record: Record, table: str, embed: Embed) -> int:
    rows = record.rows(table, columns=[name for name in columns(table) if name != "vector"])
    told = [row for row in rows if row["text"].strip()]
    for start in range(0, len(told), _CHUNK):
        part = told[start : start + _CHUNK]
        for row, vector in zip(part, embed([row["text"] for row in part]), strict=True):
            row["vector"] = vector
    record.replace(table, to_table(table, rows, record.dimension))
    return len(rows)


def _convert_log(record: Record, embed: Embed) -> None:
    """Runs from before the conversion can still be undone: their pictures get new vectors too."""
    rows = record.rows("runs")
    for row in rows:
        log = json.loads(row["changes"])
        for table in ("facts", "messages"):
            pictures = log["before"].get(table, [])
            log["before"][table] = [_new_picture(table, picture, embed) for picture in pictures]
        row["changes"] = json.dumps(log, ensure_ascii=False, separators=(",", ":"))
    record.replace("runs", to_table("runs", rows, record.dimension))


def _new_picture(table: str, picture: Row, embed: Embed) -> Row:
    if picture.get("vector") is None:
        return picture
    row = from_image(table, picture)
    row["vector"] = embed([row["text"]])[0]
    return image(table, row)
