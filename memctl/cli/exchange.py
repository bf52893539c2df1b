"""``export`` and ``import``."""

import json
from typing import Annotated

import typer

from memctl.cli.ingest import lines_of
from memctl.cli.options import Agent, AsJson, DryRun, Wait, open_memory, show
from memctl.shapes import fact_shape

app = typer.Typer(rich_markup_mode=None)


@app.command()
def export(
    agent: Agent = None,
    everything: Annotated[bool, typer.Option("--all", help="Every state, not only what holds now.")] = False,
    as_json: AsJson = False,
) -> None:
    """Print memories as JSON lines, without loss.

    Example: memctl export --agent payments-team --all > payments.jsonl
    """
    from memctl.model import Result
    from memctl.operations.exchange import export as run

    with open_memory() as memory:
        facts = run(memory, agent=agent, everything=everything)
        if as_json:
            show(Result("export", {"facts": list(facts)}), as_json)
            return
        for fact in facts:
            print(json.dumps(fact_shape(fact), ensure_ascii=False))


@app.command("import")
def import_(
    source: Annotated[str, typer.Argument(help="A file that export wrote; - for standard input.", metavar="FILE")],
    agent: Agent = None,
    dry_run: DryRun = False,
    wait: Wait = None,
    as_json: AsJson = False,
) -> None:
    """Take in what export wrote; with --agent into another scope.

    Example: memctl import payments.jsonl
    """
    from memctl.operations.exchange import import_facts
    from memctl.operations.lines import refuse_if_nothing_was_taken

    with open_memory(wait=wait) as memory:
        result = import_facts(memory, lines_of(source), source, agent=agent, dry_run=dry_run)
    taken = result.data.added + result.data.changed + result.data.unchanged
    refuse_if_nothing_was_taken(result.problems, taken, source)
    show(result, as_json)
