"""The shapes that cross memctl's borders: facts and messages as JSON, there and back without loss."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum
from math import isfinite
from typing import Any

from memctl.model import Fact, Hit, Interval, MemoryType, MessageHit, Problem, RecallBlock, Source, State, Wording
from memctl.times import iso, parse_instant


def source_shape(source: Source) -> dict[str, Any]:
    """Say where something was said."""
    return {
        "transcript": source.transcript,
        "message": source.message,
        "speaker": source.speaker,
        "quote": source.quote,
        "at": iso(source.at),
        "role": source.role,
    }


def fact_shape(fact: Fact) -> dict[str, Any]:
    """Write a fact as ``export`` does: one flat object, everything in it."""
    return {
        "id": fact.id,
        "agent": fact.agent,
        "text": fact.text,
        "type": str(fact.type),
        "state": str(fact.state),
        "tags": list(fact.tags),
        "said_at": iso(fact.said_at),
        "last_said_at": iso(fact.last_said_at),
        "recorded_at": iso(fact.recorded_at),
        "expires_at": iso(fact.expires_at),
        "supersedes": list(fact.supersedes),
        "superseded_by": fact.superseded_by,
        "contested_with": list(fact.contested_with),
        "because": fact.because,
        "rule": fact.rule,
        "score": fact.score,
        "confidence": fact.confidence,
        "confirmed": fact.confirmed,
        "pinned": fact.pinned,
        "uses": fact.uses,
        "last_used_at": iso(fact.last_used_at),
        "held": [{"since": iso(span.since), "until": iso(span.until)} for span in fact.held],
        "wordings": [_wording_shape(wording) for wording in fact.wordings],
        "sources": [source_shape(source) for source in fact.sources],
    }


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


def hit_shape(hit: Hit) -> dict[str, Any]:
    """Write a recalled fact."""
    fact = hit.fact
    return {
        "id": fact.id,
        "text": fact.text,
        "type": str(fact.type),
        "state": str(fact.state),
        "score": round(hit.score, 4),
        "agent": fact.agent,
        "said_at": iso(fact.said_at),
        "expires_at": iso(fact.expires_at),
        "tags": list(fact.tags),
        "sources": [source_shape(source) for source in fact.sources],
        **({"parts": {name: round(value, 4) for name, value in hit.parts.items()}} if hit.parts else {}),
    }


def message_hit_shape(hit: MessageHit) -> dict[str, Any]:
    """Write a recalled message."""
    return {
        "transcript": hit.transcript,
        "message": hit.message,
        "speaker": hit.speaker,
        "text": hit.text,
        "score": round(hit.score, 4),
        "said_at": iso(hit.said_at),
        "before": hit.before,
        "after": hit.after,
    }


def block_shape(block: RecallBlock) -> dict[str, Any]:
    """Write an answer as ``recall --format json`` does."""
    return {
        "query": block.query,
        "agent": block.agent,
        "text": block.text,
        "tokens": block.tokens,
        "facts": [hit_shape(hit) for hit in block.hits],
        "messages": [message_hit_shape(hit) for hit in block.messages],
        "left_out": block.left_out,
    }


def problem_shape(problem: Problem) -> dict[str, Any]:
    """Write a problem as the envelope does."""
    return {
        "code": problem.code,
        "message": problem.message,
        "where": problem.where,
        "remedy": problem.remedy,
    }


def writable(text: str) -> str:
    """Take a text as it can be embedded, stored and printed: half a surrogate pair cannot."""
    return text.encode("utf-8", "replace").decode("utf-8")


def plain(value: Any) -> Any:
    """Turn any data of a result into what JSON can say; nouns with a shape of their own use it."""
    for kind, shape in _SHAPES:
        if isinstance(value, kind):
            return shape(value)
    if isinstance(value, datetime):
        return iso(value)
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    return value if isinstance(value, str | int | float | bool | None) else str(value)


_SHAPES: tuple[tuple[type, Any], ...] = (
    (Fact, fact_shape),
    (Hit, hit_shape),
    (MessageHit, message_hit_shape),
    (RecallBlock, block_shape),
    (Problem, problem_shape),
    (Source, source_shape),
)


def _wording_shape(wording: Wording) -> dict[str, Any]:
    return {
        "text": wording.text,
        "said_at": iso(wording.said_at),
        "confirmed": wording.confirmed,
        "source": source_shape(wording.source),
    }


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
