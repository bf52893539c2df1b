"""AutoGen 0.2 and AG2 (``autogen`` 0.2 to 0.14): memory by hooks, as tools, as a capability, and resuming chats.

Nothing of AutoGen is imported; its objects are known by shape. Nothing here ever raises into a chat, and the
histories that agents hold are never changed.
"""

from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Annotated, Any

from memctl.adapters.groupchats import group_of, members_of, spoken, view_of
from memctl.adapters.guard import harmless, log
from memctl.adapters.placing import among_messages
from memctl.adapters.python import Memory
from memctl.adapters.questions import question
from memctl.adapters.recording import Recorder, learn_later
from memctl.adapters.resuming import Resumed, resume

__all__ = ["Attachment", "MemctlTeachability", "Resumed", "attach", "make_tools", "resume", "tools"]

_BEFORE_REPLY = "process_all_messages_before_reply"
_BEFORE_SEND = "process_message_before_send"


def attach(
    target: Any,
    scope: str,
    *,
    home: str | None = None,
    every: int = 10,
    recall: bool = True,
    capture: bool = True,
    limit: int | None = None,
    max_tokens: int | None = None,
    background: bool = True,
) -> "Attachment":
    """Give a memory to an agent, a list of agents, a GroupChat or its GroupChatManager.

    With ``recall``, each agent is shown what bears on the last turns before it replies. With ``capture``, what
    is said is learned from ``every`` so many turns, when ``flush`` or ``detach`` is called, and when the program
    ends. An agent that has this very memory already is left as it is.
    """
    group = group_of(target)
    attachment = Attachment(Memory(scope, home=home), group, every=every, background=background)
    attachment.options = {"limit": limit, "max_tokens": max_tokens}
    for agent in members_of(target):
        attachment.add(agent, recall=recall, capture=capture)
    return attachment


