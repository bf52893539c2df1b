"""From the text of a message to the units that are judged: sentences, list items, table rows.

Markdown, code and tables are understood just far enough to find what somebody said in them. A unit
keeps the place of its words in the message, so that the quote of a memory is what was really written.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from memctl.extraction.timewords import MONTHS, word_set

LONG_WORDS = 26  # a unit beyond this is cut at its clauses: no memory may be longer than a sentence or two
_MIN_CLAUSE_WORDS = 4
_MAX_UNIT_CHARS = 600
_LONGEST_ABBREVIATION = 4

_FENCE = re.compile(r"^\s*(```|~~~)")
_RULE = re.compile(r"^\s*(?:[-=*_~#.+]\s*){3,}$")
_TABLE_ROW = re.compile(r"^\s*\|(.+)\|\s*$")
_TABLE_LINE = re.compile(r"^[\s|:+-]+$")
_HEADING = re.compile(r"^\s*#{1,6}\s+(.*?)\s*#*\s*$")
_BOLD_LINE = re.compile(r"^\s*\*\*([^*]+?)\*\*:?\s*$")
_ITEM = re.compile(r"^\s*(?:[-*+•‣▪–·]|\(?\d{1,2}[.)]|\(?[A-Za-z][.)]|[①-⑳])\s+(?:\[[ xX]\]\s+)?")
_NUMBERED = re.compile(r"^\s*(?:>\s?)?\(?(?:\d{1,2}|[A-Za-z])[.)]\s", re.MULTILINE)
_BEGINS_WITH_STOP = re.compile(r"^\s*(?:\d{1,2}|[A-Za-z])\.\s")
_QUOTED = re.compile(r"^\s*>\s?")
_INDENTED_CODE = re.compile(r"^(?: {4,}|\t)\S")
_WORDS = re.compile(r"[\w'’%€$£./:@+-]*\w[\w'’%€$£./:@+-]*")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")

_INLINE = [
    (re.compile(r"!?\[([^\]]*)\]\([^)\s]*\)"), r"\1"),
    (re.compile(r"(\*\*\*|\*\*|__)(?=\S)(.+?)(?<=\S)\1"), r"\2"),
    (re.compile(r"(?<![\w*])\*(?=[^\s*])([^*\n]+?)(?<=[^\s*])\*(?![\w*])"), r"\1"),
    (re.compile(r"`+([^`\n]+)`+"), r"\1"),
    (re.compile(r"</?(?:b|i|em|strong|br|p|u|code|span|div|small)\s*/?>", re.IGNORECASE), " "),
]
_SPACES = re.compile(r"\s+")

_TERMINATOR = re.compile(r"(?:[.!?…]+[\"'”’»)\]*_]*(?=\s)|[。！？；]+[”’」』）]*)")
_ABBREVIATIONS = word_set("""
    e.g i.e etc vs cf al approx ca nr fig vol resp incl excl est dept inc ltd corp jr sr mr mrs ms dr prof st
    z.b d.h u.a z.t o.ä bzw usw evtl ggf inkl exkl mio mrd tel str abs bspw sog vgl
    p.ej ej sra srta ud uds dña núm pág aprox ee p.ex mme mlle p.s a.m p.m u.s
