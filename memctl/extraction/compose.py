"""From judged units to memories: which are kept, which belong together, and what the memory says."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from memctl.extraction import acts
from memctl.extraction.options import chosen
from memctl.extraction.segment import Unit, words
from memctl.extraction.standalone import (
    fits,
    is_fragment,
    leans_back,
    name_of,
    standalone,
    telling_lead,
    trim,
)
from memctl.extraction.windows import Turn
from memctl.model import MemoryType

_LEAD_WORDS = 5
# What happened is told in several sentences; decisions and facts are kept apart, for one may change without the other.
_TOLD_TOGETHER = (MemoryType.FAILURE, MemoryType.TEMPORARY, MemoryType.CONTEXT)
_SHORT_WORDS = 6  # what is shorter seldom says what it is about
_SUPPORT = 0.2  # a sentence this likely, too weak alone, still tells what the next one is about


@dataclass(frozen=True, slots=True)
class Judged:
    """What the classifier thinks of a unit: how much it is worth keeping, and as what."""

    unit: Unit
    keep: float
    type: MemoryType
    chances: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Memory:
    """A memory in the making: its text, the places of the units it was made of, and why it was kept."""

    text: str
    type: MemoryType
    score: float
    first: int
    last: int
    rule: str
    why: str


@dataclass(frozen=True, slots=True)
class Bar:
    """How sure the classifier must be: in general, for questions, tool errors, accepted and declared decisions."""

    keep: float = 0.5
    question: float = 0.8
    error: float = 0.35
    accepted: float = 0.45
    declared: float = 0.3
    types: dict[str, float] = field(default_factory=dict)

    def of(self, judged: Judged, accepted: bool) -> float:
        """Tell the score that this unit needs."""
        if judged.unit.kind == "error":
            return self.error
        if acts.is_question(judged.unit.text) and not accepted:
            return self.question
        if acts.is_declared(judged.unit.text):
            return self.declared
        if accepted and judged.type is MemoryType.DECISION:
            return self.accepted
        return self.types.get(judged.type.value, self.keep)


def compose(judged: Sequence[Judged], turns: Sequence[Turn], place: int, bar: Bar) -> tuple[list[Memory], list[str]]:
    """Make the memories of one turn. The second value says for every unit why it was or was not kept."""
    accepted = _is_accepted(turns, place)
    reasons = [_reason(each, bar, accepted) for each in judged]
    picked = _option(judged, turns, place)
    if picked:
        return [picked], [
            "kept: it chooses an option" if i == picked.first else why or "part of it" for i, why in enumerate(reasons)
        ]
    wanted = [not why for why in reasons]
    memories, made = [], set[int]()
    for i in range(len(judged)):
        if wanted[i] and i not in made:
            memory = _memory(judged, wanted, i, turns, place)
            made.update(range(memory.first, memory.last + 1))
            memories.append(memory)
    return memories, [why or f"kept as {each.type}" for why, each in zip(reasons, judged, strict=True)]


def _is_accepted(turns: Sequence[Turn], place: int) -> bool:
    """Say whether somebody else agrees in the next turn."""
    if place + 1 >= len(turns):
        return False
    after = turns[place + 1]
    return after.speaker != turns[place].speaker and acts.accepts(after.text)


def _reason(judged: Judged, bar: Bar, accepted: bool) -> str:
    """Say why a unit is dropped; nothing where it is kept."""
    unit = judged.unit
    if acts.is_courtesy(unit.text):
        return "a greeting, thanks or acknowledgement"
    if judged.keep >= bar.of(judged, accepted):
        return ""
    if acts.is_question(unit.text):
        return "a question"
    if acts.is_offer(unit.text):
        return "announces a step or asks for leave"
    return "not worth remembering, as far as the classifier can tell"


def _option(judged: Sequence[Judged], turns: Sequence[Turn], place: int) -> Memory | None:
    """Keep a short turn that chooses an option, with the words of the option."""
    if not judged or sum(words(each.unit.text) for each in judged) > 14 or acts.is_question(judged[0].unit.text):
        return None
    for i, each in enumerate(judged):
        found = chosen(each.unit.text, turns, place)
        if found:
            label, text = found
            who = name_of(turns[place].speaker)
            said = f"{who[:1].upper()}{who[1:]} chose {label}: {trim(text)}"
            return Memory(
                said,
                MemoryType.DECISION,
                max(each.keep, 0.6),
                i,
                i,
                "option",
                "it chooses an option that was listed before",
            )
    return None


def _memory(judged: Sequence[Judged], wanted: Sequence[bool], i: int, turns: Sequence[Turn], place: int) -> Memory:
    """Make the memory that begins with unit ``i``, with the neighbours that it cannot do without."""
    first, last = _reach(judged, wanted, i)
    said = _join(judged, first, last)
    text = _answered(said, turns, place) if first == 0 and is_fragment(said) else ""
    text = text or standalone(said, turns[place].speaker)
    unit = judged[i].unit
    lead = telling_lead(unit.lead) if unit.kind in ("item", "row") else ""
    if lead and words(lead) <= _LEAD_WORDS and fits(f"{lead}: {text}"):
        text = f"{lead}: {text}"
    if unit.kind == "error":
        text = f"Failed: {text}"
    best = max(judged[first : last + 1], key=lambda each: each.keep)
    kept_as = judged[i].type if unit.kind != "error" else MemoryType.FAILURE
    return Memory(text, kept_as, best.keep, first, last, "classifier", f"kept as {kept_as}")


def _answered(said: str, turns: Sequence[Turn], place: int) -> str:
    """Put what somebody else asked or proposed just before in front of an answer that says nothing without it."""
    before = turns[place - 1] if place else None
    if before is None or before.speaker == turns[place].speaker or not before.units or before.kind == acts.TOOL:
        return ""
    if acts.is_question(said):
        return ""
    asked = next((u for u in reversed(before.units) if acts.is_question(u.text)), before.units[-1])
    if asked.kind not in ("sentence", "item") or acts.is_courtesy(asked.text):
        return ""
    text = f"{standalone(asked.text, before.speaker)} – {name_of(turns[place].speaker)}: {said}"
    return text if fits(text) else ""


def _reach(judged: Sequence[Judged], wanted: Sequence[bool], i: int) -> tuple[int, int]:
    """Take in the sentence before where this one leans on it, and clauses of the same sentence that are kept too."""
    first = last = i
    if i > 0 and not wanted[i - 1] and _wants_before(judged[i - 1], judged[i].unit) and _joinable(judged, i - 1, i):
        first = i - 1
    while (
        last + 1 < len(judged)
        and wanted[last + 1]
        and _follows(judged[last], judged[last + 1])
        and _joinable(judged, first, last + 1)
    ):
        last += 1
    return first, last


def _wants_before(before: Judged, unit: Unit) -> bool:
    """Say whether a unit is better understood with the one before it."""
    if unit.kind != "sentence":
        return False
    return before.keep >= _SUPPORT or unit.continues or words(unit.text) <= _SHORT_WORDS or leans_back(unit.text)


def _follows(before: Judged, after: Judged) -> bool:
    """Say whether two units that are both kept are one memory."""
    unit = after.unit
    if unit.continues or unit.kind != "sentence":
        return unit.continues
    if leans_back(unit.text) or is_fragment(unit.text):
        return True
    return before.type is after.type and after.type in _TOLD_TOGETHER


def _joinable(judged: Sequence[Judged], first: int, last: int) -> bool:
    if acts.is_question(judged[first].unit.text) or acts.is_courtesy(judged[first].unit.text):
        return False
    return fits(_join(judged, first, last))


def _join(judged: Sequence[Judged], first: int, last: int) -> str:
    """Put units together as they were said; the lead-in of the first is cut before, so that it costs no room."""
    texts = [trim(judged[first].unit.text), *(each.unit.text for each in judged[first + 1 : last + 1])]
    return (
        " ".join(
            text if judged[first + n + 1].unit.continues or text[-1:] in ".!?。！？:;" else f"{text}."
            for n, text in enumerate(texts[:-1])
        )
        + (" " if len(texts) > 1 else "")
        + texts[-1]
    )
