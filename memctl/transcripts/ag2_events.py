"""The event stream of AG2 0.9 and later: ``response.events`` dumped one a line."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from memctl.model import Message, Role, ToolResult, Transcript
from memctl.transcripts import classic
from memctl.transcripts.document import Document, first, mapping, objects, sample, sequence, string
from memctl.transcripts.repeats import without_relays
from memctl.transcripts.turns import content_text, kept, said, tool_calls, tool_results

_SPOKEN = frozenset({"text", "tool_call", "tool_response", "function_call", "function_response"})


def is_stream(document: Document) -> bool:
    """Recognise events: a type, and an object with a uuid as content."""
    records = sample(document)
    return bool(records) and sum("uuid" in mapping(r.get("content")) and "type" in r for r in records) * 2 > len(
        records
    )


def read_stream(document: Document) -> list[Transcript]:
    """Read what was said, or where nothing of it was saved the history that the last event carries."""
    events = objects(document.records)
    spoken = [event for event in events if string(event.get("type")) in _SPOKEN]
    if not spoken:
        history = next((h for event in events if (h := sequence(mapping(event.get("content")).get("history")))), [])
        return [document.transcript("ag2-events", classic.read_messages(history))]
    outcomes = dict(_outcomes(events))
    messages = kept(_message(n, mapping(event.get("content")), outcomes) for n, event in enumerate(spoken))
    return [document.transcript("ag2-events", without_relays(messages))]


def _outcomes(events: list[dict[str, Any]]) -> Iterator[tuple[str, bool]]:
    """Tell for each tool call whether it failed, from the events of the execution."""
    for event in events:
        content = mapping(event.get("content"))
        if event.get("type") == "executed_function" and isinstance(content.get("is_exec_success"), bool):
            yield first(content, "call_id"), not content["is_exec_success"]


def _message(index: int, content: dict[str, Any], outcomes: dict[str, bool]) -> Message | None:
    speaker, recipient = first(content, "sender") or "assistant", first(content, "recipient")
    results = _results(content, outcomes)
    if results:
        return said(index, speaker, "", role=Role.TOOL, recipient=recipient, results=results)
    calls = tool_calls(content.get("tool_calls")) or tool_calls([content.get("function_call")])
    return said(index, speaker, content.get("content"), recipient=recipient, calls=calls)


def _results(content: dict[str, Any], outcomes: dict[str, bool]) -> list[ToolResult]:
    found = list(tool_results(content.get("tool_responses")))
    if not found and string(content.get("role")) in ("function", "tool"):
        found = [ToolResult(content_text(content.get("content")), first(content, "name"))]
    return [replace(result, is_error=outcomes.get(result.call_id, result.is_error)) for result in found]