""")
_ORDINAL_FOLLOWERS = frozenset(MONTHS)
_GERMAN = re.compile(
    r"\b(?:der|die|das|und|nicht|wir|ist|für|mit|auf|ein|eine|den|dem|am|bis|ab|vom|zum|im)\b", re.IGNORECASE
)
_LAST_TOKEN = re.compile(r"(\S+)$")
_NEXT_TOKEN = re.compile(r"\s*(\S+)")

_STRONG_CUT = re.compile(r"(?:;|；| [–—-] |:(?=\s)|：|\.\.\. )\s*")
_SOFT_CUT = re.compile(
    r"(?:,|，)\s*(?=(?:and|but|so|because|since|which|while|then|otherwise|not|und|aber|weil|denn|sodass|damit|y|pero|porque|"
    r"así|mais|mas|porque|et|donc|car|parce|e|但|所以|因为|而且|然后)\b|[但所因而然])|\s(?=\((?:[^()]{12,})\))"
)


@dataclass(frozen=True, slots=True)
class Unit:
    """A piece of a message that is judged on its own.

    ``text`` is plain (no markdown), ``start`` and ``end`` its place in the message. ``kind`` is
    ``sentence``, ``item`` (of a list), ``row`` (of a table), ``error`` (of a tool) or ``output``.
    ``lead`` is the heading or the line that introduces a list; ``label`` is what the item is called
    by ("B", "2"). ``continues`` says that the unit is a clause of the same sentence as the one before.
    """

    text: str
    start: int
    end: int
    kind: str = "sentence"
    lead: str = ""
    label: str = ""
    continues: bool = False


@lru_cache(maxsize=4096)
def words(text: str) -> int:
    """Count words; in scripts without spaces two characters count as one."""
    ideographs = len(_CJK.findall(text))
    return len(_WORDS.findall(_CJK.sub(" ", text) if ideographs else text)) + (ideographs + 1) // 2


def plain(text: str) -> str:
    """Take inline markdown off and collapse white space."""
    if "*" in text or "`" in text or "[" in text or "<" in text or "__" in text:
        for pattern, replacement in _INLINE:
            text = pattern.sub(replacement, text)
    return _SPACES.sub(" ", text).strip()


def segment(text: str) -> list[Unit]:
    """Cut a message into units, in reading order. Code blocks, rules and headings yield none."""
    units: list[Unit] = []
    for block in _blocks(text):
        for start, end in (
            _sentences(text, block.start, block.end) if block.kind != "row" else [(block.start, block.end)]
        ):
            units.extend(_unit(text, start, end, block))
    return units


@dataclass(frozen=True, slots=True)
class _Block:
    """A paragraph, list item or table row: where its words are, and what introduces them."""

    start: int
    end: int
    kind: str
    lead: str = ""
    label: str = ""
    cells: str = ""


def _unit(text: str, start: int, end: int, block: _Block) -> Iterator[Unit]:
    """Make the unit or, of a long sentence, the clauses."""
    first = True
    for left, right in [(start, end)] if block.kind == "row" else _clauses(text, start, end):
        said = block.cells if block.kind == "row" else plain(text[left:right])
        if said and any(character.isalnum() for character in said):
            yield Unit(said[:_MAX_UNIT_CHARS], left, right, block.kind, block.lead, block.label, not first)
            first = False


class _Reader:
    """Walk the lines of a message once and collect its blocks."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.blocks: list[_Block] = []
        self.lead = ""
        self.header: list[str] | None = None
        self.fenced = False

    def read(self) -> list[_Block]:
        """Return the blocks of the text."""
        position = 0
        for line in self.text.splitlines(keepends=True):
            self._line(line.rstrip("\r\n"), position)
            position += len(line)
        return self.blocks

    def _line(self, line: str, start: int) -> None:
        if _FENCE.match(line):
            self.fenced = not self.fenced or line.strip().strip("`~") != ""
            self.header = None
            return
        if self.fenced or not line.strip():
            self.header = None
            return
        row = _TABLE_ROW.match(line)
        if row:
            self._row(row, line, start)
            return
        self.header = None
        if _RULE.match(line):
            return
        title = _HEADING.match(line) or _BOLD_LINE.match(line)
        if title:
            self.lead = plain(title.group(1)).rstrip(":：")
            return
        self._said(line, start)

    def _row(self, row: re.Match[str], line: str, start: int) -> None:
        cells = [plain(cell) for cell in row.group(1).split("|")]
        if _TABLE_LINE.match(line):
            return
        if self.header is None:
            self.header = cells
            return
        text = _row_text(self.header, cells)
        self.blocks.append(_Block(start, start + len(line), "row", self.lead, cells[0], text))

    def _said(self, line: str, start: int) -> None:
        quoted = _QUOTED.match(line)
        offset = quoted.end() if quoted else 0
        item = _ITEM.match(line[offset:])
        if item and not self._is_an_answer(item.group()):
            label = item.group().strip().strip("().[] xX-*+•").upper()
            offset += item.end()
            self.blocks.append(_Block(start + offset, start + len(line), "item", self.lead, label))
            return
        if not self._wrapped(line, start):
            self.lead = ""
            self.blocks.append(_Block(start + offset, start + len(line), "sentence"))
        if line.rstrip().endswith((":", "：")):
            self.lead = plain(line).rstrip(":：")

    def _is_an_answer(self, marker: str) -> bool:
        """Whether "B." or "90." is no item's number but a short sentence: nothing else in the message is numbered."""
        if not _BEGINS_WITH_STOP.match(marker) or marker.strip() == "1.":
            return False
        return len(_NUMBERED.findall(self.text)) == 1

    def _wrapped(self, line: str, start: int) -> bool:
        """Join a line that only continues the one before (hard-wrapped text)."""
        if not self.blocks or not line[:1].islower():
            return False
        last = self.blocks[-1]
        gap = self.text[last.end : start]
        if gap.strip() or gap.count("\n") != 1 or self.text[last.end - 1] in ".!?:。！？：" or last.kind == "row":
            return False
        self.blocks[-1] = _Block(last.start, start + len(line), last.kind, last.lead, last.label)
        return True


