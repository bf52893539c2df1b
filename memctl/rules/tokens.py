"""How many tokens a text costs: the bundled model's word pieces and a margin, so that a count is hardly ever too low.

A prompt's budget is counted by the tokenizer of a model that memctl does not know. The byte-pair tokenizers of
language models keep common words whole and cut rare ones, and so does the bundled model's, with a smaller vocabulary
and without telling capitals apart. So a text is split as they split it, and each word is charged its word pieces, more
where a piece is rare, where there are capitals or where no space is before it; never more than its letters can cost.
Figures are charged one token for three, signs one each, other characters what they cost at most in everyday text.

Measured by ``training/recall_tokens.py`` against ``cl100k_base`` and ``o200k_base`` (the vocabularies of GPT-3.5 to
GPT-5): real counts of memories are a quarter lower, those of other languages than English up to a half.
"""

import math
import re
from collections.abc import Callable, Sequence
from functools import lru_cache

Rarities = Callable[[str], Sequence[float]]

_PIECE = re.compile(
    r"( ?[A-Za-z]+)|( (?=[!-/:-@\[-`{-~]))|('(?=[A-Za-z]{3}))|([^\x00-\x7f])"
    r'|[0-9]{1,3}|="|">|</|##|\*\*|==|\.\.|//|--|[\x00-\x7f]'
)
_RUN = re.compile(r" ?[A-Z]?[a-z]+| ?[A-Z]+(?![a-z])")
_LETTERS = re.compile(r" ?[a-z]+| ?[A-Z]")
_LETTER = 2 / 3  # where every pair merges, no two lone letters stay side by side: two tokens for three letters
_SELDOM = re.compile(r"[A-Zjqvwxz]")  # letters that merge with few others
_LONGEST_WORD = 40  # tokenizers take longer ones for one unknown piece
_CAPITAL = 0.5
_NO_SPACE, _RARE_WITHOUT_SPACE = 0.5, 1.5  # a sign before a word may take its first letter: 'd|efault
_LETTER_WITHOUT_SPACE = 0.45

# Everyday letters and signs outside ASCII, each one token in both vocabularies.
_ONE = re.compile(
    "[\u00a0-\u00b7\u00b9-\u00c4\u00df-\u00f6\u00f8-\u00fd\u03b1-\u03b5\u03b7-\u03bd\u03bf-\u03c7\u0410-\u0415"
    "\u041a-\u0424\u042f-\u044f\u0627-\u063a\u0641-\u064a\u2013\u2014\u2018\u2019\u201c\u201d\u2022\u2026\u20ac\u2192"
    "\u3001\u3002\uff0c]"
)
# Scripts of which every character is at most two.
_TWO = re.compile("[\u0900-\u0aff\u0b80-\u0e7f\u1e80-\u1eff\u2000-\u207f\u2500-\u267f\u3000-\u30ff\uff00-\uffef]")
_SYLLABLE, _COMMON_SYLLABLE = re.compile("[\uac00-\ud7a3]"), 2.5
_IDEOGRAPH, _COMMON_IDEOGRAPH = re.compile("[\u4e00-\u9fff]"), 2.25
_COMMON_ROWS = 0xD8  # the rows of GB 2312 before this one hold its 3,755 common characters


class TokenCount:
    """Counts tokens; ``rarities`` cuts a word in small letters into pieces and says how rare each is, from 0 to 1."""

    def __init__(self, rarities: Rarities) -> None:
        """Take the tokenizer that cuts words."""
        self._rarities = rarities
        self._word = lru_cache(maxsize=20_000)(self._word_cost)

    def __call__(self, text: str) -> int:
        """Count tokens; the count of a text is the sum of its lines' and one for each line end."""
        lines = text.split("\n")
        return sum(math.ceil(sum(map(self._cost, _PIECE.finditer(line)))) for line in lines) + len(lines) - 1

    def _cost(self, piece: re.Match[str]) -> float:
        word, absorbed, cutting, other = piece.groups()
        if word:
            return self._word(word)
        if other:
            return _character_cost(other)
        if cutting:  # taken for 's or 'll, it leaves an odd rest of the word: 's|tarting
            return 2
        return 0 if absorbed else 1

    def _word_cost(self, word: str) -> float:
        return sum(self._run_cost(run) for run in _RUN.findall(word))

    def _run_cost(self, run: str) -> float:
        """Charge what is written in one go: a word, a part of a camelCase one, or capitals."""
        most, bare = _letters_cost(run), run.lstrip()
        if len(bare) > _LONGEST_WORD:
            return most
        rarities = self._rarities(bare.lower())
        cost = len(rarities) + sum(rarities) + _CAPITAL * _capitals(bare)
        if bare == run:
            cost += _NO_SPACE + _RARE_WITHOUT_SPACE * max(rarities)
            cost = max(cost, _LETTER_WITHOUT_SPACE * len(run))
        return min(cost, most)


def _capitals(bare: str) -> int:
    """Count the capitals that set a word apart; one letter alone is its own piece."""
    return len(bare) - 1 if bare.isupper() else int(bare[0].isupper())


def _letters_cost(run: str) -> int:
    return sum(math.ceil(_small_cost(part)) for part in _LETTERS.findall(run))


def _small_cost(part: str) -> float:
    seldom = len(_SELDOM.findall(part))
    return seldom + (len(part) - seldom) * _LETTER


@lru_cache(maxsize=20_000)
def _character_cost(char: str) -> float:
    if _ONE.match(char):
        return 1
    if _TWO.match(char):
        return 2
    if _SYLLABLE.match(char):
        return _COMMON_SYLLABLE
    if _IDEOGRAPH.match(char) and _is_common(char):
        return _COMMON_IDEOGRAPH
    return len(char.encode("utf-8", "surrogatepass"))


def _is_common(ideograph: str) -> bool:
    try:
        return ideograph.encode("gb2312")[0] < _COMMON_ROWS
    except UnicodeEncodeError:
        return False
