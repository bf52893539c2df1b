"""Putting a recall block into a prompt or a list of messages, without changing what the caller holds."""

from collections.abc import Mapping, Sequence
from typing import Any

SPEAKER = "memory"


def before_prompt(block: str, prompt: str) -> str:
    """Put a block in front of a prompt; an empty block changes nothing."""
    return f"{block}\n\n{prompt}" if block else prompt


def among_messages(block: str, messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Give a new list with the block as a message of its own, before the turn that is to be answered.

    The place is in front of the last message of a user: never between a tool call and its answer, never last
    (what ends a chat or is executed is the last message), and not a second system message, which some models
    refuse. The messages themselves are the caller's, untouched.
    """
    copied: list[dict[str, Any]] = [message if isinstance(message, dict) else dict(message) for message in messages]
    if block:
        copied.insert(_place(copied), {"role": "user", "name": SPEAKER, "content": block})
    return copied


def _place(messages: Sequence[Mapping[str, Any]]) -> int:
    asked = [number for number, message in enumerate(messages) if message.get("role") == "user"]
    if asked:
        return asked[-1]
    return next((number for number, message in enumerate(messages) if message.get("role") != "system"), len(messages))
