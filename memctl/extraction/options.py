"""What "B" is: references to options that somebody listed before."""

import re
from collections.abc import Sequence

from memctl.extraction.segment import Unit
from memctl.extraction.windows import Turn

_LOOK_BACK = 6
_NAMED = (
    r"option|variant|variante|choice|plan|proposal|alternative|möglichkeit|vorschlag|opción|alternativa|propuesta|opção|"
    r"方案|选项"
)
_REFERENCE = re.compile(
    rf"\b(?:{_NAMED})\s+\(?([A-F]|[1-9])\b\)?|(?:方案|选项)\s*([A-Fa-f]|[1-9一二三四])|"
    r"^\W*(?:(?:ok(?:ay)?|yes|ja|sí|vale|oui|sim|好的?|then|so|let's (?:do|go with|take)|go with|take|i(?:'d|"
    r" would)? (?:say|take|vote for|go for)|"
    r"wir nehmen|nehmen wir|dann|vamos con|on prend|选|就)[\s,:，]*)*\(?((?-i:[A-F]))\)?(?:\s*(?:then|it is|please|"
    r"dann|bitte|entonces|por favor|alors|então|吧))?\s*[.!,，。;:–—]",
    re.IGNORECASE,
)
_ORDINAL = re.compile(
    r"\b(?:the|die|den|das|el|la|le|o|a)\s+(first|second|third|fourth|last|erste|zweite|dritte|letzte|primera?|"
    r"primero|segund[oa]|tercer[oa]?|"
    r"últim[oa]|premi[eè]re?|deuxième|troisième|dernière?|primeir[oa]|terceir[oa])n?(?:\s+(?:one|option|variant|"
    r"proposal|variante|opción|opção))?\s*(?:[.!,;]|$|then|please|dann|bitte)",
    re.IGNORECASE,
)
_PLACES = (
    ("first", "erste", "prim", "premi"),
    ("second", "zweite", "segund", "deux"),
    ("third", "dritte", "terc", "trois"),
    ("fourth",),
)
_LAST = ("last", "letzte", "últim", "dern")
_MARK = r"(?:option\s+|opción\s+|variante\s+|方案)?\(?([A-F])\s?(?:[):.](?=\s)|：)"
_NEXT_MARK = _MARK.replace("([A-F])", "[A-F]")
_INLINE = re.compile(
    rf"(?:^|[\s(,;:，；])\s*{_MARK}\s*(.+?)(?=[\s,;(，；]+(?:or |oder |o |ou |或)?{_NEXT_MARK}|$)",
    re.IGNORECASE,
)
_CHINESE_DIGITS = {"一": "1", "二": "2", "三": "3", "四": "4"}


def chosen(text: str, turns: Sequence[Turn], place: int) -> tuple[str, str] | None:
    """Find the option that ``text``, said in turn ``place``, refers to: its label and its words."""
    listed = _listed(turns, place)
    if not listed:
        return None
    match = _REFERENCE.search(text)
    if match:
        found = next(group for group in match.groups() if group).upper()
        label = _CHINESE_DIGITS.get(found, found)
        return (label, listed[label]) if label in listed else None
    ordinal = _ORDINAL.search(text)
    return _by_place(ordinal.group(1).lower(), listed) if ordinal else None


def _by_place(word: str, listed: dict[str, str]) -> tuple[str, str] | None:
    entries = list(listed.items())
    if word.startswith(_LAST):
        return entries[-1]
    for place, stems in enumerate(_PLACES):
        if word.startswith(stems) and place < len(entries):
            return entries[place]
    return None


def _listed(turns: Sequence[Turn], place: int) -> dict[str, str]:
    """Read the latest list of options before the turn; numbers and letters count alike."""
    for turn in reversed(turns[max(0, place - _LOOK_BACK) : place]):
        items = _items(turn.units)
        if len(items) >= 2:
            return items
    return {}


def _items(units: Sequence[Unit]) -> dict[str, str]:
    found: dict[str, str] = {}
    for unit in units:
        label = unit.label if len(unit.label) == 1 and unit.label.isalnum() else ""
        if label and label not in found:
            found[label] = unit.text
        for match in _INLINE.finditer(unit.text):
            found.setdefault(match.group(1).upper(), match.group(2).strip(" ,;.?"))
    return found
