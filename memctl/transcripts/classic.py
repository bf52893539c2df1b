"""AutoGen 0.2 and AG2 classic: ``groupchat.messages``, ``ChatResult``, chats by name, run responses, OpenAI lists.

``role`` says nothing about the speaker here: in ``groupchat.messages`` it is "user" for everybody, and in
``chat_history`` it flips with the point of view. The speaker is ``name``.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from memctl.model import Message, Role, ToolResult, Transcript
from memctl.transcripts.document import Document, counted, first, mapping, objects, sample, sequence, string
from memctl.transcripts.repeats import without_repeats
from memctl.transcripts.turns import (
    content_text,
    is_human,
    kept,
    said,
    speaker_and_recipient,
    tool_calls,
    tool_results,
)

_OPENAI_ROLES = frozenset({"user", "assistant", "system", "developer", "tool", "function"})
_SYSTEM_ROLES = frozenset({"system", "developer"})
_TOOL_ROLES = frozenset({"tool", "function"})
_CONTENT_KEYS = ("content", "tool_calls", "function_call", "tool_responses")


def is_message(record: Any) -> bool:
    """Tell a message of this family: a role or a name, and content or a tool call."""
    return (
        isinstance(record, dict)
        and ("role" in record or "name" in record)
        and any(key in record for key in _CONTENT_KEYS)
        and "contents" not in record
    )


def is_list(document: Document) -> bool:
    """Recognise lists, JSON lines and concatenated lists of messages."""
    records = sample(document)
    return bool(records) and sum(map(is_message, records)) * 2 > len(records)


def is_openai(document: Document) -> bool:
    """Recognise a message list in which nobody has a name."""
    return is_list(document) and not any(string(r.get("name")) for r in objects(document.records) if not _is_tool(r))


def is_chat_result(document: Document) -> bool:
    """Recognise ``ChatResult``, alone or as the values of a dict (``a_initiate_chats``) or list."""
    return any("chat_history" in result for result in _results(document))


def is_run_response(document: Document) -> bool:
    """Recognise AG2's run response, and any objects that carry messages of this family."""
    chats = [objects(sequence(record.get("messages")))[:20] for record in sample(document, 5)]
    return bool(chats) and all(found and sum(map(is_message, found)) * 2 > len(found) for found in chats)


def is_by_name(document: Document) -> bool:
    """Recognise chats keyed by the name of the peer, or by agent and peer."""
    root = document.root
    return bool(root) and all(_is_view(value) for value in root.values())


def _is_view(value: Any) -> bool:
    if isinstance(value, dict):
        return bool(value) and all(isinstance(inner, list) and _is_view(inner) for inner in value.values())
    return isinstance(value, list) and all(is_message(item) for item in value[:20])


def read_list(document: Document) -> list[Transcript]:
    """Read a list of messages; repeats of a resumed chat are left out."""
    form = "openai" if is_openai(document) else "groupchat"
    messages, notes = without_repeats(read_messages(document.records), _starts(document.values))
    return [document.transcript(form, messages, notes=(*notes, *_odd(document.records)))]


def read_chat_result(document: Document) -> list[Transcript]:
    """Read each ``ChatResult`` of the file as one chat; the summary and the costs are no conversation."""
    return _read_each(document, "chat-result", [sequence(result.get("chat_history")) for result in _results(document)])


def read_run_response(document: Document) -> list[Transcript]:
    """Read the ``messages`` of each run response."""
    return _read_each(document, "run-response", [sequence(r.get("messages")) for r in objects(document.records)])


def _read_each(document: Document, form: str, chats: Sequence[list[Any]]) -> list[Transcript]:
    """Read several chats of one file; ``index`` runs on through the file."""
    transcripts, offset = [], 0
    filled = [chat for chat in chats if chat]
    for number, chat in enumerate(filled):
        part = f"chat {number + 1}" if len(filled) > 1 else ""
        transcripts.append(document.transcript(form, read_messages(chat, offset), part=part, notes=_odd(chat)))
        offset += len(chat)
    return transcripts


