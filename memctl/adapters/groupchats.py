"""What AutoGen 0.2 and AG2 hand around, known by shape: agents, group chats, managers, their histories.

An agent is whatever has ``register_hook``, a group chat whatever has ``agents`` and ``messages``, a manager an
agent with a ``groupchat``.
"""

import weakref
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from memctl.adapters.recording import View
from memctl.errors import UsageProblem


def members_of(target: Any) -> list[Any]:
    """Give the agents that a target is or holds."""
    group = group_of(target)
    if group is not None:
        return list(group.agents)
    if hasattr(target, "register_hook"):
        return [target]
    if isinstance(target, Iterable):
        return [agent for item in target for agent in members_of(item)]
    raise UsageProblem(
        reason=f"a {type(target).__name__} is neither an agent nor a group chat",
        remedy="Give an agent, a list of agents, a GroupChat or a GroupChatManager.",
    )


def group_of(target: Any) -> Any:
    """Give the group chat that a target is, or that it manages; None for anything else."""
    if hasattr(target, "register_hook"):
        return getattr(target, "groupchat", None) or getattr(target, "_groupchat", None)
    return target if hasattr(target, "agents") and hasattr(target, "messages") else None


def view_of(sender: Any, recipient: Any, group: Any) -> View:
    """Show what the framework holds of a chat; held weakly, so that chats can go when their program drops them."""
    if group is not None:
        held = weakref.ref(group)
        return lambda: getattr(held(), "messages", ())
    one, other = weakref.ref(sender), weakref.ref(recipient)
    return lambda: _between(one(), other())


def _between(sender: Any, recipient: Any) -> Sequence[Mapping[str, Any]]:
    if sender is None or recipient is None:
        return ()
    found: Sequence[Mapping[str, Any]] = sender.chat_messages.get(recipient, ())
    return found


def spoken(message: Mapping[str, Any]) -> str:
    """Give what a person or an agent said; nothing for what a tool answered."""
    if message.get("role") in ("tool", "function", "system"):
        return ""
    content = message.get("content")
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(str(part["text"]) for part in parts if isinstance(part, dict) and "text" in part)
