"""Short chats with the labels written into the text: see extra/README.md."""

import re
from datetime import UTC, datetime
from pathlib import Path

from memctl.extraction.turns import turns
from memctl.model import Message, Transcript
from training.keep_data import IGNORED, LABELS, ROLES, Session

_LINE = re.compile(r"^(.+?) \((user|assistant|tool)\): (.*)$")
_MARK = re.compile(r"<<(\w+)\|(.*?)>>", re.DOTALL)
_DATE = datetime(2026, 3, 2, 9, tzinfo=UTC)


def load_extra(folder: Path) -> list[Session]:
    """Read every chat of the folder as a labelled session."""
    return [_session(path) for path in sorted(folder.glob("*.txt"))]


def _session(path: Path) -> Session:
    messages, marks = [], []
    for index, line in enumerate(path.read_text().splitlines()):
        speaker, role, marked = _LINE.match(line).groups()
        text, spans = _unmark(marked.replace("\\n", "\n"))
        messages.append(Message(index, speaker, ROLES[role], text, _DATE))
        marks.append(spans)
    session = Session(path.stem, 1, _DATE, Transcript(str(path), "extra", tuple(messages)), [])
    session.turns = turns(messages)
    for turn, spans in zip(session.turns, marks, strict=True):
        labels = [_label(unit.start, unit.end, spans) for unit in turn.units]
        session.labels.append(labels)
        session.joins.append([0] * len(labels))
        session.weights.append([1.0] * len(labels))
    return session


def _unmark(marked: str) -> tuple[str, list[tuple[int, int, str]]]:
    """Take the marks out and tell where the marked words are."""
    text, spans, end = "", [], 0
    for match in _MARK.finditer(marked):
        text += marked[end : match.start()]
        spans.append((len(text), len(text) + len(match[2]), match[1]))
        text += match[2]
        end = match.end()
    return text + marked[end:], spans


def _label(start: int, end: int, spans: list[tuple[int, int, str]]) -> int:
    """Label a unit by the mark that covers most of it; a unit that is only touched is left out."""
    for left, right, kind in spans:
        shared = min(end, right) - max(start, left)
        if shared > 0.5 * (end - start):
            return LABELS.index(kind)
        if shared > 2:
            return IGNORED
    return 0
