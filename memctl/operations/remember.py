"""Remember: facts told by hand, through the same judge as everything else."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from memctl.errors import UsageProblem
from memctl.extraction.expiry import expires
from memctl.extraction.redact import redact
from memctl.memory import OpenMemory
from memctl.model import Claim, MemoryType, Problem, Result, Source, Verdict
from memctl.operations.learning import Draft
from memctl.operations.lines import take_lines
from memctl.shapes import writable
from memctl.store.types import Changes, RunInfo
from memctl.times import later, parse_duration, parse_instant

_LONGEST_TEXT = 4000
BY_HAND = "by hand"
_LINE_REMEDY = 'Write lines like {"text": "We use Fly", "type": "decision"}.'


@dataclass(frozen=True, slots=True)
class Entry:
    """A fact told by hand. ``type`` None lets memctl tell; ``ttl`` overrides what the text says."""

    text: str
    agent: str | None = None
    type: str | None = None
    at: str | None = None
    ttl: str | None = None
    tags: tuple[str, ...] = ()
    speaker: str = "user"
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Remembered:
    """What became of what was told, one verdict list in the order of the entries."""

    verdicts: tuple[Verdict, ...]
    run: str = ""
    dry_run: bool = False


def remember(memory: OpenMemory, entries: Sequence[Entry], *, dry_run: bool = False) -> Result[Remembered]:
    """Judge the entries in order, each against the ones before it in its scope, and keep what is new."""
    claims = _claims(memory, entries)
    if not claims:
        return Result("remember", Remembered((), "", dry_run))
    run = ""
    draft = Draft(memory, claims, memory.embed([claim.text for claim in claims]))
    with memory.writing("remember", dry_run=dry_run) as store:
        judged = draft.settled()
        if store and not dry_run:
            counts = dict(Counter(str(verdict.action) for verdict in judged.verdicts))
            scopes = ", ".join(dict.fromkeys(claim.agent for claim in claims))
            info = RunInfo("remember", scopes[:500], memory.now(), counts)
            run = store.apply(Changes(facts=judged.writes()), info).run_id
    return Result("remember", Remembered(judged.verdicts, run, dry_run))


def read_lines(lines: Iterable[str], name: str) -> tuple[list[Entry], list[Problem]]:
    """Read ``--from`` lines: ``{"text", "agent"?, "type"?, "at"?, "ttl"?, "tags"?}``; a bad line is a problem."""
    entries: list[Entry] = []
    problems = take_lines(lines, name, lambda shape, number: entries.append(_entry(shape, number)), remedy=_LINE_REMEDY)
    return entries, problems


def _entry(shape: Any, number: int) -> Entry:
    if not isinstance(shape, dict) or not isinstance(shape.get("text"), str):
        raise UsageProblem(reason='not an object with a "text"')
    unknown = set(shape) - _FIELDS
    if unknown:
        raise UsageProblem(reason=f"unknown field {sorted(unknown)[0]!r}")
    tags = shape.get("tags") or []
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise UsageProblem(reason='"tags" is not a list of words')
    texts = {name: _optional_text(shape, name) for name in ("agent", "type", "at", "ttl")}
    entry = Entry(shape["text"], tags=tuple(tags), speaker=str(shape.get("speaker") or "user"), line=number, **texts)
    _checked(entry)
    return entry


_FIELDS = {"text", "agent", "type", "at", "ttl", "tags", "speaker"}


def _optional_text(shape: dict[str, Any], name: str) -> str | None:
    value = shape.get(name)
    if value is not None and not isinstance(value, str):
        raise UsageProblem(reason=f'"{name}" is not a text')
    return value


def _checked(entry: Entry) -> None:
    """Refuse what cannot be remembered, before anything is written."""
    checked_text(entry.text)
    if entry.type is not None:
        checked_type(entry.type)
    if entry.at is not None:
        parse_instant(entry.at, what="at")
    if entry.ttl is not None:
        parse_duration(entry.ttl)


def _claims(memory: OpenMemory, entries: Sequence[Entry]) -> list[Claim]:
    """Turn entries into claims: checked, redacted, typed and dated."""
    rules = memory.cleaning_rules()
    texts = []
    for entry in entries:
        _checked(entry)
        texts.append(redact(checked_text(entry.text), rules.redaction).text)
    untyped = [text for entry, text in zip(entries, texts, strict=True) if entry.type is None]
    guessed = iter(memory.types_of(untyped))
    return [
        _claim(memory, entry, text, MemoryType(entry.type) if entry.type else next(guessed))
        for entry, text in zip(entries, texts, strict=True)
    ]


def _claim(memory: OpenMemory, entry: Entry, text: str, kind: MemoryType) -> Claim:
    said_at = parse_instant(entry.at) if entry.at else memory.now()
    told = later(said_at, parse_duration(entry.ttl)) if entry.ttl else None
    source = Source(BY_HAND, entry.line, writable(entry.speaker), text, said_at, "user")
    return Claim(
        text,
        kind,
        memory.scope(entry.agent),
        said_at,
        source,
        expires_at=told or expires(text, kind, said_at, memory.lifetimes()),
        tags=tuple(map(writable, entry.tags)),
        confirmed=True,
        rule=BY_HAND,
    )


def checked_text(text: str) -> str:
    """Give a text as one line of printable characters; raises UsageProblem where it is no memory."""
    printable = "".join(char if char.isprintable() else " " for char in text)
    line = " ".join(writable(printable).split())
    if not line:
        raise UsageProblem(reason="there is nothing to remember in an empty text")
    if len(text) > _LONGEST_TEXT:
        raise UsageProblem(
            reason=f"a memory is at most {_LONGEST_TEXT} characters long, this has {len(text)}",
            remedy="Ingest long text as a transcript instead.",
        )
    return line


def checked_type(name: str) -> MemoryType:
    """Give the memory type of that name; raises UsageProblem where there is none."""
    if name not in list(MemoryType):
        raise UsageProblem(reason=f"there is no memory type {name!r}", remedy=f"Use {', '.join(MemoryType)}.")
    return MemoryType(name)
