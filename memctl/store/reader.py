"""Reading a store: no lock, no waiting, also on a read-only folder and in the middle of somebody's write."""

import dataclasses
import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, Literal, overload

from memctl import times
from memctl.errors import Ambiguous, NotFound
from memctl.model import Fact
from memctl.store import ledger, queries, search, spool
from memctl.store.filters import fact_condition, literal
from memctl.store.home import Home, Meta
from memctl.store.index import Index
from memctl.store.record import Record
from memctl.store.rows import (
    FACT_COLUMNS,
    MESSAGE_COLUMNS,
    Row,
    fact_of,
    from_table,
    message_of,
    state_id,
    state_of,
    utc,
)
from memctl.store.trim import left_of
from memctl.store.types import (
    Filter,
    Found,
    FoundMessage,
    LedgerEntry,
    Near,
    Prefix,
    Run,
    StateEntry,
    StoredMessage,
)

FOLDING = "fold"

_MANY = 50  # facts whose ids begin alike: counted no further


class Reader:
    """All questions that a store answers. Tables are opened when they are first asked."""

    def __init__(self, home: Home, meta: Meta) -> None:
        """Look at the store at ``home``; ``notes`` collects what people should be told on the side."""
        self.home = home
        self.meta = meta
        self.notes: list[str] = []
        self.record = Record(home, meta.model.dimension, self.notes.append)
        self.index = Index(home, self.record, meta.id, self.notes.append)

    # Facts

    def search_facts(
        self, vector: Any, terms: str, scopes: Sequence[str] = (), *, where: Filter | None = None, limit: int = 50
    ) -> list[Found]:
        """Find the ``limit`` nearest facts to a vector and the ``limit`` best by words (BM25) in these scopes.

        ``vector`` None searches by words only; ``terms`` are analysed words, separated by spaces. ``where``
        narrows before the search; its ``agents`` are replaced by ``scopes``. Every fact carries its exact cosine
        where a vector was given, and its BM25 score where words matched. Best cosine first.
        """
        wanted = _scoped(where or Filter(), scopes)
        return search.search_facts(self.record, vector, terms, wanted, limit)

    def near(self, vectors: Sequence[Any], agent: str, *, limit: int = 20, floor: float = 0.0) -> list[list[Near]]:
        """For each vector the most similar facts of exactly this scope in any state, with cosine and vector."""
        return search.near(self.record, vectors, agent, limit, floor)

    def list_facts(self, where: Filter | None = None, *, sort: str = "said", limit: int | None = None) -> list[Fact]:
        """Give the facts that a filter means, from the index. ``sort`` is one of ``queries.SORTS``."""
        return self.index.read(
            lambda connection: queries.listing(connection, where or Filter(), sort=sort, limit=limit)
        )

    def count_facts(self, where: Filter | None = None) -> int:
        """How many facts a filter means."""
        return self.index.read(lambda connection: queries.counting(connection, where or Filter()))

    def scope_size(self, agent: str) -> int:
        """How many facts the record has of exactly this scope, in any state."""
        return self.record.count("facts", f"agent = {literal(agent)}")

    @overload
    def all_facts(self, where: Filter | None = None) -> Iterator[Fact]: ...

    @overload
    def all_facts(self, where: Filter | None = None, *, vectors: Literal[True]) -> Iterator[tuple[Fact, Any]]: ...

    def all_facts(self, where: Filter | None = None, *, vectors: bool = False) -> Iterator[Fact | tuple[Fact, Any]]:
        """Stream facts from the record, in no order; with ``vectors``, pairs of fact and vector."""
        columns = [*FACT_COLUMNS, "vector"] if vectors else list(FACT_COLUMNS)
        for part in self.record.batches("facts", columns=columns, where=fact_condition(where or Filter())):
            for row in from_table(search.as_table(part)):
                yield (fact_of(row), row["vector"]) if vectors else fact_of(row)

    def facts_by_ids(self, ids: Sequence[str]) -> list[Fact]:
        """Give the facts with these ids, in this order; unknown ids are left out."""
        found = self.record.by_ids("facts", ids, FACT_COLUMNS)
        return [fact_of(found[name]) for name in dict.fromkeys(ids) if name in found]

    def fact(self, prefix: str) -> Fact:
        """Give the one fact whose id begins so; NotFound where there is none or more than one."""
        rows = self.record.rows("facts", columns=FACT_COLUMNS, where=f"starts_with(id, {literal(prefix)})", limit=_MANY)
        exact = [row for row in rows if row["id"] == prefix] or rows
        if not exact or not prefix:
            raise NotFound(what="fact", name=prefix or "an empty id")
        if len(exact) > 1:
            raise Ambiguous(what="fact", name=prefix, count=f"{_MANY} or more" if len(exact) == _MANY else len(exact))
        return fact_of(exact[0])

    def contested(self, agents: Sequence[str] = ()) -> list[tuple[Fact, Fact]]:
        """Give the pairs of facts that contest each other, the earlier said first in each."""
        pairs = self.index.read(lambda connection: queries.contested(connection, agents))
        facts = {fact.id: fact for fact in self.facts_by_ids([name for pair in pairs for name in pair])}
        return [(facts[a], facts[b]) for a, b in pairs if a in facts and b in facts]

    def stats(self, where: Filter | None = None) -> dict[str, Any]:
        """Numbers: facts by agent, type, state and month; messages, transcripts, runs; bytes on disk."""
        numbers = self.index.read(lambda connection: queries.statistics(connection, where or Filter()))
        return numbers | {"bytes": self.size()}

    def sql(self, query: str, *, limit: int = 1000, seconds: float = 5.0) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Answer one SELECT over the index; it can change nothing and read no file."""
        return self.index.sql(query, limit=limit, seconds=seconds)

    def message_paths(self) -> set[str]:
        """Name every file that messages were read from."""
        return self.index.read(queries.message_paths)

    def size(self) -> int:
        """Give the bytes that the store takes on this machine."""
        return sum(entry.stat().st_size for entry in self.home.near.rglob("*") if entry.is_file())

    # Messages and transcripts

    def search_messages(
        self, vector: Any, terms: str, scopes: Sequence[str] = (), *, limit: int = 50
    ) -> list[FoundMessage]:
        """Give the messages nearest to a vector and those best by words, together, in these scopes."""
        return search.search_messages(self.record, vector, terms, scopes, limit)

    def messages_of(self, transcript: str, *, vectors: bool = False) -> list[StoredMessage]:
        """Give the messages of a transcript (by its id), in order."""
        columns = [*MESSAGE_COLUMNS, "vector"] if vectors else MESSAGE_COLUMNS
        rows = self.record.rows("messages", columns=columns, where=f"transcript_id = {literal(transcript)}")
        return [message_of(row) for row in sorted(rows, key=lambda row: row["index"])]

    def all_messages(self) -> Iterator[StoredMessage]:
        """Stream every message of the record, in no order, without vectors."""
        for part in self.record.batches("messages", columns=MESSAGE_COLUMNS):
            yield from (message_of(row) for row in from_table(search.as_table(part)))

    def transcripts(
        self, *, agent: str | None = None, path: str | None = None, digest: str | None = None
    ) -> list[LedgerEntry]:
        """Give the ledger's entries: all, or those of an agent, a path or the digest of a file's bytes."""
        return ledger.entries(self.record, agent=agent, path=path, digest=digest)

    def known_prefix(self, agent: str, chains: Sequence[str]) -> Prefix:
        """How many messages at the beginning of a chat (given by its chains) the record has, and where."""
        return ledger.known_prefix(self.record, agent, chains)

    # State, uses

    def state_get(self, agent: str, key: str, *, at: datetime | None = None) -> StateEntry | None:
        """Give a value of a scope; None where there is none or it has expired."""
        entry = self.record.by_ids("state", [state_id(agent, key)]).values()
        found = [state_of(row) for row in entry]
        return found[0] if found and _alive(found[0], at or times.now()) else None

    def state_list(self, agent: str | None = None, *, at: datetime | None = None) -> list[StateEntry]:
        """Give the values of a scope, or of all, that have not expired; by scope and key."""
        rows = self.record.rows("state", where=f"agent = {literal(agent)}" if agent is not None else "")
        alive = [entry for entry in map(state_of, rows) if _alive(entry, at or times.now())]
        return sorted(alive, key=lambda entry: (entry.agent, entry.key))

    def record_use(self, ids: Sequence[str], at: datetime) -> None:
        """Note that these facts were recalled; never fails, never waits, counted in by the next writer."""
        spool.record_use(self.home.spool, ids, at)

    # Runs

    def runs(self, *, limit: int | None = None) -> list[Run]:
        """Give the log, newest first."""
        parts: dict[str, list[Row]] = {}
        for row in self.record.rows("runs"):
            parts.setdefault(row["run"], []).append(row)
        told = (_run_of(rows) for rows in parts.values())
        found = sorted((run for run in told if run.command != FOLDING), key=lambda run: -run.sequence)
        return found[:limit]


def _run_of(rows: list[Row]) -> Run:
    rows = sorted(rows, key=lambda row: row["part_number"])
    counts: dict[str, int] = {}
    added = changed = 0
    for row in rows:
        for name, number in json.loads(row["counts"]).items():
            counts[name] = counts.get(name, 0) + number
        log = json.loads(row["changes"])
        left = left_of(row) or {}
        added += left.get("added", len(log["added"].get("facts", ())))
        changed += left.get("changed", len(log["before"].get("facts", ())))
    head, tail = rows[0], rows[-1]
    return Run(
        id=head["run"],
        command=head["command"],
        args=head["args"],
        started_at=utc(head["started_at"]) or times.now(),
        finished_at=utc(tail["finished_at"]) or times.now(),
        counts=counts,
        parts=len(rows),
        sequence=tail["sequence"],
        undone_by=tail["undone_by"],
        undoes=head["undoes"],
        facts_added=added,
        facts_changed=changed,
    )


def _scoped(wanted: Filter, scopes: Sequence[str]) -> Filter:
    return dataclasses.replace(wanted, agents=tuple(scopes)) if scopes else wanted


def _alive(entry: StateEntry, at: datetime) -> bool:
    return entry.expires_at is None or entry.expires_at > at
