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
from memctl.extraction.injection_signs import ADDRESSES, ORDERS, OVERRIDES, REMEMBERS

_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+|(?<=[。！？；])")
_STRING_END = re.compile(r"[\"']\s*[,}\]]|\\n|\s\|\s")
_LINE_END = re.compile(rf"(?:\n|{_STRING_END.pattern})\Z")
_WORDS = re.compile(r"[^\W_]+(?:[.'/:-][^\W_]+)*|[\u3400-\u9fff]")
_LONG_LINE = 400
_RUN = 5
_SHORTEST_QUOTE = 3
_QUOTATION = re.compile(r"[\"“„«`]([^\"“”„«»`\n]{6,300})[\"”“»`]")

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
    """Part a text from the instructions injected into it; ``trusted`` marks the speech of people and agents."""
    if not _may_matter(text, trusted=trusted):
        return Sifted(text)
    kept: list[str] = []
    injected: list[Injected] = []
    for region in regions(text, trusted=trusted):
        rest, found = _sift_region(region)
        kept.append(rest)
        injected += found
    return Sifted("".join(kept) if injected else text, tuple(injected))


@dataclass(frozen=True, slots=True)
class Injections:
    """The injected texts of a chat: what another message must not repeat."""

    texts: tuple[str, ...]
    runs: frozenset[tuple[str, ...]]

    @classmethod
    def of(cls, texts: Iterable[str]) -> "Injections":
        """Collect injected texts."""
        flat = tuple(" ".join(_words(text)) for text in texts)
        return cls(flat, frozenset(run for text in flat for run in _runs(text)))

    def repeated_in(self, sentence: str) -> bool:
        """Whether a sentence shares five words in a row with them, or quotes three of them in quotation marks."""
        if not self.runs.isdisjoint(_runs(sentence)):
            return True
        quotes = [_words(quote[0]) for quote in _QUOTATION.finditer(sentence)]
        return any(" ".join(words) in text for words in quotes if len(words) >= _SHORTEST_QUOTE for text in self.texts)


def sift_repeats(text: str, injections: Injections) -> Sifted:
    """Take out the sentences that repeat injected words, whoever says them."""
    if not injections.texts or not injections.repeated_in(text):
        return Sifted(text)
    kept: list[str] = []
    injected: list[Injected] = []
    for piece in _sentences(text):
        if injections.repeated_in(piece):
            injected.append(Injected(piece.strip(), REPEATED))
        else:
            kept.append(piece)
    return Sifted("".join(kept) if injected else text, tuple(injected))


def _words(text: str) -> list[str]:
    """Words and Chinese characters, in lower case."""
    return _WORDS.findall(plain(text).lower())


def _runs(text: str) -> Iterator[tuple[str, ...]]:
    words = _words(text)
    yield from (tuple(words[i : i + _RUN]) for i in range(len(words) - _RUN + 1))


def _may_matter(text: str, *, trusted: bool) -> bool:
    flat = plain(text)
    lower = flat.lower()
    # Orders alone matter only in foreign text: speech without quotes, fences and markup has none.
    signs = (OVERRIDES, ADDRESSES, REMEMBERS)
    foreign = not trusted or "<" in text or ">" in text or "```" in text
    return any(kind.in_(flat, lower) for kind in (signs if not foreign else (*signs, ORDERS)))


def _sift_region(region: Region) -> tuple[str, list[Injected]]:
    if region.hidden:
        reason = _reason_hidden(region.text)
        return ("", [Injected(region.text.strip(), reason)]) if reason else (region.text, [])
    pieces = list(_sentences(region.text))
    reasons = _judge_foreign(pieces) if region.foreign else _judge_spoken(pieces)
    kept = "".join(piece for piece, reason in zip(pieces, reasons, strict=True) if not reason)
    found = [Injected(p.strip(), r) for p, r in zip(pieces, reasons, strict=True) if r and p.strip()]
    return kept, _joined(found)


def _judge_foreign(pieces: list[str]) -> list[str]:
    """Give each piece of foreign text the reason to set it apart, or "".

    Behind a strong sign the rest of the line goes too, then lines that go on with its sentence or give orders.
    """
    reasons: list[str] = []
    before, reach = "", ""
    for piece in pieces:
        flat = plain(piece)
        reason = _reason_strong(flat)
        if not reason and reach and (not _LINE_END.search(before) or _continues(before, piece) or _is_order(flat)):
            reason = reach
        reach = reason
        reasons.append(reason or _reason_orders(flat))
        before = piece
    return reasons


def _judge_spoken(pieces: list[str]) -> list[str]:
    """Give each sentence of speech the reason to set it apart, or "".

    Behind a sentence that addresses machines the rest of its line goes too: it was pasted. Behind one that may be a
    report only further orders go.
    """
    reasons: list[str] = []
    before, reach, pasted = "", "", False
    for piece in pieces:
        flat = plain(piece)
        reason = _reason_spoken(flat)
        if reason:
            pasted = ADDRESSES.in_(flat, flat.lower())
        elif reach and not _LINE_END.search(before) and (pasted or _is_order(flat)):
            reason = reach
        reasons.append(reason)
        before, reach = piece, reason
    return reasons


def _reason_strong(flat: str) -> str:
    lower = flat.lower()
    for signs, reason in ((OVERRIDES, OVERRIDE), (REMEMBERS, MEMORY), (ADDRESSES, ADDRESS)):
        if signs.in_(flat, lower):
            return reason
    return ""


def _reason_orders(flat: str) -> str:
    return ORDER if ORDERS.count(flat, flat.lower()) > 1 else ""


def _reason_spoken(flat: str) -> str:
    lower = flat.lower()
    if OVERRIDES.in_(flat, lower):
        return OVERRIDE
    if ADDRESSES.in_(flat, lower) and (REMEMBERS.in_(flat, lower) or ORDERS.in_(flat, lower)):
        return ADDRESS
    return ""


def _reason_hidden(text: str) -> str:
    flat = plain(text)
    return _reason_strong(flat) or (HIDDEN if _is_order(flat) else "")


def _is_order(flat: str) -> bool:
    return ORDERS.in_(flat, flat.lower())


def _continues(before: str, piece: str) -> bool:
    """Whether a piece goes on with the sentence of the one before: no full stop there, a small letter here."""
    prose = "|" not in before and "\t" not in before
    return prose and bool(re.search(r"[\w,;]\s*$", before)) and bool(re.match(r"\s*[a-zà-ÿ]", piece))


def _sentences(text: str) -> Iterator[str]:
    """Cut into sentences, and long lines (JSON, logs) into their strings; joined together they are the text again."""
    for line in text.splitlines(keepends=True):
        position = 0
        for end in (_STRING_END if len(line) > _LONG_LINE else _SENTENCE_END).finditer(line):
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
