"""Memories and questions of the training teams, as recall would meet them.

A team's memory is what the shipped extractor makes of its chats, or its gold facts in the annotator's words, with
sentences that say no gold fact in between (no extractor is perfect) and some types wrong. ``recall_queries.jsonl`` adds questions to those of
the teams: paraphrases written for this purpose, and questions that nothing in the memory answers.
"""

import json
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from memctl.embedding.models import open_classifier
from memctl.extraction.local import Card, LocalExtractor
from memctl.model import Claim, Fact, MemoryType, State
from training.keep_data import load

HERE = Path(__file__).parent
JUNK_SHARE = 0.5  # sentences without a gold fact, per gold fact
WRONG_TYPES = 0.25


@dataclass
class Item:
    """A remembered sentence: where it was said, how long it holds, and its vector."""

    text: str
    type: str
    said: datetime
    ends: datetime | None
    place: int | None
    fact: Fact | None = None


@dataclass
class Ask:
    """A question, the gold facts that answer it, and when it is asked."""

    text: str
    expect: tuple[str, ...]
    at: datetime
    ours: bool = False


@dataclass
class Team:
    """One annotated team."""

    folder: Path
    extra: Sequence[dict[str, Any]] = ()
    vectors: dict[str, np.ndarray] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.folder.name

    @cached_property
    def gold(self) -> dict[str, Any]:
        read: dict[str, Any] = json.loads((self.folder / "gold.json").read_text(encoding="utf-8"))
        return read

    @cached_property
    def facts(self) -> dict[str, dict[str, Any]]:
        return {fact["id"]: fact for fact in self.gold["facts"]}

    @cached_property
    def dates(self) -> list[datetime]:
        return [instant(session["date"]) for session in self.gold["sessions"]]

    @cached_property
    def messages(self) -> list[tuple[int, int, str]]:
        """Session (from 1), number and text of every message, in order."""
        found = []
        for number, session in enumerate(self.gold["sessions"], 1):
            data = json.loads((self.folder / session["file"]).read_text(encoding="utf-8"))
            for index, message in enumerate(data if isinstance(data, list) else data["messages"]):
                found.append((number, index, _content(message)))
        return found

    @cached_property
    def places(self) -> dict[tuple[int, int], int]:
        return {(session, index): place for place, (session, index, _) in enumerate(self.messages)}

    @cached_property
    def sentences(self) -> list[tuple[str, int]]:
        """Every short sentence of the chats with the place of its message."""
        return [
            (piece.strip(), place)
            for place, (_, _, text) in enumerate(self.messages)
            for piece in re.split(r"(?<=[.!?])\s+|\n+", text)
            if 4 <= len(piece.split()) <= 28
        ]

    def questions(self) -> list[Ask]:
        """Give the team's questions and ours; ours are asked while what they expect still holds."""
        asked = [Ask(q["q"], tuple(q["expect"]), instant(q["as_of"])) for q in self.gold["queries"]]
        last = max(one.at for one in asked)
        return asked + [
            Ask(q["q"], tuple(q["expect"]), self._while_true(q["expect"], last), ours=True)
            for q in self.extra
            if q["team"] == self.name
        ]

    @cached_property
    def extracted(self) -> list[Item]:
        """What the extractor makes of the chats; a memory ends when all that it says has ended."""
        numbers = {name: number for number, name in enumerate(entry["file"] for entry in self.gold["sessions"])}
        items = []
        for claim in claims_of(self.folder):
            number = numbers[Path(claim.source.transcript).name]
            said = [self._item(fact) for fact in self.gold["facts"] if says(claim.text, fact)]
            ends = [item.ends for item in said]
            last = max(ends) if ends and None not in ends else None
            end = min(filter(None, [last, claim.expires_at]), default=None)
            place = self.places.get((number + 1, claim.source.message))
            items.append(Item(claim.text, claim.type.value, self.dates[number], end, place))
        return [replace(item, fact=_fact(number, item)) for number, item in enumerate(items)]

    def memory(self, *, in_chat_words: bool, seed: int = 0) -> list[Item]:
        """Give the memory as the extractor leaves it, or make one of the gold facts."""
        if in_chat_words:
            return self.extracted
        chance = random.Random(f"{self.name} {seed}")
        items = [self._item(fact) for fact in self.gold["facts"]]
        empty = [one for one in self.sentences if not any(says(one[0], fact) for fact in self.gold["facts"])]
        for text, place in chance.sample(empty, min(len(empty), int(JUNK_SHARE * len(items)))):
            items.append(Item(text, "fact", self.dates[self.messages[place][0] - 1], None, place))
        for number, item in enumerate(items):
            if chance.random() < WRONG_TYPES:
                item.type = chance.choice(list(MemoryType))
            item.fact = _fact(number, item)
        return items

    def answers(self, item: Item, ask: Ask) -> bool:
        """Tell whether a memory says one of the facts that a question expects."""
        return any(says(item.text, self.facts[name]) for name in ask.expect)

    def texts(self) -> set[str]:
        """Name all that is compared: memories, messages and questions."""
        said = {item.text for words in (True, False) for item in self.memory(in_chat_words=words)}
        return said | {text[:1500] for _, _, text in self.messages} | {ask.text for ask in self.questions()}

    def _item(self, fact: dict[str, Any]) -> Item:
        said = self.dates[fact["session"] - 1]
        days = fact.get("expires_days")
        ends = [said + timedelta(days=days)] if days else []
        ends += [
            self.dates[later["session"] - 1]
            for later in self.gold["facts"]
            if fact["id"] in later.get("supersedes", ())
        ]
        places = {self.places[key] for number in fact["messages"] if (key := (fact["session"], number)) in self.places}
        return Item(fact["text"], fact["type"], said, min(ends, default=None), min(places, default=None))

    def _while_true(self, expect: Sequence[str], last: datetime) -> datetime:
        items = [self._item(self.facts[name]) for name in expect]
        if not items or any(item.ends is None or item.ends > last for item in items):
            return last
        return items[0].said + timedelta(hours=2)


