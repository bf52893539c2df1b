"""``memctl config``: the settings and where each comes from."""

from typing import Annotated

import typer

from memctl.cli.options import AsJson, show
from memctl.model import Result
from memctl.settings import config_path, home_location, load, write_setting

app = typer.Typer(rich_markup_mode=None)
config = typer.Typer(
    help="Show every setting with its origin, or set one.\n\nExample: memctl config set recall.max_tokens 1200",
    invoke_without_command=True,
    rich_markup_mode=None,
)
app.add_typer(config, name="config")
Name = Annotated[str, typer.Argument(help="The setting's name.", metavar="NAME")]


@app.callback()
def _group() -> None:
    """Keep the group a group, though it has one member."""


@config.callback(invoke_without_command=True)
def config_(context: typer.Context, as_json: AsJson = False) -> None:
    """Show every setting with its origin, or set one.

    Example: memctl config set recall.max_tokens 1200
    """
    if context.invoked_subcommand is None:
        show(Result("config", tuple(load().all())), as_json)


@config.command("set", context_settings={"ignore_unknown_options": True})  # -5 is a value
def set_(name: Name, value: Annotated[str, typer.Argument(help="The value.")], as_json: AsJson = False) -> None:
    """Set a value in the settings file of this store.

    Example: memctl config set agent payments-team
    """
    write_setting(config_path(home_location()), name, value)
    show(Result("config", tuple(item for item in load().all() if item.name == name)), as_json)


@config.command()
def unset(name: Name, as_json: AsJson = False) -> None:
    """Go back to the default.

    Example: memctl config unset agent
    """
    write_setting(config_path(home_location()), name, None)
    show(Result("config", tuple(item for item in load().all() if item.name == name)), as_json)
