"""Results as text for people or as the JSON envelope for scripts.

stdout is data and nothing else; problems and notes go to stderr. Sentences and tables live here, so
that operations return data only. rich is imported only where something is drawn for a terminal.
"""

import json
import sys
from collections.abc import Iterable
from typing import Any

from memctl.model import Problem, Result
from memctl.shapes import plain

ENVELOPE_VERSION = 1


def envelope(result: Result[Any]) -> dict[str, Any]:
    """The one object that ``--json`` prints."""
    return {
        "memctl": ENVELOPE_VERSION,
        "command": result.command,
        "status": result.status,
        "data": plain(result.data),
        "problems": plain(result.problems),
    }


def show(result: Result[Any], *, as_json: bool = False, **how: Any) -> None:
    """Print a result, and its problems where they are not part of an envelope."""
    if as_json:
        print(json.dumps(envelope(result), ensure_ascii=False))
        return
    from memctl.render.people import PEOPLE

    PEOPLE[result.command](result, **how)
    complain(result.problems)


def complain(problems: Iterable[Problem]) -> None:
    """Say what went wrong on the way, a line a problem, on stderr."""
    for problem in problems:
        message = problem.message.rstrip(".")
        print(" ".join(f"memctl: {message}. {problem.remedy}".split()), file=sys.stderr)
