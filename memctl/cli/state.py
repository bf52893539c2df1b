"""``memctl state``: small JSON values."""

import json
from typing import Annotated, Any

import typer

from memctl.cli.options import Agent, AsJson, Wait, open_memory, show

app = typer.Typer(rich_markup_mode=None)
state = typer.Typer(
    help="Keep small JSON values per agent, with a time to live.\n\nExample: memctl state set cursor 8000 --agent team",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(state, name="state")
Key = Annotated[str, typer.Argument(help="The key.", metavar="KEY")]


@app.callback()
def _group() -> None:
    """Keep the group a group, though it has one member."""


@state.command("set", context_settings={"ignore_unknown_options": True})  # -5 is a value
def set_(
    key: Key,
    value: Annotated[str, typer.Argument(help="JSON; what is not JSON is taken as a text.")],
    agent: Agent = None,
    ttl: Annotated[str | None, typer.Option(help="How long it lives, such as 2h.")] = None,
    wait: Wait = None,
    as_json: AsJson = False,
) -> None:
    """Keep a value; it replaces the one before.

    Example: memctl state set cursor 8000 --agent payments-team --ttl 2d
    """
    from memctl.operations.state import set_value

    with open_memory(wait=wait) as memory:
        show(set_value(memory, key, json_or_text(value), agent=agent, ttl=ttl), as_json)


@state.command()
def get(key: Key, agent: Agent = None, as_json: AsJson = False) -> None:
    """Print a value as JSON.

    Example: memctl state get cursor --agent payments-team
    """
    from memctl.operations.state import get_value

    with open_memory() as memory:
        show(get_value(memory, key, agent=agent), as_json)


@state.command("list")
def list_(
    agent: Agent = None,
    prefix: Annotated[str, typer.Option(help="Only keys that begin so.")] = "",
    as_json: AsJson = False,
) -> None:
    """List keys and values.

    Example: memctl state list --agent payments-team
    """
    from memctl.operations.state import list_values

    with open_memory() as memory:
        show(list_values(memory, agent=agent, prefix=prefix), as_json)


@state.command()
def delete(key: Key, agent: Agent = None, wait: Wait = None, as_json: AsJson = False) -> None:
    """Remove a value.

    Example: memctl state delete cursor --agent payments-team
    """
    from memctl.operations.state import delete_value

    with open_memory(wait=wait) as memory:
        show(delete_value(memory, key, agent=agent), as_json)


def json_or_text(value: str) -> Any:
    """Read JSON; what is none is a text."""
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value
