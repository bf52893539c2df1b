"""Pages, listings and dumps in a message: which of their pieces can never be a memory.

Somebody pastes a page, a plan in JSON or a traceback into a chat, and most of its pieces are keys, menus, links and
code. The classifier drops them, but reading them is most of its work. They are left out beforehand, and only in long
messages: in a short one a single word may be an answer.
"""

import re
from collections.abc import Sequence

from memctl.extraction.segment import Unit, words

_LONG_MESSAGE = 12  # units; what fits into one window costs the same whatever it is
_FEWEST_WORDS = 4  # a piece of a page with fewer words and no full stop is a menu, a button or a heading
_VALUE_WORDS = 3

_KEY = re.compile(r"^[\s{\[(,]*\\?\"[^\"]{1,60}\\?\"\s*:\s*(.*)$")
_LINK = re.compile(r"^\W*(?:https?://|www\.)\S+(?:\s+›.*)?$")
_CODE = re.compile(
    r"^\s*(?:File \"[^\"]+\", line \d+|from [\w.]+ import\b|import [\w.]+$|(?:async )?def \w+\(|class \w+[(:]|"
    r"await [\w.]+\(|(?:return|yield|raise) [\w.]*[(\[{]|self\.\w|"
    r"(?:if|elif|while|for|with) .*[()\[\]=].*:$|[\w.]+(?:, [\w.]+)* = .*[(\[{]|[\w.]+\([^()]*\)[;,]?$|</?\w[^>]*>$)"
)
_WORD = re.compile(r"[^\W\d_]{2,}")
_SAID = re.compile(r"[.!?。！？…][\"'”’)\]]*$")


def worth_reading(units: Sequence[Unit]) -> list[Unit]:
    """Leave out the pieces of a long message that say nothing: keys, links, code, menus, bare numbers."""
    if len(units) <= _LONG_MESSAGE:
        return list(units)
    return [unit for unit in units if not _says_nothing(unit)]


def _says_nothing(unit: Unit) -> bool:
    key = _KEY.match(unit.text)
    if key and words(key.group(1)) < _VALUE_WORDS:
        return True
    if _LINK.match(unit.text) or _CODE.match(unit.text):
        return True
    # A row, a clause, or an item under a heading is completed by what it belongs to.
    if unit.lead or unit.continues or unit.kind == "row":
        return False
    return not _WORD.search(unit.text) or (words(unit.text) < _FEWEST_WORDS and not _SAID.search(unit.text))
