"""The annotated chats as training examples: windows with a label for every unit.

A unit, or a run of up to three neighbouring units, that says a gold fact of its message is worth
keeping. What says a fact of another message is left out (an echo is neither good nor noise), and so
is what says only part of a fact. All else is noise.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from memctl.extraction.segment import words
from memctl.extraction.turns import turns
from memctl.extraction.windows import Turn, Window, alone, windows
from memctl.model import Role, Transcript
from memctl.transcripts import read

HERE = Path(__file__).parent
LABELS = ("drop", "decision", "preference", "fact", "failure", "context", "temporary")
IGNORED = -100
TYPE_ONLY = 100  # added to a label that teaches the type but not whether to keep
MAX_WORDS, MAX_CHARS, MAX_RUN = 28, 200, 3
ROLES = {"user": Role.USER, "assistant": Role.AGENT, "tool": Role.TOOL, "function": Role.TOOL, "system": Role.SYSTEM}


@dataclass
class Session:
    """One chat of a team with the labels of its units, a list a turn."""

    team: str
    number: int
    date: datetime
    transcript: Transcript
    facts: list[dict]
    turns: list[Turn] = field(default_factory=list)
    labels: list[list[int]] = field(default_factory=list)
    joins: list[list[int]] = field(default_factory=list)
    weights: list[list[float]] = field(default_factory=list)


@dataclass(frozen=True)
class Team:
    """An annotated team: its sessions, all its gold facts, and whether it was written here."""

    name: str
    sessions: list[Session]
    facts: list[dict]
    own: bool = False


@dataclass(frozen=True)
class Example:
    """A window with what it teaches: a label, a join flag and a weight for every unit in it."""

    window: Window
    labels: tuple[int, ...]
    joins: tuple[int, ...]
    weights: tuple[float, ...]


def load(folder: Path) -> Team:
    """Read one annotated team."""
    gold = json.loads((folder / "gold.json").read_text())
    sessions = []
    for number, entry in enumerate(gold["sessions"], 1):
        at = datetime.fromisoformat(entry["date"].replace("Z", "+00:00"))
        transcript = _transcript(folder / entry["file"], at)
        facts = [fact for fact in gold["facts"] if fact["session"] == number]
        session = Session(folder.name, number, at, transcript, facts)
        session.turns = turns(transcript.messages)
        label(session, gold["facts"])
        sessions.append(session)
    return Team(folder.name, sessions, gold["facts"], gold.get("origin") == "own")


def load_all(*roots: Path) -> list[Team]:
    """Read every team below the folders, by name."""
    return [load(path.parent) for root in roots for path in sorted(root.glob("*/gold.json"))]


def _transcript(path: Path, at: datetime) -> Transcript:
    """Read a chat as the product does, so that the model sees in training what it sees in use."""
    [transcript] = read(str(path), path.read_bytes())
    dated = tuple(replace(message, at=message.at or at) for message in transcript.messages)
    return replace(transcript, messages=dated)


def says(text: str, fact: dict) -> bool:
    """Tell whether a text says a gold fact: one alternative of every group is in it."""
    low = text.lower()
    return all(any(word.lower() in low for word in group) for group in fact["must"])


def fits(text: str, fact: dict) -> bool:
    """Tell whether a text is short enough to stand for a gold fact."""
    gold = fact["text"]
    return len(text.split()) <= max(MAX_WORDS, 1.7 * len(gold.split())) and len(text) <= max(MAX_CHARS, 2.3 * len(gold))


def label(session: Session, all_facts: list[dict]) -> None:
    """Fill in the labels, joins and weights of a session's units."""
    for place, turn in enumerate(session.turns):
        size = len(turn.units)
        labels, joins, weights = [0] * size, [0] * size, [1.0] * size
        index = session.transcript.messages[place].index
        mine = [fact for fact in session.facts if index in fact["messages"]]
        _mark_echoes(turn, all_facts, labels)
        for fact in sorted(mine, key=lambda fact: fact["required"]):
            _mark(turn, fact, labels, joins, weights)
        session.labels.append(labels)
        session.joins.append(joins)
        session.weights.append(weights)


def _mark_echoes(turn: Turn, facts: Iterable[dict], labels: list[int]) -> None:
    for i, unit in enumerate(turn.units):
        if any(says(unit.text, fact) for fact in facts):
            labels[i] = IGNORED


def _text(turn: Turn, first: int, last: int) -> str:
    units = turn.units[first:last]
    return f"{turn.speaker} {' '.join(unit.text for unit in units)}"


def _mark(turn: Turn, fact: dict, labels: list[int], joins: list[int], weights: list[float]) -> None:
    """Mark the shortest run that says the fact; of equals, the one most like the gold text."""
    for run in range(1, MAX_RUN + 1):
        spots = [i for i in range(len(turn.units) - run + 1) if says(_text(turn, i, i + run), fact)]
        spots = [i for i in spots if run == 1 or words(_text(turn, i, i + run)) <= MAX_WORDS + 4]
        if spots:
            best = max(spots, key=lambda i: _alike(_text(turn, i, i + run), fact["text"]))
            for i in range(best, best + run):
                labels[i] = LABELS.index(fact["type"])
                weights[i] = 1.5 if fact["required"] else 1.0
                joins[i] = int(i > best)
            return
    _ignore_partial(turn, fact, labels)


def _ignore_partial(turn: Turn, fact: dict, labels: list[int]) -> None:
    """Leave out the units that say a part of a fact nobody says in one breath."""
    for i, unit in enumerate(turn.units):
        low = unit.text.lower()
        hit = sum(any(word.lower() in low for word in group) for group in fact["must"])
        if labels[i] == 0 and (hit or _alike(unit.text, fact["text"]) > 0.5):
            labels[i] = IGNORED


def _alike(text: str, gold: str) -> float:
    said, wanted = set(text.lower().split()), set(gold.lower().split())
    return len(said & wanted) / (len(wanted) or 1) - 0.001 * len(said)


def notes(facts: Iterable[dict]) -> list[Example]:
    """Make an example of every gold text: what type it has, not whether it is worth keeping."""
    return [
        Example(Window(0, 0, 1, alone(fact["text"])), (TYPE_ONLY + LABELS.index(fact["type"]),), (0,), (1.0,))
        for fact in facts
    ]


def examples(sessions: Iterable[Session]) -> list[Example]:
    """Lay windows over the sessions and cut their labels accordingly."""
    made = []
    for session in sessions:
        for window in windows(session.turns, [True] * len(session.turns)):
            cut = slice(window.first, window.last)
            rows = (session.labels[window.turn], session.joins[window.turn], session.weights[window.turn])
            labels, joins, weights = (tuple(row[cut]) for row in rows)
            made.append(Example(window, labels, joins, weights))
    return made
