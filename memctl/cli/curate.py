"""People's word on single memories."""

import sys
from typing import Annotated

import typer

from memctl.cli.options import Agent, AsJson, DryRun, Id, Ids, SomeIds, Wait, Yes, note, open_memory, show
from memctl.errors import UsageProblem

app = typer.Typer(rich_markup_mode=None)


@app.command()
def conflicts(agent: Agent = None, as_json: AsJson = False) -> None:
    """List contested memories side by side.

    Example: memctl conflicts --agent payments-team
    """
    from memctl.operations.curate import conflicts as run

    with open_memory() as memory:
        show(run(memory, agent), as_json)


@app.command()
def resolve(
    fact: Id,
    keep: Annotated[bool, typer.Option("--keep", help="Keep this one, retire the other side.")] = False,
    drop: Annotated[bool, typer.Option("--drop", help="Retire this one, keep the other side.")] = False,
    both: Annotated[bool, typer.Option("--both", help="Both are true.")] = False,
    dry_run: DryRun = False,
    wait: Wait = None,
    as_json: AsJson = False,
) -> None:
    """Settle a conflict by hand.

    Example: memctl resolve a1b2c3d4 --keep
    """
    from memctl.operations.curate import resolve as run

    ways = [name for name, given in (("keep", keep), ("drop", drop), ("both", both)) if given]
    if len(ways) != 1:
        raise UsageProblem(reason="give one of --keep, --drop and --both")
    with open_memory(wait=wait) as memory:
        show(run(memory, fact, ways[0], dry_run=dry_run), as_json)


@app.command()
def edit(
    fact: Id,
    text: Annotated[str | None, typer.Option(help="New words; the old memory stays readable.")] = None,
    kind: Annotated[str | None, typer.Option("--type", "-t", help="Another memory type.")] = None,
    ttl: Annotated[str | None, typer.Option(help="A new time to live from now, or never.", metavar="DURATION")] = None,
    tags: Annotated[
        list[str] | None,
        typer.Option("--tag", help="A tag in the place of those it has (may be given more than once).", metavar="TAG"),
    ] = None,
    dry_run: DryRun = False,
    wait: Wait = None,
    as_json: AsJson = False,
) -> None:
    """Change a memory by hand.

    Example: memctl edit a1b2c3d4 --text "Deploys go out on Wednesdays"
    """
    from memctl.operations.curate import Edit
    from memctl.operations.curate import edit as run

    with open_memory(wait=wait) as memory:
        show(run(memory, fact, Edit(text, kind, ttl, tags), dry_run=dry_run), as_json)


@app.command()
def pin(facts: Ids, dry_run: DryRun = False, wait: Wait = None, as_json: AsJson = False) -> None:
    """Protect memories: no machine retires them.

    Example: memctl pin a1b2c3d4
    """
    from memctl.operations.curate import pin as run

    with open_memory(wait=wait) as memory:
        show(run(memory, facts, dry_run=dry_run), as_json)


@app.command()
def unpin(facts: Ids, dry_run: DryRun = False, wait: Wait = None, as_json: AsJson = False) -> None:
    """Take the protection of memories away.

    Example: memctl unpin a1b2c3d4
    """
    from memctl.operations.curate import pin as run

    with open_memory(wait=wait) as memory:
        show(run(memory, facts, pinned=False, dry_run=dry_run), as_json)


@app.command()
def forget(
    facts: SomeIds = None,
    query: Annotated[
        str | None, typer.Option(help="Forget what this question finds, after a look.", metavar="QUESTION")
    ] = None,
    agent: Agent = None,
    purge: Annotated[bool, typer.Option("--purge", help="For good: out of every file, not undoable.")] = False,
    yes: Yes = False,
    dry_run: DryRun = False,
    wait: Wait = None,
    as_json: AsJson = False,
) -> None:
    """Forget memories by id or by question; undoable unless purged.

    Example: memctl forget a1b2c3d4
    """
    from memctl.operations.curate import find_to_forget
    from memctl.operations.curate import forget as run

    if bool(facts) == (query is not None):
        raise UsageProblem(reason="give either ids or --query")
    with open_memory(wait=wait) as memory:
        chosen = find_to_forget(memory, facts or (), query, agent)
        sure = dry_run or yes or (query is None and not purge) or confirmed([fact.text for fact in chosen], purge)
        show(run(memory, chosen if sure else [], purge=purge, dry_run=dry_run), as_json)


@app.command()
def restore(
    facts: SomeIds = None,
    backup: Annotated[
        str | None, typer.Option("--backup", help="Restore the whole store from this backup.", metavar="PATH")
    ] = None,
    dry_run: DryRun = False,
    wait: Wait = None,
    as_json: AsJson = False,
) -> None:
    """Bring back memories, or a whole store from a backup.

    Memories may be forgotten, expired, superseded or quarantined.

    Example: memctl restore a1b2c3d4
    """
    from memctl.operations.curate import restore as run
    from memctl.operations.upkeep import restore_backup

    if bool(facts) == (backup is not None):
        raise UsageProblem(reason="give either ids or --backup")
    if backup is not None and dry_run:
        raise UsageProblem(
            reason="--dry-run does not go with --backup", remedy="Look into a backup with MEMCTL_HOME set to it."
        )
    with open_memory(wait=wait) as memory:
        if backup is not None:
            show(restore_backup(memory, backup), as_json)
        else:
            show(run(memory, facts or (), dry_run=dry_run), as_json)


def confirmed(texts: list[str], purge: bool) -> bool:
    """Show what would go and ask; without a terminal the answer is no, with a word on how to say yes."""
    for text in texts:
        print(f"  - {text}", file=sys.stderr)
    if not texts:
        return False
    if not sys.stdin.isatty():
        from memctl.render.drawing import counted

        raise UsageProblem(
            reason=f"{counted(len(texts), 'memory', 'memories')} would go",
            remedy="Pass --yes to do it, --dry-run to look.",
        )
    note("they will be gone for good" if purge else "memctl undo brings them back")
    return typer.confirm(f"Forget {len(texts)}?", err=True)
