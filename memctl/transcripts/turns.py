"""From what a file says about a turn to a Message: speakers, roles, text, tools, times.

For a tool's turn, ``text`` is what the tool answered and ``tool_results`` is the same in pieces: use one or
the other, never both.
"""

import json
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from memctl.model import Message, Role, ToolCall, ToolResult
from memctl.transcripts.document import first, mapping, sequence, string

_HUMANS = re.compile(
    r"_?(?:the[ _-])?(?:users?|user[ _-]?proxy(?:[ _-]?agent)?|admin|humans?(?:[ _-](?:admin|user|proxy|input))?"
    r"|customer|boss|end[ _-]?user|usuari[oa]|cliente|utilisat(?:eur|rice)|benutzer|nutzer|kund(?:e|in)|utente|usuário"
    r"|用户|用戶|客户|人类|ユーザー|사용자|пользователь)[ _-]?\d*",
    re.IGNORECASE,
)
_LEGACY_EXIT = re.compile(r"exitcode: (-?\d+) \(execution (?:succeeded|failed)\)\s*(?:Code output:)?[ \t]*\n?")
_SCRIPT_EXIT = re.compile(
    r"The script ran[^\n]{0,80}?exit code(?: was)?:? (-?\d+)\)?\.?\s*(?:Its output was:)?[ \t]*\n?"
)
_ENDING = re.compile(r"(?:^|(?P<before>\S+)?[\s*_`]+)TERMINATE[\s.!*_`]*$")
_SPEAKS_OF_ENDING = re.compile(
    r"(?:repl(?:y|ies)|says?|with|write|respond|send|output|return|answer|type|by|to|the|an?|word|or|and|as|using)",
    re.IGNORECASE,
)
_TAIL = 120
_TEACHABILITY = "# Memories that might help"
_INJECTED = ("Relevant memory content", _TEACHABILITY, "## Important insights that may help solve tasks like this")
_ARROW = re.compile(r"(?P<name>.+?) \((?:->|→)\s*(?P<recipient>.+)\)$")
_ASIDE = re.compile(r"(?P<name>.+?) \((?:thought|termination condition|internal)\)$")
_INTERNAL = {"_User": "user"}  # the stand-in that AG2 makes for the user of a group run
_TEXT_KEYS = ("text", "content", "message", "result")


def is_human(name: str) -> bool:
    """Tell whether ``name`` is one that teams give to the person they work for."""
    return _HUMANS.fullmatch(name.strip()) is not None


def is_injected(text: str) -> bool:
    """Tell whether ``text`` is memory that a tool put in front of a model, not conversation."""
    return text.lstrip().startswith(_INJECTED)


def printable(text: str) -> str:
    """Replace what no store can hold: lone surrogates and NUL characters."""
    if text.isascii():
        return text.replace("\x00", "")
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text.replace("\x00", "")


def content_text(content: Any) -> str:
    """Write any content as text: a string, a list of lines or of parts, an object, nothing."""
    if isinstance(content, str):
        return printable(content)
    if content is None or isinstance(content, bool) or (isinstance(content, float) and not math.isfinite(content)):
        return ""
    if isinstance(content, list | tuple):
        return "\n".join(part for part in map(_part_text, content) if part)
    return printable(json.dumps(content, ensure_ascii=False, default=str))


def _part_text(part: Any) -> str:
    """Write one part of a list: a line, a text part; images and other binary parts become a mark."""
    if not isinstance(part, dict):
        return content_text(part)
    if isinstance(part.get("data"), str) or "image" in string(part.get("type")) or "image_url" in part:
        return "<image>"
    return next((content_text(part[key]) for key in _TEXT_KEYS if part.get(key)), "")


def without_ending(text: str) -> str:
    """Cut the termination word off the end of ``text``, unless the sentence speaks of the word itself."""
    tail = text[-_TAIL:]
    if "TERMINATE" not in tail or not (found := _ENDING.search(tail)):
        return text.strip()
    if _SPEAKS_OF_ENDING.fullmatch((found["before"] or "").strip("*_`\"'")):
        return text.strip()
    cut = len(text) - len(tail) + (found.end("before") if found["before"] else found.start())
    return text[:cut].rstrip(" \t\r\n*_`").lstrip()