@lru_cache(maxsize=1)
def _extractor() -> LocalExtractor:
    encoder, about = open_classifier("keep")
    return LocalExtractor(encoder.run, Card.of(about))


def claims_of(folder: Path) -> list[Claim]:
    """Extract the memories of a team as the package does."""
    team = load(folder)
    made = _extractor().extract([session.transcript for session in team.sessions], team.name)
    return [claim for extraction in made for claim in extraction.claims]


def teams(folder: Path = HERE / "teams", extra: Path = HERE / "recall_queries.jsonl") -> list[Team]:
    """Read the teams in a folder, with the questions written for recall."""
    ours = [json.loads(line) for line in extra.read_text(encoding="utf-8").splitlines()] if extra.exists() else []
    return [Team(path.parent, ours) for path in sorted(folder.glob("*/gold.json"))]


def embedded(chosen: Sequence[Team], cache: Path) -> None:
    """Give the teams their vectors."""
    vectors = embedded_texts({text for team in chosen for text in team.texts()}, cache)
    for team in chosen:
        team.vectors = vectors


def embedded_texts(texts: set[str], cache: Path) -> dict[str, np.ndarray]:
    """Embed texts with the bundled model, each once; ``cache`` keeps them for the next time."""
    from memctl.embedding.models import open_embedder

    known = dict(np.load(cache)) if cache.exists() else {}
    vectors = dict(zip(known.get("texts", []), known.get("vectors", []), strict=True))
    wanted = sorted(texts - vectors.keys())
    if wanted:
        vectors |= dict(zip(wanted, open_embedder().embed(wanted), strict=True))
        cache.parent.mkdir(parents=True, exist_ok=True)
        np.savez(cache, texts=np.array(list(vectors)), vectors=np.array(list(vectors.values()), dtype=np.float32))
    return vectors


def alive(items: Sequence[Item], at: datetime) -> list[Item]:
    """Leave out what was not said yet and what no longer holds."""
    return [item for item in items if item.said <= at and not (item.ends and item.ends <= at)]


def says(text: str, fact: dict[str, Any]) -> bool:
    """Tell whether a text says a gold fact: of every group of alternatives one."""
    low = text.lower()
    return all(any(word.lower() in low for word in group) for group in fact["must"])


def instant(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def _content(message: dict[str, Any]) -> str:
    content = message.get("content") or ""
    if isinstance(content, list):
        content = " ".join(part.get("text", "") for part in content if isinstance(part, dict))
    return str(content)


def _fact(number: int, item: Item) -> Fact:
    kind = MemoryType(item.type)
    return Fact(f"{number:016x}", "team", item.text, kind, State.ACTIVE, item.said, item.said, item.said)
