"""Plain text chats: ``Name: text``, also in bold or with a time in front.

Bodies hold lines such as "Note: ..." that look like speakers. A name counts when it speaks more than once,
when it opens the file, when it is bold or has a time before it, or when it is the usual word for one side of
a chat.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from memctl.model import Message, Role, Transcript
from memctl.transcripts.document import Document
from memctl.transcripts.turns import instant, is_human, kept, said

_TURN = re.compile(
    r"(?:\[?(?P<at>\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)\]?\s*[-|]?\s*)?"
    r"(?P<bold>\*\*|__)?(?P<name>[^\W\d_][\w .'’()-]{0,39}?)(?P=bold)?:(?(bold)(?:\*\*|__)?)(?:\s+(?P<text>.*)|$)"
)
_SIDES = re.compile(
    r"user|assistant|human|system|ai|agent|bot|usuario|asistente|benutzer|assistent|用户|助手", re.IGNORECASE
)
_LABELS = re.compile(
    r"(?:note|notes|example|examples|error|warning|summary|output|input|result|results|answer|question|total|todo|info|debug|critical"
    r"|step|steps|plan|code|arguments|reason|subject|title|date|from|to|cc|re|traceback|file|line|https?|usage|options"
    r"|decision|action|actions|context|task|goal|budget|owner|status|deadline|location|time|name|type|description|url"
    r"|nota|ejemplo|resumen|hinweis|beispiel|zusammenfassung|注意|备注|总结)(?: \d+)?",
    re.IGNORECASE,
)
_MOST_WORDS = 4
_FEWEST_TURNS = 2
_LONGEST_HEAD = 120
_TURN_A_LINE = 0.8  # this share of lines that start a turn makes a chat in which everybody on the left speaks


@dataclass(slots=True)
class _Turn:
    name: str
    at: datetime | None
    lines: list[str] = field(default_factory=list)


def is_chat(document: Document) -> bool:
    """Recognise a chat: two turns or more, of two speakers or more."""
    turns = list(_turns(document.text))
    return len(turns) >= _FEWEST_TURNS and len({turn.name for turn in turns}) >= _FEWEST_TURNS


def read_chat(document: Document) -> list[Transcript]:
    """Read a plain text chat."""
    return [document.transcript("plain", read_text(document.text))]


def opens_with_a_side(text: str) -> bool:
    """Tell a turn by itself, such as ``user: We use Fly``, from a text that nobody is marked as saying."""
    opening = _TURN.match(text.lstrip())
    return opening is not None and bool(opening["text"]) and _SIDES.fullmatch(opening["name"]) is not None


def read_text(text: str) -> list[Message]:
    """Read the turns of a plain text chat; lines before the first one are left out."""
    return kept(
        said(index, turn.name, "\n".join(turn.lines), role=_role(turn.name), at=turn.at)
        for index, turn in enumerate(_turns(text))
    )


def _role(name: str) -> Role | None:
    if name.lower() == "system":
        return Role.SYSTEM
    return Role.USER if is_human(name) else None


def _turns(text: str) -> Iterator[_Turn]:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    found = _candidates(lines)
    speakers = _speakers(lines, found)
    turn: _Turn | None = None
    for line, match in zip(lines, found, strict=True):
        if match and match["name"] in speakers:
            if turn:
                yield turn
            turn = _Turn(match["name"], instant((match["at"] or "").replace(",", ".")), [match["text"] or ""])
        elif turn:
            turn.lines.append(line)
    if turn:
        yield turn


def _candidates(lines: Sequence[str]) -> list[re.Match[str] | None]:
    """Give for each line what looks like the start of a turn.

    Lines inside code fences never do; where the first speaker always speaks after an empty line, so must the
    others.
    """
    found: list[re.Match[str] | None] = []
    fenced = False
    for line in lines:
        fenced ^= line.lstrip().startswith("```")
        match = _TURN.match(line) if not fenced and ":" in line[:_LONGEST_HEAD] else None
        found.append(match if match and _is_name(match["name"]) else None)
    opening = _opening(found)
    gaps = [n == 0 or not lines[n - 1].strip() for n, match in enumerate(found) if match and match["name"] == opening]
    if len(gaps) < _FEWEST_TURNS or not all(gaps):
        return found
    return [match if n == 0 or not lines[n - 1].strip() else None for n, match in enumerate(found)]


def _opening(found: Sequence[re.Match[str] | None]) -> str:
    return next((match["name"] for match in found if match), "")


def _speakers(lines: Sequence[str], found: Sequence[re.Match[str] | None]) -> frozenset[str]:
    """Tell the speakers among everything that looks like one."""
    spoken = [match for match in found if match and match["text"]]
    counts = Counter(match["name"] for match in spoken)
    filled = sum(1 for line in lines if line.strip())
    talks = all(_is_talk(match["text"]) for match in spoken)
    if len(spoken) >= _TURN_A_LINE * filled and (talks or len(counts) * 2 <= len(spoken)):
        return frozenset(counts)
    sure = {_opening(found), *(match["name"] for match in spoken if match["at"] or match["bold"])}
    return frozenset(n for n, count in counts.items() if count > 1 or n in sure or _SIDES.fullmatch(n))


def _is_talk(text: str) -> bool:
    """Tell what is said from the value of a form: several words, or one that ends like a sentence."""
    return len(text.split()) > 1 or text.rstrip().endswith((".", "!", "?", "。", "！", "？"))


def _is_name(name: str) -> bool:
    return not _LABELS.fullmatch(name) and len(name.split()) <= _MOST_WORDS