def _blocks(text: str) -> list[_Block]:
    return _Reader(text).read()


def _row_text(header: list[str], cells: list[str]) -> str:
    """Write a table row as a phrase: the first cell, then each column with its name."""
    pairs = [
        f"{name} {cell}" if name and not name.isdigit() else cell
        for name, cell in zip(header[1:], cells[1:], strict=False)
        if cell and cell not in {"-", "–", "—"}
    ]
    return f"{cells[0]}: {', '.join(pairs)}" if pairs else cells[0]


def _sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield where each sentence of a block begins and ends."""
    left = start
    for stop in _TERMINATOR.finditer(text, start, end):
        if _ends_sentence(text, left, stop, end):
            yield left, stop.end()
            left = stop.end()
    if text[left:end].strip():
        yield left, end


def _ends_sentence(text: str, left: int, stop: re.Match[str], end: int) -> bool:
    """Tell a full stop from the dot of an abbreviation, an ordinal or an initial."""
    mark = stop.group()
    if mark[0] in "。！？；!?":
        return True
    following = _NEXT_TOKEN.match(text, stop.end(), end)
    if following is None:
        return True
    ahead = following.group(1)
    if mark[0] == "…" or mark.startswith(".."):
        return not ahead[:1].islower()
    word = _LAST_TOKEN.search(text[max(left, stop.start() - 24) : stop.start()])
    token = word.group(1).lstrip("(\"'“„«[*_") if word else ""
    if token.isdigit() and len(token) <= 2:
        return not _is_ordinal(text[left:end], ahead)
    if token.lower() == "no":
        return not ahead[:1].isdigit()
    if token.lower() in _ABBREVIATIONS or (len(token) == 1 and token.isalpha() and token.isupper()):
        return False
    # People who type fast begin no sentence with a capital; and a long word before the dot is no abbreviation.
    hasty = text[left:end].lstrip()[:1].islower()
    return hasty or not ahead[:1].islower() or len(token) > _LONGEST_ABBREVIATION or any(map(str.isdigit, token))


def _is_ordinal(sentence: str, ahead: str) -> bool:
    """Read "15. Oktober" and, in German, "im 3. Stock" as one phrase."""
    return ahead.lower().strip(".,;:") in _ORDINAL_FOLLOWERS or len(_GERMAN.findall(sentence)) >= 2


def _clauses(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Cut a long sentence at its strong marks, then, where still too long, at its conjunctions."""
    if words(text[start:end]) <= LONG_WORDS:
        return [(start, end)]
    pieces = _cut(text, [(start, end)], _STRONG_CUT)
    return _cut(text, pieces, _SOFT_CUT)


def _cut(text: str, pieces: list[tuple[int, int]], at: re.Pattern[str]) -> list[tuple[int, int]]:
    """Cut the pieces that are too long wherever ``at`` matches and both sides are still clauses."""
    done: list[tuple[int, int]] = []
    for start, end in pieces:
        left = start
        if words(text[start:end]) > LONG_WORDS:
            for mark in at.finditer(text, start, end):
                whole = words(text[left : mark.start()]) >= _MIN_CLAUSE_WORDS
                if whole and words(text[mark.end() : end]) >= _MIN_CLAUSE_WORDS:
                    done.append((left, mark.end()))
                    left = mark.end()
        done.append((left, end))
    return done
