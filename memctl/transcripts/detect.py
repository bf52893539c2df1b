"""The one detector: which format a document has, told by its content and never by its name."""

from collections.abc import Callable
from dataclasses import dataclass

from memctl.errors import UnknownFormat, UsageProblem
from memctl.model import Transcript
from memctl.transcripts import agentchat, classic, console
from memctl.transcripts.document import Document, Shape


@dataclass(frozen=True, slots=True)
class Format:
    """A format: its name for ``--format``, the shape it comes in, how to tell it and how to read it."""

    name: str
    shape: Shape
    recognises: Callable[[Document], bool]
    read: Callable[[Document], list[Transcript]]


_ALL = (
    Format("task-result", Shape.VALUES, agentchat.is_task_result, agentchat.read_task_result),
    Format("agentchat", Shape.VALUES, agentchat.is_list, agentchat.read_list),
    Format("chat-result", Shape.VALUES, classic.is_chat_result, classic.read_chat_result),
    Format("run-response", Shape.VALUES, classic.is_run_response, classic.read_run_response),
    Format("openai", Shape.VALUES, classic.is_openai, classic.read_list),
    Format("groupchat", Shape.VALUES, classic.is_list, classic.read_list),
    Format("chat-messages", Shape.VALUES, classic.is_by_name, classic.read_by_name),
    Format("console", Shape.TEXT, console.is_classic, console.read_classic),
    Format("agentchat-console", Shape.TEXT, console.is_agentchat, console.read_agentchat),
)
FORMATS: tuple[str, ...] = tuple(dict.fromkeys(form.name for form in _ALL))


def detect(document: Document) -> Format:
    """Tell the format of a document, or say why it is none that memctl knows."""
    for form in _ALL:
        if form.shape is document.shape and form.recognises(document):
            return form
    raise UnknownFormat(path=document.path, reason=_strangeness(document))


def named(document: Document, name: str) -> Format:
    """Give the format that the user named, in the shape that the document has."""
    if name not in FORMATS:
        raise UsageProblem(reason=f"there is no format {name!r}", remedy=f"Use one of: {', '.join(FORMATS)}.")
    fitting = [form for form in _ALL if form.name == name and form.shape is document.shape]
    if not fitting:
        raise UnknownFormat(path=document.path, reason=f"{name} does not come as {document.shape}")
    return fitting[0]


def _strangeness(document: Document) -> str:
    """Say what was found instead of a transcript."""
    return f"found {document.shape}"