def read_by_name(document: Document) -> list[Transcript]:
    """Read chats keyed by name: the fullest view, and from the others only what it does not hold."""
    transcripts: list[Transcript] = []
    heard: set[tuple[str, str]] = set()
    for number, start, view in sorted(_views(document.root), key=lambda found: -len(found[2])):
        messages = read_messages(view, start)
        fresh = [m for m in messages if m.text and (m.speaker, m.text) not in heard]
        if not transcripts:
            transcripts.append(document.transcript("chat-messages", messages))
        elif fresh:
            transcripts.append(document.transcript("chat-messages", fresh, part=f"view {number}"))
        heard.update((m.speaker, m.text) for m in messages)
    return transcripts


def _views(root: dict[str, Any]) -> Iterator[tuple[int, int, list[Any]]]:
    """Give every list of messages with its number and the number of messages before it."""
    values = [view for value in root.values() for view in (value.values() if isinstance(value, dict) else [value])]
    start = 0
    for number, view in enumerate(map(sequence, values), start=1):
        if view:
            yield number, start, view
        start += len(view)


def read_messages(records: Sequence[Any], offset: int = 0, *, default: str = "") -> list[Message]:
    """Read the messages of a list; ``index`` is the place in it plus ``offset``."""
    named = any(string(record.get("name")) for record in objects(records[:50]))
    return kept(
        _message(offset + place, record, named=named, opening=place == 0, default=default)
        for place, record in enumerate(records)
        if isinstance(record, dict)
    )


def _message(index: int, record: dict[str, Any], *, named: bool, opening: bool, default: str) -> Message | None:
    role = string(record.get("role")).lower()
    calls = _calls(record)
    content = record.get("content")
    if role in _SYSTEM_ROLES:
        return said(index, first(record, "name") or "system", content, role=Role.SYSTEM)
    if _is_tool(record):
        return _tool_turn(index, record, content, default)
    speaker, recipient = speaker_and_recipient(_speaker(record, role, named=named, opening=opening, default=default))
    kind = Role.USER if speaker == "user" or is_human(speaker) else Role.AGENT
    return said(index, speaker, content, role=kind, recipient=recipient, calls=calls)


def _speaker(record: dict[str, Any], role: str, *, named: bool, opening: bool, default: str) -> str:
    """Name the speaker; a group run's first message has no name and the role "assistant", yet it is the user's."""
    found = first(record, "name", "source", "author_name", "sender", "speaker", "agent") or default
    if found:
        return found
    if role and role not in _OPENAI_ROLES:
        return first(record, "role")
    return "user" if role == "user" or (named and opening) or not role else first(record, "role")


def _is_tool(record: dict[str, Any]) -> bool:
    return string(record.get("role")).lower() in _TOOL_ROLES or bool(record.get("tool_responses"))


def _tool_turn(index: int, record: dict[str, Any], content: Any, default: str) -> Message | None:
    """Read what a tool answered; ``content`` repeats ``tool_responses``, so only one of them counts."""
    results = tool_results(record.get("tool_responses"))
    name = first(record, "name")
    if not results:
        text = content_text(content)
        tool = name if string(record.get("role")).lower() == "function" else ""
        failed = True if text.startswith("Error: ") else None
        results = (ToolResult(text, tool, first(record, "tool_call_id"), failed),) if text else ()
    text = "\n\n".join(result.content for result in results)
    return said(index, name or default or "tool", text, role=Role.TOOL, results=results)


def _calls(record: dict[str, Any]) -> tuple[Any, ...]:
    calls = tool_calls(record.get("tool_calls"))
    return calls or tool_calls([record["function_call"]] if mapping(record.get("function_call")) else [])


def _results(document: Document) -> list[dict[str, Any]]:
    found = objects(document.records)
    return found if any("chat_history" in r for r in found) else objects(document.root.values())


def _starts(values: Sequence[Any]) -> list[int]:
    """Tell where each list of the file begins, in numbers of messages."""
    starts, place = [], 0
    for value in values:
        if isinstance(value, list):
            starts.append(place)
        place += len(value) if isinstance(value, list) else 1
    return starts


def _odd(records: Sequence[Any]) -> tuple[str, ...]:
    odd = sum(1 for record in records if not isinstance(record, dict))
    return (f"left out {counted(odd, 'item')} without the shape of a message",) if odd else ()
