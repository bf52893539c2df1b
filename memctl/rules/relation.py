"""How a newer statement stands to an older one: the same, a change of it, or something else.

Here are the nouns and the two ways to decide: ``Relater``, which weighs what the trained model says together with what
can be read off the pair, and ``relate_by_words``, which needs no model and serves where none is wanted.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from memctl.model import Wording
from memctl.rules.board import BY_HAND
from memctl.rules.cues import numbered
from memctl.rules.features import FEATURES, features
from memctl.rules.hints import hinted
from memctl.rules.identity import normalised
from memctl.rules.replaced import names_what_it_replaces
from memctl.rules.values import compare, values

if TYPE_CHECKING:
    import numpy as np


class Label(StrEnum):
    """The relation of a newer statement to an older one.

    ``LIKELY`` and ``ALIKE`` are changes and restatements that are not sure enough alone: they count where no other
    older statement is as likely to be the one that is meant.
    """

    COMPATIBLE = "compatible"
    DUPLICATE = "duplicate"
    SUPERSEDES = "supersedes"
    LIKELY = "likely"
    ALIKE = "alike"
    UNSURE = "unsure"


CONTEXT = ("other_type", "same_chat", "same_speaker")
_LEAST_CHANGE, _LEAST_ALIKE, _SAID_SO = 0.1, 0.3, 0.95
_NEVER = 1.1  # a bound that no chance reaches
LABELS = (Label.COMPATIBLE, Label.DUPLICATE, Label.SUPERSEDES)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two statements in the order of speaking, and what is known of them beside their words.

    ``cosine`` is that of their vectors; ``other_type`` and ``same_chat`` tell whether they are memories of different
    types and from one transcript, ``same_speaker`` whether one speaker said both. ``by_hand`` marks a newer statement
    that a person wrote down: it is meant for the memory, so it is more likely about what the memory holds than a
    sentence of a chat is; ``among`` is how many statements it was compared with, since the more there are, the less
    likely it is about any one of them.
    """

    old: str
    new: str
    cosine: float = 0.0
    other_type: bool = False
    same_chat: bool = False
    same_speaker: bool = False
    by_hand: bool = False
    among: int = 1

    @classmethod
    def of(cls, old: Wording, new: Wording, cosine: float, *, other_type: bool, among: int = 1) -> "Pair":
        """Compare two wordings, the older first."""
        before, after = old.source, new.source
        return cls(
            old.text,
            new.text,
            cosine,
            other_type=other_type,
            same_chat=before.transcript == after.transcript,
            same_speaker=before.speaker == after.speaker,
            by_hand=after.transcript == BY_HAND,
            among=among,
        )


@dataclass(frozen=True, slots=True)
class Relation:
    """A decision about a pair, how probable it is, what decided, and the chances of each of LABELS."""

    label: Label
    score: float
    rule: str = ""
    chances: tuple[float, float, float] = (0.0, 0.0, 0.0)


Relate = Callable[[Sequence[Pair]], list[Relation]]
_NOTHING_IN_COMMON = Relation(Label.COMPATIBLE, 1.0, "nothing in common", (1.0, 0.0, 0.0))


