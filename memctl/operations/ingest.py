"""Ingest: read transcripts, extract claims, judge them, and keep what is new.

Files are read and cleaned in a second thread while the models work on the batch before. Each batch is
judged and written as one commit, so an interrupted run keeps what it had and goes on when run again.
The lock is held for the commit and not while the models work; what others wrote meanwhile is judged against then.
"""

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from memctl.errors import UnreadableInput
from memctl.extraction.clean import Suspect
from memctl.extraction.types import Extraction, Trace
from memctl.memory import OpenMemory
from memctl.model import Action, Claim, MemoryType, Problem, Result, Source, Verdict
from memctl.operations.learning import Draft, Judged
from memctl.operations.progress import Progress, Unseen, tell
from memctl.operations.reading import (
    STDIN_NAME,
    Ledger,
    Listed,
    Prepared,
    Reading,
    Step,
    Unchanged,
    documents,
    ledger_entry,
    place,
    prepare,
)
from memctl.rules.terms import analyse
from memctl.store.types import Changes, RunInfo, StoredMessage
from memctl.transcripts.detect import refuse_unknown

if TYPE_CHECKING:
    import numpy as np

# One commit a batch: large enough that commits cost nothing beside the models, small enough that an
# interrupted run loses little and memory stays flat.
_MESSAGES_PER_BATCH = 512


@dataclass(frozen=True, slots=True)
class FileReport:
    """What became of one file: ``status`` is read, grown, unchanged, copy or unreadable."""

    path: str
    status: str
    format: str = ""
    messages: int = 0
    new_messages: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Explained:
    """What became of each sentence of one file."""

    path: str
    trace: tuple[Trace, ...]


@dataclass(frozen=True, slots=True)
class Ingested:
    """What an ingest did. ``verdicts`` and ``explained`` are filled where they were asked for."""

    agent: str
    files: tuple[FileReport, ...]
    counts: dict[str, int]
    redactions: dict[str, int]
    run: str = ""
    dry_run: bool = False
    verdicts: tuple[Verdict, ...] = ()
    explained: tuple[Explained, ...] = ()
    plan: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class _Tally:
    """What has been seen so far in a run."""

    files: list[FileReport] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    redactions: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)
    verdicts: list[Verdict] = field(default_factory=list)
    explained: list[Explained] = field(default_factory=list)
    run: str = ""


def ingest(
    memory: OpenMemory,
    paths: Sequence[str],
    *,
    agent: str | None = None,
    at: datetime | None = None,
    format: str | None = None,  # noqa: A002  the name of the flag
    dry_run: bool = False,
    explain: bool = False,
    again: bool = False,
    progress: Progress | None = None,
    stdin: Callable[[], bytes] | None = None,
    stdin_name: str = STDIN_NAME,
    deadline: Callable[[], bool] = lambda: False,
    alone: bool = True,
) -> Result[Ingested]:
    """Read every transcript behind ``paths`` into the scope, each message once however often it is read.

    ``at`` dates messages that carry no time. ``-`` among the paths is what ``stdin`` gives, called ``stdin_name``.
    ``deadline`` is asked before each batch but the first; True ends the run early.
    ``alone`` makes a single file that cannot be read an error instead of a problem.
    """
    if format is not None:
        refuse_unknown(format)
    scope = memory.scope(agent)
    largest = int(memory.settings["ingest.max_megabytes"]) * 1_000_000
    reading = Reading(scope, at, format, memory.cleaning_rules(), again, largest)
    ledger = Ledger()
    ledger.catch_up(memory.existing, scope)
    listed = list(documents(paths, stdin or _read_stdin, stdin_name, largest=largest))
    if dry_run and memory.settings["extraction.extractor"] == "llm":
        return Result("ingest", _planned(memory, listed, reading, ledger))
    tally = _Tally()
    watched = progress or Unseen()
    watched.expect(len(listed))
    for number, batch in enumerate(_batches(memory, listed, reading, ledger)):
        if number and deadline():
            tally.problems.append(_OUT_OF_TIME)
            break
        if any(isinstance(step, Prepared) for step in batch):
            _take(memory, reading, batch, ledger, tally, dry_run=dry_run, explain=explain)
        else:  # nothing to keep: no store is made for it, no lock taken, no model loaded
            _report(batch, (), (), Judged((), {}), tally, explain=explain)
        tell(watched, batch)
    if alone:
        _raise_if_nothing_was_readable(tally)
    return Result("ingest", _ingested(scope, tally, dry_run=dry_run), tuple(tally.problems))


