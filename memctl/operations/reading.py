"""From paths to cleaned, dated transcripts, each with how much of it the record already has.

Everything here runs before a model is needed, so that it can go on beside one in another thread.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from memctl.errors import MemctlError
from memctl.extraction.clean import Cleaned, CleaningRules, clean
from memctl.memory import OpenMemory
from memctl.model import Message, Problem, Transcript
from memctl.store.ledger import chains
from memctl.store.types import LedgerEntry
from memctl.transcripts import LARGEST_FILE, companions_of, find, load, read

if TYPE_CHECKING:
    from memctl.store import Store

STDIN = "-"
STDIN_NAME = "stdin"


@dataclass(frozen=True, slots=True)
class Document:
    """Bytes to read: the path as it was given and what the file system says of it."""

    path: str
    data: bytes
    digest: str
    mtime: datetime | None = None


@dataclass(frozen=True, slots=True)
class Prepared:
    """One transcript, ready for extraction.

    ``chains`` are the running digests of the chat, one a message. ``since`` is the list position of the
    first message that was never read, ``stored`` how many of its messages the record has under its id: a
    chat that only shares its beginning with another is stored whole, but not learned from twice. ``last``
    tells that the file has no further chats.
    """

    document: Document
    cleaned: Cleaned
    chains: tuple[str, ...]
    transcript_id: str
    since: int = 0
    stored: int = 0
    last: bool = True

    @property
    def transcript(self) -> Transcript:
        """The transcript after cleaning."""
        return self.cleaned.transcript

    @property
    def fresh(self) -> tuple[Message, ...]:
        """The messages that nobody has read before."""
        return self.transcript.messages[self.since :]

    @property
    def unstored(self) -> tuple[Message, ...]:
        """The messages that the record does not have under this transcript's id."""
        return self.transcript.messages[self.stored :]


@dataclass(frozen=True, slots=True)
class Unchanged:
    """A file whose very bytes were read before, under this name or ``copy_of``."""

    path: str
    copy_of: str = ""


Step = Prepared | Unchanged | Problem
Listed = tuple[str, Callable[[], Document]] | Problem


@dataclass(frozen=True, slots=True)
class Reading:
    """How files are to be read."""

    agent: str
    at: datetime | None = None
    format: str | None = None
    rules: CleaningRules = field(default_factory=CleaningRules)
    again: bool = False
    largest: int = LARGEST_FILE


def documents(
    paths: Sequence[str], stdin: Callable[[], bytes], name: str = STDIN_NAME, *, largest: int = LARGEST_FILE
) -> Iterator[Listed]:
    """Name every file behind the paths with a way to load it; what cannot be found is a Problem."""
    named = [path for path in paths if path != STDIN]
    if len(named) < len(paths):
        yield name, lambda: _document(name, stdin(), None)
    files, problems = find(named)
    yield from problems
    for file in files:
        yield str(file), _loader(file, largest)


class Ledger:
    """What a scope has read so far, kept in memory for the length of a run."""

    def __init__(self) -> None:
        self._by_digest: dict[str, LedgerEntry] = {}
        self._by_chain: dict[str, LedgerEntry] = {}
        self._by_id: dict[str, LedgerEntry] = {}
        self._version = 0

    def catch_up(self, store: "Store | None", scope: str) -> bool:
        """Take in what other processes have read since, and tell whether there was anything.

        The writer does so before it decides what is new.
        """
        if store is None or store.record.version("transcripts") == self._version:
            return False
        self.note_version(store)
        for entry in store.transcripts(agent=scope):
            self.add(entry)
        return True

    def note_version(self, store: "Store | None") -> None:
        """Say that all up to the store's present version is known here."""
        if store is not None:
            self._version = store.record.version("transcripts")

    def __bool__(self) -> bool:
        return bool(self._by_chain)

    def add(self, entry: LedgerEntry) -> None:
        """Take note of a transcript that is stored now."""
        self._by_digest[entry.digest] = entry
        self._by_chain[entry.chain] = entry
        self._by_id[entry.id] = entry

    def taken_over(self, transcript_id: str, chain: str) -> bool:
        """Tell whether an entry of this id now ends otherwise."""
        entry = self._by_id.get(transcript_id)
        return entry is not None and entry.chain != chain

    def same_bytes(self, digest: str) -> LedgerEntry | None:
        """The transcript that was read from the very same bytes."""
        return self._by_digest.get(digest)

    def continued(self, chains: Sequence[str]) -> tuple[LedgerEntry, int] | None:
        """The longest transcript that this chat repeats to its end, and at which position it goes on."""
        for place in range(len(chains), 0, -1):
            if chains[place - 1] in self._by_chain:
                return self._by_chain[chains[place - 1]], place
        return None


