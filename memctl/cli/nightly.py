"""``nightly`` and ``schedule``."""

from typing import Annotated

import typer

from memctl.cli.options import Agent, AsJson, Wait, open_memory, show

app = typer.Typer(rich_markup_mode=None)
schedule = typer.Typer(
    help="Print or install the crontab line and the systemd timer.\n\nExample: memctl schedule install chats/",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(schedule, name="schedule")
Folders = Annotated[list[str], typer.Argument(help="Folders of transcripts.", metavar="DIR")]
Clock = Annotated[str, typer.Option("--at", help="Time of day.", metavar="HH:MM")]


@app.command()
def nightly(
    folders: Folders,
    agent: Agent = None,
    max_minutes: Annotated[float | None, typer.Option(help="Stop reading after so long.", min=0.0)] = None,
    wait: Wait = None,
    as_json: AsJson = False,
) -> None:
    """Do the night's work: ingest, prune, compact, check, report.

    Read is what is new; what was recalled is counted in.

    Example: memctl nightly chats/ --agent payments-team --max-minutes 30
    """
    from memctl.cli.heap import give_memory_back
    from memctl.operations.nightly import nightly as run

    give_memory_back()
    with open_memory(wait=wait) as memory:
        result = run(memory, folders, agent=agent, max_minutes=max_minutes)
    show(result, as_json)


@schedule.command("show")
def show_(folders: Folders, at: Clock = "03:30", agent: Agent = None, as_json: AsJson = False) -> None:
    """Print the crontab line and the systemd units.

    Example: memctl schedule show chats/ --at 03:30
    """
    from memctl.operations.schedule import show as run

    show(run(folders, at=at, agent=agent), as_json)


@schedule.command()
def install(folders: Folders, at: Clock = "03:30", agent: Agent = None, as_json: AsJson = False) -> None:
    """Put the line into your crontab, beside what is there.

    Example: memctl schedule install chats/ --agent payments-team
    """
    from memctl.operations.schedule import install as run

    show(run(folders, at=at, agent=agent), as_json)


@schedule.command()
def remove(as_json: AsJson = False) -> None:
    """Take the line out of your crontab.

    Example: memctl schedule remove
    """
    from memctl.operations.schedule import remove as run

    show(run(), as_json)