def _planned(memory: OpenMemory, listed: Sequence[Listed], reading: Reading, ledger: Ledger) -> Ingested:
    """Tell what asking a language model would cost, without asking it."""
    plan: Counter[str] = Counter()
    files: list[FileReport] = []
    for batch in _batches(memory, listed, reading, ledger):
        prepared = [place(memory, step, reading, ledger) for step in batch if isinstance(step, Prepared)]
        cost = memory.llm_extractor.plan([item.transcript for item in prepared], [item.since for item in prepared])
        plan.update(calls=cost.calls, tokens=cost.tokens, cached=cost.cached)
        files += [
            FileReport(item.transcript.path, "read", item.transcript.format, len(item.fresh)) for item in prepared
        ]
    return Ingested(
        reading.agent, tuple(files), dict.fromkeys(map(str, _COUNTED), 0), {}, dry_run=True, plan=dict(plan)
    )


_OUT_OF_TIME = Problem("out_of_time", "The time for this run was used up.", "", "Run it again to go on.")


def _batches(memory: OpenMemory, listed: Sequence[Listed], reading: Reading, ledger: Ledger) -> Iterator[list[Step]]:
    """Yield batches of prepared files; the next one is being prepared while the caller works on this one."""
    if len(listed) == 1:  # nothing to read ahead; and a program that is ending may start no more threads
        yield from _grouped(_steps(memory, listed, reading, ledger))
        return
    with ThreadPoolExecutor(1, thread_name_prefix="memctl-read") as pool:
        source = _grouped(_steps(memory, listed, reading, ledger))
        ahead: Future[list[Step] | None] = pool.submit(next, source, None)
        while (batch := ahead.result()) is not None:
            ahead = pool.submit(next, source, None)
            yield batch


def _steps(memory: OpenMemory, listed: Sequence[Listed], reading: Reading, ledger: Ledger) -> Iterator[Step]:
    for item in listed:
        if isinstance(item, Problem):
            yield item
        else:
            _, loader = item
            yield from prepare(memory, loader, reading, ledger)


def _grouped(steps: Iterator[Step]) -> Iterator[list[Step]]:
    """Cut the stream into batches by the number of new messages.

    A chat that repeats the beginning of another of its batch must see that one stored first, so it opens a
    batch of its own.
    """
    batch: list[Step] = []
    size = 0
    openings: set[str] = set()
    for step in steps:
        opening = step.chains[0] if isinstance(step, Prepared) and step.chains else ""
        if size >= _MESSAGES_PER_BATCH or (opening and opening in openings):
            yield batch
            batch, size, openings = [], 0, set()
        batch.append(step)
        size += len(step.fresh) if isinstance(step, Prepared) else 0
        openings.add(opening)
    if batch:
        yield batch


def _take(
    memory: OpenMemory,
    reading: Reading,
    batch: list[Step],
    ledger: Ledger,
    tally: _Tally,
    *,
    dry_run: bool,
    explain: bool,
) -> None:
    """Extract and judge one batch, then write it."""
    scope = reading.agent
    with memory.writing("ingest", dry_run=dry_run) as store:  # before the work: is this a place that can be written to?
        ledger.catch_up(store, scope)
    read = _Read.of(memory, reading, batch, ledger)
    with memory.writing("ingest", dry_run=dry_run) as store:
        if ledger.catch_up(store, scope):
            read = read.still_right(memory, reading, batch, ledger)
        judged = read.draft.settled()
        if not dry_run:
            _write(memory, scope, read.prepared, judged, read.vectors, tally)
        for item in read.prepared:
            ledger.add(ledger_entry(item, scope, memory.now()))
        ledger.note_version(store)
    _report(batch, read.prepared, read.extractions, judged, tally, explain=explain)
    if dry_run or explain:  # only these show verdicts; keeping them all would let memory grow with the run
        tally.verdicts.extend(judged.verdicts)


