"""Purging: taking a text out of every row that holds it. Pure functions over rows; ``Store.purge`` applies them."""

import json
from collections.abc import Callable, Container, Iterable, Sequence
from typing import Any

from memctl.store.batch import Plan
from memctl.store.record import Record
from memctl.store.rows import Row, columns

MARK = "[purged]"
_SHORTEST = 4


def texts_of(rows: Iterable[Row]) -> list[str]:
    """Collect every way in which facts were put, and their quotes, longest first."""
    found: set[str] = set()
    for row in rows:
        found.add(row["text"])
        for wording in json.loads(row["wordings"] or "[]"):
            found |= {wording["text"], wording["source"]["quote"]}
    return sorted((text for text in found if len(text) >= _SHORTEST), key=lambda text: (-len(text), text))


def places_of(rows: Iterable[Row]) -> set[tuple[str, str, int]]:
    """Collect where facts were said: scope, path, number of the message."""
    return {
        (row["agent"], wording["source"]["transcript"], wording["source"]["message"])
        for row in rows
        for wording in json.loads(row["wordings"] or "[]")
        if wording["source"]["message"] is not None
    }


def scrub(text: str, secrets: Sequence[str]) -> str:
    """Put a mark in the place of each of the texts."""
    for secret in secrets:
        text = text.replace(secret, MARK)
    return text


def scrub_value(value: Any, secrets: Sequence[str]) -> Any:
    """Scrub all strings inside a JSON value."""
    if isinstance(value, str):
        return scrub(value, secrets)
    if isinstance(value, list):
        return [scrub_value(item, secrets) for item in value]
    return {name: scrub_value(item, secrets) for name, item in value.items()} if isinstance(value, dict) else value


def scrub_json(text: str | None, secrets: Sequence[str]) -> str | None:
    """Scrub a column that holds JSON."""
    if not text:
        return text
    return json.dumps(scrub_value(json.loads(text), secrets), ensure_ascii=False, separators=(",", ":"))


def scrub_fact(row: Row, gone: set[str], secrets: Sequence[str]) -> Row:
    """Take purged facts out of another fact: pointers to them, and their texts in reasons and wordings."""
    return row | {
        "supersedes": [name for name in row["supersedes"] or () if name not in gone],
        "contested_with": [name for name in row["contested_with"] or () if name not in gone],
        "superseded_by": None if row["superseded_by"] in gone else row["superseded_by"],
        "because": scrub(row["because"] or "", secrets),
        "wordings": scrub_json(row["wordings"], secrets),
    }


def scrub_message(row: Row, places: set[tuple[str, str, int]], secrets: Sequence[str]) -> Row:
    """Take the texts out of a message. Where one was said but cannot be found word for word, all of it goes."""
    text, tool = scrub(row["text"], secrets), scrub_json(row["tool"], secrets)
    if text == row["text"] and tool == row["tool"] and (row["agent"], row["path"], row["index"]) in places:
        text, tool = MARK, None
    if text == row["text"] and tool == row["tool"]:
        return row
    return row | {"text": text, "tool": tool, "terms": "", "vector": None}


def scrub_run(row: Row, gone: set[str], secrets: Sequence[str]) -> Row:
    """Take purged facts out of the undo log."""
    log = json.loads(row["changes"])
    for table, pictures in log["before"].items():
        log["before"][table] = [
            _scrub_picture(table, picture, secrets) for picture in pictures if picture["id"] not in gone
        ]
    added = log["added"].get("facts")
    if added:
        log["added"]["facts"] = [name for name in added if name not in gone]
    changes = json.dumps(log, ensure_ascii=False, separators=(",", ":"))
    return row | {"changes": changes, "args": scrub(row["args"] or "", secrets)}


def _scrub_picture(table: str, picture: Row, secrets: Sequence[str]) -> Row:
    clean: Row = {
        name: scrub_json(value, secrets) if name in ("wordings", "tool") else scrub_value(value, secrets)
        for name, value in picture.items()
    }
    if table == "messages" and clean["text"] != picture["text"]:
        clean |= {"terms": "", "vector": None}
    return clean


def plan(record: Record, ids: Sequence[str], *, messages: bool) -> tuple[Plan, list[Row]]:
    """Find everything that holds the facts or their texts: rows to delete and to rewrite, and rows of the run log."""
    facts = record.by_ids("facts", ids)
    gone, secrets = set(facts), texts_of(facts.values())
    wanted = Plan(deletes={"facts": sorted(gone)})
    wanted.writes["facts"] = _changed(record, "facts", lambda row: scrub_fact(row, gone, secrets), skip=gone)
    if messages:
        places = places_of(facts.values())
        wanted.writes["messages"] = _changed(record, "messages", lambda row: scrub_message(row, places, secrets))
    return wanted, _changed(record, "runs", lambda row: scrub_run(row, gone, secrets))


def clean_log(record: Record, secrets: Sequence[str]) -> list[Row]:
    """Take texts out of the undo log."""
    return _changed(record, "runs", lambda row: scrub_run(row, set(), secrets))


def _changed(record: Record, table: str, clean: Callable[[Row], Row], skip: Container[str] = ()) -> list[Row]:
    """Give the rows that cleaning changes, cleaned. Vectors are read only for those."""
    light = [name for name in columns(table) if name != "vector"]
    touched = [
        row["id"]
        for batch in record.batches(table, columns=light)
        for row in batch.to_pylist()
        if row["id"] not in skip and clean(row) != row
    ]
    return [clean(row) for row in record.by_ids(table, touched).values()]
