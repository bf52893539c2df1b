"""Options that several commands share, and the way a command opens the memory and shows its result."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Annotated, Any

import typer

from memctl.memory import OpenMemory
from memctl.model import Result

Agent = Annotated[
    str | None,
    typer.Option("--agent", "-a", help="Whose memory: a team, or one agent's part of it (team/coder).", metavar="NAME"),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON envelope instead of text.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would happen and write nothing.")]
Wait = Annotated[
    float | None, typer.Option("--wait", help="Seconds to wait for another writer.", metavar="SECONDS", min=0.0)
]
AsOf = Annotated[str | None, typer.Option("--as-of", help="What was known at that time.", metavar="ISO")]
Since = Annotated[str | None, typer.Option("--since", help="Said at or after.", metavar="ISO")]
Until = Annotated[str | None, typer.Option("--until", help="Said at or before.", metavar="ISO")]
Speaker = Annotated[str | None, typer.Option("--speaker", help="Only what this speaker said.", metavar="NAME")]
Types = Annotated[
    list[str] | None,
    typer.Option("--type", "-t", help="Only this type (may be given more than once).", metavar="TYPE"),
]
Tags = Annotated[
    list[str] | None, typer.Option("--tag", help="Only with this tag (may be given more than once).", metavar="TAG")
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]
Ids = Annotated[list[str], typer.Argument(help="Ids of memories, or unique beginnings of them.", metavar="ID")]
SomeIds = Annotated[
    list[str] | None, typer.Argument(help="Ids of memories, or unique beginnings of them.", metavar="ID")
]
Id = Annotated[str, typer.Argument(help="Id of a memory, or a unique beginning of it.", metavar="ID")]

# How a command opens its memory; a server that runs commands for others puts its warm one here.
OPENER: ContextVar[Callable[..., OpenMemory]] = ContextVar("opener", default=OpenMemory.at_home)


def note(text: str) -> None:
    """Say something that is not data, on stderr."""
    print(f"memctl: {text}", file=sys.stderr)


@contextmanager
def open_memory(*, wait: float | None = None, **flags: Any) -> Iterator[OpenMemory]:
    """Open the memory that the environment names; ``flags`` go above the settings."""
    memory = OPENER.get()(on_note=note, store_wait_seconds=wait, **flags)
    try:
        yield memory
    finally:
        memory.close()


def show(result: Result[Any], as_json: bool = False, **how: Any) -> None:
    """Print a result, and leave with 1 where there were problems."""
    from memctl.render import show as render

    render(result, as_json=as_json, **how)
    if result.problems:
        raise typer.Exit(1)
