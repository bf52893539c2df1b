"""Upkeep: prune, compact, check, scrub, reembed, backup."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from memctl.errors import DamagedStore
from memctl.extraction.redact import RedactionRules, redact
from memctl.memory import OpenMemory
from memctl.model import Fact, Finding, Problem, Result, State, Verdict, Wording
from memctl.rules.lifetime import review, select_contested, select_superseded
from memctl.rules.terms import analyse
from memctl.settings import DEFAULT_MODEL
from memctl.store import Model, Store, convert
from memctl.store.types import Changes, FactWrite, Filter, RunInfo, StoredMessage
from memctl.times import parse_duration

_BATCH = 512
PRUNED_AFTER = timedelta(days=90)


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
    expired: bool | None = None,
    superseded: bool = False,
    contested: bool = False,
    older_than: timedelta = PRUNED_AFTER,
    agent: str | None = None,
    dry_run: bool = False,
) -> Result[Pruned]:
    """Retire what has expired, or with the flags what was superseded or contested long ago. Undoable.

    ``expired`` None stands for: where nothing else was asked for.
    """
    now = memory.now()
    scope = (agent,) if agent else ()
    verdicts: list[Verdict] = []
    if expired or (expired is None and not superseded and not contested):
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


def compact(memory: OpenMemory, *, whole: bool = True) -> Result[Compacted]:
    """Merge small files and drop old versions: afterwards nothing that was purged is left in any file.

    Without ``whole`` only what is new is folded in, at a cost that does not grow with the store. What is needed to
    undo runs is kept for as long as the setting ``undo.keep`` says.
    """
    before = memory.store.size()
    undoable_since = memory.now() - parse_duration(str(memory.settings["undo.keep"]))
    if whole:
        memory.store.compact(undoable_since=undoable_since, wait=memory.wait)
    else:
        memory.store.settle(undoable_since=undoable_since, wait=memory.wait)
    return Result("compact", Compacted(before, memory.store.size()))


def check(memory: OpenMemory, *, repair: bool = False, new: bool = False) -> Result[Checked]:
    """Compare record and index and look for damage; ``repair`` rebuilds and rescues what it can.

    ``new`` looks only at what was written since the last such check, and at some of the old files in turn.
    """
    if repair:
        findings = [*_describe(memory), *memory.store.repair(wait=memory.wait)]
    else:
        look = memory.store.check_new if new else memory.store.check
        findings = look(wait=memory.wait)
    problems = tuple(
        Problem(finding.code, finding.message, finding.where, finding.remedy)
        for finding in findings
        if not finding.repaired
    )
    facts, messages = (memory.store.record.count(table) for table in ("facts", "messages"))
    return Result("check", Checked(tuple(findings), facts, messages, repair), problems)


def _describe(memory: OpenMemory) -> Iterator[Finding]:
    """Write the store's description anew where it was lost or cannot be read."""
    try:
        _ = memory.store
    except DamagedStore as error:
        from memctl.embedding.models import open_embedder

        embedder = open_embedder(str(memory.settings["embedding.model"] or DEFAULT_MODEL))
        Store.describe(memory.location, Model(embedder.name, dimension=embedder.dimension), wait=memory.wait)
        told = f"{error} It was written anew, for the embedding model of the settings: {embedder.name}."
        yield Finding("description_rewritten", told, memory.location, repaired=True)


def scrub(memory: OpenMemory, *, dry_run: bool = False) -> Result[Scrubbed]:
    """Apply today's redaction rules to what is already stored, then compact so that no old byte stays."""
    scrubber = _Scrubber(memory.cleaning_rules().redaction)
    stored = ((fact, scrubber.fact(fact)) for fact in memory.store.all_facts(Filter()))
    facts = [clean for fact, clean in stored if clean != fact]
    rows = ((row, scrubber.message(row)) for row in memory.store.all_messages())
    messages = [clean for row, clean in rows if clean != row]
    if (facts or messages) and not dry_run:
        _write_scrubbed(memory, facts, messages, scrubber.values)
    return Result("scrub", Scrubbed(len(facts), len(messages), dict(scrubber.found), dry_run))


