"""``memctl recall`` without the command-line library, which takes longer to start than the whole search.

Only the plain form is answered here: one question, and options with plain values. Help, mistakes, many questions and
rarer options are left to the command line proper, and so is every error: nothing is printed before the answer is there.
"""

import os
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from memctl.errors import ExitCode, MemctlError


class Plain(NamedTuple):
    """A plain recall: the question, and the options by the names that ``operations.recall`` has for them."""

    query: str
    options: dict[str, Any]


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and int(text) else None


_VALUES: dict[str, tuple[str, Callable[[str], Any]]] = {
    "--agent": ("agent", str),
    "-a": ("agent", str),
    "--limit": ("limit", _number),
    "--max-tokens": ("max_tokens", _number),
    "--format": ("format", str),
}
_FLAGS = {"--deep": "deep", "--cite": "cite"}


def read(argv: list[str]) -> Plain | None:
    """Understand the words of a plain recall; None where they are anything else."""
    if argv[:1] != ["recall"] or "_MEMCTL_COMPLETE" in os.environ:
        return None
    queries: list[str] = []
    options: dict[str, Any] = {}
    words = iter(argv[1:])
    for word in words:
        if not word.startswith("-"):
            queries.append(word)
            continue
        option = _option(word, words)
        if option is None or option[0] in options:
            return None
        options[option[0]] = option[1]
    return Plain(queries[0], options) if len(queries) == 1 and queries[0] else None


def _option(word: str, following: Any) -> tuple[str, Any] | None:
    """Give the name and value of an option that is known and complete."""
    if word in _FLAGS:
        return _FLAGS[word], True
    name, sign, value = word.partition("=")
    if name not in _VALUES or (sign and not name.startswith("--")):
        return None
    field, convert = _VALUES[name]
    text = value if sign else next(following, "")
    read_value = convert(text) if text and not text.startswith("-") else None
    return None if read_value is None else (field, read_value)


def try_recall(argv: list[str]) -> int | None:
    """Answer a plain recall and give the exit code; None where the command line proper has to do it."""
    plain = read(argv)
    if plain is None:
        return None
    try:
        return _answer(plain)
    except MemctlError:
        return None
    except KeyboardInterrupt:
        print("memctl: interrupted", file=sys.stderr)
        return ExitCode.INTERRUPTED
    except BrokenPipeError:  # the reader of our output went away: nothing to say, and nothing more to flush
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.DONE


def _answer(plain: Plain) -> int:
    from memctl.memory import OpenMemory
    from memctl.operations.recall import recall
    from memctl.render.recalling import write_blocks

    notes: list[str] = []
    memory = OpenMemory.at_home(on_note=notes.append)
    block = recall(memory, plain.query, **plain.options).data
    memory.close()
    for text in notes:
        print(f"memctl: {text}", file=sys.stderr)
    write_blocks((block,), plain.options.get("format", "markdown"))
    sys.stdout.flush()
    return ExitCode.DONE
