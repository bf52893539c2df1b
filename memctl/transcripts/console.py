"""What AutoGen 0.2, AG2 classic and AgentChat print to the console, with ANSI codes and whatever ran before."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from memctl.model import Message, Role, ToolCall, ToolResult, Transcript
from memctl.transcripts import agentchat
from memctl.transcripts.document import Document
from memctl.transcripts.repeats import without_relays
from memctl.transcripts.turns import kept, said

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
_HEADER = re.compile(r"(?P<sender>[^\s(][^\n(]{0,79}?) \(to (?P<recipient>[^\n()]{1,80})\):\s*$")
_NEW_HEADER = re.compile(
    r"-{10} (?:(?P<type>[A-Z]\w*(?:\[\w+\])?) \((?P<source>[^()\n]{1,80})\)|(?P<name>[^\n-][^\n]{0,79}?)) -{10}\s*$"
)
_RULE = "-" * 80
_NOISE = re.compile(
    r">{8} (?:USING AUTO REPLY|NO HUMAN INPUT|EXECUT(?:ING|ED)|TERMINATING RUN)|Next speaker: "
    r"|\[autogen\.|Provide feedback to .* Press enter to skip"
)
_CALL = re.compile(r"\*{5} Suggested (?:tool|function) [Cc]all(?: \((?P<id>[^)]*)\))?: (?P<name>.+?) \*{5}\s*$")
_ANSWER = re.compile(
    r"\*{5} Response from calling (?:tool|function) (?:\((?P<id>[^)]*)\)|\"(?P<quoted>[^\"]*)\") \*{5}\s*$"
)
_STARS = re.compile(r"\*{10,}\s*$")
_TOKENS = re.compile(r"\[Prompt tokens: \d+, Completion tokens: \d+\]\s*$")


@dataclass(slots=True)
class _Block:
    """What stands under one header."""

    speaker: str
    other: str
    lines: list[str] = field(default_factory=list)
    closed: bool = False


def is_classic(document: Document) -> bool:
    """Recognise the console text of 0.2 and AG2 classic: ``Sender (to recipient):`` headers."""
    return next(_classic_blocks(document.text), None) is not None


def is_agentchat(document: Document) -> bool:
    """Recognise the console text of AgentChat: ``---------- source ----------`` headers."""
    return next(_agentchat_blocks(document.text), None) is not None


def read_classic(document: Document) -> list[Transcript]:
    """Read the console text of 0.2; relays of the chat manager repeat others and are left out."""
    messages = without_relays(kept(map(_classic_message, *_numbered(_classic_blocks(document.text)))))
    return [document.transcript("console", messages)]


def read_agentchat(document: Document) -> list[Transcript]:
    """Read the console text of AgentChat, old style and new."""
    messages = kept(map(_agentchat_message, *_numbered(_agentchat_blocks(document.text))))
    return [document.transcript("agentchat-console", _without_echoes(agentchat.without_summaries(messages)))]


def _numbered(blocks: Iterator[_Block]) -> tuple[range, list[_Block]]:
    found = list(blocks)
    return range(len(found)), found


def _plain_lines(text: str) -> list[str]:
    """Drop ANSI codes; carriage returns, which progress bars use, count as line ends."""
    clean = _ANSI.sub("", text) if "\x1b" in text else text
    return clean.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _classic_blocks(text: str) -> Iterator[_Block]:
    """Cut the text at its headers; what stands between a closing rule and the next header is noise.

    Only the boxes of further tool answers, which AG2 prints below the rule, still belong to the block.
    """
    block: _Block | None = None
    lines = _plain_lines(text)
    for number, line in enumerate(lines):
        header = _HEADER.match(line) if " (to " in line else None
        if header and not any(lines[number + 1 : number + 2]):
            if block and not _is_doubled(block, header):
                yield block
            block = _Block(header["sender"], header["recipient"])
        elif block is None or _NOISE.match(line):
            continue
        elif line.rstrip() == _RULE and not lines[number - 1].strip():
            block.closed = True
        elif not block.closed or _ANSWER.match(line):
            block.closed = False
            block.lines.append(line)
    if block:
        yield block


def _is_doubled(block: _Block, header: re.Match[str]) -> bool:
    """Tell the second of the two headers that 0.2 prints above a tool's answer."""
    same = (block.speaker, block.other) == (header["sender"], header["recipient"])
    return same and not block.closed and not any(line.strip() for line in block.lines)


def _classic_message(index: int, block: _Block) -> Message | None:
    text, calls, results = _tools(block.lines)
    if results:
        return said(index, block.speaker, "", role=Role.TOOL, recipient=block.other, calls=calls, results=results)
    return said(index, block.speaker, text, recipient=block.other, calls=calls)


def _tools(lines: list[str]) -> tuple[str, list[ToolCall], list[ToolResult]]:
    """Take the starred boxes of tool calls and answers out of a body."""
    rest: list[str] = []
    calls: list[ToolCall] = []
    results: list[ToolResult] = []
    place = 0
    while place < len(lines):
        call, answer = _CALL.match(lines[place]), _ANSWER.match(lines[place])
        if not (call or answer):
            rest.append(lines[place])
            place += 1
            continue
        end = next((n for n in range(place + 1, len(lines)) if _STARS.match(lines[n])), len(lines))
        inside = lines[place + 1 : end]
        if call:
            calls.append(_console_call(call, inside))
        elif answer:
            results.append(_console_answer(answer, "\n".join(inside).strip()))
        place = end + 1
    return "\n".join(rest), calls, results


def _console_call(header: re.Match[str], inside: list[str]) -> ToolCall:
    arguments = "\n".join(inside).strip().removeprefix("Arguments:").strip()
    return ToolCall(header["name"].strip(), arguments, header["id"] or "")


def _console_answer(header: re.Match[str], text: str) -> ToolResult:
    named = header["id"] or header["quoted"] or ""
    is_call = named.startswith(("call_", "toolu_", "chatcmpl")) or any(c.isdigit() for c in named)
    failed = True if text.startswith("Error: ") else None
    return ToolResult(text, "" if is_call else named, named if is_call else "", failed)


def _agentchat_blocks(text: str) -> Iterator[_Block]:
    """Cut the text at its headers; the statistics at the end of a run are left out."""
    block: _Block | None = None
    for line in _plain_lines(text):
        header = _NEW_HEADER.match(line) if line.startswith("----------") else None
        if header:
            if block:
                yield block
            block = _Block(header["source"] or header["name"].strip(), header["type"] or "")
            if not header["type"] and header["name"] == "Summary":
                block = None
        elif block and not _TOKENS.match(line):
            block.lines.append(line)
    if block:
        yield block


def _agentchat_message(index: int, block: _Block) -> Message | None:
    text = "\n".join(block.lines).strip()
    # A stream of chunks is printed in place of the message that they make up.
    kind = "" if block.other == "ModelClientStreamingChunkEvent" else block.other
    return agentchat.message(index, {"source": block.speaker, "type": kind, "content": text})


def _without_echoes(messages: list[Message]) -> list[Message]:
    """Leave out a turn that only says again what the same speaker's tool has just answered."""
    fresh: list[Message] = []
    for message in messages:
        last = fresh[-1] if fresh else None
        if not (last and last.role is Role.TOOL and last.speaker == message.speaker and _echoes(message, last)):
            fresh.append(message)
    return fresh


def _echoes(message: Message, answer: Message) -> bool:
    said_again = "\n".join(result.content for result in answer.tool_results).strip()
    return message.text in (said_again, answer.text) or (
        message.text.startswith("Tool calls:\n") and all(r.content.strip() in message.text for r in answer.tool_results)
    )
