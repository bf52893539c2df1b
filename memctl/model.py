"""The nouns of memctl. Everything here is frozen data; nothing here reads, writes or decides."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Generic, TypeVar

GLOBAL_SCOPE = "global"


class Role(StrEnum):
    """What kind of participant speaks."""

    USER = "user"
    AGENT = "agent"
    TOOL = "tool"
    SYSTEM = "system"


class MemoryType(StrEnum):
    """What a memory is good for, and so how long it lasts."""

    DECISION = "decision"
    PREFERENCE = "preference"
    FACT = "fact"
    FAILURE = "failure"
    CONTEXT = "context"
    TEMPORARY = "temporary"


class State(StrEnum):
    """Where a fact stands. Only active and contested facts are recalled."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    CONTESTED = "contested"
    EXPIRED = "expired"
    QUARANTINED = "quarantined"
    FORGOTTEN = "forgotten"


class Action(StrEnum):
    """What a verdict does to the memory."""

    ADD = "add"
    REFRESH = "refresh"
    SUPERSEDE = "supersede"
    CONTEST = "contest"
    SKIP = "skip"
    QUARANTINE = "quarantine"
    EXPIRE = "expire"
    FORGET = "forget"
    RESTORE = "restore"
    EDIT = "edit"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A request of an agent to run a tool; ``arguments`` is the text as it was sent."""

    name: str
    arguments: str = ""
    call_id: str = ""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool or a code executor answered. ``is_error`` is None where the format does not say."""

    content: str
    name: str = ""
    call_id: str = ""
    is_error: bool | None = None
    exit_code: int | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a chat.

    ``index`` is the 0-based place among the file's own messages, counted before any is skipped, so
    that a person can find it again. ``at`` is None where the file tells no time.
    """

    index: int
    speaker: str
    role: Role
    text: str
    at: datetime | None = None
    recipient: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_results: tuple[ToolResult, ...] = ()


@dataclass(frozen=True, slots=True)
class Transcript:
    """A chat as it was saved: ``path`` as the user gave it, ``format`` as it was recognised.

    ``digest`` identifies the bytes that were read. ``part`` tells several chats in one file apart.
    """

    path: str
    format: str
    messages: tuple[Message, ...]
    digest: str = ""
    part: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """Where a fact was said: file, message number, speaker, the words, and the time of speaking."""

    transcript: str
    message: int | None
    speaker: str
    quote: str
    at: datetime | None = None
    role: str = ""


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence that wants to become a memory.

    ``said_at`` is the time of speaking. ``rule`` names what kept it, ``confidence`` how sure that was
    (0 to 1), ``confirmed`` whether somebody else agreed. A ``quarantined`` claim is stored apart.
    """

    text: str
    type: MemoryType
    agent: str
    said_at: datetime
    source: Source
    expires_at: datetime | None = None
    tags: tuple[str, ...] = ()
    confidence: float = 1.0
    confirmed: bool = False
    rule: str = ""
    quarantined: bool = False
    because: str = ""


@dataclass(frozen=True, slots=True)
class Wording:
    """One way in which a fact was put, and when: the evidence that later claims are judged against."""

    text: str
    said_at: datetime
    source: Source
    confirmed: bool = False


@dataclass(frozen=True, slots=True)
class Interval:
    """A time in which a fact held; ``until`` None means it still does."""

    since: datetime
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Fact:
    """One memory. ``id`` is a digest of scope and normalised text.

    ``said_at`` is the first time of speaking and ``last_said_at`` the latest, ``wordings`` every way it
    was put (oldest first), ``held`` the intervals in which it was true. ``rule`` and ``score`` are what
    decided its present state, ``because`` says the same in plain words.
    """

    id: str
    agent: str
    text: str
    type: MemoryType
    state: State
    said_at: datetime
    last_said_at: datetime
    recorded_at: datetime
    expires_at: datetime | None = None
    tags: tuple[str, ...] = ()
    wordings: tuple[Wording, ...] = ()
    held: tuple[Interval, ...] = ()
    supersedes: tuple[str, ...] = ()
    superseded_by: str | None = None
    contested_with: tuple[str, ...] = ()
    because: str = ""
    rule: str = ""
    score: float = 1.0
    confidence: float = 1.0
    confirmed: bool = False
    pinned: bool = False
    uses: int = 0
    last_used_at: datetime | None = None

    @property
    def sources(self) -> tuple[Source, ...]:
        """Every place where the fact was said, oldest first."""
        return tuple(wording.source for wording in self.wordings)

    @property
    def speaker(self) -> str:
        """Who said it last."""
        return self.wordings[-1].source.speaker if self.wordings else ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is to happen, to what, and why.

    ``fact`` is the fact as it will be, ``before`` as it was (None if it is new).
    """

    action: Action
    fact: Fact
    before: Fact | None = None
    because: str = ""
    rule: str = ""
    score: float = 1.0


@dataclass(frozen=True, slots=True)
class Hit:
    """A fact that bears on a question, with the parts of its score."""

    fact: Fact
    score: float
    parts: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MessageHit:
    """A message that bears on a question; ``before`` and ``after`` are its neighbours, as ``Speaker: text``."""

    transcript: str
    message: int
    speaker: str
    text: str
    score: float
    said_at: datetime | None = None
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class RecallBlock:
    """An answer to a question: the text for a prompt, and what it was made of."""

    query: str
    agent: str
    text: str
    tokens: int
    hits: tuple[Hit, ...] = ()
    messages: tuple[MessageHit, ...] = ()
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that went wrong without stopping the run."""

    code: str
    message: str
    where: str = ""
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that a check found."""

    code: str
    message: str
    where: str = ""
    remedy: str = ""
    repaired: bool = False


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Result(Generic[T]):
    """What an operation returns: data for the faces to show, and the problems met on the way."""

    command: str
    data: T
    problems: tuple[Problem, ...] = ()
    meta: dict[str, Any] = field(default_factory=dict)

    @property
    def status(self) -> str:
        """``ok``, or ``partial`` where some of the work could not be done."""
        return "partial" if self.problems else "ok"
