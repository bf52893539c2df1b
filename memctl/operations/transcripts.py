"""Chats in the record: listing them, showing them, and writing them in a form that a chat can be resumed from."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from memctl.errors import NotFound, UsageProblem
from memctl.memory import OpenMemory
from memctl.model import Message, Result, Role
from memctl.store.types import LedgerEntry
from memctl.times import iso

FORMATS = ("groupchat", "json", "text")


@dataclass(frozen=True, slots=True)
class ShownTranscript:
    """A chat as the record has it: cleaned and redacted, in order."""

    entry: LedgerEntry
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class ExportedTranscript:
    """A chat in one of FORMATS: ``text`` is what goes into a file, ``messages`` the same as objects."""

    entry: LedgerEntry
    format: str
    messages: tuple[dict[str, Any], ...]
    text: str


def list_transcripts(memory: OpenMemory, *, agent: str | None = None) -> Result[tuple[LedgerEntry, ...]]:
    """List the chats of a scope, or of all, the latest first."""
    entries = memory.store.transcripts(agent=agent)
    return Result("transcript", tuple(sorted(entries, key=_recency, reverse=True)))


def show_transcript(memory: OpenMemory, name: str = "", *, agent: str | None = None) -> Result[ShownTranscript]:
    """Show the chat that ``name`` means: the beginning of its id, its path, or its file name; empty: the latest."""
    entry = _meant(list_transcripts(memory, agent=agent).data, name)
    messages = tuple(stored.message for stored in memory.store.messages_of(entry.id))
    return Result("transcript", ShownTranscript(entry, messages))


def export_transcript(
    memory: OpenMemory,
    name: str = "",
    *,
    agent: str | None = None,
    format: str = "groupchat",  # noqa: A002  the name of the flag
) -> Result[ExportedTranscript]:
    """Write a chat: ``groupchat`` for ``GroupChatManager.resume``, ``json`` with everything, or plain ``text``."""
    if format not in FORMATS:
        raise UsageProblem(
            reason=f"{format!r} is not a format for transcripts", remedy=f"Use one of: {', '.join(FORMATS)}."
        )
    shown = show_transcript(memory, name, agent=agent).data
    write = message_shape if format == "json" else groupchat_message
    messages = tuple(write(message) for message in shown.messages if format == "json" or _says_something(message))
    text = _as_text(shown.messages) if format == "text" else json.dumps(messages, ensure_ascii=False, indent=1)
    return Result("transcript", ExportedTranscript(shown.entry, format, messages, text))


def groupchat_message(message: Message) -> dict[str, Any]:
    """Write a message as ``groupchat.messages`` of AutoGen 0.2 and AG2 holds it."""
    answers = [result for result in message.tool_results if result.call_id]
    if answers:
        responses = [{"tool_call_id": r.call_id, "role": "tool", "content": r.content} for r in answers]
        text = "\n\n".join(result.content for result in answers)
        return {"content": text, "tool_responses": responses, "role": "tool", "name": message.speaker}
    if message.tool_calls:
        calls = [
            {"id": call.call_id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.tool_calls
        ]
        return {"content": message.text, "tool_calls": calls, "role": "assistant", "name": message.speaker}
    role = "system" if message.role is Role.SYSTEM else "user"
    return {"content": message.text, "role": role, "name": message.speaker}


def message_shape(message: Message) -> dict[str, Any]:
    """Write everything that the record knows of a message."""
    return {
        "message": message.index,
        "speaker": message.speaker,
        "role": str(message.role),
        "text": message.text,
        "at": iso(message.at),
        "recipient": message.recipient,
        "tool_calls": [asdict(call) for call in message.tool_calls],
        "tool_results": [asdict(result) for result in message.tool_results],
    }


def _meant(entries: Sequence[LedgerEntry], name: str) -> LedgerEntry:
    """Pick the entry that a person means; of several with the same path, the latest."""
    if not entries:
        raise NotFound(what="transcript", name=name or "the latest", remedy="Ingest one with memctl ingest.")
    if not name:
        return entries[0]
    by_path = [entry for entry in entries if name in (entry.path, _file_name(entry.path))]
    by_id = [entry for entry in entries if entry.id.startswith(name)]
    found = by_path or by_id
    if not found or (not by_path and len(by_id) > 1):
        raise NotFound(what="transcript", name=name, remedy="List them with memctl transcript list.")
    return found[0]


def _file_name(path: str) -> str:
    return path.replace("\\", "/").rsplit("/", 1)[-1]


def _recency(entry: LedgerEntry) -> tuple[Any, ...]:
    return entry.recorded_at, entry.path, entry.part


def _says_something(message: Message) -> bool:
    return bool(message.text or message.tool_calls or message.tool_results)


def _as_text(messages: Sequence[Message]) -> str:
    return "\n\n".join(f"{message.speaker}: {message.text}" for message in messages if message.text)
