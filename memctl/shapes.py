"""The shapes that cross memctl's borders: facts and messages as JSON, there and back without loss."""

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum
from math import isfinite
from operator import attrgetter
from typing import Any

from memctl.model import Fact, Hit, Interval, MemoryType, MessageHit, Problem, RecallBlock, Source, State, Wording
from memctl.times import iso, parse_instant

Field = Callable[[Any], Any]


def _own(*names: str, of: str = "") -> dict[str, Field]:
    """Show fields under their own names; ``of`` leads to the part that has them."""
    return {name: attrgetter(of + name) for name in names}


def _score(hit: Hit | MessageHit) -> float:
    return round(hit.score, 4)


# What each noun shows, in this order.
_SHAPES: dict[type, dict[str, Field]] = {
    Source: _own("transcript", "message", "speaker", "quote", "at", "role"),
    Interval: _own("since", "until"),
    Wording: _own("text", "said_at", "confirmed", "source"),
    Fact: {
        **_own("id", "agent", "text", "type", "state", "tags", "said_at", "last_said_at", "recorded_at", "expires_at"),
        **_own("supersedes", "superseded_by", "contested_with", "because", "rule", "score", "confidence", "confirmed"),
        **_own("pinned", "uses", "last_used_at", "held", "wordings", "sources"),
    },
    Hit: {
        **_own("id", "text", "type", "state", of="fact."),
        "score": _score,
        **_own("agent", "said_at", "expires_at", "tags", "sources", of="fact."),
    },
    MessageHit: {
        **_own("transcript", "message", "speaker", "text"),
        "score": _score,
        **_own("said_at", "before", "after"),
    },
    RecallBlock: {
        **_own("query", "agent", "text", "tokens"),
        "facts": attrgetter("hits"),
        **_own("messages", "left_out"),
    },
    Problem: _own("code", "message", "where", "remedy"),
}


def plain(value: Any) -> Any:
    """Turn any data of a result into what JSON can say; nouns with a shape of their own use it."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, str | int | float | bool | None):
        return value
    if isinstance(value, datetime):
        return iso(value)
    if isinstance(value, Hit):
        return hit_shape(value)
    if is_dataclass(value) and not isinstance(value, type):
        return _shape(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    return str(value)


def fact_shape(fact: Fact) -> dict[str, Any]:
    """Write a fact as ``export`` does: one flat object, everything in it."""
    return _shape(fact)


def hit_shape(hit: Hit) -> dict[str, Any]:
    """Write a recalled fact, with the parts of its score where they are known."""
    parts = {"parts": {name: round(value, 4) for name, value in hit.parts.items()}} if hit.parts else {}
    return {**_shape(hit), **parts}


def block_shape(block: RecallBlock) -> dict[str, Any]:
    """Write an answer as ``recall --format json`` does."""
    return _shape(block)


def _shape(noun: Any) -> dict[str, Any]:
    """Write a noun as the table says; one that is not in it, with all its fields."""
    shown = _SHAPES.get(type(noun)) or _own(*(field.name for field in fields(noun)))
    return {name: plain(field(noun)) for name, field in shown.items()}


def fact_from_shape(shape: Mapping[str, Any]) -> Fact:
    """Read what ``fact_shape`` wrote; raises KeyError, ValueError or TypeError where it is not one.

    The shape may come from anywhere, so nothing gets in that a store could not hold or give back.
    """
    said_at = parse_instant(shape["said_at"])
    return Fact(
        id=_name(shape, "id"),
        agent=_name(shape, "agent"),
        text=_name(shape, "text"),
        type=MemoryType(shape["type"]),
        state=State(shape["state"]),
        said_at=said_at,
        last_said_at=_instant(shape.get("last_said_at")) or said_at,
        recorded_at=_instant(shape.get("recorded_at")) or said_at,
        expires_at=_instant(shape.get("expires_at")),
        tags=_texts(shape, "tags"),
        wordings=_wordings(shape, said_at),
        held=tuple(
            Interval(parse_instant(span["since"]), _instant(span.get("until"))) for span in shape.get("held") or ()
        ),
        supersedes=_texts(shape, "supersedes"),
        superseded_by=_text(shape, "superseded_by") or None,
        contested_with=_texts(shape, "contested_with"),
        because=_text(shape, "because"),
        rule=_text(shape, "rule"),
        score=_number(shape, "score", 1.0),
        confidence=_number(shape, "confidence", 1.0),
        confirmed=bool(shape.get("confirmed", False)),
        pinned=bool(shape.get("pinned", False)),
        uses=_count(shape.get("uses", 0)),
        last_used_at=_instant(shape.get("last_used_at")),
    )


def writable(text: str) -> str:
    """Take a text as it can be embedded, stored and printed: half a surrogate pair cannot."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _wordings(shape: Mapping[str, Any], said_at: datetime) -> tuple[Wording, ...]:
    """Read the wordings; an export by another tool may have sources only."""
    if shape.get("wordings"):
        return tuple(
            Wording(
                _text(item, "text"),
                parse_instant(item["said_at"]),
                _source(item["source"]),
                bool(item.get("confirmed", False)),
            )
            for item in shape["wordings"]
        )
    sources = [_source(item) for item in shape.get("sources") or ()]
    return tuple(Wording(_name(shape, "text"), source.at or said_at, source) for source in sources)


def _source(shape: Mapping[str, Any]) -> Source:
    message = shape.get("message")
    return Source(
        transcript=_text(shape, "transcript"),
        message=None if message is None else _count(message),
        speaker=_text(shape, "speaker"),
        quote=_text(shape, "quote"),
        at=_instant(shape.get("at")),
        role=_text(shape, "role"),
    )


def _instant(text: str | None) -> datetime | None:
    return parse_instant(text) if text else None


def _name(shape: Mapping[str, Any], field: str) -> str:
    """Read a text that must be there."""
    text = _checked_text(shape[field], field)
    if not text:
        raise ValueError(f"{field} is empty")
    return text


def _text(shape: Mapping[str, Any], field: str) -> str:
    return _checked_text(shape.get(field) or "", field)


def _texts(shape: Mapping[str, Any], field: str) -> tuple[str, ...]:
    listed = shape.get(field) or []
    if not isinstance(listed, list):
        raise TypeError(f"{field} is not a list")
    return tuple(_checked_text(item, field) for item in listed)


def _checked_text(value: Any, field: str) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{field} is not a text")
    return writable(value)


def _number(shape: Mapping[str, Any], field: str, default: float) -> float:
    number = float(shape.get(field, default))
    if not isfinite(number):
        raise ValueError(f"{field} is not a number")
    return number


def _count(value: Any) -> int:
    number = int(value)
    if not 0 <= number < 2**53:
        raise ValueError("a count is out of bounds")
    return number
