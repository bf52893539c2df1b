"""Conditions in Lance's SQL. Every value from outside goes through ``literal`` or ``instant``."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from memctl.store.types import Filter


def literal(value: str) -> str:
    """Give a string literal: quotes doubled, and lone surrogates replaced as they are on writing."""
    safe = value.encode("utf-8", "replace").decode("utf-8")
    return "'" + safe.replace("'", "''") + "'"


def instant(value: datetime) -> str:
    """Give a timestamp literal."""
    return f"timestamp '{value.astimezone(UTC).isoformat(timespec='microseconds')}'"


def one_of(column: str, values: Iterable[object]) -> str:
    """Give the column's value is one of these; of none, nothing matches."""
    listed = ", ".join(literal(str(value)) for value in values)
    return f"{column} IN ({listed})" if listed else "false"


def any_of(column: str, values: Sequence[str]) -> str:
    """Give the list column has one of these."""
    return "(" + " OR ".join(f"array_has({column}, {literal(value)})" for value in values) + ")"


def both(*conditions: str) -> str:
    """All the conditions that are not empty, together."""
    return " AND ".join(f"({condition})" for condition in conditions if condition)


def fact_condition(wanted: Filter) -> str:
    """Give the condition for a filter over facts; empty where it does not restrict."""
    parts = [one_of(column, values) for column, values in _choices(wanted) if values]
    parts += [
        any_of(column, values) for column, values in (("tags", wanted.tags), ("speakers", wanted.speakers)) if values
    ]
    if wanted.since:
        parts.append(f"last_said_at >= {instant(wanted.since)}")
    if wanted.until:
        parts.append(f"said_at <= {instant(wanted.until)}")
    if wanted.alive_at:
        parts.append(f"expires_at IS NULL OR expires_at > {instant(wanted.alive_at)}")
    if wanted.expired_at:
        parts.append(f"expires_at <= {instant(wanted.expired_at)}")
    if wanted.contains:
        parts.append(f"strpos(lower(text), {literal(wanted.contains.lower())}) > 0")
    if wanted.pinned is not None:
        parts.append(f"pinned = {str(wanted.pinned).lower()}")
    return both(*parts)


def _choices(wanted: Filter) -> list[tuple[str, Sequence[object]]]:
    return [("agent", wanted.agents), ("type", wanted.types), ("state", wanted.states), ("id", wanted.ids)]
