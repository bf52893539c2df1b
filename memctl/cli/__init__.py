"""The command line: every callback opens, calls one operation and shows its result.

Command modules are imported when their command is called, so that ``memctl recall`` pays for nothing
but itself. Foreseen errors end in one line on stderr and their exit code, here and nowhere else.
"""

import importlib
import json
import os
import sys
from typing import Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup

from memctl import __version__
from memctl.errors import ExitCode, MemctlError, UsageProblem

# What the command-line library raises for a wrong option or argument; it has no public name of its own.
_MISUSE: type[Exception] = typer.BadParameter.__mro__[1]
_MODULES = {
    "ingest": "ingest",
    "remember": "ingest",
    "recall": "recall",
    "list": "look",
    "show": "look",
    "why": "look",
    "stats": "look",
    "sql": "look",
    "audit": "look",
    "transcript": "transcripts",
    "history": "time",
    "diff": "time",
    "log": "time",
    "undo": "time",
    "conflicts": "curate",
    "resolve": "curate",
    "edit": "curate",
    "pin": "curate",
    "unpin": "curate",
    "forget": "curate",
    "restore": "curate",
    "prune": "upkeep",
    "compact": "upkeep",
    "check": "upkeep",
    "scrub": "upkeep",
    "reembed": "upkeep",
    "backup": "upkeep",
    "doctor": "upkeep",
    "export": "exchange",
    "import": "exchange",
    "state": "state",
    "nightly": "nightly",
    "schedule": "nightly",
    "serve": "serve",
    "mcp": "serve",
    "key": "serve",
    "config": "config",
}


class LazyBoundary(TyperGroup):
    """Import a command when it is asked for, and turn a foreseen error into one line and an exit code."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002  the base class's signature
        """Name the commands in the order of a day's work."""
        return list(_MODULES)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        """Import the module that holds the command; None where there is no such command."""
        if cmd_name not in _MODULES:
            return None
        module = importlib.import_module(f"memctl.cli.{_MODULES[cmd_name]}")
        command: Any = typer.main.get_command(module.app)
        if not isinstance(command, TyperCommand):
            command = command.commands.get(cmd_name) if isinstance(command, TyperGroup) else None
        _name_values(command)
        return command

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the options before the command."""
        as_json = "--json" in args
        try:
            return super().parse_args(ctx, args)
        except _MISUSE as error:
            _refuse(error, "", as_json=as_json)

    def invoke(self, ctx: Any) -> Any:
        """Run the command inside the boundary."""
        as_json = "--json" in sys.argv or "--json" in ctx.args
        try:
            return super().invoke(ctx)
        except MemctlError as error:
            report(error, ctx.invoked_subcommand or "", as_json=as_json)
            raise typer.Exit(error.exit_code) from error
        except _MISUSE as error:
            _refuse(error, ctx.invoked_subcommand or "", as_json=as_json)
        except (KeyboardInterrupt, typer.Abort) as error:  # the latter where a question was left without an answer
            print("memctl: interrupted; what was accepted is stored, run it again to go on", file=sys.stderr)
            raise typer.Exit(ExitCode.INTERRUPTED) from error
        except BrokenPipeError as error:
            # the reader of our output went away: nothing to say, and nothing more to flush
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(ExitCode.DONE) from error


def _name_values(command: Any) -> None:
    """Have the help name what options and arguments take in words; the library would show the types of Python."""
    for inner in getattr(command, "commands", {}).values():
        _name_values(inner)
    for param in getattr(command, "params", ()):
        if param.param_type_name == "argument":
            param.metavar = param.metavar or param.name.upper()
            param.display_type_rich = _no_type
        elif not param.is_flag and param.metavar is None:
            param.metavar = "N" if param.type_descriptor.is_ranged else max(param.opts, key=len).strip("-").upper()


def _no_type(**_: Any) -> str:
    return ""


def _refuse(error: Any, command: str, *, as_json: bool) -> NoReturn:
    """Say what is wrong with a command line, as every other error is said; a bare group shows its help instead."""
    if type(error).__name__ == "NoArgsIsHelpError":
        raise error
    path = error.ctx.command_path if error.ctx is not None else "memctl"
    problem = UsageProblem(reason=error.format_message().rstrip("."), remedy=f"See {path} --help.")
    report(problem, command if command in _MODULES else "", as_json=as_json)
    raise typer.Exit(problem.exit_code) from error


def report(error: MemctlError, command: str, *, as_json: bool) -> None:
    """Say what went wrong: one line on stderr, and the envelope on stdout where JSON was asked for."""
    print(" ".join(f"memctl: {error} {error.remedy}".split()), file=sys.stderr)
    if as_json:
        problem = {"code": error.code, "message": str(error), "where": error.where, "remedy": error.remedy}
        envelope = {"memctl": 1, "command": command, "status": "error", "data": {}, "problems": [problem]}
        print(json.dumps(envelope, ensure_ascii=False))


app = typer.Typer(
    cls=LazyBoundary,
    name="memctl",
    no_args_is_help=True,
    help=(
        "Memory for AutoGen and AG2 group chats: ingest transcripts, recall what matters, forget what does not.\n\n"
        'Example: memctl ingest chat.json --agent team && memctl recall "how do we deploy" --agent team'
    ),
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"memctl {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(
        False, "--version", callback=_show_version, is_eager=True, help="Print the version and leave."
    ),
) -> None:
    """Take the options before the command."""
