"""``save_state()`` of AgentChat teams and agents, and of a model context, in every generation."""

from collections.abc import Iterator, Sequence
from typing import Any

from memctl.model import Message, Role, Transcript
from memctl.transcripts import agentchat
from memctl.transcripts.document import Document, first, mapping, objects, sequence, string
from memctl.transcripts.turns import content_text, kept, said, tool_calls, tool_results

_CONTEXT_TYPES = frozenset({"UserMessage", "AssistantMessage", "SystemMessage", "FunctionExecutionResultMessage"})


def is_team(document: Document) -> bool:
    """Recognise the state of a team."""
    return isinstance(document.root.get("agent_states"), dict)


def is_agent(document: Document) -> bool:
    """Recognise the state of one agent or of a model context."""
    return bool(_context(document.root)) or "llm_context" in document.root


def read_team(document: Document) -> list[Transcript]:
    """Read the manager's message thread; what the agents keep are copies of it.

    A team whose thread is empty, as of an inner team after its run, is read from its fullest agent.
    """
    states = [mapping(state) for state in mapping(document.root.get("agent_states")).values()]
    threads = [sequence(state.get("message_thread")) for state in states]
    thread = max(threads, key=len, default=[])
    if thread:
        return [document.transcript("team-state", agentchat.read_messages(document.path, thread))]
    contexts = [_context(mapping(state.get("agent_state")) or state) for state in states]
    messages = _messages(max(contexts, key=len, default=[]))
    inner = [] if messages else list(_inner(document, states))
    return inner or [document.transcript("team-state", messages)]


def _inner(document: Document, states: Sequence[dict[str, Any]]) -> Iterator[Transcript]:
    """Read the teams inside the agents of a team."""
    for state in states:
        inside = mapping(mapping(state.get("agent_state")).get("inner_team_state"))
        for nested in map(mapping, mapping(inside.get("agent_states")).values()):
            if thread := sequence(nested.get("message_thread")):
                yield document.transcript("team-state", agentchat.read_messages(document.path, thread))


def read_agent(document: Document) -> list[Transcript]:
    """Read the context of one agent; memory that was put into it is left out."""
    return [document.transcript("agent-state", _messages(_context(document.root)))]


def _context(state: dict[str, Any]) -> list[Any]:
    """Find the messages that an agent sends to its model."""
    holder = mapping(state.get("llm_context")) or mapping(state.get("model_context")) or state
    found = sequence(holder.get("messages")) or sequence(state.get("llm_messages"))
    return found if any(string(record.get("type")) in _CONTEXT_TYPES for record in objects(found)) else []


def _messages(records: Sequence[Any]) -> list[Message]:
    return kept(_message(index, record) for index, record in enumerate(records) if isinstance(record, dict))


def _message(index: int, record: dict[str, Any]) -> Message | None:
    kind, content = string(record.get("type")), record.get("content")
    if kind == "SystemMessage":
        return said(index, "system", content, role=Role.SYSTEM)
    if kind == "FunctionExecutionResultMessage":
        results = tool_results(content)
        return said(index, "tool", "", role=Role.TOOL, results=results)
    speaker = first(record, "source") or ("user" if kind == "UserMessage" else "assistant")
    if kind == "AssistantMessage" and (calls := tool_calls(content)):
        return said(index, speaker, record.get("thought"), role=Role.AGENT, calls=calls)
    return said(index, speaker, content_text(content), role=Role.AGENT if kind == "AssistantMessage" else None)
