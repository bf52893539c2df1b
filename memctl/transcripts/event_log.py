"""Logs of the AgentChat runtime: the event logger's JSON lines, and Magentic-One's older log."""

import json
from collections.abc import Iterator
from typing import Any

from memctl.errors import UnknownFormat
from memctl.model import Role, ToolCall, ToolResult, Transcript
from memctl.transcripts import agentchat
from memctl.transcripts.document import Document, first, mapping, objects, sample, sequence, string
from memctl.transcripts.turns import content_text, instant, kept, said, speaker_and_recipient

_RUNTIME_TYPES = frozenset(
    {"Message", "MessageDropped", "MessageHandlerException", "ToolCall", "LLMCall", "AgentConstructionException"}
)
_MAGENTIC_TYPES = frozenset({"OrchestrationEvent", "AgentEvent", "WebSurferEvent"})


def is_log(document: Document) -> bool:
    """Recognise the event logger: payloads with a delivery stage, tool calls and model calls."""
    records = sample(document)
    return any(_is_runtime(record) for record in records) and not any("source" in record for record in records)


def _is_runtime(record: dict[str, Any]) -> bool:
    kind = string(record.get("type"))
    return kind in _RUNTIME_TYPES and ("delivery_stage" in record or "tool_name" in record or "agent_id" in record)


def is_magentic(document: Document) -> bool:
    """Recognise Magentic-One's log: a source and a message, with a type of event."""
    return any(string(record.get("type")) in _MAGENTIC_TYPES and "message" in record for record in sample(document))


def read_log(document: Document) -> list[Transcript]:
    """Read each message once, though the runtime logs it at every stage of its delivery."""
    records = objects(document.records)
    told: dict[str, dict[str, Any]] = {}
    for record in records:
        for message in _carried(record.get("payload")):
            told.setdefault(first(message, "id") or _fingerprint(message), message)
    if told:
        return [document.transcript("event-log", agentchat.read_messages(document.path, list(told.values())))]
    return [document.transcript("event-log", _from_tools(document, records))]


def _carried(payload: Any) -> Iterator[dict[str, Any]]:
    """Find the messages in a payload, in the order in which they were said."""
    if isinstance(payload, str):
        try:
            payload = json.loads(payload)
        except ValueError:
            return
    body = mapping(payload)
    response = mapping(body.get("response"))
    found = [
        *sequence(body.get("messages")),
        body.get("message"),
        *sequence(response.get("inner_messages")),
        response.get("chat_message"),
    ]
    yield from (message for message in objects(found) if agentchat.is_message(message))


def _fingerprint(message: dict[str, Any]) -> str:
    """Identify a message of the releases that gave no ids."""
    return json.dumps([message.get("source"), message.get("type"), message.get("content")], default=str)


def _from_tools(document: Document, records: list[dict[str, Any]]) -> list[Any]:
    """Fall back to the tool calls; what went to a model is prompts and settings, not the chat."""
    calls = [record for record in records if record.get("type") == "ToolCall"]
    if not calls:
        reason = "this event log holds model calls but no messages, and prompts are not read"
        raise UnknownFormat(
            path=document.path, reason=reason, remedy="Log the messages of the runtime, or save the TaskResult."
        )
    return kept(
        said(
            index,
            first(call, "agent_id").partition("_")[0] or "tool",
            "",
            role=Role.TOOL,
            calls=(ToolCall(first(call, "tool_name"), content_text(call.get("arguments"))),),
            results=(ToolResult(content_text(call.get("result")), first(call, "tool_name")),),
        )
        for index, call in enumerate(calls)
    )


def read_magentic(document: Document) -> list[Transcript]:
    """Read Magentic-One's log; counts of tokens and browser actions are no conversation."""
    events = [r for r in objects(document.records) if string(r.get("type")) in _MAGENTIC_TYPES]
    messages = []
    for index, event in enumerate(events):
        if event.get("type") == "WebSurferEvent":
            continue
        speaker, recipient = speaker_and_recipient(first(event, "source") or "unknown")
        at = instant(event.get("timestamp"))
        messages.append(said(index, speaker, string(event.get("message")), at=at, recipient=recipient))
    return [document.transcript("magentic-log", kept(messages))]
