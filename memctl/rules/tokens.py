"""How many tokens a text costs, never too few.

A prompt's budget is counted by the tokenizer of a model that memctl does not know. So texts are split as
byte-pair tokenizers split them, and each piece is charged the most that ``cl100k_base`` and ``o200k_base``
(the vocabularies of GPT-3.5 to GPT-5) make of it: common words one token, other words what is left when
nearly every two letters merged, figures one token for three, rare characters a token for each byte. The
real count of prose is about a quarter lower. ``training/recall_tokens.py`` makes the list of common
words and checks the claim against both vocabularies.
"""

import math
import re
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

_PIECE = re.compile(r"( ?[A-Za-z]+)|( (?=[!-/:-@\[-`{-~]))|('(?=[A-Za-z]{3}))|[0-9]{1,3}|[\x00-\x7f]|([^\x00-\x7f])")
_LETTER = 2 / 3  # where every pair merges, no two lone letters stay side by side: two tokens for three letters
_SELDOM = re.compile(r"[A-Zjqvwxz]")  # letters that merge with few others
_SAFE_LETTERS = 4
_RUNS = re.compile(r" ?[a-z]+| ?[A-Z]")


def count(text: str) -> int:
    """Count tokens; the count of a text is the sum of its lines' and one for each line end."""
    return sum(map(_cost, _PIECE.finditer(text)))


def _cost(piece: re.Match[str]) -> int:
    word, absorbed, cutting, rare = piece.groups()
    if word:
        return _word_cost(word)
    if rare:
        return 1 if rare in _vocabulary().characters else len(rare.encode("utf-8", "surrogatepass"))
    if cutting:  # taken for 's or 'll, it leaves an odd rest of the word: 's|tarting
        return 2
    return 0 if absorbed else 1


@lru_cache(maxsize=20_000)
def _word_cost(word: str) -> int:
    if word in _vocabulary().spaced:
        return 1
    if word in _vocabulary().bare:  # a sign before it may take its first letter: 'd|efault
        return 1 if len(word) < _SAFE_LETTERS else 2
    return sum(math.ceil(_run_cost(run)) for run in _RUNS.findall(word))


def _run_cost(run: str) -> float:
    seldom = len(_SELDOM.findall(run))
    return seldom + (len(run) - seldom) * _LETTER


class _Vocabulary(NamedTuple):
    """What is one token in both vocabularies: words after a space, words on their own, characters."""

    spaced: frozenset[str]
    bare: frozenset[str]
    characters: frozenset[str]


@lru_cache(maxsize=1)
def _vocabulary() -> _Vocabulary:
    either, spaced, characters = (files("memctl") / "weights" / "tokens.txt").read_text("utf-8").splitlines()
    bare = frozenset(either.split())
    return _Vocabulary(frozenset(f" {word}" for word in (*bare, *spaced.split())), bare, frozenset(characters))
