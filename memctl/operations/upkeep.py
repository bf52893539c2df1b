"""Upkeep: prune, compact, check, scrub, reembed, backup."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from memctl.extraction.redact import RedactionRules, redact
from memctl.memory import OpenMemory
from memctl.model import Fact, Finding, Problem, Result, State, Verdict, Wording
from memctl.rules.lifetime import review, select_contested, select_superseded
from memctl.rules.terms import analyse
from memctl.store.types import Changes, FactWrite, Filter, RunInfo, StoredMessage

_BATCH = 512


@dataclass(frozen=True, slots=True)
class Pruned:
    """What was retired, or would be."""

    verdicts: tuple[Verdict, ...]
    run: str = ""
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class Checked:
    """What a check looked at and found."""

    findings: tuple[Finding, ...]
    facts: int = 0
    messages: int = 0
    repaired: bool = False


@dataclass(frozen=True, slots=True)
class Compacted:
    """Size before and after."""

    bytes_before: int
    bytes_after: int


@dataclass(frozen=True, slots=True)
class Scrubbed:
    """What newer redaction rules found in what was already stored."""

    facts: int
    messages: int
    redactions: dict[str, int] = field(default_factory=dict)
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class Reembedded:
    """How much was embedded anew, and with what."""

    model: str
    dimension: int
    facts: int
    messages: int


def prune(
    memory: OpenMemory,
    *,
    expired: bool = True,
    superseded: bool = False,
    contested: bool = False,
    older_than: timedelta = timedelta(0),
    agent: str | None = None,
    dry_run: bool = False,
) -> Result[Pruned]:
    """Retire what has outlived its time; with the flags also old superseded or contested facts. Undoable."""
    now = memory.now()
    scope = (agent,) if agent else ()
    verdicts: list[Verdict] = []
    if expired:
        due = memory.store.all_facts(Filter(agents=scope, states=(State.ACTIVE, State.CONTESTED), expired_at=now))
        verdicts += review(list(due), now)
    if superseded:
        old = memory.store.all_facts(Filter(agents=scope, states=(State.SUPERSEDED,)))
        verdicts += select_superseded(list(old), now, older_than)
    if contested:
        waiting = memory.store.all_facts(Filter(agents=scope, states=(State.CONTESTED,)))
        verdicts += select_contested(list(waiting), now, older_than)
    run = ""
    if verdicts and not dry_run:
        changes = Changes(facts=[FactWrite(verdict.fact) for verdict in verdicts])
        counts = dict(Counter(str(verdict.action) for verdict in verdicts))
        run = memory.store.apply(changes, RunInfo("prune", agent or "", now, counts), wait=memory.wait).run_id
    return Result("prune", Pruned(tuple(verdicts), run, dry_run))


def compact(memory: OpenMemory) -> Result[Compacted]:
    """Merge small files and drop old versions: afterwards nothing that was purged is left in any file."""
    before = memory.store.size()
    memory.store.compact(wait=memory.wait)
    return Result("compact", Compacted(before, memory.store.size()))


def check(memory: OpenMemory, *, repair: bool = False) -> Result[Checked]:
    """Compare record and index and look for damage; ``repair`` rebuilds and rescues what it can."""
    findings = memory.store.repair() if repair else memory.store.check()
    problems = tuple(
        Problem(finding.code, finding.message, finding.where, finding.remedy)
        for finding in findings
        if not finding.repaired
    )
    counts = memory.store.counts()
    return Result(
        "check", Checked(tuple(findings), counts.get("facts", 0), counts.get("messages", 0), repair), problems
    )


def scrub(memory: OpenMemory, *, dry_run: bool = False) -> Result[Scrubbed]:
    """Apply today's redaction rules to what is already stored, then compact so that no old byte stays."""
    rules = memory.cleaning_rules().redaction
    found: Counter[str] = Counter()
    facts = [
        (fact, clean) for fact in memory.store.all_facts(Filter()) if (clean := _scrubbed(fact, rules, found)) != fact
    ]
    messages = list(_scrubbed_messages(memory, rules, found))
    if (facts or messages) and not dry_run:
        _write_scrubbed(memory, [clean for _, clean in facts], messages)
    return Result("scrub", Scrubbed(len(facts), len(messages), dict(found), dry_run))


def reembed(memory: OpenMemory, model: str | None = None) -> Result[Reembedded]:
    """Convert the store to another embedding model; readers see the old vectors until all new ones are there."""
    from memctl.embedding.models import open_embedder

    embedder = open_embedder(model or str(memory.settings["embedding.model"]))
    facts, messages = memory.store.reembed(embedder.name, embedder.dimension, embedder.embed)
    return Result("reembed", Reembedded(embedder.name, embedder.dimension, facts, messages))


def backup(memory: OpenMemory, target: str) -> Result[dict[str, Any]]:
    """Copy the store to ``target`` as it is at one instant, also while others write."""
    return Result("backup", memory.store.backup(target))


def restore_backup(memory: OpenMemory, source: str, *, force: bool = False) -> Result[dict[str, Any]]:
    """Put a backup in the place of the store; an existing one is refused unless ``force``."""
    return Result("restore", memory.store.restore_backup(source, force=force))


def _scrubbed(fact: Fact, rules: RedactionRules, found: Counter[str]) -> Fact:
    """Redact a fact's text and every wording of it."""
    text = redact(fact.text, rules)
    found.update(text.found)
    wordings = tuple(_scrubbed_wording(wording, rules) for wording in fact.wordings)
    return replace(fact, text=text.text, because=redact(fact.because, rules).text, wordings=wordings)


def _scrubbed_wording(wording: Wording, rules: RedactionRules) -> Wording:
    source = replace(wording.source, quote=redact(wording.source.quote, rules).text)
    return replace(wording, text=redact(wording.text, rules).text, source=source)


def _scrubbed_messages(memory: OpenMemory, rules: RedactionRules, found: Counter[str]) -> Iterator[StoredMessage]:
    for stored in memory.store.all_messages():
        clean = redact(stored.message.text, rules)
        if clean.found:
            found.update(clean.found)
            yield replace(stored, message=replace(stored.message, text=clean.text))


def _write_scrubbed(memory: OpenMemory, facts: Sequence[Fact], messages: Sequence[StoredMessage]) -> None:
    """Write the clean texts in place of the old ones and make the old ones unreadable for good."""
    rewritten = [FactWrite(fact, vector, analyse(fact.text)) for fact, vector in _embedded(memory, facts)]
    rows = [
        replace(stored, terms=analyse(stored.message.text), vector=vector)
        for stored, vector in _embedded_messages(memory, messages)
    ]
    memory.store.rewrite(Changes(facts=rewritten, messages=rows), RunInfo("scrub", "", memory.now()))


def _embedded(memory: OpenMemory, facts: Sequence[Fact]) -> Iterator[tuple[Fact, Any]]:
    if facts:
        yield from zip(facts, memory.embed([fact.text for fact in facts]), strict=True)


def _embedded_messages(memory: OpenMemory, messages: Sequence[StoredMessage]) -> Iterator[tuple[StoredMessage, Any]]:
    for start in range(0, len(messages), _BATCH):
        part = messages[start : start + _BATCH]
        yield from zip(part, memory.embed([stored.message.text for stored in part]), strict=True)
