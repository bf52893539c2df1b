"""Going on with a stored chat in AutoGen 0.2 and AG2."""

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from memctl.adapters.groupchats import group_of
from memctl.adapters.python import Memory
from memctl.errors import UsageProblem


class Resumed(NamedTuple):
    """A chat that can go on: ``agent.initiate_chat(manager, message=message, clear_history=False)``."""

    agent: Any
    message: dict[str, Any]
    manager: Any


def resume(
    target: Any,
    scope: str,
    transcript: str = "",
    *,
    home: str | None = None,
    remove_termination_string: str | Callable[[str], str] | None = None,
    silent: bool = True,
    **manager_options: Any,
) -> Resumed:
    """Load a stored chat (the scope's latest, or by id, path or file name) into a GroupChatManager or GroupChat.

    A GroupChat gets a manager made with ``manager_options``. The agents must be those of the chat: what others
    said is told by the manager in their name. The words are those of the record, so credentials stay redacted.
    """
    group = group_of(target)
    if group is None:
        raise UsageProblem(
            reason=f"a {type(target).__name__} is no group chat", remedy="Give a GroupChatManager or a GroupChat."
        )
    manager = _manager_for(group, manager_options) if target is group else target
    stored = Memory(scope, home=home).transcript(transcript)
    messages = fitted(stored.messages, {str(agent.name) for agent in group.agents}, str(manager.name))
    if not messages or messages[-1]["name"] == manager.name:
        raise UsageProblem(
            reason=f"nobody of this group chat can go on with {stored.entry.path}",
            remedy="Give a group chat with the agents that the transcript names.",
        )
    agent, message = manager.resume(
        messages=messages, remove_termination_string=remove_termination_string, silent=silent
    )
    return Resumed(agent, message, manager)


def fitted(messages: Sequence[Mapping[str, Any]], members: set[str], manager: str) -> list[dict[str, Any]]:
    """Make a transcript fit a group chat: without instructions, and strangers' words told by the manager."""
    return [
        dict(message) if message["name"] in members else _retold(message, manager)
        for message in messages
        if message.get("role") != "system"
    ]


def _retold(message: Mapping[str, Any], manager: str) -> dict[str, Any]:
    return {"content": f"{message['name']}: {message.get('content', '')}", "role": "user", "name": manager}


def _manager_for(group: Any, options: Mapping[str, Any]) -> Any:
    """Make a manager of the same AutoGen that the group chat comes from; both live in one module there."""
    maker = getattr(sys.modules[type(group).__module__], "GroupChatManager", None)
    if maker is None:
        raise UsageProblem(reason="no manager can be made for this group chat", remedy="Give a GroupChatManager.")
    return maker(groupchat=group, **options)
