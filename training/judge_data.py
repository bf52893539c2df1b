"""The pairs that teach the judge: hand-written ones, and those that the annotated teams imply.

Facts of one team that neither supersede nor restate each other are compatible. There are far too many of those, so the
ones that look most alike are taken: telling them apart is what the judge is for.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from training.folds import fold_of

HERE = Path(__file__).parent
Embed = Callable[[Sequence[str]], np.ndarray]
_LINKS = {"supersedes": "supersedes", "restates": "duplicate"}
NOTES = frozenset(("given", "extra", "made", "crossed", "measured"))
_ALIKE_PER_FACT = 2
_ALIKE_PER_CHANGE = 5  # a statement that changes something must leave all else alone
_APART_PER_FACT = 1
_CROSSED_BETWEEN = (0.12, 0.42)  # cosine: of a like subject, but hardly about the same thing


@dataclass(frozen=True)
class LabelledPair:
    """A pair with its label, where it comes from, and the group that stays together in cross-validation."""

    old: str
    new: str
    label: str
    origin: str
    group: str
    other_type: bool = False
    same_chat: bool = False
    same_speaker: bool = False

    @property
    def by_hand(self) -> bool:
        """Whether the pair is of notes written down for a memory, rather than of what a team said."""
        return self.origin in NOTES

    @property
    def fold(self) -> int:
        """The fold that holds the pair out."""
        return fold_of(self.group)


def written_pairs() -> list[LabelledPair]:
    """Read the hand-written pairs; those that share a sentence stay together."""
    return list(
        _grouped(
            _read(HERE / "pairs.jsonl", "given"), *(_read(p, "extra") for p in sorted(HERE.glob("extra_pairs*.jsonl")))
        )
    )


def team_pairs(teams: Path, embed: Embed) -> list[LabelledPair]:
    """Derive pairs from every annotated team; ``embed`` gives unit vectors for texts."""
    folders = [folder for folder in sorted(teams.iterdir()) if (folder / "gold.json").exists()]
    return [pair for folder in folders for pair in _implied(_gold_facts(folder), "team", folder.name, embed)]


def group_pairs(embed: Embed) -> list[LabelledPair]:
    """Derive pairs from the written lists of facts, in which links name places in the list."""
    lines = (HERE / "groups.jsonl").read_text(encoding="utf-8").splitlines()
    groups = [json.loads(line) for line in lines]
    return [pair for group in groups for pair in _implied(group["facts"], "group", group["name"], embed)]


def _read(path: Path, origin: str) -> list[dict[str, str]]:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return [{**row, "origin": origin} for row in rows]


def _grouped(*sources: Iterable[dict[str, str]]) -> Iterator[LabelledPair]:
    """Join pairs that share a sentence into one group, so that no fold has seen half of a pair."""
    rows = [row for source in sources for row in source]
    parent: dict[str, str] = {}

    def root(text: str) -> str:
        while parent.setdefault(text, text) != text:
            text = parent[text]
        return text

    for row in rows:
        parent[root(row["new"])] = root(row["old"])
    for row in rows:
        yield LabelledPair(row["old"], row["new"], row["verdict"], row["origin"], root(row["old"]))


def _gold_facts(folder: Path) -> list[dict[str, Any]]:
    """Read the facts of a team in the order of speaking, links as places in that order."""
    facts = json.loads((folder / "gold.json").read_text(encoding="utf-8"))["facts"]
    facts.sort(key=lambda fact: (fact["session"], min(fact["messages"])))
    place = {fact["id"]: number for number, fact in enumerate(facts)}
    return [{**fact, **{key: [place[other] for other in fact.get(key) or []] for key in _LINKS}} for fact in facts]


def links(facts: Sequence[dict[str, Any]]) -> dict[tuple[int, int], str]:
    """Name the relation of every two facts that are linked by their ids: (place of the older, of the newer)."""
    place = {fact["id"]: number for number, fact in enumerate(facts)}
    return {
        (place[other], number): label
        for number, fact in enumerate(facts)
        for key, label in _LINKS.items()
        for other in fact.get(key) or []
    }


def _implied(facts: list[dict[str, Any]], origin: str, group: str, embed: Embed) -> Iterator[LabelledPair]:
    """Yield the changes and restatements of a list of facts, and compatible pairs of it."""
    tied: set[tuple[int, int]] = set()
    for number, fact in enumerate(facts):
        for key, label in _LINKS.items():
            for other in fact.get(key) or []:
                tied.add((other, number))
                yield _pair(facts[other], fact, label, origin, group)
    changes = {number for number, fact in enumerate(facts) if fact.get("supersedes")}
    vectors = embed([fact["text"] for fact in facts])
    for older, newer in _compatible(vectors, closure(tied, len(facts)), changes):
        yield _pair(facts[older], facts[newer], "compatible", origin, group)


def _pair(old: dict[str, Any], new: dict[str, Any], label: str, origin: str, group: str) -> LabelledPair:
    other_type, same_chat = old.get("type") != new.get("type"), old.get("session") == new.get("session")
    return LabelledPair(old["text"], new["text"], label, origin, group, other_type, same_chat)


def closure(tied: set[tuple[int, int]], size: int) -> np.ndarray:
    """Mark facts that are tied to each other through any number of steps."""
    linked = np.eye(size, dtype=bool)
    for one, other in tied:
        linked[one, other] = linked[other, one] = True
    for _ in range(6):
        linked = linked @ linked
    return linked


def _compatible(vectors: np.ndarray, linked: np.ndarray, changes: set[int]) -> Iterator[tuple[int, int]]:
    """Choose for each fact the earlier ones that look most alike, and one that does not."""
    cosines = vectors @ vectors.T
    for newer in range(1, len(vectors)):
        free = [older for older in range(newer) if not linked[older, newer]]
        ranked = sorted(free, key=lambda older: -cosines[older, newer])
        alike = _ALIKE_PER_CHANGE if newer in changes else _ALIKE_PER_FACT
        chosen = ranked[:alike] + ranked[len(ranked) // 3 :][:_APART_PER_FACT]
        yield from ((older, newer) for older in dict.fromkeys(chosen))


def crossed_pairs(pairs: Sequence[LabelledPair], embed: Embed) -> list[LabelledPair]:
    """Pair newer sentences with older ones of other pairs: words of change about something else change nothing."""
    chosen = [pair for pair in pairs if pair.label != "compatible"]
    cosines = embed([pair.new for pair in chosen]) @ embed([pair.old for pair in chosen]).T
    random = np.random.default_rng(0)
    low, high = _CROSSED_BETWEEN
    crossed = []
    for number, pair in enumerate(chosen):
        others = [k for k in range(len(chosen)) if low <= cosines[number, k] <= high and chosen[k].fold == pair.fold]
        others = [k for k in others if chosen[k].group != pair.group]
        if others and (pair.label == "supersedes" or random.random() < 0.3):
            old = chosen[int(random.choice(others))].old
            crossed.append(LabelledPair(old, pair.new, "compatible", "crossed", pair.group))
    return crossed


def unrelated_pairs(pairs: Sequence[LabelledPair], embed: Embed, floor: float, number: int) -> list[LabelledPair]:
    """Pair sentences of different groups at random, just so alike that they would be compared: most that is."""
    groups = {text: pair.group for pair in pairs for text in (pair.old, pair.new)}
    texts = sorted(groups)
    vectors = embed(texts)
    random = np.random.default_rng(0)
    made: list[LabelledPair] = []
    while len(made) < number:
        one, other = (int(place) for place in random.integers(len(texts), size=2))
        if groups[texts[one]] != groups[texts[other]] and vectors[one] @ vectors[other] >= floor:
            made.append(LabelledPair(texts[one], texts[other], "compatible", "crossed", groups[texts[one]]))
    return made


def by_fold(pairs: Sequence[LabelledPair], fold: int) -> tuple[list[LabelledPair], list[LabelledPair]]:
    """Part pairs into those to learn from and those held out."""
    return [p for p in pairs if p.fold != fold], [p for p in pairs if p.fold == fold]
