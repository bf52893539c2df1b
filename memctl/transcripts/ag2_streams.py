"""AG2 1.x: the stream log of an agent, and the write-ahead log of a channel with the names in passports."""

import json
import re
from collections.abc import Iterator
from typing import Any

from memctl.model import Message, Role, ToolResult, Transcript
from memctl.transcripts.document import Companions, Document, counted, first, mapping, objects, sample, sequence, string
from memctl.transcripts.turns import content_text, instant, kept, said, tool_calls

_STORE_TITLE = re.compile(r"#\s+(.+?) Knowledge Store\s*$", re.MULTILINE)
_TITLE_PLACES = ("../SKILL.md", "SKILL.md")
_AGENT_FOLDERS = ("../../agents", "agents", "../agents")
_MACHINERY = ("ag2.channel.", "ag2.task.", "ag2.hub.")


def is_stream(document: Document) -> bool:
    """Recognise a stream log: types in the ``ag2.events`` namespace."""
    records = sample(document)
    return bool(records) and sum(string(r.get("type")).startswith("ag2.events.") for r in records) * 2 > len(records)


def is_channel(document: Document) -> bool:
    """Recognise a channel's log: an event type and an opaque sender."""
    records = sample(document)
    return bool(records) and sum("event_type" in r and "sender_id" in r for r in records) * 2 > len(records)


def read_stream(document: Document) -> list[Transcript]:
    """Read a stream log. Calls and results appear up to three times in it and count once."""
    agent = _agent_of_store(document.companions) or "assistant"
    turns = _Turns(agent)
    messages = kept(map(turns.message, enumerate(turns.told_once(objects(document.records)))))
    return [document.transcript("ag2-stream", messages)]


def _agent_of_store(companions: Companions) -> str:
    """Take the agent's name from the title of its knowledge store; the events do not tell it."""
    for place in _TITLE_PLACES:
        if found := _STORE_TITLE.search((companions(place) or b"").decode("utf-8", "replace")):
            return found[1].strip()
    return ""


class _Turns:
    """The events of one stream as turns of one agent."""

    def __init__(self, agent: str) -> None:
        self._agent = agent
        self._told: set[str] = set()

    def told_once(self, events: list[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
        """Give kind and data of each event that says something new."""
        for event in events:
            kind, data = string(event.get("type")).rpartition(".")[2], mapping(event.get("data"))
            if kind in ("ModelRequest", "ModelResponse", "HumanMessage", "ModelMessage") or self._is_news(kind, data):
                self._told.update(f"call:{call.call_id}" for call in _calls(data))
                yield kind, data

    def _is_news(self, kind: str, data: dict[str, Any]) -> bool:
        if kind in ("ToolResultEvent", "ToolErrorEvent"):
            key = f"result:{first(data, 'parent_id', 'id')}"
        elif kind == "ToolCallEvent":
            key = f"call:{first(data, 'id')}"
        else:
            return False
        fresh = key not in self._told
        self._told.add(key)
        return fresh

    def message(self, numbered: tuple[int, tuple[str, dict[str, Any]]]) -> Message | None:
        """Read one event as a turn."""
        index, (kind, data) = numbered
        at = instant(data.get("created_at"))
        if kind in ("ToolResultEvent", "ToolErrorEvent"):
            return said(index, self._agent, "", role=Role.TOOL, at=at, results=(_result(kind, data),))
        if kind in ("ModelRequest", "HumanMessage"):
            text = _parts(data.get("parts")) or content_text(data.get("content"))
            return said(index, "user", text, role=Role.USER, at=at)
        message = data if kind == "ModelMessage" else mapping(data.get("message"))
        calls = tool_calls([data]) if kind == "ToolCallEvent" else _calls(data)
        return said(index, self._agent, message.get("content"), role=Role.AGENT, at=at, calls=calls)


def _calls(data: dict[str, Any]) -> tuple[Any, ...]:
    return tool_calls(mapping(data.get("tool_calls")).get("calls"))


def _result(kind: str, data: dict[str, Any]) -> ToolResult:
    inner = mapping(mapping(data.get("result")).get("data"))
    text = _parts(inner.get("parts")) or first(data, "error", "content") or content_text(data.get("result"))
    return ToolResult(text, first(data, "name"), first(data, "parent_id", "id"), True if "Error" in kind else None)


def _parts(parts: Any) -> str:
    return "\n".join(text for part in sequence(parts) if (text := content_text(mapping(part).get("content"))))


def read_channel(document: Document) -> list[Transcript]:
    """Read a channel's log; opening, acknowledging and closing it are no conversation."""
    events = [e for e in objects(document.records) if not string(e.get("event_type")).startswith(_MACHINERY)]
    names = {sender: _name(sender, document.companions) for sender in {first(e, "sender_id") for e in events}}
    nameless = sorted(sender for sender, name in names.items() if not name)
    notes = (f"{counted(len(nameless), 'speaker')} named by id only: no passport.json was found",) if nameless else ()
    messages = kept(
        said(
            index,
            names[first(event, "sender_id")] or first(event, "sender_id") or "unknown",
            _said_in(mapping(event.get("event_data"))),
            at=instant(event.get("created_at")),
            recipient=", ".join(names.get(string(one)) or string(one) for one in sequence(event.get("audience"))),
        )
        for index, event in enumerate(events)
    )
    return [document.transcript("ag2-channel", messages, notes=notes)]


def _said_in(data: dict[str, Any]) -> Any:
    """Find the words in a text message or in the packet of a workflow channel."""
    found = next((data[key] for key in ("text", "body", "content", "message", "result") if data.get(key)), None)
    return _said_in(found) or found if isinstance(found, dict) else found


def _name(sender: str, companions: Companions) -> str:
    """Resolve an opaque id through the agent's passport."""
    if not re.fullmatch(r"[\w-]{1,80}", sender):  # an id becomes part of a path: nothing but a plain word may
        return ""
    for folder in _AGENT_FOLDERS:
        if data := companions(f"{folder}/{sender}/passport.json"):
            try:
                return first(mapping(json.loads(data)), "name")
            except ValueError:
                return ""
    return ""
