"""Learning from chats while they go on: turns are collected as they are said, and ingested now and then.

The chat itself never waits: ingesting happens in one thread of its own, and at the latest in ``flush``. What
failed (a busy store, say) is tried again with the next turns, because each time the whole chat is handed
over and the ledger knows how far it was read. Chats that their program drops go to ``learn_later``.
"""

import atexit
import queue
import threading
import weakref
from collections.abc import Callable, Hashable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any

from memctl import times
from memctl.adapters.guard import harmless
from memctl.adapters.python import Memory

View = Callable[[], Sequence[Mapping[str, Any]]]
_KEPT = ("content", "role", "name", "tool_calls", "function_call", "tool_responses", "tool_call_id")


@dataclass(slots=True, eq=False)
class Chat:
    """One chat as far as it was heard: ``asked`` turns were handed to the learner, ``stored`` it has learned from."""

    name: str
    view: View
    turns: list[dict[str, Any]] = field(default_factory=list)
    asked: int = 0
    stored: int = 0


class Recorder:
    """Collects what is said in any number of chats and learns from it every few turns."""

    def __init__(self, memory: Memory, *, every: int, background: bool = True) -> None:
        """Learn into ``memory`` whenever ``every`` turns are new; without ``background``, at once and in place."""
        self._memory = memory
        self._every = max(1, every)
        self._background = background
        self._chats: dict[Hashable, Chat] = {}
        self._begun = 0
        self._turn = threading.RLock()
        self._learner: ThreadPoolExecutor | None = None
        self._learning: set[Future[None]] = set()

    def hear(self, key: Hashable, view: View, speaker: str, message: Mapping[str, Any] | str) -> None:
        """Take down a turn that is about to be said in the chat ``key``.

        ``view`` shows what the framework holds of that chat, without this turn. Where it holds more than was
        heard, somebody spoke whom nobody listens to, or the chat was resumed: that is taken down too. Where it
        holds less, its history was cleared and a new chat has begun.
        """
        with self._turn:
            _open.add(self)
            chat = self._chats.get(key)
            if chat is None or not _catch_up(chat, view):
                if chat is not None:
                    self._learn(chat)
                chat = self._chats[key] = Chat(self._name(), view)
                _catch_up(chat, view)
            chat.turns.append(as_turn(message, speaker))
            if len(chat.turns) - chat.asked >= self._every:
                self._learn(chat)

    def flush(self) -> None:
        """Learn from everything that was said up to now, and wait until that is done."""
        with self._turn:
            wait(list(self._learning))
            for chat in self._chats.values():
                _catch_up(chat, chat.view)
                if chat.stored < len(chat.turns):
                    self._ingest(chat, list(chat.turns))

    def close(self) -> None:
        """Flush, and end the thread; safe to call twice."""
        self.flush()
        with self._turn:
            learner, self._learner = self._learner, None
        if learner is not None:
            learner.shutdown()
        _open.discard(self)

    def _learn(self, chat: Chat) -> None:
        """Hand the chat as it stands to the learner."""
        if chat.stored == len(chat.turns):
            return
        chat.asked = len(chat.turns)
        turns = list(chat.turns)
        if self._background and self._submit(chat, turns):
            return
        self._ingest(chat, turns)

    def _submit(self, chat: Chat, turns: list[dict[str, Any]]) -> bool:
        if self._learner is None:
            self._learner = ThreadPoolExecutor(1, thread_name_prefix="memctl-learn")
        try:
            job = self._learner.submit(self._ingest, chat, turns)
        except RuntimeError:  # the interpreter is ending and starts no more threads
            return False
        self._learning.add(job)
        job.add_done_callback(self._learning.discard)
        return True

    def _ingest(self, chat: Chat, turns: list[dict[str, Any]]) -> None:
        with harmless("learning from the chat"):
            self._memory.add(turns, name=chat.name)
            chat.stored = max(chat.stored, len(turns))

    def _name(self) -> str:
        """Name a chat that begins now, so that facts can cite it."""
        self._begun += 1
        number = f" #{self._begun}" if self._begun > 1 else ""
        return f"{self._memory.agent} chat {times.now():%Y-%m-%dT%H:%M:%SZ}{number}"


# Recorders that heard something and were not closed since: the end of the program learns from it at the latest.
_open: set[Recorder] = set()


class _Later:
    """One thread that closes the recorders of chats which their program dropped."""

    def __init__(self) -> None:
        self._dropped: queue.SimpleQueue[Recorder | None] = queue.SimpleQueue()
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Be ready; done before anything can be dropped, since the garbage collector must start no thread."""
        with self._starting:
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._work, name="memctl-later", daemon=True)
                self._thread.start()

    def take(self, recorder: Recorder) -> None:
        """Note a recorder to be closed: takes no lock and runs nothing, so it may be called anywhere."""
        self._dropped.put(recorder)

    def end(self) -> None:
        """Finish what is noted, then close all that are still open, in this thread: no more can be started."""
        if self._thread is not None:
            self._dropped.put(None)
            self._thread.join()  # an interpreter that ends under a thread in native code is aborted by it
        for recorder in list(_open):
            with harmless("learning from the chat"):
                recorder.close()

    def _work(self) -> None:
        while (recorder := self._dropped.get()) is not None:
            with harmless("learning from the chat"):
                recorder.close()


_later = _Later()
atexit.register(_later.end)


def learn_later(owner: Any, recorder: Recorder) -> None:
    """Learn from the rest of a recorder's chats when their ``owner`` is gone, or the program ends.

    The garbage collector comes at any moment and in any thread: in the middle of a commit, under a lock, in the very
    thread that learns from this chat. Learning there would wait for itself, so it is left to another thread.
    """
    _later.start()
    weakref.finalize(owner, _later.take, recorder).atexit = False


def as_turn(message: Mapping[str, Any] | str, speaker: str = "") -> dict[str, Any]:
    """Write a message as a transcript holds it, with its true speaker; the message itself is not touched."""
    shape = {"content": message} if isinstance(message, str) else {k: message[k] for k in _KEPT if k in message}
    if shape.get("role") != "function" and speaker:  # there the name is the tool's
        shape["name"] = speaker
    if shape.get("role") not in ("tool", "function"):
        shape["role"] = "assistant" if shape.get("tool_calls") or shape.get("function_call") else "user"
    return shape


def _catch_up(chat: Chat, view: View) -> bool:
    """Take down what the framework holds beyond what was heard; False where it holds less: another chat."""
    held = view()
    if len(held) < len(chat.turns):
        return False
    chat.turns.extend(as_turn(message) for message in held[len(chat.turns) :])
    return True
