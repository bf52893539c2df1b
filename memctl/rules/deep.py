"""Finding messages: which turns of the chats answer a question that no memory was made of.

A turn is seldom understood alone. Its score is its own likeness to the question by words (BM25) and by meaning,
a share of its neighbours', a share of what its whole chat has to offer, and small marks for being said by somebody
whom the question names, for answering a question that matches, and for saying more than a few words.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memctl.rules.terms import analyse

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Scores = NDArray[np.float64]

_SATURATION, _LENGTH_SHARE = 1.2, 0.3  # of BM25
_WORDS, _MEANING = 0.9, 0.9
_NEIGHBOURS = {-1: 0.2, 1: 0.2, -2: 0.05, 2: 0.15}  # the turn before, after, two before, two after
_CHAT, _BEST_OF_CHAT = 0.4, 3  # a share of the mean of a chat's best turns
_NAMED = 0.3  # said by somebody whom the question names
_ANSWERS = 0.15  # of the likeness of the question just before it
_ASKS = -0.1  # a question is rarely an answer
_SUBSTANCE, _SUBSTANCE_WORDS = 0.2, 30


@dataclass(frozen=True, slots=True)
class Turn:
    """A message as the search sees it; ``chat`` tells transcripts apart, turns of one chat follow each other."""

    chat: str
    speaker: str
    text: str
    terms: str
    vector: "np.ndarray | None" = None


def score_turns(turns: Sequence[Turn], terms: Sequence[str], vector: "np.ndarray | None") -> "Scores":
    """Score every turn, in order. ``terms`` and ``vector`` are the question's."""
    import numpy as np

    if not turns:
        return np.zeros(0)
    chats = _chat_numbers(turns)
    base = _WORDS * _relative(_by_words(turns, terms)) + _MEANING * _relative(_by_meaning(turns, vector))
    asks = np.array([turn.text.rstrip().endswith(("?", "？", "؟")) for turn in turns], dtype=float)
    scores = base + _CHAT * _chat_best(base, chats)
    for step, share in _NEIGHBOURS.items():
        scores += share * _shifted(base, chats, step)
    scores += _ANSWERS * _shifted(base * asks, chats, -1)
    scores += _NAMED * _named(turns, terms) + _ASKS * asks + _SUBSTANCE * _substance(turns)
    return scores


def _chat_numbers(turns: Sequence[Turn]) -> "NDArray[np.int64]":
    import numpy as np

    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(turn.chat, len(numbers)) for turn in turns])


def _by_words(turns: Sequence[Turn], terms: Sequence[str]) -> "Scores":
    """Give the BM25 of every turn; the speaker's name is one of its words."""
    import numpy as np

    names = {speaker: analyse(speaker).split() for speaker in {turn.speaker for turn in turns}}
    wanted = {term: place for place, term in enumerate(terms)}
    counts = np.zeros((len(turns), len(wanted)))
    lengths = np.zeros(len(turns))
    for row, turn in enumerate(turns):
        words = [*names[turn.speaker], *turn.terms.split()]
        lengths[row] = len(words)
        for term, number in Counter(word for word in words if word in wanted).items():
            counts[row, wanted[term]] = number
    having = (counts > 0).sum(axis=0)
    rarity = np.log(1 + (len(turns) - having + 0.5) / (having + 0.5))
    mean = lengths.mean() or 1.0
    damping = _SATURATION * (1 - _LENGTH_SHARE + _LENGTH_SHARE * lengths / mean)
    found: Scores = (counts * (_SATURATION + 1) / (counts + damping[:, None]) * rarity).sum(axis=1)
    return found


def _by_meaning(turns: Sequence[Turn], vector: "np.ndarray | None") -> "Scores":
    import numpy as np

    if vector is None:
        return np.zeros(len(turns))
    nothing = np.zeros(len(vector), dtype=np.float32)
    matrix = np.stack([nothing if turn.vector is None else turn.vector for turn in turns])
    cosines: Scores = np.clip(matrix @ np.asarray(vector, dtype=np.float32), 0, 1).astype(float)
    return cosines


def _relative(scores: "Scores") -> "Scores":
    best = float(scores.max())
    return scores / best if best > 0 else scores


def _shifted(scores: "Scores", chats: "NDArray[np.int64]", step: int) -> "Scores":
    """Give each turn the score of the one ``step`` places from it in the same chat, else 0."""
    import numpy as np

    moved = np.zeros_like(scores)
    places = np.arange(len(scores)) + step
    inside = (places >= 0) & (places < len(scores))
    same = inside.copy()
    same[inside] = chats[places[inside]] == chats[inside]
    moved[same] = scores[places[same]]
    return moved


def _chat_best(scores: "Scores", chats: "NDArray[np.int64]") -> "Scores":
    import numpy as np

    best = np.zeros(int(chats.max()) + 1)
    for chat in range(len(best)):
        best[chat] = np.sort(scores[chats == chat])[-_BEST_OF_CHAT:].mean()
    return best[chats]


def _named(turns: Sequence[Turn], terms: Sequence[str]) -> "Scores":
    """Mark the turns of people whom the question names."""
    import numpy as np

    asked = set(terms)
    named = {speaker for speaker in {turn.speaker for turn in turns} if asked.intersection(analyse(speaker).split())}
    return np.array([turn.speaker in named for turn in turns], dtype=float)


def _substance(turns: Sequence[Turn]) -> "Scores":
    import numpy as np

    words = np.array([len(turn.text.split()) or math.ceil(len(turn.text) / 2) for turn in turns], dtype=float)
    shares: Scores = np.minimum(words, _SUBSTANCE_WORDS) / _SUBSTANCE_WORDS
    return shares
