"""What the classifier reads: a message cut into units, with the turns around it.

A window is a pair of texts. The first is the context (who spoke before and after, and what), the
second the units of one message, each behind a marker; the classifier answers once a marker.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from memctl.extraction.segment import Unit
from memctl.languages import gloss, language

MARKER = "[MASK]"
SLOTS = 12
_BUDGET = 150  # tokens of one window's units, by the cautious estimate below
_BEFORE_CHARS, _AFTER_CHARS, _LEAD_CHARS = 110, 60, 40
_SPECIAL = re.compile(r"\[(MASK|SEP|CLS|PAD|UNK|unused\d+)\]")
_TOKENS = re.compile(r"[A-Za-z]+|[0-9]+|[^\sA-Za-z0-9]")


@dataclass(frozen=True, slots=True)
class Turn:
    """A message as a window shows it: who said it, of what kind, its whole text and its units."""

    speaker: str
    kind: str
    text: str
    units: tuple[Unit, ...]


@dataclass(frozen=True, slots=True)
class Window:
    """The model's input for units ``first`` up to ``last`` (exclusive) of turn ``turn``."""

    turn: int
    first: int
    last: int
    text: tuple[str, str]


def windows(turns: Sequence[Turn], wanted: Sequence[bool]) -> list[Window]:
    """Lay windows over the wanted turns. Every unit of such a turn is in exactly one window."""
    tongues = [language(turn.text) for turn in turns]
    made: list[Window] = []
    for place, turn in enumerate(turns):
        if wanted[place] and turn.units:
            context = _context(turns, tongues, place)
            made.extend(_over(turn, tongues[place], place, context))
    return made


def alone(text: str) -> tuple[str, str]:
    """Write the model's input for a sentence that stands in no chat."""
    return "start / end", f"user (person): {MARKER} {_clean(gloss(text, language(text)))[:400]}"


def _over(turn: Turn, tongue: str, place: int, context: str) -> list[Window]:
    said = [_unit(unit, tongue) for unit in turn.units]
    who = f"{_speaker(turn)}:"
    return [
        Window(place, first, last, (context, f"{who} {' '.join(f'{MARKER} {text}' for text in said[first:last])}"))
        for first, last in _spans(said)
    ]


def _spans(said: Sequence[str]) -> list[tuple[int, int]]:
    """Pack units into windows that the model takes whole."""
    spans: list[tuple[int, int]] = []
    first, room = 0, _BUDGET
    for place, text in enumerate(said):
        need = tokens(text) + 1
        if place > first and (need > room or place - first == SLOTS):
            spans.append((first, place))
            first, room = place, _BUDGET
        room -= need
    return [*spans, (first, len(said))]


def tokens(text: str) -> int:
    """Estimate the tokens of a text, rather too many than too few."""
    return sum(1 if len(piece) < 4 else (len(piece) + 3) // 4 for piece in _TOKENS.findall(text))


def _unit(unit: Unit, tongue: str) -> str:
    """Write a unit for the model: how it stands in the message, then its words."""
    text = _clean(gloss(unit.text, tongue))[:400]
    if unit.kind == "sentence":
        return text
    lead = f"{_clean(gloss(unit.lead, tongue))[:_LEAD_CHARS]}: " if unit.lead else ""
    return f"({unit.kind}) {lead}{text}"


def _speaker(turn: Turn) -> str:
    return f"{_clean(turn.speaker)[:24]} ({turn.kind})"


def _context(turns: Sequence[Turn], tongues: Sequence[str], place: int) -> str:
    """Write what was said just before and just after."""
    parts = []
    if place > 0:
        before = turns[place - 1]
        text = _clean(gloss(before.text[-_BEFORE_CHARS * 2 :], tongues[place - 1]))
        parts.append(f"{_speaker(before)}: {_tail(text)}")
    else:
        parts.append("start")
    if place + 1 < len(turns):
        after = turns[place + 1]
        text = _clean(gloss(after.text[: _AFTER_CHARS * 2], tongues[place + 1]))
        parts.append(f"{_speaker(after)}: {text[:_AFTER_CHARS]}")
    else:
        parts.append("end")
    return " / ".join(parts)


def _tail(text: str) -> str:
    return text if len(text) <= _BEFORE_CHARS else "…" + text[-_BEFORE_CHARS:]


def _clean(text: str) -> str:
    """Keep a speaker from writing the model's own marks, and collapse white space."""
    return " ".join(_SPECIAL.sub(r"(\1)", text).split())