def reembed(memory: OpenMemory, model: str | None = None) -> Result[Reembedded]:
    """Convert the store to the model named, or to the one of the settings; interrupted, run it again."""
    from memctl.embedding.models import open_embedder

    embedder = open_embedder(model or str(memory.settings["embedding.model"]))
    wanted = Model(embedder.name, dimension=embedder.dimension)
    facts, messages = convert.reembed(memory.store, wanted, embedder.embed, wait=memory.wait)
    return Result("reembed", Reembedded(embedder.name, embedder.dimension, facts, messages))


def backup(memory: OpenMemory, target: str) -> Result[dict[str, Any]]:
    """Copy the store to ``target`` as it is at one instant, also while others write."""
    size = memory.store.backup(target, wait=memory.wait)
    return Result("backup", {"target": target, "bytes": size})


def restore_backup(memory: OpenMemory, source: str) -> Result[dict[str, Any]]:
    """Bring a backup to this home, where no store may be yet."""
    store = Store.restore(source, memory.location)
    return Result("backup", {"restored": memory.location, "facts": store.record.count("facts")})


class _Scrubber:
    """Redacts stored texts and keeps count of what it finds."""

    def __init__(self, rules: RedactionRules) -> None:
        self._rules = rules
        self.found: Counter[str] = Counter()
        self.values: set[str] = set()

    def fact(self, fact: Fact) -> Fact:
        """Redact a fact's text, its reason and every wording of it."""
        wordings = tuple(self._wording(wording) for wording in fact.wordings)
        return replace(fact, text=self._text(fact.text), because=self._text(fact.because), wordings=wordings)

    def message(self, stored: StoredMessage) -> StoredMessage:
        """Redact a message, with what tools were asked and answered."""
        message = stored.message
        calls = tuple(replace(call, arguments=self._text(call.arguments)) for call in message.tool_calls)
        results = tuple(replace(result, content=self._text(result.content)) for result in message.tool_results)
        clean = replace(message, text=self._text(message.text), tool_calls=calls, tool_results=results)
        return replace(stored, message=clean)

    def _wording(self, wording: Wording) -> Wording:
        source = replace(wording.source, quote=self._text(wording.source.quote))
        return replace(wording, text=self._text(wording.text), source=source)

    def _text(self, text: str) -> str:
        redacted = redact(text, self._rules)
        self.found.update(redacted.found)
        self.values.update(redacted.values)
        return redacted.text


def _write_scrubbed(
    memory: OpenMemory, facts: Sequence[Fact], messages: Sequence[StoredMessage], values: set[str]
) -> None:
    """Write the clean texts in place of the old ones and make the old ones unreadable for good."""
    rewritten = [FactWrite(fact, vector, analyse(fact.text)) for fact, vector in _embedded(memory, facts)]
    rows = [
        replace(stored, terms=analyse(stored.message.text), vector=vector)
        for stored, vector in _embedded_messages(memory, messages)
    ]
    changes = Changes(facts=rewritten, messages=rows)
    memory.store.rewrite(changes, RunInfo("scrub", "", memory.now()), sorted(values), wait=memory.wait)


def _embedded(memory: OpenMemory, facts: Sequence[Fact]) -> Iterator[tuple[Fact, Any]]:
    if facts:
        yield from zip(facts, memory.embed([fact.text for fact in facts]), strict=True)


def _embedded_messages(memory: OpenMemory, messages: Sequence[StoredMessage]) -> Iterator[tuple[StoredMessage, Any]]:
    for start in range(0, len(messages), _BATCH):
        part = messages[start : start + _BATCH]
        yield from zip(part, memory.embed([stored.message.text for stored in part]), strict=True)
