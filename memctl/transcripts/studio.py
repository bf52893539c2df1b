"""AutoGen Studio: the runs of a session as its API gives them, its database, and the rows of Studio 0.1."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from memctl.errors import HollowTranscript
from memctl.model import Message, Transcript
from memctl.transcripts import agentchat, classic, sqlite
from memctl.transcripts.document import Document, first, mapping, objects, sample, sequence, string, written_mapping
from memctl.transcripts.turns import instant, kept

_TABLES = frozenset({"message", "session"})


@dataclass(frozen=True, slots=True)
class _Row:
    """A saved message: which session it belongs to, the message itself and when it was saved."""

    session: str
    record: dict[str, Any]
    at: Any = None


def is_database(document: Document) -> bool:
    """Recognise Studio's database by its tables."""
    with sqlite.opened(document) as database:
        return database.tables() >= _TABLES and bool({"config", "content"} & database.columns("message"))


def is_export(document: Document) -> bool:
    """Recognise the API's runs, or rows of the message table."""
    if runs := _runs(document):
        return any("team_result" in run or "messages" in run for run in runs)
    return any("session_id" in row and ("config" in row or "role" in row) for row in sample(document))


def read_database(document: Document) -> list[Transcript]:
    """Read Studio's database; each session is a chat of its own."""
    with sqlite.opened(document) as database:
        columns = database.columns("message")
        order = "id" if "id" in columns else "rowid"
        rows = database.rows(f"SELECT * FROM message ORDER BY {order}")  # noqa: S608 - one of two fixed words
        names = {string(row.get("id")): string(row.get("name")) for row in database.rows("SELECT * FROM session")}
    return _transcripts(document, map(_row, rows), names)


def read_export(document: Document) -> list[Transcript]:
    """Read the messages of runs, or rows of the message table."""
    runs = _runs(document)
    rows = [row for run in runs for row in _run_rows(document, run)] if runs else map(_row, objects(document.records))
    return _transcripts(document, rows, {})


def _runs(document: Document) -> list[dict[str, Any]]:
    root = document.root
    found = objects(sequence(mapping(root.get("data")).get("runs")) or sequence(root.get("runs")))
    if found or not document.values:
        return found
    return [r for r in objects(document.records) if "team_result" in r and "messages" in r]


def _run_rows(document: Document, run: dict[str, Any]) -> Iterator[_Row]:
    """Take the message rows of a run; only where there are none, its result, which may be hollow."""
    rows = objects(sequence(run.get("messages")))
    if rows:
        yield from map(_row, rows)
        return
    messages = agentchat.task_messages(run)
    try:
        agentchat.refuse_hollow(document.path, messages)
    except HollowTranscript:
        messages = [run.get("task")]
    yield from (_Row(first(run, "session_id"), record, run.get("created_at")) for record in objects(messages))


def _row(row: dict[str, Any]) -> _Row:
    config = written_mapping(row.get("config"))
    return _Row(first(row, "session_id"), config or row, row.get("created_at"))


def _transcripts(document: Document, rows: Iterable[_Row], names: dict[str, str]) -> list[Transcript]:
    sessions: dict[str, list[Message | None]] = {}
    place = 0
    for row in rows:
        found = list(_messages(place, row))
        sessions.setdefault(row.session, []).extend(found)
        place += max(1, len(found))
    several = len(sessions) > 1
    return [
        document.transcript("studio", _fresh(kept(messages)), part=_part(session, names) if several else "")
        for session, messages in sessions.items()
    ]


def _messages(index: int, row: _Row) -> Iterator[Message | None]:
    """Read one row: an AgentChat message, or of Studio 0.1 a turn with the talk of its agents inside."""
    if agentchat.is_message(row.record):
        yield _dated(agentchat.message(index, row.record), row.at)
        return
    inner = objects(sequence(written_mapping(row.record.get("meta")).get("messages")))
    records = [_legacy(item) for item in inner] or [row.record]
    for place, record in enumerate(records):
        for message in classic.read_messages([record], index + place):
            yield _dated(message, row.at)


def _legacy(item: dict[str, Any]) -> dict[str, Any]:
    said = item.get("message", item.get("content"))
    record = said if isinstance(said, dict) else {"content": said, "role": "user"}
    return {**record, "name": first(item, "sender", "source") or first(record, "name")}


def _dated(message: Message | None, at: Any) -> Message | None:
    return replace(message, at=message.at or instant(at)) if message else None


def _fresh(messages: list[Message]) -> list[Message]:
    """Leave out a turn that the next record of the same session says again, as Studio 0.1 does."""
    return agentchat.without_summaries(
        message
        for n, message in enumerate(messages)
        if n == 0 or message.text != messages[n - 1].text or not message.text
    )


def _part(session: str, names: dict[str, str]) -> str:
    name = names.get(session, "")
    return f"session {session}: {name}" if name else f"session {session}"
