"""``serve``, ``mcp`` and ``key``: the memory for programs on other ends of a socket or a pipe."""

import json
import os
from typing import Annotated, Any

import typer

from memctl.cli.options import Agent, AsJson, note
from memctl.errors import UsageProblem
from memctl.settings import home_location

app = typer.Typer(rich_markup_mode=None)
key = typer.Typer(
    help="Make, list and revoke access keys for memctl serve.\n\nExample: memctl key create --agent payments-team",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(key, name="key")


@app.command()
def serve(
    host: Annotated[str, typer.Option(help="Address to listen on; other than this machine's only with keys.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(help="Port to listen on; 0 takes any free one.", min=0, max=65535)] = 8765,
    socket: Annotated[
        str | None, typer.Option("--socket", help="Listen on this socket file as well.", metavar="PATH")
    ] = None,
) -> None:
    """Serve the memory over HTTP until interrupted.

    Commands on this machine then go through it and start at once.

    The documentation of all requests is at /docs, for machines at /openapi.json.

    Example: memctl serve --port 8765
    """
    from memctl.cli.captured import CommandRunner
    from memctl.server.running import listen
    from memctl.server.running import serve as run
    from memctl.server.service import Service

    service = Service(home_location())
    listening = listen(service, host, port, socket)
    service.run_command = CommandRunner(service.warm)
    if not run(service, listening, lambda: note(f"serving {listening}")):
        # A thread cannot be stopped, and the store is safe against that: the next server takes up what is left.
        note("stopped before everything was finished; the next server goes on with it")
        os._exit(0)


@app.command()
def mcp(
    agent: Agent = None,
    read_only: Annotated[bool, typer.Option("--read-only", help="Offer nothing that changes the memory.")] = False,
) -> None:
    """Offer the memory to models over the Model Context Protocol.

    It speaks on standard input and output.

    Example: memctl mcp --agent payments-team
    """
    from memctl.server.mcp_stdio import run

    run(home_location(), agent, read_only=read_only)


@key.command()
def create(
    agent: Agent = None,
    everything: Annotated[bool, typer.Option("--all-scopes", help="A key to all of the memory.")] = False,
    read_only: Annotated[bool, typer.Option("--read-only", help="A key that changes nothing.")] = False,
    name: Annotated[str, typer.Option(help="What the key is for.")] = "",
    as_json: AsJson = False,
) -> None:
    """Make a key to one scope and print it. It is shown this once and kept nowhere.

    Example: memctl key create --agent payments-team --read-only
    """
    from memctl import times

    if (agent is None) != everything:
        raise UsageProblem(reason="give either --agent or --all-scopes", remedy="A key opens one scope, or all.")
    made, token = _keys().create(agent, name=name, read_only=read_only, now=str(times.iso(times.now())))
    _show({**_shape(made), "key": token}, as_json, token)
    note(f"key {made.id} for {made.agent or 'all scopes'}: keep it, it is not shown again")


@key.command("list")
def list_(as_json: AsJson = False) -> None:
    """List the keys, without the keys themselves.

    Example: memctl key list
    """
    from memctl.render.drawing import table

    rows = [_shape(made) for made in _keys().all()]
    if as_json:
        _show({"keys": rows}, as_json, "")
        return
    columns = ("id", "name", "agent", "read_only", "created_at")
    table(columns, [[row[column] for column in columns] for row in rows])


@key.command()
def revoke(
    name: Annotated[str, typer.Argument(help="Id or name of the key.", metavar="ID")], as_json: AsJson = False
) -> None:
    """Revoke a key; a running server refuses it from now on.

    Example: memctl key revoke 1f3c9a2b
    """
    gone = _keys().revoke(name)
    _show(_shape(gone), as_json, f"revoked {gone.id}")


def _keys() -> Any:
    from memctl.server.keys import KeyFile, keys_path

    return KeyFile(keys_path(home_location()))


def _shape(made: Any) -> dict[str, Any]:
    return {
        "id": made.id,
        "name": made.name,
        "agent": made.agent or "",
        "all_scopes": made.agent is None,
        "read_only": made.read_only,
        "created_at": made.created_at,
    }


def _show(data: dict[str, Any], as_json: bool, text: str) -> None:
    from memctl.model import Result
    from memctl.render import envelope

    print(json.dumps(envelope(Result("key", data)), ensure_ascii=False) if as_json else text)
