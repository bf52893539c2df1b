"""Lines of JSON that people and programs hand in: each is taken, or named with its place and what is wrong with it."""

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from memctl.errors import UnreadableInput, UsageProblem
from memctl.model import Problem

# What a line of any shape can make a reader of one shape raise.
_UNREADABLE = (ValueError, TypeError, KeyError, AttributeError, ArithmeticError, RecursionError, UsageProblem)


def take_lines(lines: Iterable[str], name: str, take: Callable[[Any, int], None], *, remedy: str = "") -> list[Problem]:
    """Hand the JSON of each line and its number to ``take``; a line that it cannot take is a problem."""
    problems = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            take(json.loads(line), number)
        except _UNREADABLE as error:
            said = f"{name}, line {number}: {_reason(error)}."
            problems.append(Problem("line_unreadable", said, f"{name}:{number}", remedy))
    return problems


def refuse_if_nothing_was_taken(problems: Sequence[Problem], taken: int, name: str) -> None:
    """Raise UnreadableInput where there were lines and none of them was any good: it is another kind of file."""
    if problems and not taken:
        first = problems[0]
        reason = first.message.removeprefix(f"{name}, ").rstrip(".")
        raise UnreadableInput(path=name, reason=f"none of its lines can be used; {reason}", remedy=first.remedy)


def _reason(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return "not JSON"
    if isinstance(error, RecursionError):
        return "too deeply nested"
    if isinstance(error, KeyError):
        return f"field {error} is missing"
    return str(error).rstrip(".")
