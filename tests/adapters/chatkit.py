"""Agents of AutoGen 0.2 / AG2 that speak from a script, so that real group chats run without a model."""

from collections.abc import Callable
from typing import Any

from autogen import ConversableAgent, GroupChat, GroupChatManager


class Speaker(ConversableAgent):
    """Says its lines in order, calling ``watch`` before each; ``shown`` is what it was given to read then."""

    def __init__(self, name: str, *lines: Any, watch: Callable[[], None] = lambda: None, **options: Any) -> None:
        options = {"llm_config": False, "human_input_mode": "NEVER", "code_execution_config": False, **options}
        super().__init__(name, **options)
        self.lines = list(lines)
        self.watch = watch
        self.shown: list[list[dict[str, Any]]] = []
        self.register_reply([ConversableAgent, None], Speaker.say, position=0)
        self.register_reply([ConversableAgent, None], Speaker.a_say, position=0, ignore_async_in_sync_chat=True)

    def say(self, messages=None, sender=None, config=None):
        self.watch()
        self.shown.append(messages)
        return (True, self.lines.pop(0)) if self.lines else (True, "Nothing more from me.")

    async def a_say(self, messages=None, sender=None, config=None):
        return self.say(messages, sender, config)


def group(*agents: ConversableAgent, rounds: int | None = None, **options: Any) -> GroupChatManager:
    """Put agents into a round-robin group chat and give its manager."""
    options = {"speaker_selection_method": "round_robin", "max_round": rounds or len(agents), **options}
    chat = GroupChat(list(agents), messages=[], **options)
    return GroupChatManager(chat, llm_config=False, silent=True)


def histories(manager: GroupChatManager) -> dict[str, Any]:
    """Everything that the chat and its agents hold, by name."""
    held = {agent.name: [list(view) for view in agent.chat_messages.values()] for agent in manager.groupchat.agents}
    return {"groupchat": list(manager.groupchat.messages), **held}
