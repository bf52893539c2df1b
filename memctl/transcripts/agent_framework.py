"""Microsoft Agent Framework: messages, sessions, responses and the history that a provider writes."""

from typing import Any

from memctl.model import Message, Role, ToolResult, Transcript
from memctl.transcripts.document import Document, first, mapping, objects, sample, sequence, string
from memctl.transcripts.turns import content_text, instant, kept, said, tool_calls

_DEEPEST = 6
_ROLES = {"user": Role.USER, "assistant": Role.AGENT, "system": Role.SYSTEM, "tool": Role.TOOL}


def is_message(record: Any) -> bool:
    """Tell a message of this family by its contents."""
    return isinstance(record, dict) and isinstance(record.get("contents"), list) and "role" in record


def is_any(document: Document) -> bool:
    """Recognise lists, JSON lines, sessions and responses."""
    records = sample(document)
    return any(map(is_message, records)) or any(_inside(record, 0) for record in records)


def read_any(document: Document) -> list[Transcript]:
    """Read the messages wherever the file keeps them."""
    records = document.records
    found = records if any(map(is_message, records)) else [m for r in records for m in _inside(r, 0)]
    messages = kept(_message(index, record) for index, record in enumerate(found) if is_message(record))
    return [document.transcript("agent-framework", messages)]


def _inside(value: Any, depth: int) -> list[Any]:
    """Find the fullest list of messages inside a session or response."""
    if depth > _DEEPEST:
        return []
    if isinstance(value, list):
        return value if any(map(is_message, value)) else []
    found = [_inside(inner, depth + 1) for inner in mapping(value).values() if isinstance(inner, dict | list)]
    return max(found, key=len, default=[])


def _message(index: int, record: dict[str, Any]) -> Message | None:
    parts = objects(sequence(record.get("contents")))
    role = (string(record.get("role")) or string(mapping(record.get("role")).get("value"))).lower()
    speaker = first(record, "author_name") or role or "assistant"
    at = instant(record.get("created_at"))
    results = [_result(part) for part in parts if part.get("type") == "function_result"]
    if results:
        return said(index, speaker, "", role=Role.TOOL, at=at, results=results)
    text = "\n".join(content_text(part.get("text")) for part in parts if part.get("type") == "text")
    calls = tool_calls([part for part in parts if part.get("type") == "function_call"])
    return said(index, speaker, text, role=_ROLES.get(role), at=at, calls=calls)


def _result(part: dict[str, Any]) -> ToolResult:
    failure = content_text(part.get("exception"))
    text = content_text(part.get("result")) or content_text(part.get("items")) or failure
    return ToolResult(text, first(part, "name"), first(part, "call_id"), True if failure else None)
