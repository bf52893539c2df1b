"""More pairs out of the written ones: change a value, or say where it holds, and the relation follows.

A restatement with another number is a change; the same two sentences about different places are compatible, about the
same place they relate as before. Every made pair stays in the group of its parent.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from memctl.rules.values import compare, values
from training.judge_data import LabelledPair

_WORDS = (
    *("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("fifteen", "twenty", "thirty", "forty", "fifty", "sixty"),
)
_WORD = re.compile(r"\b(" + "|".join(_WORDS) + r")\b", re.IGNORECASE)
_DIGITS = re.compile(r"(?<![\w.,:-])\d{1,4}(?![\w.,:-]*\d)")
_QUALIFIERS = (
    ("staging", "production", "test", "dev"),
    ("the iOS app", "the Android app", "the web client", "the desktop app"),
    ("the Oslo office", "the Lima office", "the Kyoto plant", "the Leeds branch"),
    ("team Red", "team Blue", "team Green"),
    ("client Alder", "client Birch", "client Cedar"),
    ("the payments service", "the search service", "the mail service"),
    ("the first cohort", "the second cohort", "the third cohort"),
    ("version 2", "version 3", "version 4"),
    ("2023", "2024", "2025"),
    ("weekdays", "weekends"),
)
_FRAMES = ("For {q}: {s}", "{s} (for {q})", "In the case of {q}, {s}", "{q}: {s}", "About {q}: {s}")


def augmented(pairs: Sequence[LabelledPair], seed: int = 0) -> list[LabelledPair]:
    """Make pairs out of written ones; the same seed makes the same pairs."""
    random = np.random.default_rng(seed)
    return [*_with_other_values(pairs, random), *_in_the_same_words(pairs, random), *_with_qualifiers(pairs, random)]


def _with_other_values(pairs: Sequence[LabelledPair], random: np.random.Generator) -> Iterator[LabelledPair]:
    """Turn restatements of a value into changes of it."""
    for pair in pairs:
        if pair.label == "duplicate" and compare(values(pair.old), values(pair.new)).shared:
            changed = _other_number(pair.new, random)
            if changed and not compare(values(pair.old), values(changed)).shared:
                yield replace(pair, new=changed, label="supersedes", origin="made")


def _in_the_same_words(pairs: Sequence[LabelledPair], random: np.random.Generator) -> Iterator[LabelledPair]:
    """Repeat statements word by word with another number: the barest way to change a value."""
    for old, group in {pair.old: pair.group for pair in pairs}.items():
        changed = _other_number(old, random) if random.random() < 0.5 else None
        if changed and compare(values(old), values(changed)).changed:
            yield LabelledPair(old, changed, "supersedes", "made", group)


def _other_number(text: str, random: np.random.Generator) -> str | None:
    """Put another number in the place of one that the text says."""
    digits, word = _DIGITS.search(text), _WORD.search(text)
    if digits:
        number = int(digits[0])
        near = [n for n in (number * 2, number + 1, number + 10, number // 2) if n != number and n > 0]
        other = int(random.choice(near))
        return text[: digits.start()] + str(other) + text[digits.end() :]
    if word:
        other_word = str(random.choice([w for w in _WORDS if w != word[0].lower()]))
        cased = other_word.capitalize() if word[0][0].isupper() else other_word
        return text[: word.start()] + cased + text[word.end() :]
    return None


def _with_qualifiers(pairs: Sequence[LabelledPair], random: np.random.Generator) -> Iterator[LabelledPair]:
    """Say of some pairs where they hold: in different places both stay, in the same one nothing changes."""
    for pair in pairs:
        if pair.label == "compatible" or random.random() > 0.3:
            continue
        family = _QUALIFIERS[random.integers(len(_QUALIFIERS))]
        here, there = random.choice(len(family), 2, replace=False)
        frame, other_frame = _FRAMES[random.integers(len(_FRAMES))], _FRAMES[random.integers(len(_FRAMES))]
        apart = random.random() < 0.55
        old = frame.format(q=family[here], s=pair.old)
        new = other_frame.format(q=family[there if apart else here], s=pair.new)
        yield replace(pair, old=old, new=new, label="compatible" if apart else pair.label, origin="made")