@dataclass(frozen=True, slots=True)
class _Read:
    """What the models made of a batch: its chats with how much of each is new, their claims, and the vectors."""

    prepared: list[Prepared]
    extractions: Sequence[Extraction]
    vectors: "dict[str, np.ndarray]"
    draft: Draft

    @classmethod
    def of(cls, memory: OpenMemory, reading: Reading, batch: Sequence[Step], ledger: Ledger) -> "_Read":
        """Let the models read what the ledger does not know."""
        scope = reading.agent
        prepared = _placed(memory, reading, batch, ledger)
        extractions = memory.extractor.extract(
            [item.transcript for item in prepared], scope, [item.since for item in prepared]
        )
        claims = _in_order([claim for extraction in extractions for claim in extraction.claims])
        claims += [claim for item in prepared for claim in _quarantined(item, scope)]
        vectors, by_text = _embed(memory, claims, prepared)
        return cls(prepared, extractions, by_text, Draft(memory, claims, vectors))

    def still_right(self, memory: OpenMemory, reading: Reading, batch: Sequence[Step], ledger: Ledger) -> "_Read":
        """Give this, or a new reading where another process has read some of these chats meanwhile."""
        now = _placed(memory, reading, batch, ledger)
        return self if _places(now) == _places(self.prepared) else self.of(memory, reading, batch, ledger)


def _placed(memory: OpenMemory, reading: Reading, batch: Sequence[Step], ledger: Ledger) -> list[Prepared]:
    return [place(memory, step, reading, ledger) for step in batch if isinstance(step, Prepared)]


def _places(prepared: Sequence[Prepared]) -> list[tuple[str, int, int]]:
    return [(item.transcript_id, item.since, item.stored) for item in prepared]


def _in_order(claims: list[Claim]) -> list[Claim]:
    """Sort by time of speaking; in one instant, by place in the file."""
    return sorted(claims, key=lambda claim: (claim.said_at, claim.source.transcript, claim.source.message or 0))


def _quarantined(item: Prepared, scope: str) -> list[Claim]:
    """Make claims of the passages that look like injected instructions, to be stored apart."""
    by_index = {message.index: message for message in item.fresh}
    return [
        _suspect_claim(suspect, by_index[suspect.message].at, item, scope)
        for suspect in item.cleaned.quarantined
        if suspect.message in by_index
    ]


def _suspect_claim(suspect: Suspect, at: datetime | None, item: Prepared, scope: str) -> Claim:
    said_at = at or datetime.fromtimestamp(0, UTC)  # preparing dates every message; the epoch is for the type checker
    source = Source(item.transcript.path, suspect.message, suspect.speaker, suspect.text, said_at, "tool")
    return Claim(
        suspect.text,
        MemoryType.FACT,
        scope,
        said_at,
        source,
        quarantined=True,
        rule="quarantine",
        because=suspect.reason,
    )


def _embed(
    memory: OpenMemory, claims: Sequence[Claim], prepared: Sequence[Prepared]
) -> "tuple[np.ndarray, dict[str, np.ndarray]]":
    """Embed claims and new messages in one pass, each distinct text once."""
    import numpy as np

    texts = [claim.text for claim in claims]
    texts += [message.text for item in prepared for message in item.unstored if message.text.strip()]
    distinct = list(dict.fromkeys(texts))
    by_text = dict(zip(distinct, memory.embed(distinct), strict=True))
    vectors = np.array([by_text[claim.text] for claim in claims], np.float32)
    return vectors.reshape(len(claims), memory.embedder.dimension), by_text