class Ties:
    """All relations that were asked for, found by their texts."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self._relations: dict[tuple[str, str], Relation] = {}
        self._partners: dict[str, set[str]] = defaultdict(set)
        self._likely: set[str] = set()

    def add(self, pairs: Iterable[Pair], relations: Iterable[Relation]) -> None:
        """Keep the relation of each pair, in the order given."""
        for pair, relation in zip(pairs, relations, strict=True):
            self._relations[pair.old, pair.new] = relation
            self._partners[normalised(pair.old)].add(normalised(pair.new))
            self._partners[normalised(pair.new)].add(normalised(pair.old))
            if relation.label is Label.LIKELY:
                self._likely.add(pair.new)

    def likely_replaces(self, text: str) -> bool:
        """Tell whether a text is likely, though not surely, to replace something it was compared with."""
        return text in self._likely

    def between(self, old: str, new: str) -> Relation | None:
        """Give the relation of two texts, or None where nobody asked."""
        return self._relations.get((old, new))

    def partners(self, text: str) -> set[str]:
        """Give the normalised texts that a text was compared with."""
        return self._partners.get(normalised(text), set())


class Relater:
    """The trained decision: the model's logits and the pair's features, weighed together.

    There are two ways of weighing, for statements written down by hand and for those of a chat.
    """

    def __init__(
        self, run: "Callable[[Sequence[tuple[str, str]]], list[np.ndarray]]", about: Mapping[str, Any]
    ) -> None:
        """Take the model's runner and the weights that were trained for it (``judge.json``)."""
        if tuple(about["features"]) != (*FEATURES, *CONTEXT):
            raise ValueError("judge.json was trained for other features")
        self._run = run
        self._about = about

    def __call__(self, pairs: Sequence[Pair]) -> list[Relation]:
        """Relate pairs, in the order given."""
        if not pairs:
            return []
        seen = described(pairs)
        worth = self._worth_reading(pairs, seen)
        relations = [_NOTHING_IN_COMMON] * len(pairs)
        if len(worth):
            read = self._decided([pairs[place] for place in worth], seen[worth])
            for place, relation in zip(worth, read, strict=True):
                relations[place] = relation
        return relations

    def inputs(self, pairs: Sequence[Pair], seen: "np.ndarray") -> "np.ndarray":
        """Put the model's logits beside what was seen of pairs, a row a pair."""
        import numpy as np

        logits = self._run([hinted(pair.old, pair.new, by_hand=pair.by_hand) for pair in pairs])[0]
        return np.hstack([logits, seen])

    def _worth_reading(self, pairs: Sequence[Pair], seen: "np.ndarray") -> "np.ndarray":
        """Choose what the model reads: most pairs have so little in common that it need not be asked.

        Of notes written by hand it learnt mostly such as are alike, and sees ties among others that are not. The more a
        note is compared with, the less likely is each to be meant, and the more often it may err: so the more must be
        in common.
        """
        import numpy as np

        hand, chat = self._about["hand"]["gate"], self._about["gate"]
        tied = {kind: 1 - combine(seen, hand if kind else chat)[:, 0] for kind in {pair.by_hand for pair in pairs}}
        least = [
            _shifted(hand["least"], 2 * math.log(max(1, pair.among))) if pair.by_hand else chat["least"]
            for pair in pairs
        ]
        return np.array([k for k, pair in enumerate(pairs) if tied[pair.by_hand][k] > least[k]], dtype=int)

    def _decided(self, pairs: Sequence[Pair], seen: "np.ndarray") -> list[Relation]:
        rows = self.inputs(pairs, seen)
        by_hand, chat = combine(rows, self._about["hand"]), combine(rows, self._about["chat"])
        decided = [
            decide(by_hand[place], hand_bounds(self._about, pair.among))
            if pair.by_hand
            else decide(chat[place], self._about["chat"]["bounds"])
            for place, pair in enumerate(pairs)
        ]
        return [corrected(pair, relation) for pair, relation in zip(pairs, decided, strict=True)]


def described(pairs: Sequence[Pair]) -> "np.ndarray":
    """Describe pairs by what can be seen without a model, a row a pair: the features and the context."""
    import numpy as np

    return np.array(
        [
            [*features(pair.old, pair.new, pair.cosine), *(float(getattr(pair, name)) for name in CONTEXT)]
            for pair in pairs
        ]
    )


