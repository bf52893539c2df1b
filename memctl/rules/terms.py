"""The analyser of full-text search: a text in, the terms it can be found by out.

The same function prepares what is stored and what is asked, so both sides always agree. A word is found
by itself and by its stem; an identifier by its whole and by its parts; a number however it is
written; text without spaces (Chinese, Japanese, Thai …) by its characters and pairs of them.
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from memctl.rules.stems import STEMMED_LANGUAGES, stem
from memctl.rules.stopwords import STOP_CHARACTERS, STOPWORDS, language_of

LONGEST_TERM = 40  # longer ones are no words, and the full-text index would drop them
_LONGEST_TEXT = 20_000  # characters of one text that are analysed

_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_LETTER = rf"(?:(?![{_UNSPACED}])[^\W_]|[\u0900-\u0dff])"
_CHUNK = re.compile(
    rf"(?P<unspaced>[{_UNSPACED}]+)"
    r"|(?P<number>\d+(?:[.,:]\d+)*(?![^\W_])(?![-_/]\w))"
    rf"|(?P<word>_*{_LETTER}+(?:[._\-/:@\\]{{1,3}}{_LETTER}+)*(?:\+\+|\#)?)(?:['’](?:s|t|d|m|ll|re|ve)\b)?"
)
_ACCENTS = re.compile("[\u0300-\u036f]")
_THOUSANDS = re.compile(r"(\d{1,3})([.,])(\d{3})((?:\2\d{3})*)(?:[.,](\d{1,2}))?")
_OUTER = re.compile(r"[./:@\\]+")  # parts an identifier from the next: paths, modules, addresses
_INNER = re.compile(r"[-_]+")  # parts its words
_HUMPS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def fold(text: str) -> str:
    """Bring compatible characters to one form and take accents off; case stays."""
    if text.isascii():
        return text
    plain = _ACCENTS.sub("", unicodedata.normalize("NFKD", text))
    return unicodedata.normalize("NFC", plain)


@lru_cache(maxsize=512)  # a recall looks at the words of each candidate more than once
def analyse(text: str) -> str:
    """Write the terms of a stored text, parted by spaces: every word, then its stem where that differs."""
    words = _words(text)
    language = language_of(words) or "en"
    return " ".join(term for word in words for term in _with_stems(word, (language,)))


def query_terms(text: str) -> list[str]:
    """List the terms of a question, each once, in order, without words that carry no topic.

    A question of nothing but such words keeps them all: it may be a name ("The Who"). One whose
    language cannot be told ("Entscheidung Datenbank") is stemmed in every language.
    """
    words = _words(text)
    language = language_of(words)
    stops = STOPWORDS["en"] | STOPWORDS[language or "en"] | STOP_CHARACTERS
    telling = [word for word in words if word not in stops] or words
    languages = (language,) if language else STEMMED_LANGUAGES
    return list(dict.fromkeys(term for word in telling for term in _with_stems(word, languages)))


def _words(text: str) -> list[str]:
    found: list[str] = []
    for match in _CHUNK.finditer(fold(text[:_LONGEST_TEXT])):
        if match["unspaced"]:
            found += _pairs(match["unspaced"])
        elif match["number"]:
            found += _number(match["number"])
        else:
            found += _identifier(match["word"])
    return [word for word in found if len(word) <= LONGEST_TERM]


def _with_stems(word: str, languages: Iterable[str]) -> Iterable[str]:
    return dict.fromkeys([word, *(stem(word, language) for language in languages)])


def _pairs(run: str) -> list[str]:
    """List the characters of a run and each two neighbours: words of unknown length meet in these."""
    return [*run, *(run[i : i + 2] for i in range(len(run) - 1))]


def _number(text: str) -> list[str]:
    """Write 1,200 and 1.200 also as 1200, 54,10 as 54.10, 054 as 54."""
    grouped = _THOUSANDS.fullmatch(text)
    if grouped:
        whole = grouped[1] + grouped[3] + re.sub(r"\D", "", grouped[4])
        plain = f"{whole}.{grouped[5]}" if grouped[5] else whole
        return [plain] if grouped[5] or grouped[4] else [plain, text.replace(",", ".")]
    if text.isdigit():
        return [text.lstrip("0") or "0"]
    return [text.replace(",", ".")]


@lru_cache(maxsize=20_000)
def _identifier(chunk: str) -> tuple[str, ...]:
    """List a word; of a compound the whole, its outer parts, and the words these are made of."""
    if chunk.isascii() and chunk.isalpha() and chunk[1:].islower():  # a plain word, as nearly all are
        return (chunk.lower(),)
    whole = _joined(chunk)
    if not any(map(str.isalpha, chunk)):  # a date or a range of figures
        return (whole,)
    outer = [part for part in _OUTER.split(chunk) if part]
    inner = [word for part in outer for piece in _INNER.split(part) for word in _humps(piece)]
    parts = [*map(_joined, outer), *inner]
    # A lone letter or figure out of a compound says nothing.
    return tuple(dict.fromkeys([whole, *(part for part in parts if len(part) > 1)]))


def _joined(part: str) -> str:
    """Write go-live, go_live and GoLive alike; a figure such as 2026-05-04 keeps its signs."""
    compact = _INNER.sub("", part) if any(character.isalpha() for character in part) else part
    return compact.casefold()


def _humps(piece: str) -> list[str]:
    """Part camelCase, and letters from figures."""
    parts = _HUMPS.findall(piece) if piece.isascii() else [piece]
    return [part.casefold() for part in parts]
