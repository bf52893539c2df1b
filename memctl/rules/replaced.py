"""Statements that say what they replace: "45 seconds, not 30", "moved from Railway to Fly", "statt Jenkins".

Where the replaced thing is named and the older statement names it too, no model is needed to see the change.
"""

import re
from functools import lru_cache

_THING = r"(?P<thing>[^,;.!?。；，]{1,60})"
_PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?:,|;|\band|\bund|\by|\bet)\s+(?:not|nicht|no|pas|non|não)\s+{_THING}",
        rf"\b(?:instead of|rather than|in place of|no longer|anstelle von|anstatt|statt|nicht mehr)\s+{_THING}",
        rf"\b(?:en vez de|en lugar de|ya no|au lieu de|ne \w+ plus|em vez de|já não)\s+{_THING}",
        r"\b(?:moved?|mov(?:ing|es)|switch(?:ed|es|ing)?|migrat(?:ed|es|ing)|chang(?:ed|es|ing)|went|goes|raised|lowered"
        r"|wechsel\w*|umgezogen|umgestellt|gewechselt|pasamos|cambiamos|migramos|passons|passé)\b[^.;!?]{0,60}?"
        r"\b(?:from|von|vom|de|du)\s+(?P<thing>[^,;.!?]{1,40}?)\s+(?:to|auf|zu|nach|a|à|para)\b",
        r"(?P<thing>[\w.+#-]{2,40})\s+(?:is|are|was|were)\s+(?:no longer|not)\s+(?:used|in use|valid|needed)",
        r"(?:不再(?:使用|用)?|而不是|从)(?P<thing>[^，。；,.!?]{1,20}?)(?=$|[，。；,.!?]|改|换|迁|转)",
    )
)
_TELLING = re.compile(
    r"\d+(?:[.,:]\d+)*"
    r"|(?<!\w)[A-ZÄÖÜÁÉÍÓÚ][\w+#.-]*\w"
    r"|[一-鿿]{2,}"
    r"|(?<!\w)[a-z]+[\w-]*[\d_.+#][\w.+#-]*"
)


def names_what_it_replaces(old: str, new: str) -> bool:
    """Whether the newer statement names something of the older one as replaced, and something else in its place."""
    before = _telling(old)
    gone = {word for thing in _replaced(new) for word in _telling(thing)}
    gone_before = {word for thing in _replaced(old) for word in _telling(thing)}
    return bool(gone & before - gone_before) and bool(_telling(new) - gone - before)


# Every pair that the judge compares is asked twice, and a statement is in many pairs.
@lru_cache(maxsize=16384)
def _replaced(text: str) -> tuple[str, ...]:
    return tuple(match["thing"] for pattern in _PATTERNS for match in pattern.finditer(text))


@lru_cache(maxsize=16384)
def _telling(text: str) -> frozenset[str]:
    """Take the numbers and names of a text: what can be told from other things of its kind."""
    return frozenset(word.casefold().rstrip(".") for word in _TELLING.findall(text))
