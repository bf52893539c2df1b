"""Cuts a transcript into pieces that fit one request. The model sees numbers, names and words; never an id."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memctl.model import Message, Role, Transcript

_PROMPT_TOKENS = 700
_LEAST_TOKENS = 400
_ANSWER_SHARE = 0.25
_CONTEXT_MESSAGES = 2
_CONTEXT_TOKENS = 120
_TOOL_CHARS = 1200
_WIDE = re.compile(r"[^\x00-\u024f]")


@dataclass(frozen=True, slots=True)
class Chunk:
    """A run of messages for one request: list positions in the transcript, and the text that the model sees.

    Number n in the text is the message at ``positions[n - 1]``.
    """

    positions: tuple[int, ...]
    text: str


def estimate_tokens(text: str) -> int:
    """Guess, on the safe side, how many tokens a text has: 3 letters of Latin script, or one sign of another, each."""
    wide = len(_WIDE.findall(text))
    return (len(text) - wide) // 3 + wide + 1


def chunks(transcript: Transcript, context_tokens: int, since: int = 0) -> list[Chunk]:
    """Cut the messages from list position ``since`` on into chunks; those before are shown as context only."""
    budget = max(int(context_tokens * (1 - _ANSWER_SHARE)) - _PROMPT_TOKENS, _LEAST_TOKENS)
    return [
        Chunk(tuple(positions), _written(transcript.messages, positions, budget))
        for positions in _runs(transcript.messages, since, budget)
    ]


def _runs(messages: Sequence[Message], since: int, budget: int) -> Iterator[list[int]]:
    run: list[int] = []
    spent = 0
    for position in range(since, len(messages)):
        if not _tells(messages[position]):
            continue
        cost = estimate_tokens(_line(messages[position], budget))
        if run and spent + cost > budget:
            yield run
            run, spent = [], 0
        run.append(position)
        spent += cost
    if run:
        yield run


def _written(messages: Sequence[Message], positions: Sequence[int], budget: int) -> str:
    before = [m for m in messages[: positions[0]] if _tells(m)][-_CONTEXT_MESSAGES:]
    shown = [f"(context) {_line(message, _CONTEXT_TOKENS)}" for message in before]
    shown += [f"[{number}] {_line(messages[place], budget)}" for number, place in enumerate(positions, 1)]
    return "\n\n".join(shown)


def _line(message: Message, tokens: int) -> str:
    """Write a message; one that alone would not fit is shortened."""
    body = said(message)
    too_long = estimate_tokens(body) / tokens
    if too_long > 1:
        body = _shortened(body, int(len(body) / too_long * 0.9))
    return f"{message.speaker or message.role.value} ({message.role.value}): {body}"


def said(message: Message) -> str:
    """Give the words of a message as the model sees them: what was said, and the ends of what tools answered."""
    parts = [message.text] if message.role is not Role.TOOL else [_shortened(message.text, _TOOL_CHARS)]
    parts += [_shortened(r.content, _TOOL_CHARS) for r in message.tool_results if r.content != message.text]
    return "\n".join(part for part in parts if part.strip()).strip()


def _shortened(text: str, limit: int) -> str:
    """Keep beginning and end: errors tell most at the end."""
    if len(text) <= limit:
        return text
    return f"{text[: limit * 2 // 3]}\n[...]\n{text[-limit // 3 :]}"


def _tells(message: Message) -> bool:
    return message.role is not Role.SYSTEM and bool(
        message.text.strip() or any(r.content for r in message.tool_results)
    )
