"""Recall blocks out, before extraction: a memory that reads its own answers multiplies them.

Known are our own block (however it was indented, quoted, escaped or cut off), the JSON of ``memctl recall``,
and the blocks of Teachability, AutoGen's memories, mem0 and others, which are headings over a list or
tagged sections. The ids that our blocks and citations show are returned: each counts as a use of that fact.
"""

import json
import re
from dataclasses import dataclass

_OPEN, _CLOSE = r"(?:<|&lt;|\\u003c)", r"(?:>|&gt;|\\u003e)"
_OURS = re.compile(rf"{_OPEN}memctl-memory\b.*?{_OPEN}\\?/memctl-memory\s*{_CLOSE}", re.DOTALL | re.IGNORECASE)
_OURS_CUT_OFF = re.compile(rf"{_OPEN}memctl-memory\b", re.IGNORECASE)
_CITED_LINE = re.compile(r"[ \t]*\[\d{4}-\d\d-\d\d [^\]\n]{0,60}?\b(?:[0-9a-f]{16}|[0-9a-f]{8})\]\W{0,3}$")
_ID = re.compile(
    r"\[(?:\d{4}-\d\d-\d\d [^\]\n]{0,60}? )?(?P<a>[0-9a-f]{16}|[0-9a-f]{8})\]|\(id:? (?P<b>[0-9a-f]{16}|[0-9a-f]{8})\)"
)
_TAGGED = re.compile(
    r"^[ \t>]*<(?P<tag>[\w-]*(?:memory|memories|recalled|claude-mem)[\w-]*)(?:\s[^>\n]*)?>[ \t]*\n"
    r".*?^[ \t>]*</(?P=tag)>[ \t]*\n?",
    re.DOTALL | re.MULTILINE | re.IGNORECASE,
)
_HEADING = re.compile(
    r"""^[ \t>#*_=\[-]*(?:[^\w\s]+\s*)?(?:here\s+(?:are|is)\s+)?(?:the\s+|some\s+|your\s+|my\s+|our\s+)?
    (?:memories\s+that\s+(?:might|may|could)\s+help
      |(?:relevant|related|recalled|retrieved|previous|past|user|stored|long[- ]term|known)
        \s+(?:user\s+)?(?:memory\s+content|memories|memory)
      |(?:relevant|related|recalled|retrieved|useful|known)\s+(?:information|context|facts|notes|knowledge|history)
        \s+(?:from|in)\s+(?:\w+\s+){0,2}(?:memory|memories|conversations?|sessions?|chats?|interactions?)
      |(?:context|facts|information|notes)\s+from\s+(?:\w+[\s-]+){0,2}memor(?:y|ies)|memory\s+context|memories
      |what\s+(?:the\s+team|i|you|we)\s+remembers?)
    (?:\s*\([^)\n]{0,60}\))?(?:\s+(?:about|for|of|on|from|related|relevant|that)\s[^\n:]{0,60})?\s*(?P<end>[:\]*_#=-]*)\s*$""",
    re.IGNORECASE | re.VERBOSE,
)
_ITEM = re.compile(r"^[ \t>]*(?:[-*•–+]|\(?\d{1,3}[.)\]])\s+\S")
_MARKED = re.compile(r"^[ \t>]*(?:#|\*\*|\[|=|-{2,})")


@dataclass(frozen=True, slots=True)
class Unechoed:
    """The text without recall blocks, the ids of our facts that it showed, and how many blocks were cut."""

    text: str
    used: tuple[str, ...] = ()
    blocks: int = 0


def cut_echoes(text: str) -> Unechoed:
    """Cut every recall block out of a message and say which of our facts it showed."""
    lower = text.lower()
    if "[" not in text and "(id" not in lower and "mem" not in lower and "recall" not in lower:
        return Unechoed(text)
    used = tuple(dict.fromkeys(match["a"] or match["b"] for match in _ID.finditer(text)))
    ids = _recall_json(text)
    if ids is not None:
        return Unechoed("", tuple(dict.fromkeys((*ids, *used))), 1)
    rest, ours = _cut_ours(text) if "memctl-memory" in lower else (text, 0)
    rest, tagged = _TAGGED.subn("", rest) if "</" in rest else (rest, 0)
    rest, listed = _cut_lines(rest, lower)
    blocks = ours + tagged + listed
    return Unechoed(rest.strip("\n") if blocks else text, used, blocks)


