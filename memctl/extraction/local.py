"""The default extractor: structure first, then a small classifier. No LLM, no network.

Messages are cut into units, the classifier judges each unit in its context, and what is kept is
written so that it stands alone. The classifier is handed in, so that nothing here depends on how it
is run.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from memctl.extraction.acts import tells_of_failure
from memctl.extraction.compose import Bar, Judged, Memory, compose
from memctl.extraction.expiry import DEFAULTS, expires, passes
from memctl.extraction.turns import turns
from memctl.extraction.types import Extraction, Trace
from memctl.extraction.windows import Turn, Window, alone, windows
from memctl.model import Claim, MemoryType, Message, Source, Transcript

if TYPE_CHECKING:
    import numpy as np

    Classify = Callable[[Sequence[str | tuple[str, str]]], list[np.ndarray[Any, Any]]]

_ALONE = 0.2  # the weight of a memory read without its chat when its type is decided
_LEAST = 1e-6
LABELS = ("drop", "decision", "preference", "fact", "failure", "context", "temporary")


@dataclass(frozen=True, slots=True)
class Card:
    """What is known about a set of weights: the classes in the order of the model's answers, and the bars.

    ``lean`` is added to the logarithm of a type's chance where the types of what was learnt from were not spread as
    they are in chats at large.
    """

    labels: tuple[str, ...] = LABELS
    bar: Bar = field(default_factory=Bar)
    lean: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, about: Mapping[str, Any]) -> "Card":
        """Read the description that lies beside the weights."""
        return cls(tuple(about["labels"]), Bar(**about["bar"]), dict(about.get("lean", {})))


@dataclass(frozen=True, slots=True)
class _Made:
    """A memory, the judged units of its message, and the place of its turn."""

    memory: Memory
    judged: list[Judged]
    turn: int


@dataclass(slots=True)
class _Read:
    """What reading a chat gave: its memories, and of each turn the units, the memories and the reasons."""

    made: list[_Made] = field(default_factory=list)
    turns: list[tuple[int, list[Judged], list[Memory], list[str]]] = field(default_factory=list)


class LocalExtractor:
    """Extract memories from cleaned transcripts with an injected classifier."""

    def __init__(
        self,
        classify: "Classify",
        card: Card | None = None,
        lifetimes: Mapping[MemoryType, timedelta | None] = DEFAULTS,
    ) -> None:
        """Take the model as ``classify`` (texts in, one array a graph output), its card, and the default lifetimes."""
        self._classify = classify
        self._card = card or Card()
        self._lifetimes = lifetimes

    def extract(
        self, transcripts: Sequence[Transcript], agent: str, since: Sequence[int] | None = None
    ) -> list[Extraction]:
        """Read each transcript for the scope ``agent``: one Extraction each, one model pass for all.

        Messages before place ``since[i]`` of transcript ``i`` are context only. Every message carries its time.
        """
        starts = list(since) if since is not None else [0] * len(transcripts)
        chats = [turns(transcript.messages) for transcript in transcripts]
        laid = [
            windows(chat, [place >= start for place in range(len(chat))])
            for chat, start in zip(chats, starts, strict=True)
        ]
        answers = self._judge([window.text for each in laid for window in each])
        read, used = [], 0
        for chat, each in zip(chats, laid, strict=True):
            read.append(self._read(chat, each, answers[used : used + len(each)]))
            used += len(each)
        alone_rows = iter(self._judge([alone(made.memory.text) for each in read for made in each.made]))
        return [
            self._extraction(transcript, each, [next(alone_rows)[0] for _ in each.made], agent)
            for transcript, each in zip(transcripts, read, strict=True)
        ]

    def types_of(self, texts: Sequence[str]) -> list[MemoryType]:
        """Tell what kind of memory each sentence is, for sentences that somebody wants kept."""
        rows = self._judge([alone(text) for text in texts])
        return [_as_told(text, self._type(_logs(row[0]))) for text, row in zip(texts, rows, strict=True)]

    def _judge(self, texts: list[tuple[str, str]]) -> Any:
        return self._classify(texts)[0] if texts else []

    def _read(self, chat: list[Turn], laid: list[Window], answers: Any) -> "_Read":
        """Judge every unit of a chat and compose its memories."""
        judged: dict[int, list[Judged]] = {}
        for window, rows in zip(laid, answers, strict=True):
            units = chat[window.turn].units[window.first : window.last]
            judged.setdefault(window.turn, []).extend(
                self._judged(unit, row) for unit, row in zip(units, rows, strict=False)
            )
        read = _Read()
        for place, each in sorted(judged.items()):
            memories, reasons = compose(each, chat, place, self._card.bar)
            read.made.extend(_Made(memory, each, place) for memory in memories)
            read.turns.append((place, each, memories, reasons))
        return read

    def _extraction(self, transcript: Transcript, read: "_Read", alone_rows: Sequence[Any], agent: str) -> Extraction:
        """Write the memories of a chat as claims, with the trace of all its sentences."""
        claims = [
            self._claim(made, self._settled(made, row), transcript, agent)
            for made, row in zip(read.made, alone_rows, strict=True)
        ]
        trace = [
            line
            for place, judged, memories, reasons in read.turns
            for line in _traces(transcript.messages[place], judged, memories, reasons)
        ]
        return Extraction(tuple(claims), tuple(trace))

    def _settled(self, made: "_Made", row: Any) -> MemoryType:
        """Decide the type by the sentence in its chat and, with less weight, by the memory read alone."""
        memory = made.memory
        if memory.rule != "classifier" or made.judged[memory.first].unit.kind == "error":
            return memory.type
        parts = made.judged[memory.first : memory.last + 1]
        there = [sum(part.chances[i] for part in parts) / len(parts) for i in range(len(self._card.labels))]
        return self._type(mixed(there, row))

    def _judged(self, unit: Any, row: Any) -> Judged:
        """Read a row of probabilities: the first is to drop, the others are the types."""
        return Judged(unit, 1.0 - float(row[0]), self._type(_logs(row)), tuple(float(chance) for chance in row))

    def _type(self, logs: Sequence[float]) -> MemoryType:
        """Choose the likeliest type by the logarithms of all chances."""
        labels, lean = self._card.labels, self._card.lean
        best = max(range(1, len(labels)), key=lambda i: logs[i] + lean.get(labels[i], 0.0))
        return MemoryType(labels[best])

    def _claim(self, made: "_Made", kind: MemoryType, transcript: Transcript, agent: str) -> Claim:
        memory, message = made.memory, transcript.messages[made.turn]
        if message.at is None:
            raise ValueError("every message carries its time when it comes here")
        kind = _as_told(memory.text, kind)
        if kind is MemoryType.FACT and passes(memory.text, message.at):
            kind = MemoryType.TEMPORARY
        quote = message.text[made.judged[memory.first].unit.start : made.judged[memory.last].unit.end].strip()
        source = Source(transcript.path, message.index, message.speaker, quote, message.at, message.role.value)
        return Claim(
            text=memory.text,
            type=kind,
            agent=agent,
            said_at=message.at,
            source=source,
            expires_at=expires(memory.text, kind, message.at, self._lifetimes),
            confidence=round(memory.score, 4),
            rule=memory.rule,
            because=memory.why if memory.rule != "classifier" else f"kept as {kind}",
        )


def _as_told(text: str, kind: MemoryType) -> MemoryType:
    """Take a plain report of a failure for one, whatever the classifier makes of the fact in it."""
    return MemoryType.FAILURE if kind is MemoryType.FACT and tells_of_failure(text) else kind


def mixed(there: Sequence[float], by_itself: Sequence[float]) -> list[float]:
    """Mix two rows of chances on the scale of logarithms, so that neither can be overruled by mere confidence."""
    return [(1 - _ALONE) * one + _ALONE * other for one, other in zip(_logs(there), _logs(by_itself), strict=True)]


def _logs(chances: Sequence[float]) -> list[float]:
    return [math.log(float(chance) + _LEAST) for chance in chances]


def _traces(message: Message, judged: list[Judged], memories: list[Memory], reasons: list[str]) -> list[Trace]:
    """Say of every sentence what became of it."""
    kept = {place for memory in memories for place in range(memory.first, memory.last + 1)}
    return [
        Trace(message.index, each.unit.text, i in kept, reasons[i], each.type.value, round(each.keep, 4))
        for i, each in enumerate(judged)
    ]
