"""The one detector: which format a document has, told by its content and never by its name."""

from collections.abc import Callable
from dataclasses import dataclass

from memctl.errors import UnknownFormat, UsageProblem
from memctl.model import Transcript
from memctl.transcripts import (
    ag2_events,
    ag2_streams,
    agent_framework,
    agentchat,
    agentchat_state,
    classic,
    console,
    event_log,
    plain,
    research,
    runtime_logging,
    sqlite,
    studio,
)
from memctl.transcripts.document import Document, Shape, counted, mapping, objects, tame

_MOST_NAMES = 6
_LONGEST_NAME = 40


@dataclass(frozen=True, slots=True)
class Format:
    """A format: its name for ``--format``, the shape it comes in, how to tell it and how to read it."""

    name: str
    shape: Shape
    recognises: Callable[[Document], bool]
    read: Callable[[Document], list[Transcript]]


# The first that recognises a document reads it: what has marks of its own comes before what is told by few keys.
_ALL = (
    Format("runtime-logging", Shape.SQLITE, runtime_logging.is_database, runtime_logging.read_database),
    Format("studio", Shape.SQLITE, studio.is_database, studio.read_database),
    Format("team-state", Shape.VALUES, agentchat_state.is_team, agentchat_state.read_team),
    Format("agent-state", Shape.VALUES, agentchat_state.is_agent, agentchat_state.read_agent),
    Format("studio", Shape.VALUES, studio.is_export, studio.read_export),
    Format("runtime-logging", Shape.VALUES, runtime_logging.is_rows, runtime_logging.read_rows),
    Format("ag2-channel", Shape.VALUES, ag2_streams.is_channel, ag2_streams.read_channel),
    Format("ag2-stream", Shape.VALUES, ag2_streams.is_stream, ag2_streams.read_stream),
    Format("ag2-events", Shape.VALUES, ag2_events.is_stream, ag2_events.read_stream),
    Format("event-log", Shape.VALUES, event_log.is_log, event_log.read_log),
    Format("magentic-log", Shape.VALUES, event_log.is_magentic, event_log.read_magentic),
    Format("agent-framework", Shape.VALUES, agent_framework.is_any, agent_framework.read_any),
    Format("task-result", Shape.VALUES, agentchat.is_task_result, agentchat.read_task_result),
    Format("agentchat", Shape.VALUES, agentchat.is_list, agentchat.read_list),
    Format("chat-result", Shape.VALUES, classic.is_chat_result, classic.read_chat_result),
    Format("history", Shape.VALUES, research.is_history, research.read_history),
    Format("run-response", Shape.VALUES, classic.is_run_response, classic.read_run_response),
    Format("openai", Shape.VALUES, classic.is_openai, classic.read_list),
    Format("groupchat", Shape.VALUES, classic.is_list, classic.read_list),
    Format("chat-messages", Shape.VALUES, classic.is_by_name, classic.read_by_name),
    Format("console", Shape.TEXT, console.is_classic, console.read_classic),
    Format("agentchat-console", Shape.TEXT, console.is_agentchat, console.read_agentchat),
    Format("plain", Shape.TEXT, plain.is_chat, plain.read_chat),
)
FORMATS: tuple[str, ...] = tuple(dict.fromkeys(form.name for form in _ALL))


def detect(document: Document) -> Format:
    """Tell the format of a document, or say why it is none that memctl knows."""
    for form in _ALL:
        if form.shape is document.shape and form.recognises(document):
            return form
    raise UnknownFormat(path=document.path, reason=_strangeness(document))


def refuse_unknown(name: str) -> None:
    """Raise UsageProblem where no format has that name."""
    if name not in FORMATS:
        raise UsageProblem(reason=f"there is no format {name!r}", remedy=f"Use one of: {', '.join(FORMATS)}.")


def named(document: Document, name: str) -> Format:
    """Give the format that the user named, in the shape that the document has."""
    refuse_unknown(name)
    fitting = [form for form in _ALL if form.name == name and form.shape is document.shape]
    if not fitting:
        raise UnknownFormat(path=document.path, reason=f"{name} does not come as {document.shape}")
    return fitting[0]


def _strangeness(document: Document) -> str:
    """Say what was found instead of a transcript."""
    if document.shape is Shape.SQLITE:
        with sqlite.opened(document) as database:
            return f"a SQLite database with the tables {_some(sorted(database.tables()))}"
    if document.shape is Shape.TEXT:
        count = sum(1 for line in document.text.split("\n") if line.strip())
        return f"text of {counted(count, 'line')} in which nobody is marked as speaking"
    records = document.records
    if not records:
        return "it holds no messages"
    found = objects(records[:1])
    if not found:
        return f"a list of {type(records[0]).__name__} values, not of messages"
    if "request" in found[0] and "invocation_id" in found[0]:
        return "rows of model calls, whose prompts and settings are not read; save the events table"
    return f"objects with the keys {_some(list(mapping(found[0])))}"


def _some(names: list[str]) -> str:
    """List a few names that came out of a file."""
    more = ["..."] if len(names) > _MOST_NAMES else []
    return ", ".join([*(tame(name, _LONGEST_NAME) for name in names[:_MOST_NAMES]), *more]) or "none"
