"""Public research sets of agent chats: Who&When histories and MAST trajectories."""

from dataclasses import replace
from typing import Any

from memctl.model import Message, Transcript
from memctl.transcripts import classic, console, plain
from memctl.transcripts.document import Document, Shape, mapping, objects, sequence
from memctl.transcripts.turns import content_text

_HOLDERS = ("history", "trajectory")


def is_history(document: Document) -> bool:
    """Recognise an object with a history or a trajectory."""
    return bool(_chats(document))


def read_history(document: Document) -> list[Transcript]:
    """Read each history of the file as one chat; the labels beside it are not part of it."""
    chats = _chats(document)
    transcripts, offset = [], 0
    for number, chat in enumerate(chats):
        part = f"chat {number + 1}" if len(chats) > 1 else ""
        messages = [replace(m, index=m.index + offset) for m in _messages(document, chat)]
        transcripts.append(document.transcript("history", messages, part=part))
        offset += len(chat) if isinstance(chat, list) else len(messages)
    return transcripts


def _chats(document: Document) -> list[Any]:
    return [chat for record in objects(document.records) if (chat := _chat(record)) is not None]


def _chat(record: dict[str, Any]) -> Any:
    """Find the chat in one record: a list of messages, or the console text of a run."""
    holder = mapping(record.get("trace")) or record
    found = next((holder[key] for key in _HOLDERS if holder.get(key)), None)
    if isinstance(found, str) or any(map(classic.is_message, objects(sequence(found)[:20]))):
        return found
    lines = sequence(found)
    return "\n".join(lines) if lines and all(isinstance(line, str) for line in lines) else None


def _messages(document: Document, chat: Any) -> list[Message]:
    if not isinstance(chat, str):
        return [message for message in classic.read_messages(chat) if not _is_choice(message)]
    text = Document(document.path, Shape.TEXT, text=content_text(chat))
    for recognises, read in (
        (console.is_classic, console.read_classic),
        (console.is_agentchat, console.read_agentchat),
    ):
        if recognises(text):
            return list(read(text)[0].messages)
    return plain.read_text(text.text)


def _is_choice(message: Message) -> bool:
    """Tell the orchestrator's note of who is next."""
    return message.text.startswith("Next speaker ") and len(message.text.split()) == 3
