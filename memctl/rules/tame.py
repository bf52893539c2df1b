"""Making remembered text safe to stand in a prompt or on a terminal.

Memory is data that others wrote. Inside a recall block it stays on its own line, cannot end the block,
cannot look like a heading, a list or a code fence of the block, and carries nothing that a reader cannot see.
"""

import re
import unicodedata

FENCE = "memctl-memory"

_ESCAPES = re.compile(
    r"(?:\x1b\]|\x9d).*?(?:\x07|\x1b\\|\x9c|$)"  # titles and links
    r"|(?:\x1b[PX^_]|[\x90\x98\x9e\x9f]).*?(?:\x1b\\|\x9c|$)"  # device strings
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"  # colours and cursor
    r"|\x1b[ -/]*[0-~]?",
    re.DOTALL,
)
_SPACES = re.compile(r"[\s\x1c-\x1f\x85\u2028\u2029]+")
_OUR_FENCE = re.compile(rf"<(?=[\s/]*{FENCE})", re.IGNORECASE)
_CHAT_MARKS = re.compile(r"<\||\|>")  # the turns of many models' templates
_CODE_FENCE = re.compile(r"`{3,}|~{3,}")
_LEADING_MARK = re.compile(r"(?=[#>=|]|[-+*](?:\s|$|[-+*])|\d+[.)]\s)")
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})


def visible(text: str) -> str:
    """Take out what cannot be seen (control, format, direction and zero-width characters, terminal escapes)."""
    flat = _SPACES.sub(" ", _ESCAPES.sub("", text))
    if not flat.isascii() or not flat.isprintable():
        flat = "".join(filter(_shown, flat))
    return _SPACES.sub(" ", flat).strip()


def tame(text: str) -> str:
    """Make a text one visible line that can do nothing to the Markdown or plain block around it."""
    line = visible(text)
    line = unfenced(line)
    line = _CODE_FENCE.sub(lambda run: "'" * len(run[0]), line)
    return f"\\{line}" if _LEADING_MARK.match(line) else line


def unfenced(line: str) -> str:
    """Take from a line what would end the block, or the turn of a model's template that the block stands in."""
    return _CHAT_MARKS.sub("¦", _OUR_FENCE.sub("‹", line))


def label(text: str) -> str:
    """Make a name fit for the brackets that end a line: visible, tame, without brackets of its own."""
    return tame(text).lstrip("\\").translate({ord("["): "(", ord("]"): ")"})


def attribute(text: str) -> str:
    """Write a text as the value of a tag's attribute, without its quotes."""
    return element(text).replace('"', "&quot;").replace("'", "&apos;")


def element(text: str) -> str:
    """Write a text as the content of an XML element."""
    return visible(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _shown(character: str) -> bool:
    return unicodedata.category(character) not in _INVISIBLE
