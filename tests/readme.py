"""The generated documents: the list of commands in the README and ``docs/reference.md``, made from ``--help``.

``python -m tests.readme --write`` brings them up to date; a test compares.
"""

import re
import subprocess
import sys
from functools import cache
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"
REFERENCE = Path(__file__).parents[1] / "docs" / "reference.md"
BEGIN, END = "<!-- commands: begin -->", "<!-- commands: end -->"
OPENING = """# Reference

What `--help` prints of every command, made by `make format`. The [README](../README.md) shows them at work.
"""


def commands() -> list[str]:
    """Every command in the order of ``memctl --help``."""
    from memctl.cli import _MODULES

    return list(_MODULES)


@cache
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


def helps(name: str) -> list[str]:
    """Give a command's help and that of the commands below it."""
    told = help_of(name)
    return [told, *(help_of(name, inner) for inner in subcommands(told))]


def section(name: str) -> str:
    """Give one section of the reference."""
    body = "\n\n".join(f"```text\n{text}\n```" for text in helps(name))
    return f"## memctl {name}\n\n{body}\n"


def made() -> dict[Path, str]:
    """Give each document as it has to be."""
    readme = README.read_text(encoding="utf-8")
    listed = help_of().partition("\nCommands:\n")[2]
    before, rest = readme.split(BEGIN)
    after = rest.split(END)[1]
    return {
        README: f"{before}{BEGIN}\n\n```text\n{listed}\n```\n\n{END}{after}",
        REFERENCE: "\n".join([OPENING, *map(section, commands())]),
    }


def outdated() -> dict[Path, str]:
    """Give those that are not so, as they have to be."""
    return {path: text for path, text in made().items() if not path.exists() or path.read_text("utf-8") != text}


if __name__ == "__main__":
    late = outdated()
    if sys.argv[1:] == ["--write"]:
        for path, text in late.items():
            path.write_text(text, encoding="utf-8")
    elif late:
        sys.exit(f"{', '.join(path.name for path in late)}: out of date; run make format")
