"""What the commands say that carry out people's word."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from memctl.model import Result
from memctl.render.drawing import counted, day, line, minute, on_terminal, short, table
from memctl.render.ingesting import show_verdicts

if TYPE_CHECKING:
    from memctl.operations.curate import Conflict, Curated
    from memctl.operations.timeline import Undone
    from memctl.store.types import Run


def curated(result: Result[Curated], **_: Any) -> None:
    """What was changed by hand."""
    data = result.data
    if data.dry_run:
        line("Nothing was written (dry run). It would be:")
    show_verdicts(data.verdicts)
    if data.purged:
        line(f"{counted(data.purged, 'memory', 'memories')} purged: the text is in no file of the store any more.")
    elif not data.verdicts:
        line("Nothing to change.")
    elif data.run:
        line(f"Take it back with: memctl undo {data.run}", "dim")


def conflicts(result: Result[tuple[Conflict, ...]], **_: Any) -> None:
    """Contested facts side by side."""
    if not result.data:
        line("No conflicts.")
        return
    if not on_terminal():
        for conflict in result.data:
            table((), [("\t".join((f.id, day(f.said_at), f.speaker, f.text)),) for f in conflict.sides])
        return
    rows = []
    for number, conflict in enumerate(result.data, 1):
        for side in conflict.sides:
            rows.append((number, short(side), f"{day(side.said_at)} {side.speaker}", side.text))
    table(("", "id", "said", "memory"), rows, grow="memory")
    line("Settle one with: memctl resolve ID --keep (or --drop, --both)", "dim")


def log(result: Result[tuple[Run, ...]], **_: Any) -> None:
    """The runs, newest first."""
    rows = [
        (run.id, minute(run.started_at), run.command, run.facts_added, run.facts_changed, _fate(run), run.args)
        for run in result.data
    ]
    table(("run", "when", "command", "added", "changed", "", "what"), rows, grow="what")


def undone(result: Result[Undone], **_: Any) -> None:
    """What was taken back."""
    data = result.data
    verb = "Would take back" if data.dry_run else "Took back"
    line(f"{verb} {', '.join(data.runs)}: {counted(data.facts, 'fact')} as before.")


def _fate(run: Run) -> str:
    if run.undone_by:
        return "undone"
    return f"undoes {run.undoes}" if run.undoes else ""


RENDERERS: dict[str, Callable[..., None]] = {
    **dict.fromkeys(("resolve", "edit", "pin", "unpin", "forget", "restore"), curated),
    "conflicts": conflicts,
    "log": log,
    "undo": undone,
}