def without_memories(text: str) -> str:
    """Cut out the block of recalled memories that Teachability appends to a message."""
    if _TEACHABILITY not in text:
        return text
    lines = text.split("\n")
    start = next((n for n, line in enumerate(lines) if line.strip() == _TEACHABILITY), None)
    if start is None:
        return text
    end = start + 1
    while end < len(lines) and (not lines[end].strip() or lines[end].startswith("- ")):
        end += 1
    return "\n".join(lines[:start] + lines[end:])


def speaker_and_recipient(label: str) -> tuple[str, str]:
    """Split labels such as ``Orchestrator (-> WebSurfer)`` and ``Orchestrator (thought)``."""
    if found := _ARROW.match(label):
        return found["name"].strip(), found["recipient"].strip()
    if found := _ASIDE.match(label):
        return found["name"].strip(), ""
    return label, ""


def execution(text: str) -> ToolResult | None:
    """Read the report of a code executor at the start of ``text``."""
    found = _LEGACY_EXIT.match(text) or _SCRIPT_EXIT.match(text)
    if not found:
        return None
    code = int(found[1][:9])
    return ToolResult(text[found.end() :].strip(), "code", "", code != 0, code)


def said(
    index: int,
    speaker: str,
    content: Any,
    *,
    role: Role | None = None,
    at: datetime | None = None,
    recipient: str = "",
    calls: Sequence[ToolCall] = (),
    results: Sequence[ToolResult] = (),
) -> Message | None:
    """Make a message, or None where nothing was said.

    Without ``role`` it is taken from the name: a person's, else an agent's. A report of a code executor is
    a tool's turn whoever sends it.
    """
    text = without_ending(without_memories(content_text(content)))
    if calls and text == "None":  # what AG2 writes for the null content of a tool call
        text = ""
    if not results and (report := execution(text)):
        role, results = Role.TOOL, (report,)
    if not text and results:
        text = "\n\n".join(result.content for result in results)
    if not (text or calls or results) or is_injected(text):
        return None
    if role is None:
        role = Role.USER if is_human(speaker) else Role.AGENT
    return Message(
        index, _INTERNAL.get(speaker) or printable(speaker), role, text, at, recipient, tuple(calls), tuple(results)
    )


def tool_calls(values: Any) -> tuple[ToolCall, ...]:
    """Read tool calls in the shapes of OpenAI, AgentChat and AG2."""
    return tuple(call for call in map(_tool_call, sequence(values)) if call)


def _tool_call(value: Any) -> ToolCall | None:
    record = mapping(value)
    function = mapping(record.get("function")) or record
    name = first(function, "name", "tool_name", "func_name")
    return ToolCall(name, content_text(function.get("arguments")), first(record, "id", "call_id")) if name else None


def tool_results(values: Any) -> tuple[ToolResult, ...]:
    """Read tool results in the shapes of OpenAI, AgentChat and AG2."""
    return tuple(map(_tool_result, map(mapping, sequence(values))))


def _tool_result(record: dict[str, Any]) -> ToolResult:
    content = content_text(record.get("content"))
    failed = record.get("is_error")
    if not isinstance(failed, bool):
        failed = True if content.startswith("Error: ") else None
    return ToolResult(content, first(record, "name"), first(record, "tool_call_id", "call_id", "id"), failed)


def instant(value: Any) -> datetime | None:
    """Read a time as libraries write it: ISO text, epoch seconds, a datetime; None where there is none."""
    try:
        if isinstance(value, str) and value:
            found = datetime.fromisoformat(value.strip())
        elif isinstance(value, int | float) and not isinstance(value, bool):
            found = datetime.fromtimestamp(value, UTC)
        else:
            return None
        return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    except (ValueError, OverflowError, OSError):
        return None


def with_tool_names(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Name the tools whose answers carry only the id of the call."""
    names: dict[str, str] = {}
    named = []
    for message in messages:
        names.update((call.call_id, call.name) for call in message.tool_calls if call.call_id)
        if any(not result.name and result.call_id in names for result in message.tool_results):
            results = tuple(replace(r, name=r.name or names.get(r.call_id, "")) for r in message.tool_results)
            message = replace(message, tool_results=results)
        named.append(message)
    return tuple(named)


def kept(messages: Iterable[Message | None]) -> list[Message]:
    """Leave out the turns in which nothing was said."""
    return [message for message in messages if message is not None]