def corrected(pair: Pair, relation: Relation) -> Relation:
    """Correct the model where the words are plain.

    Another value is never the same statement said again; a statement that says what it replaces is taken at its word,
    unless the model sees no change at all in it.
    """
    changed = relation.chances[2]
    if relation.label is not Label.COMPATIBLE and _another_of_its_kind(pair):
        return Relation(Label.COMPATIBLE, relation.chances[0], "another one of its kind", relation.chances)
    if relation.label in (Label.DUPLICATE, Label.ALIKE) and _another_value(pair):
        return Relation(Label.COMPATIBLE, relation.chances[0], "another value", relation.chances)
    if relation.label is Label.SUPERSEDES or changed < _LEAST_CHANGE or pair.cosine < _LEAST_ALIKE:
        return relation
    if not names_what_it_replaces(pair.old, pair.new):
        return relation
    return Relation(Label.SUPERSEDES, max(changed, _SAID_SO), "says what it replaces", relation.chances)


def _another_of_its_kind(pair: Pair) -> bool:
    """Whether the statements are about things of one kind with different numbers, such as two tickets."""
    before, after = numbered(pair.old), numbered(pair.new)
    return any(after.get(kind, number) != number for kind, number in before.items())


def _another_value(pair: Pair) -> bool:
    """Whether the statements tell different values of one kind: then they are not the same, however alike."""
    found = compare(values(pair.old), values(pair.new))
    return bool(found.changed) and not found.shared


def hand_bounds(about: Mapping[str, Any], among: int) -> Mapping[str, float]:
    """Raise the bounds of what is written down by hand the more statements it is compared with."""
    lone: Mapping[str, float] = about["hand"]["bounds"]
    crowd: float = about["hand"]["crowd"]
    return {name: _shifted(bound, crowd * math.log(max(1, among))) for name, bound in lone.items()}


def _shifted(chance: float, by: float) -> float:
    """Move a chance on the scale of odds."""
    if not 0 < chance < 1:
        return chance
    return 1 / (1 + math.exp(-(math.log(chance / (1 - chance)) + by)))


def decide(chances: "np.ndarray", bounds: Mapping[str, float]) -> Relation:
    """Retire only where it is clearly a change; leave both where it is not clear enough even to ask."""
    row = (float(chances[0]), float(chances[1]), float(chances[2]))
    _, same, changed = row
    likely, alike = bounds.get("likely", _NEVER), bounds.get("alike", _NEVER)
    if changed >= bounds["supersedes"] and changed >= same:
        return Relation(Label.SUPERSEDES, changed, "model", row)
    if same >= bounds["duplicate"] and same > changed:
        return Relation(Label.DUPLICATE, same, "model", row)
    if changed >= likely and changed >= same:
        return Relation(Label.LIKELY, changed, "the likeliest", row)
    if same >= alike and same > changed:
        return Relation(Label.ALIKE, same, "the likeliest", row)
    if changed >= bounds["unsure"] and changed > same:
        return Relation(Label.UNSURE, changed, "model, unsure", row)
    return Relation(Label.COMPATIBLE, row[0], "model", row)


def combine(inputs: "np.ndarray", about: Mapping[str, Any]) -> "np.ndarray":
    """Weigh logits and features by a linear model and turn them into chances."""
    import numpy as np

    scaled = (inputs - np.array(about["mean"])) / np.array(about["scale"])
    scores = scaled @ np.array(about["weights"]).T + np.array(about["intercept"])
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def relate_by_words(pairs: Sequence[Pair]) -> list[Relation]:
    """Relate pairs by their words and values alone: coarse, but the same everywhere and without a model."""
    return [_by_words(dict(zip(FEATURES, features(p.old, p.new, p.cosine), strict=True))) for p in pairs]


def _by_words(seen: Mapping[str, float]) -> Relation:
    apart = seen["other_environment"] or seen["names_apart"]
    if seen["overlap"] >= 0.5 and not apart:
        if seen["value_changed"] or seen["negation_differs"]:
            return Relation(Label.SUPERSEDES, 0.7, "words")
        if not seen["value_only_one"]:
            return Relation(Label.DUPLICATE, 0.7, "words")
    return Relation(Label.COMPATIBLE, 0.7, "words")
