"""Was it said? A fact that a model returns counts only if the chat bears it out. Pure functions on texts.

The quote must stand in the message that the fact names; every number and every name of the fact must occur in that
message or near it; and most of its words must come from there. What fails is refused with the reason.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memctl.extraction.characters import plain

_MARKUP = re.compile(r"[*_`#>|~\"'“”„«»]+")
_ELLIPSIS = re.compile(r"\s*(?:\.{3}|…|\[\.\.\.\]|\[…\])\s*")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_OWN_NUMBER = re.compile(r"(?<![A-Za-z_\d])\d+(?:[.,:]\d+)*")
_WORD = re.compile(r"[^\W\d_][\w'-]*")
_IDENTIFIER = re.compile(r"[\w./:@-]*[\w](?:[_/.:@-]\w+)+|\w*[a-z][A-Z]\w*|[A-Za-z]+\d\w*|\b[A-Z]{2,}\b")
_IDEOGRAPHS = re.compile(r"[\u3400-\u9fff\u3040-\u30ff\uac00-\ud7af]")
_GERMAN = re.compile(
    r"\b(?:der|die|das|den|dem|und|ist|nicht|mit|für|wir|eine?|auf|von|zum?|nehmen|wird)\b", re.IGNORECASE
)
_SENTENCE_START = re.compile(r"(?:^|[.!?:;]\s+|[\"'(]\s*)$")
_SHORTEST_QUOTE = 6
_LONGEST_WORDS = 45
_ENOUGH_SAID = 0.5
_STEM = 5
_LITTLE_WORDS = frozenset(
    """
    the a an and or but of to in on at by for with from as is are was were be been being has have had do does did will
    would can could should must may might not no this that these those it its they them their there here which who whom
    whose what when where while because since until than then so such also only just more most very into onto over under
    about after before between during each every any some all both either neither own same other another team user agent
    uses use used using prefers prefer preferred decided decision failed failure wants want needs need instead rather
    der die das den dem des ein eine einer einem einen und oder aber von zu im in am an auf für mit aus als ist sind war
    el la los las un una y o pero de del en con por para como es son fue le les et ou mais du des dans avec pour que
    """.split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True)
class Proposed:
    """A fact as a model returned it: the sentence, and the words that it says it took it from."""

    text: str
    quote: str


def refusal(fact: Proposed, said: str, around: Iterable[str] = (), names: Iterable[str] = ()) -> str:
    """Say why a fact is not borne out, or "" if it is.

    ``said`` is the message that it names, ``around`` are the messages beside it, ``names`` the speakers of the chat.
    """
    if not fact.text.strip() or len(fact.text.split()) > _LONGEST_WORDS:
        return "not one short sentence"
    if not quoted(fact.quote, said):
        return "quote not in the message"
    context = [said, *around]
    known = " ".join([*context, *names])
    missing = _missing_name(fact.text, said, known) or _missing_number(fact.text, known)
    if missing:
        return f"not said: {missing}"
    return "" if _share_said(fact.text, known) >= _ENOUGH_SAID else "mostly not said"


def quoted(quote: str, text: str) -> bool:
    """Whether the quote stands in the text, whatever its case, blanks and markup; parts around "..." in their order."""
    parts = [folded(part) for part in _ELLIPSIS.split(quote)]
    parts = [part for part in parts if part]
    if sum(len(part) for part in parts) < (3 if _IDEOGRAPHS.search(quote) else _SHORTEST_QUOTE):
        return False
    position, whole = 0, folded(text)
    for part in parts:
        found = whole.find(part, position)
        if found < 0:
            return False
        position = found + len(part)
    return True


def folded(text: str) -> str:
    """Fold case, blanks, markup and final punctuation, for comparing a quote with what was said."""
    return " ".join(_MARKUP.sub(" ", plain(text)).casefold().split()).strip(" .,;:!?。，；！？")


def _missing_number(text: str, known: str) -> str:
    there = {_figure(number) for number in _NUMBER.findall(known)}
    return next((number for number in _OWN_NUMBER.findall(text) if _figure(number) not in there), "")


def _figure(number: str) -> str:
    """Write 1,200 and 1.200 and 1200 the same way."""
    return re.sub(r"[.,](?=\d{3}(?:\D|$))", "", number).strip(".,:")


def _missing_name(text: str, said: str, known: str) -> str:
    """Find a name that nobody used: an identifier, or a capitalised word inside a sentence."""
    whole = plain(known).casefold()
    for match in _IDENTIFIER.finditer(text):
        if match[0].casefold().strip("./:-") not in whole:
            return match[0]
    if len(_GERMAN.findall(f"{text} {said}")) > 1:  # German writes every noun with a capital
        return ""
    stems = _stems(whole)
    inside = (m for m in _WORD.finditer(text) if m[0][0].isupper() and not _SENTENCE_START.search(text[: m.start()]))
    return next((m[0] for m in inside if m[0].casefold()[:_STEM] not in stems), "")


def _share_said(text: str, known: str) -> float:
    """Share of the fact's telling words (or pairs of ideographs) that the chat used too, by their stems."""
    if _IDEOGRAPHS.search(text):
        wanted = _pairs(text)
        return _share(wanted, set(_pairs(known)))
    words = [word.casefold() for word in _WORD.findall(text)]
    return _share([w[:_STEM] for w in words if len(w) > 2 and w not in _LITTLE_WORDS], _stems(known.casefold()))


def _share(wanted: Sequence[str], there: set[str]) -> float:
    return sum(part in there for part in wanted) / len(wanted) if wanted else 1.0


def _stems(lower: str) -> set[str]:
    return {word[:_STEM] for word in _WORD.findall(lower)}


def _pairs(text: str) -> list[str]:
    signs = "".join(_IDEOGRAPHS.findall(text))
    return [signs[i : i + 2] for i in range(len(signs) - 1)] or [signs]
