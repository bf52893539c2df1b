"""``ingest`` and ``remember``: what goes into the memory."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from memctl.cli.options import Agent, AsJson, DryRun, Wait, open_memory, show
from memctl.errors import UnreadableInput, UsageProblem
from memctl.times import parse_instant

app = typer.Typer(rich_markup_mode=None)


@app.command()
def ingest(
    paths: Annotated[list[str], typer.Argument(help="Files, folders, globs, or - for standard input.", metavar="PATH")],
    agent: Agent = None,
    at: Annotated[
        str | None,
        typer.Option("--at", help="When undated messages were said (default: the file's time).", metavar="ISO"),
    ] = None,
    format_name: Annotated[
        str | None, typer.Option("--format", help="The transcript's format, where it is not recognised.", metavar="F")
    ] = None,
    extractor: Annotated[str | None, typer.Option(help="local (no LLM) or llm.", metavar="NAME")] = None,
    judge: Annotated[str | None, typer.Option(help="local, or llm for unsure pairs.", metavar="NAME")] = None,
    max_calls: Annotated[int | None, typer.Option(help="Most LLM requests of this run.", min=0)] = None,
    again: Annotated[bool, typer.Option("--again", help="Read files again that were read before.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Show what was kept or dropped, and why.")] = False,
    dry_run: DryRun = False,
    wait: Wait = None,
    as_json: AsJson = False,
) -> None:
    """Read saved group chats and keep what a colleague should know.

    Example: memctl ingest chats/ --agent payments-team
    """
    from memctl.cli.heap import give_memory_back
    from memctl.operations.ingest import ingest as run

    give_memory_back()
    instant = parse_instant(at, what="--at") if at else None
    with (
        open_memory(
            wait=wait, extraction_extractor=extractor, extraction_judge=judge, llm_max_calls=max_calls
        ) as memory,
        progress_bar(quiet=as_json) as progress,
    ):
        result = run(
            memory,
            paths,
            agent=agent,
            at=instant,
            format=format_name,
            dry_run=dry_run,
            explain=explain,
            again=again,
            progress=progress,
        )
    show(result, as_json)


@app.command()
def remember(
    text: Annotated[str | None, typer.Argument(help="What to remember, in one sentence.")] = None,
    agent: Agent = None,
    kind: Annotated[
        str | None,
        typer.Option(
            "--type",
            "-t",
            help="decision, preference, fact, failure, context or temporary (default: told by the text).",
            metavar="TYPE",
        ),
    ] = None,
    ttl: Annotated[
        str | None, typer.Option("--ttl", help="How long it holds, such as 7d or 12h.", metavar="DURATION")
    ] = None,
    tag: Annotated[list[str] | None, typer.Option("--tag", help="A tag (may be given more than once).")] = None,
    at: Annotated[str | None, typer.Option("--at", help="When it was said (default: now).", metavar="ISO")] = None,
    source: Annotated[
        str | None,
        typer.Option(
            "--from",
            help="Many at once: JSON lines with text and agent?, type?, at?, ttl?, tags?; - for standard input.",
            metavar="FILE",
        ),
    ] = None,
    dry_run: DryRun = False,
    wait: Wait = None,
    as_json: AsJson = False,
) -> None:
    """Store facts by hand. They are judged against what is known like any others.

    Example: memctl remember "Deploys go out on Tuesdays" --agent payments-team --type decision
    """
    from dataclasses import replace

    from memctl.operations.lines import refuse_if_nothing_was_taken
    from memctl.operations.remember import Entry, read_lines
    from memctl.operations.remember import remember as run

    if (text is None) == (source is None):
        raise UsageProblem(reason="give either a text or --from", remedy='Such as: memctl remember "We use Fly".')
    entries, problems = read_lines(lines_of(source), name_of(source)) if source else ([], [])
    refuse_if_nothing_was_taken(problems, len(entries), name_of(source or ""))
    entries = [replace(entry, agent=entry.agent or agent) for entry in entries]
    if text is not None:
        entries = [Entry(text, agent, kind, at, ttl, tuple(tag or ()))]
    with open_memory(wait=wait) as memory:
        result = run(memory, entries, dry_run=dry_run)
    show(replace(result, problems=tuple(problems)), as_json)


def name_of(source: str) -> str:
    """Name a file as people read it in a message."""
    return "standard input" if source == "-" else source


def lines_of(source: str) -> Iterator[str]:
    """Read lines of a file or of standard input; what is not UTF-8 is refused with its place."""
    try:
        data = sys.stdin.buffer.read() if source == "-" else Path(source).read_bytes()
        # not splitlines: a JSON string may hold characters that Unicode counts as the end of a line
        yield from data.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        remedy = "Save it as UTF-8."
        raise UnreadableInput(path=name_of(source), reason=f"byte {error.start} is not UTF-8", remedy=remedy) from error
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UnreadableInput(path=source, reason=reason, remedy="Check the path and its permissions.") from error


@contextmanager
def progress_bar(*, quiet: bool) -> "Iterator[_Bar | None]":
    """Draw how far a long run is, on a terminal only."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as drawn:
        yield _Bar(drawn)


class _Bar:
    """A progress bar over files."""

    def __init__(self, drawn: object) -> None:
        self._drawn = drawn
        self._task = drawn.add_task("", total=None)  # type: ignore[attr-defined]

    def expect(self, files: int) -> None:
        """Say how many files there are."""
        self._drawn.update(self._task, total=files)  # type: ignore[attr-defined]

    def done(self, path: str) -> None:
        """Move on by one file."""
        self._drawn.update(self._task, advance=1, description=path[-30:])  # type: ignore[attr-defined]
