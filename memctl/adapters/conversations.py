"""Conversations as programs hold them (text, lists of messages, results of a run), written as the readers expect."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, is_dataclass
from typing import Any

from memctl.errors import UsageProblem
from memctl.model import Message
from memctl.operations.transcripts import groupchat_message

_HOLDERS = ("messages", "chat_history")


def written(conversation: Any) -> bytes:
    """Give a conversation as the bytes of a transcript file.

    Taken are text, bytes, a Transcript, a list of messages (dicts, AgentChat messages, pairs of speaker and
    text), and objects that hold one, such as TaskResult, ChatResult and GroupChat.
    """
    if isinstance(conversation, bytes):
        return conversation
    if isinstance(conversation, str):
        return conversation.encode("utf-8", "replace")
    shapes = [_shape(item) for item in _messages(conversation)]
    return json.dumps(shapes, ensure_ascii=False, default=str).encode("utf-8", "replace")


def _messages(conversation: Any) -> Sequence[Any]:
    if isinstance(conversation, Mapping):
        holder = next((conversation[name] for name in _HOLDERS if name in conversation), None)
        found = holder if holder is not None else [conversation]
    else:
        found = next((getattr(conversation, name) for name in _HOLDERS if hasattr(conversation, name)), conversation)
    if not isinstance(found, Sequence) or isinstance(found, str | bytes):
        kind = type(conversation).__name__
        raise UsageProblem(
            reason=f"a {kind} is not a conversation", remedy="Give text, a list of messages, or the result of a run."
        )
    return found


def _shape(item: Any) -> Any:
    """Write one message as an object that the readers know."""
    if isinstance(item, Message):
        return groupchat_message(item)
    if isinstance(item, tuple) and len(item) == 2:
        return {"role": "user", "name": str(item[0]), "content": str(item[1])}
    if isinstance(item, str):
        return {"role": "user", "name": "user", "content": item}
    if hasattr(item, "model_dump"):
        return item.model_dump(mode="json")
    if is_dataclass(item) and not isinstance(item, type):
        return asdict(item)
    return item
