"""A file after decoding and before recognition, and tolerant looks at values of unknown shape."""

import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from memctl.model import Message, Transcript

Companions = Callable[[str], bytes | None]


def no_companions(_relative: str) -> bytes | None:
    """Stand for a file that has no neighbours."""
    return None


class Shape(StrEnum):
    """What the bytes of a file turned out to be."""

    VALUES = "values"
    TEXT = "text"
    SQLITE = "sqlite"


@dataclass(frozen=True, slots=True)
class Document:
    """A decoded file.

    ``values`` are its top-level JSON values or Python literals in file order, ``text`` is set where it is
    neither, ``data`` where it is a database. ``companions`` fetches a neighbouring file by relative path.
    """

    path: str
    shape: Shape
    digest: str = ""
    values: tuple[Any, ...] = ()
    text: str = ""
    data: bytes = b""
    notes: tuple[str, ...] = ()
    companions: Companions = no_companions

    @property
    def records(self) -> list[Any]:
        """Entries of the file: the items of its lists and its other values, in file order."""
        if len(self.values) == 1 and isinstance(self.values[0], list):
            return self.values[0]
        return [item for value in self.values for item in (value if isinstance(value, list) else [value])]

    @property
    def root(self) -> dict[str, Any]:
        """The object that the file consists of; empty where it is anything else."""
        return mapping(self.values[0]) if len(self.values) == 1 else {}

    def transcript(
        self, form: str, messages: Iterable[Message], *, part: str = "", notes: Sequence[str] = ()
    ) -> Transcript:
        """Make a transcript of this file, with the remarks of decoding and of reading."""
        return Transcript(self.path, form, tuple(messages), self.digest, part, (*self.notes, *notes))


def mapping(value: Any) -> dict[str, Any]:
    """Take ``value`` as an object; anything else counts as an empty one."""
    return value if isinstance(value, dict) else {}


def written_mapping(value: Any) -> dict[str, Any]:
    """Take ``value`` as an object, also one that is written as JSON text; anything else counts as an empty one."""
    if isinstance(value, str):
        try:
            return mapping(json.loads(value))
        except (ValueError, RecursionError):
            return {}
    return mapping(value)


def sequence(value: Any) -> list[Any]:
    """Take ``value`` as a list; anything else counts as an empty one."""
    return value if isinstance(value, list) else list(value) if isinstance(value, tuple) else []


def string(value: Any) -> str:
    """Take ``value`` as a short text such as a name or an id; what is no text or number counts as none."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, bool) or value is None or (isinstance(value, float) and not math.isfinite(value)):
        return ""
    return str(value) if isinstance(value, int | float) else ""


def first(record: dict[str, Any], *keys: str) -> str:
    """Give the first of ``keys`` that holds a text."""
    for key in keys:
        if found := string(record.get(key)):
            return found
    return ""


def counted(number: int, noun: str) -> str:
    """Write a number with its noun: ``1 line``, ``2 lines``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def tame(text: object, longest: int = 80) -> str:
    """Shorten what came out of a file to one printable line, so that an error can quote it."""
    words = " ".join("".join(c if c.isprintable() else " " for c in str(text)[: 4 * longest]).split())
    return words if len(words) <= longest else words[:longest] + "..."


def objects(values: Iterable[Any]) -> list[dict[str, Any]]:
    """Keep the objects among ``values``."""
    return [value for value in values if isinstance(value, dict)]


def sample(document: Document, size: int = 50) -> list[dict[str, Any]]:
    """Give the first objects among the records: enough to tell a format by."""
    return objects(document.records[:size])