class Attachment:
    """The tie between agents and their memory; use it in a ``with`` block, or call ``detach``, or just let it be."""

    def __init__(self, memory: Memory, group: Any = None, *, every: int = 10, background: bool = True) -> None:
        """Tie nothing yet; with ``group``, listen only to what is said in that group chat."""
        self.memory = memory
        self.options: dict[str, Any] = {}
        self.group = group
        self.recorder = Recorder(memory, every=every, background=background)
        self._hooks: list[tuple[Any, str, Callable[..., Any]]] = []
        learn_later(self, self.recorder)

    def __enter__(self) -> "Attachment":
        """Keep the tie for a block."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Untie behind the block."""
        self.detach()

    def add(self, agent: Any, *, recall: bool = True, capture: bool = True) -> None:
        """Tie one more agent. A manager is passed over: it only relays, and would be heard once per listener."""
        if group_of(agent) is not None or _is_tied(agent, self.memory):
            return
        ear = _Ear(self, agent)
        if recall and getattr(agent, "human_input_mode", "") != "ALWAYS":  # people need no reminder in their prompt
            self._hook(agent, _BEFORE_REPLY, ear.before_reply)
        if capture:
            self._hook(agent, _BEFORE_SEND, ear.before_send)

    def flush(self) -> None:
        """Learn from all that was said up to now, and wait until that is done."""
        with harmless("learning from the chat"):
            self.recorder.flush()

    def detach(self) -> None:
        """Learn from the rest and take every hook away; safe to call twice."""
        for agent, name, hook in self._hooks:
            if hook in agent.hook_lists[name]:
                agent.hook_lists[name].remove(hook)
        self._hooks.clear()
        with harmless("learning from the chat"):
            self.recorder.close()

    def recalled(self, messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Give the messages with what bears on them put before the last turn: a new list, the old one untouched."""
        query = question(spoken(message) for message in reversed(messages))
        # what is shown unasked at every turn is no sign of use; citing a memory is
        block = self.memory.recall(query, count=False, safe=True, **self.options).text if query else ""
        return among_messages(block, messages)

    def heard(self, sender: Any, message: Any, recipient: Any) -> None:
        """Take down what is said in the group, or without one, in any chat of a tied agent."""
        group = group_of(recipient)
        if self.group is not None and group is not self.group:
            return  # a nested chat is its members' own affair
        key = ("group", id(group)) if group is not None else frozenset({id(sender), id(recipient)})
        self.recorder.hear(key, view_of(sender, recipient, group), str(sender.name), message)

    def _hook(self, agent: Any, name: str, hook: Callable[..., Any]) -> None:
        if name not in agent.hook_lists:
            log.warning("memctl: this release of AutoGen has no hook %s; going on without it", name)
            return
        agent.register_hook(name, hook)
        self._hooks.append((agent, name, hook))


class _Ear:
    """The hooks of one agent: bound methods, so that no agent is ever taken for another."""

    def __init__(self, attachment: Attachment, agent: Any) -> None:
        self.attachment = attachment
        self.agent = agent

    def before_reply(self, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        with harmless("recall"):
            return self.attachment.recalled(messages)
        return messages

    def before_send(self, sender: Any, message: Any, recipient: Any, **_: Any) -> Any:
        with harmless("listening"):
            self.attachment.heard(sender, message, recipient)
        return message


def make_tools(
    scope: str, *, home: str | None = None, speaker: str = "agent", max_tokens: int | None = None
) -> tuple[Callable[..., str], Callable[..., str]]:
    """Make the functions ``remember`` and ``recall`` for an agent to call, fit for ``autogen.register_function``."""
    memory = Memory(scope, home=home)

    def remember(
        text: Annotated[str, "The fact, decision or preference, as one sentence that can stand by itself"],
        tags: Annotated[str, "Words to find it by, separated by commas"] = "",
        ttl_days: Annotated[float, "After how many days it goes stale; 0 if it does not"] = 0,
    ) -> str:
        """Remember something for later conversations: a fact, a decision, a preference, or what failed."""
        words = [word.strip() for word in tags.split(",") if word.strip()]
        with harmless("remembering"):
            memory.remember(text, tags=words, ttl_days=ttl_days or None, speaker=speaker)
            return "Remembered."
        return "It could not be remembered. Go on without it."

    def recall(
        query: Annotated[str, "What you want to know"],
        tags: Annotated[str, "Only memories with one of these words, separated by commas"] = "",
    ) -> str:
        """Look up what is known from earlier conversations."""
        words = [word.strip() for word in tags.split(",") if word.strip()]
        block = memory.recall(query, tags=words, max_tokens=max_tokens, safe=True)
        return block.text or "Nothing is remembered about that."

    return remember, recall


def tools(
    agent: Any, executor: Any, scope: str, *, home: str | None = None, max_tokens: int | None = None
) -> tuple[Callable[..., str], Callable[..., str]]:
    """Register ``remember`` and ``recall`` as tools that ``agent`` may call and ``executor`` runs."""
    functions = make_tools(scope, home=home, speaker=str(agent.name), max_tokens=max_tokens)
    for function in functions:
        name, about = function.__name__, (function.__doc__ or "").strip()
        proposed = agent.register_for_llm(name=name, description=about)(function)
        executor.register_for_execution(name=name)(proposed)
    return functions


class MemctlTeachability:
    """A capability in the place of AutoGen's ``Teachability``: ``MemctlTeachability("team").add_to_agent(agent)``.

    It asks no model, keeps who said what and when, replaces what was corrected, and any number of agents may
    share it. ``path_to_db_dir``, ``reset_db`` and ``max_num_retrievals`` mean what they mean there; ``verbosity``,
    ``recall_threshold`` and ``llm_config`` are taken so that a program needs another import only.
    """

    NOTE = "\nYou've been given the special ability to remember user teachings from prior conversations."

    def __init__(
        self,
        scope: str | None = None,
        *,
        path_to_db_dir: str | None = None,
        reset_db: bool = False,
        max_num_retrievals: int | None = None,
        max_tokens: int | None = None,
        verbosity: int = 0,  # noqa: ARG002  there is nothing to print
        recall_threshold: float | None = None,  # noqa: ARG002  what bears on a question is decided by its meaning
        llm_config: Any = None,  # noqa: ARG002  no model is asked
    ) -> None:
        """Name the scope (else each agent's own name), and where the memory lives (else ``MEMCTL_HOME``)."""
        self._scope = scope
        self._reset = reset_db
        self._options: dict[str, Any] = {"home": path_to_db_dir, "limit": max_num_retrievals, "max_tokens": max_tokens}
        self.attachments: list[Attachment] = []
        if scope and reset_db:
            self._clear(scope)

    def add_to_agent(self, agent: Any) -> None:
        """Let the agent remember what it is told, from the next turn on."""
        scope = self._scope or str(agent.name)
        if self._reset and not self._scope:
            self._clear(scope)
        self.attachments.append(attach(agent, scope, every=1, background=False, **self._options))
        agent.update_system_message(agent.system_message + self.NOTE)

    def _clear(self, scope: str) -> None:
        with harmless("forgetting"):
            Memory(scope, home=self._options["home"]).clear()


def _is_tied(agent: Any, memory: Memory) -> bool:
    """Tell whether an agent already has this very memory."""
    hooks = [hook for name in (_BEFORE_REPLY, _BEFORE_SEND) for hook in agent.hook_lists.get(name, ())]
    ears = [hook.__self__ for hook in hooks if isinstance(getattr(hook, "__self__", None), _Ear)]
    ties = [(ear.attachment.memory.agent, ear.attachment.memory.home) for ear in ears]
    return (memory.agent, memory.home) in ties
