"""``memctl transcript``: the stored messages."""

from typing import Annotated

import typer

from memctl.cli.options import Agent, AsJson, open_memory, show

app = typer.Typer(rich_markup_mode=None)
transcript = typer.Typer(
    help="Look at the stored chats, or take one out to resume it.\n\nExample: memctl transcript list",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(transcript, name="transcript")
Name = Annotated[str, typer.Argument(help="Id, path or file name of a transcript.", metavar="TRANSCRIPT")]


@app.callback()
def _group() -> None:
    """Keep the group a group, though it has one member."""


@transcript.command("list")
def list_(agent: Agent = None, as_json: AsJson = False) -> None:
    """List the transcripts that were read.

    Example: memctl transcript list --agent payments-team
    """
    from memctl.operations.transcripts import list_transcripts

    with open_memory() as memory:
        show(list_transcripts(memory, agent=agent), as_json)


@transcript.command("show")
def show_(name: Name, agent: Agent = None, as_json: AsJson = False) -> None:
    """Print the messages of a transcript.

    Example: memctl transcript show chats/monday.json
    """
    from memctl.operations.transcripts import show_transcript

    with open_memory() as memory:
        show(show_transcript(memory, name, agent=agent), as_json)


@transcript.command()
def export(
    name: Name,
    agent: Agent = None,
    format_name: Annotated[
        str, typer.Option("--format", help="groupchat (for GroupChatManager.resume), json or text.", metavar="F")
    ] = "groupchat",
    as_json: AsJson = False,
) -> None:
    """Print a transcript to go on from, or as text.

    The JSON is what GroupChatManager.resume takes.

    Example: memctl transcript export chats/monday.json > resume.json
    """
    from memctl.operations.transcripts import export_transcript

    with open_memory() as memory:
        show(export_transcript(memory, name, format=format_name, agent=agent), as_json)
