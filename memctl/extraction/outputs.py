"""Tool output: what a machine printed, and the one line in it that says what went wrong.

Output is no speech: rows, logs and pages are never memories by themselves, but the cause of a
failed run is worth one sentence. What was fetched, a page or the passages of a retriever, is not even that.
"""

import re

from memctl.extraction.segment import Unit, plain
from memctl.model import Message, Role

_EXIT = re.compile(
    r"exit(?:ed)?(?: with)?(?: an error)?[ _-]?(?:code|status)?\s*[:=]?\s*\(?(?:POSIX exit code:\s*)?(-?\d+)",
    re.IGNORECASE,
)
_OUTPUT = re.compile(
    r"^\s*(?:exit ?code:|execution result:|the script (?:ran|was executed)|code output:|traceback \(most recent|"
    r"\$ |>>> |stdout:|stderr:|\*{5} response from calling tool|http/?\d?(?:\.\d)? \d{3}\b|\[error\])",
    re.IGNORECASE,
)
# As AutoGen's own agents write them: the prompt of its retrieval chats, and the pages and searches of its surfers.
_FETCHED = re.compile(
    r"^\s*You(?:'re| are) a retrieve augmented \w+"
    r"|^\s*Address: .*\n(?:Title: .*\n)?Viewport position:"
    r"|\bThe viewport shows \d+% of the (?:web)?page\b"
    r"|^\s*A \w+ search for .{1,300} found \d+ results?",
)
_TRACEBACK = re.compile(
    r"^\s*Traceback \(most recent call last\)|^\s+at \S+\(.*\)$|^\s*File \"[^\"]+\", line \d+", re.MULTILINE
)
_CAUSE = re.compile(
    r"^\s*(?:E\s+)?(?:[A-Za-z_][\w.]*\.)?[A-Z]\w*(?:Error|Exception|Warning|Timeout|Interrupt|Failure|"
    r"Killed)\b\s*[:(]?.*$"
)
_RAISED = re.compile(r"^[A-Za-z_]\w*(?:\.\w+)*\.[A-Z]\w*(?::\s|\s*$)")  # after a traceback: package.SomeName: words
_COMPLAINT = re.compile(
    r"\b(?:error|fatal|failed|failure|cannot|can't|could not|couldn't|not found|denied|forbidden|refused|timed out|"
    r"timeout|killed|panic|exception|out of memory|no such|unauthorized|blocked|fehler|fehlgeschlagen|fallo|falló|"
    r"échec|erreur|erro|falhou)\b|失败|错误|HTTP [45]\d\d",
    re.IGNORECASE,
)
_NOISE = re.compile(
    r"^\s*(?:File \"|at \S+\(|\.\.\.|[-=*]{3,}|exit ?code|code output|its output was|ran \d+ tests?)", re.IGNORECASE
)
_STAMP = re.compile(r"^\s*(?:\[?\d{4}-\d\d-\d\d[T ][\d:.,]+Z?\]?|\[\d\d:\d\d:\d\d(?:\.\d+)?\])\s*(?:<\w+>\s*)?")
_KILLED = re.compile(
    r"^\s*(?:killed|terminated|aborted|segmentation fault.*|out of memory.*|oom.?killed.*)\s*$", re.IGNORECASE
)
_LONGEST_CAUSE = 180


def is_output(message: Message) -> bool:
    """Say whether a message was printed by a tool or an executor rather than said by anybody."""
    if message.role is Role.TOOL or message.tool_results:
        return True
    return bool(_OUTPUT.match(message.text[:400]))


def is_fetched(message: Message) -> bool:
    """Say whether a message hands on a page, search results or retrieved passages: the words of nobody in the chat."""
    return bool(_FETCHED.search(message.text[:1200]))


def exit_code(message: Message) -> int | None:
    """Read the exit code that the message carries or prints."""
    for result in message.tool_results:
        if result.exit_code is not None:
            return result.exit_code
    found = _EXIT.search(message.text[:400])
    return int(found.group(1)) if found else None


def failed(message: Message) -> bool:
    """Say whether the output reports a failure: an exit code, an error flag, a traceback or an error line."""
    if any(result.is_error for result in message.tool_results):
        return True
    code = exit_code(message)
    if code is not None:
        return code != 0
    return bool(_TRACEBACK.search(message.text)) or _cause(message.text) is not None


def error_units(message: Message) -> list[Unit]:
    """Find the line that names the cause of a failure; none where the output reports none."""
    if not failed(message):
        return []
    found = _cause(message.text)
    if found is None:
        return []
    start, end = found
    line = _STAMP.sub("", plain(message.text[start:end]))
    text = re.sub(r"^E\s+", "", line)[:_LONGEST_CAUSE]
    return [Unit(text, start, end, "error")] if text else []


def _cause(text: str) -> tuple[int, int] | None:
    """Choose the line: the last exception named, else the first complaint, else how it was killed."""
    exception = complaint = killed = None
    position, traced = 0, False
    for line in text.splitlines(keepends=True):
        place = (position, position + len(line.rstrip("\r\n")))
        position += len(line)
        traced = traced or _TRACEBACK.match(line) is not None
        if _NOISE.match(line) or not line.strip():
            continue
        if _CAUSE.match(_STAMP.sub("", line)) or (traced and _RAISED.match(line)):
            exception = place
        elif _KILLED.match(line):
            killed = killed or place
        elif complaint is None and _COMPLAINT.search(line):
            complaint = place
    return exception or complaint or killed