def _write(
    memory: OpenMemory,
    scope: str,
    prepared: Sequence[Prepared],
    judged: Judged,
    vectors: "dict[str, np.ndarray]",
    tally: _Tally,
) -> None:
    """Commit the batch as a part of this run."""
    changes = Changes(
        facts=judged.writes(),
        messages=[row for item in prepared for row in _rows(item, scope, vectors)],
        transcripts=[ledger_entry(item, scope, memory.now()) for item in prepared],
    )
    counts = dict(Counter(str(verdict.action) for verdict in judged.verdicts))
    paths = ", ".join(dict.fromkeys(item.transcript.path for item in prepared))
    info = RunInfo("ingest", f"{scope}: {paths}"[:500], memory.now(), counts, tally.run or None)
    receipt = memory.store.apply(changes, info, wait=memory.wait)
    tally.run = receipt.run_id or tally.run
    used = [fact_id for item in prepared for fact_id in item.cleaned.used]
    if used:
        memory.store.record_use(used, memory.now())


def _rows(item: Prepared, scope: str, vectors: "dict[str, np.ndarray]") -> Iterator[StoredMessage]:
    for position, message in enumerate(item.unstored, start=item.stored):
        yield StoredMessage(
            transcript_id=item.transcript_id,
            agent=scope,
            path=item.transcript.path,
            message=message,
            chain=item.chains[position],
            terms=analyse(message.text),
            vector=vectors.get(message.text),
        )


def _report(
    batch: Sequence[Step],
    prepared: Sequence[Prepared],
    extractions: Sequence[Extraction],
    judged: Judged,
    tally: _Tally,
    *,
    explain: bool,
) -> None:
    """Add the batch to what the run will tell."""
    tally.counts.update(str(verdict.action) for verdict in judged.verdicts)
    by_path = _counts_by_path(judged)
    for step in batch:
        if isinstance(step, Problem):
            tally.problems.append(step)
            tally.files.append(FileReport(step.where, "unreadable", notes=(step.message,)))
        elif isinstance(step, Unchanged):
            tally.files.append(FileReport(step.path, "copy" if step.copy_of else "unchanged", notes=_copy_note(step)))
    for item, extraction in zip(prepared, extractions, strict=True):
        tally.redactions.update(item.cleaned.redactions)
        tally.files.append(_file_report(item, extraction, by_path.get(item.transcript.path, {})))
        if explain:
            tally.explained.append(Explained(item.transcript.path, extraction.trace))


def _copy_note(step: Unchanged) -> tuple[str, ...]:
    return (f"the same bytes as {step.copy_of}",) if step.copy_of else ()


def _counts_by_path(judged: Judged) -> dict[str, Counter[str]]:
    """Count the verdicts that concern each file, in one pass."""
    counts: dict[str, Counter[str]] = {}
    for verdict in judged.verdicts:
        for path in {source.transcript for source in verdict.fact.sources}:
            counts.setdefault(path, Counter())[str(verdict.action)] += 1
    return counts


def _file_report(item: Prepared, extraction: Extraction, counts: Mapping[str, int]) -> FileReport:
    status = "read" if not item.since else "grown" if item.fresh else "unchanged"
    return FileReport(
        item.transcript.path,
        status,
        item.transcript.format,
        len(item.transcript.messages),
        len(item.fresh),
        dict(counts),
        (*item.transcript.notes, *extraction.notes),
    )


def _ingested(scope: str, tally: _Tally, *, dry_run: bool) -> Ingested:
    return Ingested(
        scope,
        tuple(tally.files),
        {str(action): tally.counts[str(action)] for action in _COUNTED},
        dict(tally.redactions),
        tally.run,
        dry_run,
        tuple(tally.verdicts),
        tuple(tally.explained),
    )


_COUNTED = (Action.ADD, Action.REFRESH, Action.SUPERSEDE, Action.CONTEST, Action.SKIP, Action.QUARANTINE)


def _raise_if_nothing_was_readable(tally: _Tally) -> None:
    """One unreadable file among others is a problem of the run; a single one that was asked for is an error."""
    if len(tally.files) == 1 and tally.files[0].status == "unreadable":
        problem = tally.problems[0]
        error = UnreadableInput(path=problem.where, reason="", remedy=problem.remedy, where=problem.where)
        error.args, error.code = (problem.message,), problem.code
        raise error


def _read_stdin() -> bytes:
    return sys.stdin.buffer.read()
