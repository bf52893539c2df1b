"""Instructions that were injected are taken out of a message and set apart, with the reason.

Who may instruct: people and agents who speak. Who may not: tools, fetched pages, quoted mail, hidden markup. So
the same words are judged by where they stand. Foreign text needs one strong sign, or two weak ones. Speech
needs words that nobody uses among colleagues ("ignore all previous instructions"). What repeats an injected
sentence later is set apart too, so that the report of an attack does not carry the attack on.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from memctl.extraction.characters import plain
from memctl.extraction.foreign import Region, regions
from memctl.extraction.injection_signs import ADDRESSES, ORDERS, OVERRIDES, REMEMBERS, compile_all

_OVERRIDES, _ADDRESSES = compile_all(OVERRIDES), compile_all(ADDRESSES)
_REMEMBERS, _ORDERS = compile_all(REMEMBERS), compile_all(ORDERS)
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+|(?<=[。！？；])")
_STRING_END = re.compile(r"[\"']\s*[,}\]]|\\n|\s\|\s")
_WORDS = re.compile(r"[^\W_]+(?:[.'/:-][^\W_]+)*|[\u3400-\u9fff]")
_LONG_LINE = 400
_SHINGLE = 5

OVERRIDE = "tells agents to ignore their instructions"
ADDRESS = "speaks to machines, not to the reader"
MEMORY = "orders agents to remember it for good"
HIDDEN = "instruction in hidden markup"
INVISIBLE = "written in invisible characters"
ORDER = "gives orders to agents from an untrusted place"
REPEATED = "repeats an injected instruction"


@dataclass(frozen=True, slots=True)
class Injected:
    """A piece of text that was set apart, and why."""

    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Sifted:
    """A message's text without the injected pieces, and those pieces."""

    text: str
    injected: tuple[Injected, ...] = ()


def sift(text: str, *, trusted: bool) -> Sifted:
    """Part a text from the instructions injected into it; ``trusted`` tells speech of people and agents from the rest."""
    if not _may_matter(text):
        return Sifted(text)
    kept: list[str] = []
    injected: list[Injected] = []
    for region in regions(text, trusted=trusted):
        rest, found = _sift_region(region)
        kept.append(rest)
        injected += found
    return Sifted("".join(kept) if injected else text, tuple(injected))


def sift_repeats(text: str, known: frozenset[tuple[str, ...]]) -> Sifted:
    """Take out the sentences that repeat ``known`` injected words, whoever says them."""
    if not known or known.isdisjoint(shingles(text)):
        return Sifted(text)
    kept: list[str] = []
    injected: list[Injected] = []
    for piece in _sentences(text):
        repeats = not known.isdisjoint(shingles(piece))
        if repeats:
            injected.append(Injected(piece.strip(), REPEATED))
        kept.append("" if repeats else piece)
    return Sifted("".join(kept) if injected else text, tuple(injected))


def shingles(text: str) -> Iterator[tuple[str, ...]]:
    """Yield every run of five words (or Chinese characters) in lower case: what two texts share if one quotes the other."""
    words = _WORDS.findall(plain(text).lower())
    yield from (tuple(words[i : i + _SHINGLE]) for i in range(len(words) - _SHINGLE + 1))


def _may_matter(text: str) -> bool:
    flat = plain(text)
    return bool(_OVERRIDES.search(flat) or _ADDRESSES.search(flat) or _REMEMBERS.search(flat) or _ORDERS.search(flat))


def _sift_region(region: Region) -> tuple[str, list[Injected]]:
    if region.hidden:
        reason = _reason_hidden(region.text)
        return ("", [Injected(region.text.strip(), reason)]) if reason else (region.text, [])
    pieces = list(_lines(region.text)) if region.foreign else list(_sentences(region.text))
    reasons = _judge_pieces(pieces, foreign=region.foreign)
    kept = "".join(piece for piece, reason in zip(pieces, reasons, strict=True) if not reason)
    found = [Injected(p.strip(), r) for p, r in zip(pieces, reasons, strict=True) if r and p.strip()]
    return kept, _joined(found)


def _judge_pieces(pieces: list[str], *, foreign: bool) -> list[str]:
    """Give each piece the reason to set it apart, or ""; in foreign text an order beside an injected piece goes with it."""
    judge = _reason_foreign if foreign else _reason_spoken
    reasons = [judge(plain(piece)) for piece in pieces]
    for i, piece in enumerate(pieces):
        if i and reasons[i - 1] and not reasons[i] and (_continues(pieces[i - 1], piece) or _is_weak(piece)):
            reasons[i] = reasons[i - 1]
    return reasons


def _reason_foreign(flat: str) -> str:
    if _OVERRIDES.search(flat):
        return OVERRIDE
    if _REMEMBERS.search(flat):
        return MEMORY
    if _ADDRESSES.search(flat):
        return ADDRESS
    return ORDER if len({match[0].lower() for match in _ORDERS.finditer(flat)}) > 1 else ""


def _reason_spoken(flat: str) -> str:
    if _OVERRIDES.search(flat):
        return OVERRIDE
    if _ADDRESSES.search(flat) and (_REMEMBERS.search(flat) or _ORDERS.search(flat)):
        return ADDRESS
    return ""


def _reason_hidden(text: str) -> str:
    flat = plain(text)
    return _reason_foreign(flat) or (HIDDEN if _ORDERS.search(flat) else "")


def _is_weak(piece: str) -> bool:
    return bool(_ORDERS.search(plain(piece)))


def _continues(before: str, piece: str) -> bool:
    """Whether a piece goes on with the sentence of the one before: no full stop there, a small letter here."""
    return bool(re.search(r"[\w,;]\s*$", before)) and bool(re.match(r"\s*[a-zà-ÿ]", piece)) and "\n\n" not in before


def _sentences(text: str) -> Iterator[str]:
    """Cut into sentences; joined together they are the text again."""
    for line in text.splitlines(keepends=True):
        position = 0
        for end in _SENTENCE_END.finditer(line):
            yield line[position : end.end()]
            position = end.end()
        yield line[position:]


def _lines(text: str) -> Iterator[str]:
    """Cut into lines; a long line (JSON, a log) into the strings that it holds, so that the rest of it survives."""
    for line in text.splitlines(keepends=True):
        if len(line) <= _LONG_LINE:
            yield line
            continue
        position = 0
        for end in _STRING_END.finditer(line):
            yield line[position : end.end()]
            position = end.end()
        yield line[position:]


def _joined(found: Iterable[Injected]) -> list[Injected]:
    """Put pieces that follow each other for the same reason together."""
    joined: list[Injected] = []
    for piece in found:
        if joined and joined[-1].reason == piece.reason:
            joined[-1] = Injected(f"{joined[-1].text} {piece.text}", piece.reason)
        else:
            joined.append(piece)
    return joined
