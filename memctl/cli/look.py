"""Commands that only look."""

from typing import Annotated

import typer

from memctl.cli.options import Agent, AsJson, AsOf, Id, Since, Speaker, Tags, Types, Until, open_memory, show
from memctl.times import parse_instant

app = typer.Typer(rich_markup_mode=None)


@app.command("list")
def list_(
    agent: Agent = None,
    types: Types = None,
    states: Annotated[
        list[str] | None,
        typer.Option(
            "--state",
            "-s",
            help="active, superseded, contested, expired, quarantined or forgotten (may be given more than once).",
        ),
    ] = None,
    tags: Tags = None,
    speaker: Speaker = None,
    since: Since = None,
    until: Until = None,
    text: Annotated[str, typer.Option(help="Only with this piece of text.")] = "",
    sort: Annotated[
        str,
        typer.Option(
            help="said, last_said, oldest, recorded, expires, used, text, agent, type or id.", metavar="ORDER"
        ),
    ] = "said",
    limit: Annotated[int, typer.Option(help="At most so many memories; 0 for all.", min=0)] = 50,
    as_of: AsOf = None,
    as_json: AsJson = False,
) -> None:
    """List memories, newest first. Shown are those that hold now, or with --state others.

    Example: memctl list --agent payments-team --type decision --since 2026-05-01
    """
    from memctl.operations.looking import Wanted, list_facts

    wanted = Wanted(
        agent,
        types or (),
        states or (),
        tags or (),
        speaker,
        parse_instant(since, what="--since") if since else None,
        parse_instant(until, what="--until") if until else None,
        text,
    )
    then = parse_instant(as_of, what="--as-of") if as_of else None
    with open_memory() as memory:
        show(list_facts(memory, wanted, sort=sort, limit=limit or None, as_of=then), as_json)


@app.command("show")
def show_(fact: Id, as_json: AsJson = False) -> None:
    """Show one memory whole: its state, times, use and ties.

    Example: memctl show a1b2c3d4
    """
    from memctl.operations.looking import show as run

    with open_memory() as memory:
        show(run(memory, fact), as_json)


@app.command()
def why(
    fact: Id,
    around: Annotated[int, typer.Option(help="Turns to show before and after.", min=0)] = 1,
    as_json: AsJson = False,
) -> None:
    """Tell where a memory comes from. Shown are the quote, speaker, file and message, and the rule that kept it.

    Example: memctl why a1b2c3d4
    """
    from memctl.operations.looking import why as run

    with open_memory() as memory:
        show(run(memory, fact, around=around), as_json)


@app.command()
def stats(agent: Agent = None, as_json: AsJson = False) -> None:
    """Count memories by agent, type, state and month. The store is measured, too.

    Example: memctl stats --agent payments-team
    """
    from memctl.operations.looking import stats as run

    with open_memory() as memory:
        show(run(memory, agent), as_json)


@app.command()
def sql(
    query: Annotated[str, typer.Argument(help="One SELECT over facts, messages, transcripts, state and runs.")],
    limit: Annotated[int, typer.Option(help="At most so many rows.", min=1)] = 1000,
    as_json: AsJson = False,
) -> None:
    """Ask the index your own question, read-only.

    Example: memctl sql "SELECT type, count(*) FROM facts GROUP BY type"
    """
    from memctl.operations.looking import sql as run

    with open_memory() as memory:
        show(run(memory, query, limit=limit), as_json)


@app.command()
def audit(agent: Agent = None, as_json: AsJson = False) -> None:
    """Measure rot: duplicates, loops, secrets, stale memories.

    Example: memctl audit --agent payments-team
    """
    from memctl.operations.auditing import audit as run

    with open_memory() as memory:
        show(run(memory, agent), as_json)
