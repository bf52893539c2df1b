"""The index's tables and the questions asked of them. Values are always parameters, never text of the query."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from memctl.errors import UsageProblem
from memctl.model import Fact
from memctl.store.rows import FACT_COLUMNS, fact_of
from memctl.store.types import Filter

SCHEMA = (
    """CREATE TABLE facts (
        id VARCHAR, agent VARCHAR, text VARCHAR, type VARCHAR, state VARCHAR, tags VARCHAR[], said_at TIMESTAMP,
        last_said_at TIMESTAMP, recorded_at TIMESTAMP, expires_at TIMESTAMP, supersedes VARCHAR[],
        superseded_by VARCHAR, contested_with VARCHAR[], because VARCHAR, rule VARCHAR, score DOUBLE,
        confidence DOUBLE, confirmed BOOLEAN, pinned BOOLEAN, uses BIGINT, last_used_at TIMESTAMP,
        speakers VARCHAR[], wordings VARCHAR, held VARCHAR, changed BIGINT)""",
    """CREATE TABLE messages (
        id VARCHAR, transcript_id VARCHAR, agent VARCHAR, path VARCHAR, "index" BIGINT, speaker VARCHAR,
        role VARCHAR, "at" TIMESTAMP, chain VARCHAR, changed BIGINT)""",
    """CREATE TABLE transcripts (
        id VARCHAR, agent VARCHAR, path VARCHAR, part VARCHAR, format VARCHAR, digest VARCHAR, size BIGINT,
        mtime TIMESTAMP, messages BIGINT, chain VARCHAR, "at" TIMESTAMP, recorded_at TIMESTAMP, notes VARCHAR,
        changed BIGINT)""",
    """CREATE TABLE state (
        id VARCHAR, agent VARCHAR, key VARCHAR, updated_at TIMESTAMP, expires_at TIMESTAMP, changed BIGINT)""",
    """CREATE TABLE runs (
        id VARCHAR, run VARCHAR, part_number BIGINT, sequence BIGINT, command VARCHAR, args VARCHAR,
        started_at TIMESTAMP, finished_at TIMESTAMP, counts VARCHAR, undone_by VARCHAR, undoes VARCHAR,
        changed BIGINT)""",
)

SORTS = {
    "said": "said_at DESC, id",
    "last_said": "last_said_at DESC, id",
    "oldest": "said_at, id",
    "recorded": "recorded_at DESC, id",
    "expires": "expires_at NULLS LAST, id",
    "used": "uses DESC, last_used_at DESC NULLS LAST, id",
    "text": "lower(text), id",
    "agent": "agent, said_at DESC, id",
    "type": "type, said_at DESC, id",
    "id": "id",
}


def listing(connection: Any, wanted: Filter, *, sort: str = "said", limit: int | None = None) -> list[Fact]:
    """Give the facts that a filter means, sorted by one of ``SORTS``."""
    if sort not in SORTS:
        raise UsageProblem(reason=f"Facts cannot be sorted by {sort!r}", remedy=f"Use one of: {', '.join(SORTS)}.")
    where, values = condition(wanted)
    query = f"SELECT {', '.join(FACT_COLUMNS)} FROM facts WHERE {where} ORDER BY {SORTS[sort]}"  # noqa: S608
    if limit is not None:
        query, values = query + " LIMIT ?", [*values, limit]
    rows = connection.execute(query, values).fetchall()
    return [fact_of(dict(zip(FACT_COLUMNS, map(_aware, row), strict=True))) for row in rows]


def counting(connection: Any, wanted: Filter) -> int:
    """How many facts a filter means."""
    where, values = condition(wanted)
    return total(connection, "facts", where, values)


def total(connection: Any, table: str, where: str = "true", values: Sequence[Any] = ()) -> int:
    """How many rows of a table meet a condition."""
    # DuckDB refuses the next query until a result was fetched to its end, so never fetch only one row.
    query = f"SELECT count(*) FROM {table} WHERE {where}"  # noqa: S608
    return int(connection.execute(query, list(values)).fetchall()[0][0])


def statistics(connection: Any, wanted: Filter) -> dict[str, Any]:
    """Numbers of facts by agent, type, state and month of speaking, and of the rest of the record."""
    where, values = condition(wanted)
    groups = {"agent": "agent", "type": "type", "state": "state", "month": "strftime(said_at, '%Y-%m')"}
    result: dict[str, Any] = {"facts": counting(connection, wanted)}
    for name, column in groups.items():
        query = f"SELECT {column} AS name, count(*) FROM facts WHERE {where} GROUP BY 1 ORDER BY 1"  # noqa: S608
        result[f"by_{name}"] = dict(connection.execute(query, values).fetchall())
    for table in ("messages", "transcripts", "state"):
        result[table] = total(connection, table, *_one_of("agent", wanted.agents))
    result["runs"] = total(connection, "runs", "part_number = 0")
    return result


def message_paths(connection: Any) -> set[str]:
    """Name every file that messages were read from."""
    return {row[0] for row in connection.execute("SELECT DISTINCT path FROM messages").fetchall()}


def contested(connection: Any, agents: Sequence[str]) -> list[tuple[str, str]]:
    """Give the pairs of facts that contest each other, each once, older id first in the order of speaking."""
    scope, values = _one_of("a.agent", agents)
    query = f"""
        SELECT DISTINCT a.id, b.id, a.said_at, b.said_at
        FROM (SELECT id, agent, state, said_at, unnest(contested_with) AS other FROM facts) a
        JOIN facts b ON b.id = a.other
        WHERE a.state = 'contested' AND b.state = 'contested' AND {scope}
          AND (a.said_at, a.id) < (b.said_at, b.id)
        ORDER BY b.said_at DESC, a.id, b.id"""  # noqa: S608
    return [(row[0], row[1]) for row in connection.execute(query, values).fetchall()]


def condition(wanted: Filter) -> tuple[str, list[Any]]:
    """Give the WHERE clause of a filter, and its parameters."""
    parts = [
        _one_of("agent", wanted.agents),
        _one_of("type", [str(kind) for kind in wanted.types]),
        _one_of("state", [str(state) for state in wanted.states]),
        _one_of("id", wanted.ids),
        _any_of("tags", wanted.tags),
        _any_of("speakers", wanted.speakers),
    ]
    times = (
        ("last_said_at >= ?", wanted.since),
        ("said_at <= ?", wanted.until),
        ("(expires_at IS NULL OR expires_at > ?)", wanted.alive_at),
        ("expires_at <= ?", wanted.expired_at),
    )
    parts += [(text, [_naive(instant)]) for text, instant in times if instant]
    if wanted.contains:
        parts.append(("contains(lower(text), ?)", [wanted.contains.lower()]))
    if wanted.pinned is not None:
        parts.append(("pinned = ?", [wanted.pinned]))
    return " AND ".join(text for text, _ in parts), [value for _, values in parts for value in values]


def _one_of(column: str, values: Sequence[Any]) -> tuple[str, list[Any]]:
    return (f"list_contains(?, {column})", [list(values)]) if values else ("true", [])


def _any_of(column: str, values: Sequence[Any]) -> tuple[str, list[Any]]:
    return (f"list_has_any({column}, ?)", [list(values)]) if values else ("true", [])


def _naive(instant: datetime) -> datetime:
    return instant.astimezone(UTC).replace(tzinfo=None)


def _aware(value: Any) -> Any:
    return value.replace(tzinfo=UTC) if isinstance(value, datetime) else value
