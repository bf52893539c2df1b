"""``autogen.runtime_logging``: the SQLite file, the file log, and rows of its ``events`` table.

Only the events are read. Settings of agents, clients and completions can hold keys and are never looked at.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from memctl.model import Message, Transcript
from memctl.transcripts import classic, sqlite
from memctl.transcripts.document import Document, first, objects, written_mapping
from memctl.transcripts.repeats import MANAGER, without_relays
from memctl.transcripts.turns import instant

_TABLES = frozenset({"events", "chat_completions"})
_EVENTS = (
    "SELECT source_id, source_name, agent_class_name, json_state, timestamp FROM events"
    " WHERE event_name = 'received_message' ORDER BY id"
)
_LAST = "\U0010ffff"  # sorts behind every session that was made at the same moment
_AGENTS = "SELECT agent_id, session_id, timestamp FROM agents ORDER BY timestamp"


def is_database(document: Document) -> bool:
    """Recognise the SQLite logger by its tables."""
    with sqlite.opened(document) as database:
        return database.tables() >= _TABLES


def is_rows(document: Document) -> bool:
    """Recognise the file logger, and rows of the events table saved as JSON."""
    return any("event_name" in record and "json_state" in record for record in objects(document.records))


def read_database(document: Document) -> list[Transcript]:
    """Read the SQLite logger; each of its sessions is a chat of its own."""
    with sqlite.opened(document) as database:
        events = database.rows(_EVENTS)
        agents = database.rows(_AGENTS) if "agents" in database.tables() else []
    return _transcripts(document, events, list(map(_Sessions(agents).of, events)))


def read_rows(document: Document) -> list[Transcript]:
    """Read the file logger; the sessions in it follow one another."""
    records = objects(document.records)
    agents = [
        {"agent_id": r.get("id"), "session_id": r.get("session_id"), "timestamp": r.get("current_time")}
        for r in records
        if "agent_name" in r and "session_id" in r
    ]
    events = [record for record in records if record.get("event_name") == "received_message"]
    return _transcripts(document, events, list(map(_Sessions(agents).of, events)))


class _Sessions:
    """Which session an event belongs to. The events carry none.

    It is the last one in which the agent that heard it was made, before it was heard: an agent's id is a
    memory address, which a later run may use again. Of an agent that was not logged, the time decides.
    """

    def __init__(self, agents: Sequence[dict[str, Any]]) -> None:
        self._all = sorted((first(agent, "timestamp"), first(agent, "session_id")) for agent in agents)
        self._by_agent: dict[str, list[tuple[str, str]]] = {}
        for agent in agents:
            entry = first(agent, "timestamp"), first(agent, "session_id")
            self._by_agent.setdefault(first(agent, "agent_id"), []).append(entry)

    def of(self, event: dict[str, Any]) -> str:
        """Name the session of an event; empty where nothing is known."""
        made = sorted(self._by_agent.get(first(event, "source_id"), ())) or self._all
        before = bisect_right(made, (first(event, "timestamp"), _LAST))
        return made[max(0, before - 1)][1] if made else ""


def _transcripts(document: Document, events: Sequence[dict[str, Any]], sessions: Sequence[str]) -> list[Transcript]:
    names = list(dict.fromkeys(sessions))
    transcripts, offset = [], 0
    for name in names:
        heard = _as_manager_heard([event for event, session in zip(events, sessions, strict=True) if session == name])
        part = f"session {name or 'unknown'}" if len(names) > 1 else ""
        transcripts.append(document.transcript("runtime-logging", _messages(heard, offset), part=part))
        offset += len(heard)
    return transcripts


def _as_manager_heard(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Take a group chat once, as its manager heard it; a chat of two is heard once anyway."""
    managers = [event for event in events if _is_manager(event)]
    return managers or events


def _is_manager(event: dict[str, Any]) -> bool:
    return "GroupChatManager" in first(event, "agent_class_name", "agent_class") or event.get("source_name") == MANAGER


def _messages(events: Iterable[dict[str, Any]], offset: int) -> list[Message]:
    messages = []
    for place, event in enumerate(events):
        state = written_mapping(event.get("json_state"))
        said = state.get("message")
        record = said if isinstance(said, dict) else {"content": said, "role": "user"}
        for message in classic.read_messages([record], offset + place, default=first(state, "sender")):
            messages.append(replace(message, at=instant(event.get("timestamp")), recipient=first(event, "source_name")))
    return without_relays(messages)
