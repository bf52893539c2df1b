"""The way in for Python programs: ``from memctl import Memory``.

Every method calls one operation and returns its data. Methods that begin with ``a`` are the same for
``asyncio``: they run in a thread. Foreseen errors are kinds of MemctlError.
"""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from functools import wraps
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, TypeVar, cast, overload
from weakref import WeakValueDictionary

from memctl.adapters.conversations import written
from memctl.adapters.guard import harmless, log
from memctl.adapters.placing import among_messages, before_prompt
from memctl.errors import NoStore, NotFound, UsageProblem
from memctl.memory import OpenMemory
from memctl.model import Fact, RecallBlock
from memctl.operations.curate import Curated
from memctl.operations.ingest import Ingested
from memctl.operations.looking import Explanation, Wanted
from memctl.operations.remember import Entry, Remembered
from memctl.operations.state import Stored
from memctl.operations.transcripts import ExportedTranscript
from memctl.settings import home_location
from memctl.times import iso, parse_instant

P = ParamSpec("P")
T = TypeVar("T")
S = TypeVar("S")
Instant = datetime | str | None

# Programs make a Memory per agent; the store and the models behind them are loaded once per place.
_opened: WeakValueDictionary[str, OpenMemory] = WeakValueDictionary()
_opening = threading.Lock()


def _twin(method: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], Awaitable[T]]:
    """Make the asyncio twin of a method."""

    @wraps(method)
    async def run(self: S, *args: P.args, **kwargs: P.kwargs) -> T:
        return await asyncio.to_thread(method, self, *args, **kwargs)

    return cast("Callable[Concatenate[S, P], Awaitable[T]]", run)


class WorkingState:
    """Small JSON values of a scope, shared between processes; the last write wins, and they are never recalled."""

    def __init__(self, opened: OpenMemory, agent: str) -> None:
        """Look at the values of one scope."""
        self._memory = opened
        self._agent = agent

    def get(self, key: str, default: Any = None) -> Any:
        """Give a value, or ``default`` where there is none or its time has ended."""
        from memctl.operations import state

        try:
            return state.get_value(self._memory, key, agent=self._agent).data.value
        except (NoStore, NotFound):
            return default

    def set(self, key: str, value: Any, *, ttl: str | None = None) -> Stored:
        """Keep a value, for ``ttl`` (like ``12h``) or for good."""
        from memctl.operations import state

        return state.set_value(self._memory, key, value, agent=self._agent, ttl=ttl).data

    def list(self, prefix: str = "") -> dict[str, Any]:
        """Give the values by key."""
        from memctl.operations import state

        try:
            found = state.list_values(self._memory, agent=self._agent, prefix=prefix).data
        except NoStore:
            return {}
        return {stored.key: stored.value for stored in found}

    def delete(self, key: str) -> bool:
        """Remove a value; tells whether there was one."""
        from memctl.operations import state

        try:
            return bool(state.delete_value(self._memory, key, agent=self._agent).data["deleted"])
        except NoStore:
            return False

    aget, adelete = _twin(get), _twin(delete)
    aset, alist = _twin(set), _twin(list)  # noqa: A003  the methods, not the builtins


