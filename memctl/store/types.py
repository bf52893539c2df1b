"""What goes into the store and what comes out of it, beside the nouns of the model. Frozen data only."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from memctl.model import Fact, MemoryType, Message, State
from memctl.shapes import writable

TABLES = ("facts", "messages", "transcripts", "state", "runs")


@dataclass(frozen=True, slots=True)
class Model:
    """The embedding model that a store was built with."""

    name: str
    digest: str = ""
    dimension: int = 384


@dataclass(frozen=True, slots=True)
class Filter:
    """Which facts are meant; an empty field does not restrict.

    ``agents`` are exact scope names. ``tags`` and ``speakers`` match facts that have any of them.
    ``since`` keeps what was said (again) at or after it, ``until`` what was first said at or before it,
    ``alive_at`` what has not expired by then, ``expired_at`` what has. ``contains`` looks for a piece of
    the text in any case.
    """

    agents: Sequence[str] = ()
    types: Sequence[MemoryType | str] = ()
    states: Sequence[State | str] = ()
    tags: Sequence[str] = ()
    speakers: Sequence[str] = ()
    ids: Sequence[str] = ()
    since: datetime | None = None
    until: datetime | None = None
    alive_at: datetime | None = None
    expired_at: datetime | None = None
    contains: str = ""
    pinned: bool | None = None

    def __post_init__(self) -> None:
        """Look for names as a store can hold them: half a surrogate pair was replaced when they were written."""
        for name in ("agents", "tags", "speakers", "ids"):
            object.__setattr__(self, name, tuple(writable(text) for text in getattr(self, name)))
        object.__setattr__(self, "contains", writable(self.contains))


@dataclass(frozen=True, slots=True)
class FactWrite:
    """A fact as it is to be. ``vector`` and ``terms`` None keep what the record has (for changes of state)."""

    fact: Fact
    vector: Any = None
    terms: str | None = None


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """A message in the record: the message, the transcript it belongs to, and the chat's digest up to it.

    ``vector`` may be None (not embedded). ``terms`` are the analysed words for full text search.
    """

    transcript_id: str
    agent: str
    path: str
    message: Message
    chain: str
    terms: str = ""
    vector: Any = None

    @property
    def id(self) -> str:
        """The transcript's id and the message's number."""
        return f"{self.transcript_id}:{self.message.index}"


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """What is known of a transcript that was read: which bytes, how far, and the digest of the chat so far."""

    id: str
    agent: str
    path: str
    digest: str
    messages: int
    chain: str
    recorded_at: datetime
    part: str = ""
    format: str = ""
    size: int = 0
    mtime: datetime | None = None
    at: datetime | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Prefix:
    """How much of a chat the record already has: ``length`` messages, last seen in that transcript."""

    length: int = 0
    transcript_id: str = ""
    path: str = ""


@dataclass(frozen=True, slots=True)
class StateEntry:
    """A small JSON value of a scope."""

    agent: str
    key: str
    value: Any
    updated_at: datetime
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Changes:
    """One batch for ``Store.apply``: rows to write (added, or replacing the row of the same id) and ids to delete.

    Deleting a fact here removes its row, undoably; people's ``forget`` is a change of state instead.
    ``drop_state`` names (agent, key) pairs.
    """

    facts: Sequence[FactWrite] = ()
    messages: Sequence[StoredMessage] = ()
    transcripts: Sequence[LedgerEntry] = ()
    state: Sequence[StateEntry] = ()
    drop_facts: Sequence[str] = ()
    drop_messages: Sequence[str] = ()
    drop_transcripts: Sequence[str] = ()
    drop_state: Sequence[tuple[str, str]] = ()

    @property
    def empty(self) -> bool:
        """Whether there is nothing to do."""
        return not any(getattr(self, name) for name in self.__slots__)


@dataclass(frozen=True, slots=True)
class RunInfo:
    """Who writes. ``id`` None starts a run; the id of a receipt continues that run with another batch."""

    command: str
    args: str = ""
    started_at: datetime | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    id: str | None = None
    undoes: str = ""


@dataclass(frozen=True, slots=True)
class Run:
    """A run as the log keeps it, its batches taken together."""

    id: str
    command: str
    args: str
    started_at: datetime
    finished_at: datetime
    counts: Mapping[str, int]
    parts: int
    sequence: int
    undone_by: str = ""
    undoes: str = ""
    facts_added: int = 0
    facts_changed: int = 0


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a batch did. ``run_id`` is empty when there was nothing to do."""

    run_id: str
    part: int = 0
    added: Mapping[str, int] = field(default_factory=dict)
    changed: Mapping[str, int] = field(default_factory=dict)
    dropped: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Found:
    """A fact that a search met, with its vector: ``cosine`` and ``bm25`` are None where that way gave nothing."""

    fact: Fact
    cosine: float | None = None
    bm25: float | None = None
    vector: Any = None


@dataclass(frozen=True, slots=True)
class FoundMessage:
    """A message that a search met."""

    stored: StoredMessage
    cosine: float | None = None
    bm25: float | None = None


@dataclass(frozen=True, slots=True)
class Near:
    """A fact close to a claim, with its vector."""

    fact: Fact
    cosine: float
    vector: Any
