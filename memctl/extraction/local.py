"""The default extractor: structure first, then a small classifier. No LLM, no network.

Messages are cut into units, the classifier judges each unit in its context, and what is kept is
written so that it stands alone. The classifier is handed in, so that nothing here depends on how it
is run.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from memctl.extraction.compose import Bar, Judged, Memory, compose
from memctl.extraction.expiry import DEFAULTS, expires, passes
from memctl.extraction.turns import turns
from memctl.extraction.types import Extraction, Trace
from memctl.extraction.windows import Turn, Window, alone, windows
from memctl.model import Claim, MemoryType, Message, Source, Transcript

if TYPE_CHECKING:
    import numpy as np

    Classify = Callable[[Sequence[str | tuple[str, str]]], list[np.ndarray[Any, Any]]]

LABELS = ("drop", "decision", "preference", "fact", "failure", "context", "temporary")


@dataclass(frozen=True, slots=True)
class Card:
    """What is known about a set of weights: the classes in the order of the model's answers, and the bars."""

    labels: tuple[str, ...] = LABELS
    bar: Bar = field(default_factory=Bar)

    @classmethod
    def of(cls, about: Mapping[str, Any]) -> "Card":
        """Read the description that lies beside the weights."""
        return cls(tuple(about["labels"]), Bar(**about["bar"]))


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
        made, used = [], 0
        for transcript, chat, each in zip(transcripts, chats, laid, strict=True):
            made.append(self._read(transcript, chat, each, answers[used : used + len(each)], agent))
            used += len(each)
        return made

    def types_of(self, texts: Sequence[str]) -> list[MemoryType]:
        """Tell what kind of memory each sentence is, for sentences that somebody wants kept."""
        rows = self._judge([alone(text) for text in texts])
        return [self._type(row[0]) for row in rows]

    def _judge(self, texts: list[tuple[str, str]]) -> Any:
        return self._classify(texts)[0] if texts else []

    def _read(
        self, transcript: Transcript, chat: list[Turn], laid: list[Window], answers: Any, agent: str
    ) -> Extraction:
        judged: dict[int, list[Judged]] = {}
        for window, rows in zip(laid, answers, strict=True):
            units = chat[window.turn].units[window.first : window.last]
            judged.setdefault(window.turn, []).extend(
                self._judged(unit, row) for unit, row in zip(units, rows, strict=False)
            )
        claims: list[Claim] = []
        trace: list[Trace] = []
        for place, each in sorted(judged.items()):
            memories, reasons = compose(each, chat, place, self._card.bar)
            message = transcript.messages[place]
            claims.extend(self._claim(memory, each, message, transcript, agent) for memory in memories)
            trace.extend(_traces(message, each, memories, reasons))
        return Extraction(tuple(claims), tuple(trace))

    def _judged(self, unit: Any, row: Any) -> Judged:
        """Read a row of probabilities: the first is to drop, the others are the types."""
        return Judged(unit, 1.0 - float(row[0]), self._type(row))

    def _type(self, row: Any) -> MemoryType:
        best = max(range(1, len(self._card.labels)), key=lambda i: float(row[i]))
        return MemoryType(self._card.labels[best])

    def _claim(
        self, memory: Memory, judged: list[Judged], message: Message, transcript: Transcript, agent: str
    ) -> Claim:
        if message.at is None:
            raise ValueError("every message carries its time when it comes here")
        kind = memory.type
        if kind is MemoryType.FACT and passes(memory.text, message.at):
            kind = MemoryType.TEMPORARY
        quote = message.text[judged[memory.first].unit.start : judged[memory.last].unit.end].strip()
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
            because=memory.why,
        )


def _traces(message: Message, judged: list[Judged], memories: list[Memory], reasons: list[str]) -> list[Trace]:
    """Say of every sentence what became of it."""
    kept = {place for memory in memories for place in range(memory.first, memory.last + 1)}
    return [
        Trace(message.index, each.unit.text, i in kept, reasons[i], each.type.value, round(each.keep, 4))
        for i, each in enumerate(judged)
    ]
