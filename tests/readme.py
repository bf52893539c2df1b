"""The generated part of the README: the reference, made from ``--help``.

``python -m tests.readme --write`` brings it up to date; a test compares.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"
BEGIN, END = "<!-- reference: begin -->", "<!-- reference: end -->"


def commands() -> list[str]:
    """Every command in the order of ``memctl --help``."""
    from memctl.cli import _MODULES

    return list(_MODULES)


def help_of(*words: str) -> str:
    """What ``--help`` prints at 80 columns."""
    done = subprocess.run(
        [sys.executable, "-m", "memctl", *words, "--help"],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": "/usr/bin:/bin", "COLUMNS": "80", "TERMINAL_WIDTH": "80", "LANG": "C.UTF-8"},
    )
    return done.stdout.strip()


def subcommands(text: str) -> list[str]:
    """The names under ``Commands:`` of a help text."""
    _, _, listed = text.partition("\nCommands:\n")
    return re.findall(r"^  ([a-z]+) ", listed, re.MULTILINE)


def sections() -> Iterator[str]:
    """One folded section a command."""
    for name in commands():
        texts = [help_of(name)]
        texts += [help_of(name, inner) for inner in subcommands(texts[0])]
        body = "\n\n".join(f"```text\n{text}\n```" for text in texts)
        yield f"<details><summary><code>memctl {name}</code></summary>\n\n{body}\n\n</details>"


def reference() -> str:
    """The whole generated part, with its marks."""
    return "\n".join([BEGIN, "", *sections(), "", END])


def current() -> str:
    """The generated part as the README has it."""
    text = README.read_text(encoding="utf-8")
    return text[text.index(BEGIN) : text.index(END) + len(END)]


def write() -> None:
    """Put the reference into the README."""
    text = README.read_text(encoding="utf-8")
    README.write_text(text.replace(current(), reference()), encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        write()
    elif current() != reference():
        sys.exit("README.md: the reference is out of date; run make format")
