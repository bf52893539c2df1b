"""The memory in time: versions, differences, runs and their undoing."""

from typing import Annotated

import typer

from memctl.cli.options import Agent, AsJson, DryRun, Id, Wait, open_memory, show
from memctl.times import parse_instant

app = typer.Typer(rich_markup_mode=None)


@app.command()
def history(fact: Id, as_json: AsJson = False) -> None:
    """Show every version of a memory. With it, who said it, when, and why it changed.

    Example: memctl history a1b2c3d4
    """
    from memctl.operations.timeline import history as run

    with open_memory() as memory:
        show(run(memory, fact), as_json)


@app.command()
def diff(
    since: Annotated[str, typer.Argument(help="From this date.", metavar="FROM")],
    until: Annotated[str, typer.Argument(help="To this date.", metavar="TO")],
    agent: Agent = None,
    as_json: AsJson = False,
) -> None:
    """Tell what was learned, changed and dropped between two dates.

    Example: memctl diff 2026-05-01 2026-06-01 --agent payments-team
    """
    from memctl.operations.timeline import diff as run

    begin, end = parse_instant(since, what="FROM"), parse_instant(until, what="TO")
    with open_memory() as memory:
        show(run(memory, begin, end, agent=agent), as_json)


@app.command()
def log(limit: Annotated[int, typer.Option(help="At most so many runs.", min=1)] = 20, as_json: AsJson = False) -> None:
    """List what was written to the memory, run by run, newest first.

    Example: memctl log --limit 5
    """
    from memctl.operations.timeline import log as run

    with open_memory() as memory:
        show(run(memory, limit=limit), as_json)


@app.command()
def undo(
    run_id: Annotated[str | None, typer.Argument(help="The run (default: the latest).", metavar="RUN")] = None,
    cascade: Annotated[bool, typer.Option("--cascade", help="Take back later runs on the same facts too.")] = False,
    dry_run: DryRun = False,
    wait: Wait = None,
    as_json: AsJson = False,
) -> None:
    """Take back a run exactly, also an ingest or a prune.

    Example: memctl undo
    """
    from memctl.operations.timeline import undo as run

    with open_memory(wait=wait) as memory:
        show(run(memory, run_id, cascade=cascade, dry_run=dry_run), as_json)