def prepare(memory: OpenMemory, loader: Callable[[], Document], reading: Reading, ledger: Ledger) -> list[Step]:
    """Load, read, date and clean one file; a file that cannot be read is a Problem, not an error."""
    try:
        document = loader()
        seen = None if reading.again else ledger.same_bytes(document.digest)
        if seen is not None:
            return [Unchanged(document.path, seen.path if seen.path != document.path else "")]
        transcripts = read(
            document.path,
            document.data,
            format=reading.format,
            companions=companions_of(document.path),
            largest=reading.largest,
        )
        prepared = [_prepare_one(memory, document, transcript, reading) for transcript in transcripts]
        return [*(replace(item, last=False) for item in prepared[:-1]), *prepared[-1:]]
    except MemctlError as error:
        return [Problem(error.code, str(error), error.where, error.remedy)]


def place(memory: OpenMemory, item: Prepared, reading: Reading, ledger: Ledger) -> Prepared:
    """Find out how much of the chat is known already: as a transcript that grew, or as a shared beginning."""
    if reading.again or not ledger:
        return item
    if found := ledger.continued(item.chains):
        entry, position = found
        return replace(item, transcript_id=entry.id, since=position, stored=position)
    known = memory.store.known_prefix(reading.agent, item.chains).length
    if ledger.taken_over(item.transcript_id, item.chains[-1] if item.chains else ""):
        # Another file went on where this one ended and keeps its place: this one is now a chat of its own.
        own = hashlib.sha256(f"{item.transcript_id} before it went on".encode()).hexdigest()[:16]
        item = replace(item, transcript_id=own)
    return replace(item, since=known)


def ledger_entry(prepared: Prepared, agent: str, recorded_at: datetime) -> LedgerEntry:
    """What the ledger will say of the transcript once it is stored."""
    transcript = prepared.transcript
    last = transcript.messages[-1] if transcript.messages else None
    return LedgerEntry(
        id=prepared.transcript_id,
        agent=agent,
        path=transcript.path,
        part=transcript.part,
        format=transcript.format,
        # only with its last chat has a file been read whole: until then its bytes are not known
        digest=prepared.document.digest if prepared.last else f"{prepared.document.digest}:{transcript.part}",
        size=len(prepared.document.data),
        mtime=prepared.document.mtime,
        messages=len(transcript.messages),
        chain=prepared.chains[-1] if prepared.chains else "",
        at=last.at if last else None,
        recorded_at=recorded_at,
        notes=transcript.notes,
    )


def _prepare_one(memory: OpenMemory, document: Document, transcript: Transcript, reading: Reading) -> Prepared:
    dated = _dated(transcript, reading.at or document.mtime or memory.now())
    cleaned = clean(dated, reading.rules)
    name = "\0".join((reading.agent, document.path, transcript.part, document.digest))
    transcript_id = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:16]
    return Prepared(document, cleaned, tuple(chains(cleaned.transcript.messages)), transcript_id)


def _dated(transcript: Transcript, fallback: datetime) -> Transcript:
    """Give every message a time: its own, else that of the last message that has one, else the fallback."""
    messages: list[Message] = []
    latest: datetime | None = None
    for message in transcript.messages:
        latest = message.at or latest
        messages.append(message if message.at else replace(message, at=latest or fallback))
    return replace(transcript, messages=tuple(messages))


def _loader(file: Path, largest: int) -> Callable[[], Document]:
    def run() -> Document:
        data = load(file, largest=largest)
        return _document(str(file), data, datetime.fromtimestamp(file.stat().st_mtime, UTC))

    return run


def _document(path: str, data: bytes, mtime: datetime | None) -> Document:
    return Document(path, data, hashlib.sha256(data).hexdigest(), mtime)