def _cut_ours(text: str) -> tuple[str, int]:
    count = 0
    while match := _OURS.search(text):
        start, end = _whole_lines(text, *match.span())
        text, count = text[:start] + text[end:], count + 1
    if match := _OURS_CUT_OFF.search(text):
        start, _ = _whole_lines(text, *match.span())
        text, count = text[:start] + _behind_cut_off(text[start:]), count + 1
    return text, count


def _whole_lines(text: str, start: int, end: int) -> tuple[int, int]:
    """Widen a span over quotation marks and indentation before it and the line's end behind it."""
    line_start = text.rfind("\n", 0, start) + 1
    if not text[line_start:start].strip(" \t>|`"):
        start = line_start
    if text[end : end + 1] == "\n" and start == line_start:
        end += 1
    return start, end


def _behind_cut_off(text: str) -> str:
    """Find what follows a block whose end is missing: a paragraph that is neither list nor citation; else nothing."""
    paragraphs = re.split(r"(\n(?:[ \t>]*\n)+)", text)
    for number in range(2, len(paragraphs), 2):
        first = paragraphs[number].splitlines()[0] if paragraphs[number].strip() else ""
        if first and not (_ITEM.match(first) or _CITED_LINE.search(first) or first.lstrip(" >").startswith("#")):
            return "".join(paragraphs[number - 1 :])
    return ""


def _cut_lines(text: str, lower: str) -> tuple[str, int]:
    """Cut headings of memory lists with their lists, and single lines that end with one of our citations."""
    if "memor" not in lower and not _ID.search(text):
        return text, 0
    lines, kept, count, position = text.split("\n"), [], 0, 0
    while position < len(lines):
        end = _list_end(lines, position)
        if end > position:
            position, count = end, count + 1
        elif _CITED_LINE.search(lines[position]):
            position, count = position + 1, count + 1
        else:
            kept.append(lines[position])
            position += 1
    return "\n".join(kept), count


def _list_end(lines: list[str], start: int) -> int:
    """Tell where the list under a memory heading ends; ``start`` itself if there is no such heading or list."""
    match = _HEADING.match(lines[start]) if len(lines[start]) < 160 else None
    if match is None or not (":" in match["end"] or _MARKED.match(lines[start])):
        return start
    position = _next_filled(lines, start + 1)
    if position >= len(lines) or not _ITEM.match(lines[position]):
        return start
    while position < len(lines):
        if not lines[position].strip(" \t>"):
            following = _next_filled(lines, position)
            if following >= len(lines) or not _ITEM.match(lines[following]):
                return following
            position = following
        position += 1
    return position


def _next_filled(lines: list[str], position: int) -> int:
    while position < len(lines) and not lines[position].strip(" \t>"):
        position += 1
    return position


def _recall_json(text: str) -> list[str] | None:
    """Read the ids out of a text that is as a whole the JSON answer of a recall; None if it is none."""
    stripped = text.strip()
    if not stripped.startswith(("{", "[")) or '"left_out"' not in stripped or '"facts"' not in stripped:
        return None
    try:
        return _fact_ids(json.loads(stripped))
    except (ValueError, RecursionError):
        return None


def _fact_ids(answer: object) -> list[str] | None:
    if isinstance(answer, list):
        return [fact_id for part in answer for fact_id in _fact_ids(part) or []]
    if isinstance(answer, dict) and isinstance(answer.get("data"), dict):
        answer = answer["data"]
    if not isinstance(answer, dict) or not isinstance(answer.get("facts"), list):
        return None
    return [str(fact["id"]) for fact in answer["facts"] if isinstance(fact, dict) and "id" in fact]