class Memory:
    r"""The memory of one scope: a team, or one agent's part of it (``team/coder``).

    It sees its own facts, those of the scopes above it and the global ones. Any number of threads may use it.

        mem = Memory("payments-team")
        mem.add("User: We deploy on Fridays.\nPlanner: Noted.")
        print(mem.recall("when do we deploy?").text)
    """

    def __init__(self, agent: str | None = None, *, home: str | None = None) -> None:
        """Name the scope (else the setting's) and the place (else ``MEMCTL_HOME``); nothing is read yet."""
        self._memory = _open(str(home) if home else home_location())
        self.agent = self._memory.scope(agent)
        self.state = WorkingState(self._memory, self.agent)

    def __enter__(self) -> "Memory":
        """Use the memory for a block."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it behind the block."""
        self.close()

    def __repr__(self) -> str:
        return f"Memory({self.agent!r}, home={self.home!r})"

    @property
    def home(self) -> str:
        """Where the memory lives."""
        return self._memory.location

    def recall(
        self,
        query: str,
        *,
        limit: int | None = None,
        max_tokens: int | None = None,
        types: Sequence[str] = (),
        tags: Sequence[str] = (),
        as_of: Instant = None,
        deep: bool = False,
        count: bool = True,
        safe: bool = False,
    ) -> RecallBlock:
        """Give what the scope knows about ``query``: ``text`` for a prompt, ``hits`` behind it.

        Where nothing is known the text is empty. ``count`` False keeps the recall out of the memories' frequency.
        With ``safe``, trouble with the store is logged and counts as nothing known.
        """
        from memctl.operations.recall import Asked, recall

        when = _instant(as_of)
        asked = Asked(limit, max_tokens, _words(types), _words(tags), as_of=when, deep=deep, count=count)
        if not safe:
            return recall(self._memory, query, agent=self.agent, asked=asked).data
        with harmless("recall"):
            return recall(self._memory, query, agent=self.agent, asked=asked).data
        return RecallBlock(query, self.agent, "", 0)

    def add(self, conversation: Any, *, name: str = "conversation", at: Instant = None) -> Ingested:
        """Learn from a conversation: text in lines of ``Name: text``, a list of messages, or the result of a run.

        A conversation that was added before changes nothing; one that has grown is read from where it ended.
        ``name`` is what its facts cite, ``at`` dates messages that carry no time. A text in which nobody is
        marked as speaking counts as one turn of the user.
        """
        from memctl.operations.conversation import ingest_conversation

        options = {"agent": self.agent, "at": _instant(at), "stdin_name": name or "conversation"}
        free = isinstance(conversation, str)
        return ingest_conversation(self._memory, written(conversation), free=free, **options).data

    def remember(
        self,
        text: str,
        *,
        type: str | None = None,  # noqa: A002  the word of the command line
        ttl_days: float | None = None,
        ttl: str | None = None,
        tags: Sequence[str] = (),
        at: Instant = None,
        speaker: str = "user",
    ) -> Remembered:
        """Store a fact by hand; the verdicts tell whether it was new, said again, or replaced another."""
        from memctl.operations.remember import remember

        if ttl is not None and ttl_days is not None:
            raise UsageProblem(reason="ttl and ttl_days say the same thing", remedy="Give one of them.")
        lasts = f"{ttl_days:f}d" if ttl_days is not None else ttl
        kind = str(type) if type is not None else None
        entry = Entry(text, self.agent, kind, iso(_instant(at)), lasts, _words(tags), speaker)
        return remember(self._memory, [entry]).data

    @overload
    def inject_context(self, query: str, prompt: str = "", **options: Any) -> str: ...

    @overload
    def inject_context(
        self, query: str, prompt: Sequence[Mapping[str, Any]], **options: Any
    ) -> Sequence[Mapping[str, Any]]: ...

    def inject_context(
        self, query: str, prompt: str | Sequence[Mapping[str, Any]] = "", **options: Any
    ) -> str | Sequence[Mapping[str, Any]]:
        """Give the prompt (text, or messages) with what bears on ``query`` put in front; options as for recall.

        Messages are copied, never changed. Trouble with the store is logged and injects nothing.
        """
        block = self.recall(query, **{"safe": True, **options}).text
        if isinstance(prompt, str):
            return before_prompt(block, prompt) if prompt else block
        return among_messages(block, prompt)

    def list(
        self,
        *,
        types: Sequence[str] = (),
        states: Sequence[str] = (),
        tags: Sequence[str] = (),
        text: str = "",
        limit: int | None = 50,
        as_of: Instant = None,
    ) -> tuple[Fact, ...]:
        """List the scope's own facts, newest first; without states, the ones that hold."""
        from memctl.operations.looking import list_facts

        wanted = Wanted(self.agent, _words(types), _words(states), _words(tags), text=text)
        try:
            return list_facts(self._memory, wanted, limit=limit, as_of=_instant(as_of)).data.facts
        except NoStore:
            return ()

    def why(self, id: str) -> Explanation:  # noqa: A002  the word of the command line
        """Tell where a fact was said, in whose words, and what kept it."""
        from memctl.operations.looking import why

        return why(self._memory, id).data

    def transcript(self, name: str = "", *, format: str = "groupchat") -> ExportedTranscript:  # noqa: A002
        """Give a stored chat of this scope by id, path or file name, else the latest.

        ``format`` is ``groupchat`` (what AutoGen 0.2 resumes from), ``json`` or ``text``.
        """
        from memctl.operations.transcripts import export_transcript

        return export_transcript(self._memory, name, agent=self.agent, format=format).data

    def forget(self, *ids: str) -> Curated:
        """Forget facts by id (or its beginning); ``memctl undo`` brings them back."""
        from memctl.operations.curate import forget
        from memctl.operations.looking import show

        return forget(self._memory, [show(self._memory, fact_id).data.fact for fact_id in ids]).data

    def clear(self) -> int:
        """Forget every fact of this very scope, undoably; tells how many there were."""
        from memctl.operations.curate import forget

        facts = self.list(limit=None)
        if facts:
            forget(self._memory, facts)
        return len(facts)

    def close(self) -> None:
        """Pass on what the store had to say; the memory may be used again afterwards."""
        self._memory.close()

    arecall, aadd, aremember = _twin(recall), _twin(add), _twin(remember)
    awhy, aforget, aclear = _twin(why), _twin(forget), _twin(clear)
    atranscript = _twin(transcript)
    alist = _twin(list)  # noqa: A003  the method, not the builtin

    async def ainject_context(self, query: str, prompt: Any = "", **options: Any) -> Any:
        """Do what ``inject_context`` does, for ``asyncio``."""
        return await asyncio.to_thread(lambda: self.inject_context(query, prompt, **options))


def _open(location: str) -> OpenMemory:
    with _opening:
        found = _opened.get(location)
        if found is None:
            found = _opened[location] = OpenMemory.at_home(home=location, on_note=log.info)
        return found


def _instant(value: Instant) -> datetime | None:
    return parse_instant(value if isinstance(value, str) else value.isoformat()) if value else None


def _words(given: Sequence[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)
