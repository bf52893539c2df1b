"""``memctl recall``: the block for the next prompt. It never stands in the way of the run that asks."""

import os
import sys
from collections.abc import Callable, Sequence
from threading import Thread
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from memctl.cli.options import Agent, AsJson, AsOf, Since, Speaker, Tags, Types, Until, note, open_memory
from memctl.errors import MemctlError, UnreadableInput, UsageProblem
from memctl.model import Problem, RecallBlock, Result
from memctl.times import parse_duration, parse_instant

if TYPE_CHECKING:
    from memctl.operations.recall import Asked, Line

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command()
def recall(
    query: Annotated[str | None, typer.Argument(help="What the next run is about.")] = None,
    agent: Agent = None,
    limit: Annotated[
        int | None, typer.Option(help="At most so many memories (default: recall.limit of memctl config).", min=1)
    ] = None,
    max_tokens: Annotated[
        int | None,
        typer.Option(
            help="The block is never longer: tokens by the bundled tokenizer and a margin "
            "(default: recall.max_tokens of memctl config).",
            min=1,
        ),
    ] = None,
    types: Types = None,
    tags: Tags = None,
    speaker: Speaker = None,
    since: Since = None,
    until: Until = None,
    as_of: AsOf = None,
    deep: Annotated[bool, typer.Option("--deep", help="Add the messages themselves.")] = False,
    cite: Annotated[bool, typer.Option("--cite", help="Name file and message of each memory.")] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show the parts of each score, on standard error.")
    ] = False,
    format_name: Annotated[
        str, typer.Option("--format", help="markdown, text, xml, messages, json or jsonl.", metavar="F")
    ] = "markdown",
    heading: Annotated[
        str | None, typer.Option(help="First line inside the block; '' for none.", metavar="TEXT")
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(
            "--from",
            help="Many questions: JSON lines with query, agent?, as_of?; - for standard input. "
            "With --format jsonl each has its line in the answer.",
            metavar="FILE",
        ),
    ] = None,
    timeout: Annotated[
        str | None, typer.Option(help="Print nothing rather than take longer, such as 2s.", metavar="DURATION")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Fail where there is no store or it is damaged.")] = False,
    as_json: AsJson = False,
) -> None:
    """Print what is remembered about QUERY, as a block for a prompt.

    Nothing remembered is an empty block and exit code 0.

    Example: memctl recall "deploying the payments service" --agent payments-team --max-tokens 800
    """
    from memctl.operations.recall import Asked, empty

    if (query is None) == (source is None):
        raise UsageProblem(reason="give either a question or --from", remedy='Such as: memctl recall "how we deploy".')
    asked = Asked(
        limit=limit,
        max_tokens=max_tokens,
        types=tuple(types or ()),
        tags=tuple(tags or ()),
        speaker=speaker,
        since=parse_instant(since, what="--since") if since else None,
        until=parse_instant(until, what="--until") if until else None,
        as_of=parse_instant(as_of, what="--as-of") if as_of else None,
        deep=deep,
        cite=cite,
        explain=explain,
        format=format_name,
        heading=heading,
    )
    seconds = parse_duration(timeout).total_seconds() if timeout else None
    questions, problems = _questions(source, agent)
    result = _in_time(lambda: _answer(query, questions, problems, agent, asked, strict=strict), seconds)
    how: dict[str, Any] = {
        "format_name": format_name,
        "many": source is not None,
        "envelope": as_json,
        "explain": explain,
    }
    if result is None:
        _leave_with_nothing(empty(query, questions, agent, ()), how)
    _print(result, **how)


def _questions(source: str | None, agent: str | None) -> "tuple[list[Line], list[Problem]]":
    """Read what ``--from`` names, before the clock runs; refused where nothing in it is a question."""
    from memctl.cli.ingest import lines_of, name_of
    from memctl.operations.lines import refuse_if_nothing_was_taken
    from memctl.operations.recall import read_questions

    if source is None:
        return [], []
    questions, problems = read_questions(lines_of(source), name_of(source), agent)
    refuse_if_nothing_was_taken(problems, len(questions), name_of(source))
    return questions, problems


def _answer(
    query: str | None,
    questions: "Sequence[Line]",
    problems: Sequence[Problem],
    agent: str | None,
    asked: "Asked",
    *,
    strict: bool,
) -> Result[Any]:
    """Ask the memory; where it fails and ``strict`` is off, the answer is empty and the reason goes to stderr."""
    from memctl.operations.recall import empty, recall, recall_many

    try:
        with open_memory() as memory:
            if strict:
                _ = memory.store  # raises where there is none
            if query is not None:
                return recall(memory, query, agent=agent, asked=asked)
            return recall_many(memory, questions, asked=asked, problems=problems)
    except (UsageProblem, UnreadableInput):
        raise
    except MemctlError as error:
        if strict:
            raise
        note(f"{error} {error.remedy}")
        return empty(query, questions, agent, problems)


def _in_time(work: Callable[[], Result[Any]], seconds: float | None) -> Result[Any] | None:
    """Wait no longer than ``seconds``; None where the work goes on after that, in a thread that nobody waits for."""
    if seconds is None:
        return work()
    if not seconds:
        return None
    done: list[Result[Any] | BaseException] = []

    def run() -> None:
        try:
            done.append(work())
        except BaseException as error:  # noqa: BLE001  handed to the waiting thread, which raises it
            done.append(error)

    worker = Thread(target=run, daemon=True)
    worker.start()
    worker.join(seconds)
    if not done:
        note(f"no answer within {seconds:g} s")
        return None
    if isinstance(done[0], BaseException):
        raise done[0]
    return done[0]


def _leave_with_nothing(nothing: Result[Any], how: dict[str, Any]) -> NoReturn:
    """Print an empty answer, as JSON where that was asked for, and end with code 0 whatever still runs."""
    _print(nothing, **how)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(0)


def _print(result: Result[Any], format_name: str, *, many: bool, envelope: bool, explain: bool) -> None:
    from memctl.render import complain, show
    from memctl.render.recalling import write_blocks

    blocks: tuple[RecallBlock, ...] = result.data if many else (result.data,)
    if envelope:
        show(result, as_json=True)
    else:
        write_blocks(blocks, format_name, explain=explain)
        complain(result.problems)
    if result.problems:
        raise typer.Exit(1)
