"""Characters that people do not see: taken out, and what was written with them brought to light."""

import re
import unicodedata

# CSI and OSC sequences of terminals, and two-byte escapes.
_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])|\x9b[0-?]*[ -/]*[@-~]")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f]")
# Zero-width space, word joiners, soft hyphen, byte order mark, bidirectional controls. The joiners that emoji and
# Persian need (U+200C, U+200D) stay.
_INVISIBLE = re.compile("[\u200b\u2060-\u2064\ufeff\u00ad\u200e\u200f\u202a-\u202e\u2066-\u2069\u180e\u034f]")
# Tag characters spell ASCII invisibly; behind a black flag they make the flag of a region.
_TAGS = re.compile("(?P<flag>\U0001f3f4[\U000e0020-\U000e007f]+)|[\U000e0000-\U000e007f]+")
_SHORTEST_MESSAGE = 4
_NEEDS_WORK = re.compile(
    "[^\t\n\r -~\u00a1-\u00ac\u00ae-\u0233\u0370-\u1fff\u2010-\u2027\u2030-\u205e\u20a0-\ufefe\uff00-\uffef]"
)


def strip_invisible(text: str) -> tuple[str, tuple[str, ...]]:
    """Return the text as people see it, and what was hidden in it with tag characters."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not _NEEDS_WORK.search(text):
        return text, ()
    hidden = tuple(
        _spelled(found[0]) for found in _TAGS.finditer(text) if not found["flag"] and len(found[0]) >= _SHORTEST_MESSAGE
    )
    text = _TAGS.sub(lambda found: found["flag"] or "", _ANSI.sub("", text))
    text = _INVISIBLE.sub("", _CONTROL.sub("", text))
    return text, hidden


def _spelled(tags: str) -> str:
    """Read tag characters as the ASCII that they stand for."""
    return "".join(chr(ord(tag) - 0xE0000) for tag in tags if " " <= chr(ord(tag) - 0xE0000) <= "~")


def plain(text: str) -> str:
    """Return the text for comparison: compatibility forms and quotes folded, look-alikes Latin, single blanks."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).translate(_QUOTES)
        text = _TWO_SCRIPTS.sub(lambda word: word[0].translate(_LOOK_ALIKES), text)
    return " ".join(text.split())


_QUOTES = str.maketrans("’‘“”‐‑‒", "''\"\"---")
# A word of both scripts imitates a Latin one; a word of one script is a word.
_TWO_SCRIPTS = re.compile(r"\b(?=\w*[a-zA-Z])(?=\w*[\u0370-\u052f])\w+")
_LOOK_ALIKES = str.maketrans(
    "аеорсухіјѕԁɡһԛԝАВЕКМНОРСТУХοαερυινОΟΑΒΕΗΙΚΜΝΡΤΧ", "aeopcyxijsdghqwABEKMHOPCTYXoaepuivOOABEHIKMNPTX"
)
