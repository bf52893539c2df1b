"""AgentChat 0.4 to 0.7: message lists, ``TaskResult`` and ``run_stream`` dumps of every generation."""

from collections.abc import Iterable, Sequence
from typing import Any

from memctl.errors import HollowTranscript
from memctl.model import Message, Role, ToolResult, Transcript
from memctl.transcripts import pyrepr
from memctl.transcripts.document import Document, first, mapping, objects, sample, sequence, string
from memctl.transcripts.turns import content_text, instant, kept, said, tool_calls, tool_results

SKIPPED = frozenset(
    {
        "MemoryQueryEvent",  # memory that was put in front of a model: reading it again would feed memory on itself
        "SelectSpeakerEvent",
        "SelectorEvent",
        "ModelClientStreamingChunkEvent",
        "UserInputRequestedEvent",
    }
)
_MACHINES = frozenset({"llm_call_event", "DiGraphStopAgent"})
_CALLS = frozenset({"ToolCallRequestEvent", "ToolCallMessage"})
_ANSWERS = frozenset({"ToolCallExecutionEvent", "ToolCallResultMessage", "FunctionExecutionResultMessage"})
_SUMMARIES = frozenset({"ToolCallSummaryMessage", "ToolCallResultSummaryMessage"})
_WRITTEN = {
    "[FunctionCall(": "ToolCallRequestEvent",
    "[FunctionExecutionResult(": "ToolCallExecutionEvent",
    "[MemoryContent(": "MemoryQueryEvent",
}
_HOLLOW = (
    "TaskResult dumps of autogen-agentchat 0.5.4 to 0.7.1 lose the content of every message (message {n} has none)"
)
_HOLLOW_REMEDY = "Dump each message with message.model_dump(), or save the team with save_state(), or upgrade to 0.7.2."


def is_message(record: Any) -> bool:
    """Tell an AgentChat message: a source, and content, a result or a type."""
    return (
        isinstance(record, dict)
        and "source" in record
        and ("content" in record or "result" in record or _is_hollow(record))
        and "role" not in record
    )


def _is_hollow(record: dict[str, Any]) -> bool:
    return "models_usage" in record and "content" not in record and "type" not in record


def is_list(document: Document) -> bool:
    """Recognise a list or JSON lines of messages, also with a final ``TaskResult``."""
    records = sample(document)
    return bool(records) and sum(map(is_message, records)) * 2 > len(records)


def is_task_result(document: Document) -> bool:
    """Recognise ``TaskResult``, also inside Studio's ``TeamResult`` or a response object."""
    results = [objects(task_messages(record))[:20] for record in sample(document, 5)]
    return bool(results) and all(found and sum(map(is_message, found)) * 2 > len(found) for found in results)


def task_messages(root: dict[str, Any]) -> list[Any]:
    """Find the messages of a task result or of something around one."""
    holder = mapping(root.get("task_result")) or mapping(mapping(root.get("team_result")).get("task_result")) or root
    if messages := sequence(holder.get("messages")):
        return messages
    answer = mapping(holder.get("chat_message"))
    return [*sequence(holder.get("inner_messages")), answer] if answer else []


def read_list(document: Document) -> list[Transcript]:
    """Read a list or stream of messages; a ``TaskResult`` among them repeats the others."""
    return [document.transcript("agentchat", read_messages(document.path, document.records))]


def read_task_result(document: Document) -> list[Transcript]:
    """Read the messages of each ``TaskResult``; HollowTranscript where the library lost them."""
    results = [messages for record in objects(document.records) if (messages := task_messages(record))]
    transcripts, offset = [], 0
    for number, messages in enumerate(results):
        part = f"run {number + 1}" if len(results) > 1 else ""
        transcripts.append(
            document.transcript("task-result", read_messages(document.path, messages, offset), part=part)
        )
        offset += len(messages)
    return transcripts


def read_messages(path: str, records: Sequence[Any], offset: int = 0) -> list[Message]:
    """Read AgentChat messages; ``index`` is the place in the list plus ``offset``."""
    refuse_hollow(path, records)
    return without_summaries(
        kept(message(offset + n, record) for n, record in enumerate(records) if is_message(record))
    )


def refuse_hollow(path: str, records: Sequence[Any]) -> None:
    """Raise HollowTranscript where no message has content, as the library's bug leaves them."""
    found = objects(records)
    if found and all(_is_hollow(record) for record in found):
        raise HollowTranscript(path=path, reason=_HOLLOW.format(n=0), remedy=_HOLLOW_REMEDY)


def message(index: int, record: dict[str, Any]) -> Message | None:
    """Read one message or event; None where it is machinery or says nothing."""
    kind, content = _unwritten(string(record.get("type")), record.get("content"))
    if kind in SKIPPED or string(record.get("source")) in _MACHINES:
        return None
    speaker = first(record, "source") or "assistant"
    at = instant(record.get("created_at"))
    if kind == "CodeExecutionEvent" or (content is None and "result" in record):
        return said(index, speaker, "", role=Role.TOOL, at=at, results=(_execution(record),))
    if kind in _CALLS and not isinstance(content, str):
        return said(index, speaker, "", at=at, calls=tool_calls(content))
    if kind in _ANSWERS or kind in _SUMMARIES:
        results = tool_results(record.get("results") or content) or _as_result(content)
        return said(index, speaker, content if kind in _SUMMARIES else "", role=Role.TOOL, at=at, results=results)
    return said(index, speaker, content, at=at, recipient=first(record, "target"))


def _unwritten(kind: str, content: Any) -> tuple[str, Any]:
    """Tell the kind of content that was saved without it, and undo ``str()`` on the content of an event."""
    if isinstance(content, str) and content.startswith(tuple(_WRITTEN)):
        kind = kind or next(name for opening, name in _WRITTEN.items() if content.startswith(opening))
        try:
            return kind, pyrepr.parse(content)
        except pyrepr.NoLiteral:
            return kind, content
    if not kind and sequence(content):
        parts = [mapping(part) for part in content]
        if all("call_id" in part for part in parts):
            return "ToolCallExecutionEvent", content
        if all("arguments" in part and "name" in part for part in parts):
            return "ToolCallRequestEvent", content
        if all("mime_type" in part for part in parts):
            return "MemoryQueryEvent", content
    return kind, content


def without_summaries(messages: Iterable[Message]) -> list[Message]:
    """Leave out a tool summary whose results were already told by the execution event before it."""
    fresh: list[Message] = []
    told: set[tuple[str, str]] = set()
    for found in messages:
        keys = {(result.call_id, result.content) for result in found.tool_results}
        if not (found.role is Role.TOOL and keys and keys <= told):
            fresh.append(found)
        told |= keys
    return fresh


def _execution(record: dict[str, Any]) -> ToolResult:
    result = mapping(record.get("result"))
    code = result.get("exit_code")
    code = code if isinstance(code, int) and not isinstance(code, bool) else None
    return ToolResult(content_text(result.get("output")), "code", "", None if code is None else code != 0, code)


def _as_result(content: Any) -> tuple[ToolResult, ...]:
    text = content_text(content)
    return (ToolResult(text),) if text else ()
