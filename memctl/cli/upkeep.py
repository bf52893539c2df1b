"""Upkeep of the store."""

from typing import Annotated

import typer

from memctl.cli.options import Agent, AsJson, DryRun, Wait, open_memory, show
from memctl.times import parse_duration

app = typer.Typer(rich_markup_mode=None)


@app.command()
def prune(
    expired: Annotated[bool, typer.Option("--expired", help="Retire what has expired (the default).")] = False,
    superseded: Annotated[bool, typer.Option("--superseded", help="Forget what was replaced long ago.")] = False,
    contested: Annotated[bool, typer.Option("--contested", help="Forget what waited for a decision too long.")] = False,
    older_than: Annotated[
        str | None, typer.Option(help="How long ago, for --superseded and --contested (default: 90d).")
    ] = None,
    agent: Agent = None,
    dry_run: DryRun = False,
    wait: Wait = None,
    as_json: AsJson = False,
) -> None:
    """Retire memories that have outlived their time. Undo brings them back.

    Example: memctl prune --expired --dry-run
    """
    from memctl.operations.upkeep import PRUNED_AFTER
    from memctl.operations.upkeep import prune as run

    age = parse_duration(older_than) if older_than else PRUNED_AFTER
    with open_memory(wait=wait) as memory:
        result = run(
            memory,
            expired=expired or None,
            superseded=superseded,
            contested=contested,
            older_than=age,
            agent=agent,
            dry_run=dry_run,
        )
        show(result, as_json)


@app.command()
def compact(wait: Wait = None, as_json: AsJson = False) -> None:
    """Merge small files and drop old versions. Afterwards nothing that was purged is left in any file.

    Example: memctl compact
    """
    from memctl.operations.upkeep import compact as run

    with open_memory(wait=wait) as memory:
        show(run(memory), as_json)


@app.command()
def check(
    repair: Annotated[bool, typer.Option("--repair", help="Rebuild the index and rescue what can be read.")] = False,
    wait: Wait = None,
    as_json: AsJson = False,
) -> None:
    """Compare the record with the index and look for damage.

    It finishes a write that was cut short, as every command that writes does; it mends nothing else, unless --repair.

    Example: memctl check
    """
    from memctl.operations.upkeep import check as run

    with open_memory(wait=wait) as memory:
        show(run(memory, repair=repair), as_json)


@app.command()
def scrub(dry_run: DryRun = False, wait: Wait = None, as_json: AsJson = False) -> None:
    """Apply today's redaction rules to what is already stored.

    Example: memctl scrub --dry-run
    """
    from memctl.operations.upkeep import scrub as run

    with open_memory(wait=wait) as memory:
        show(run(memory, dry_run=dry_run), as_json)


@app.command()
def reembed(
    model: Annotated[str | None, typer.Option(help="A hub name or a folder (default: the setting).")] = None,
    wait: Wait = None,
    as_json: AsJson = False,
) -> None:
    """Convert the store to another embedding model.

    Example: memctl reembed --model ./my-model
    """
    from memctl.operations.upkeep import reembed as run

    with open_memory(wait=wait) as memory:
        show(run(memory, model), as_json)


@app.command()
def backup(
    target: Annotated[str, typer.Argument(help="A folder that does not exist yet, or a .tar or .tar.gz file.")],
    wait: Wait = None,
    as_json: AsJson = False,
) -> None:
    """Copy the store as it is at one instant. Others may write meanwhile.

    Example: memctl backup /backups/memory-2026-05-04
    """
    from memctl.operations.upkeep import backup as run

    with open_memory(wait=wait) as memory:
        show(run(memory, target), as_json)


@app.command()
def doctor(as_json: AsJson = False) -> None:
    """Say on one screen whether everything is in order. What is not, comes with what to do.

    Example: memctl doctor
    """
    from memctl.operations.doctor import doctor as run

    with open_memory() as memory:
        show(run(memory), as_json)
