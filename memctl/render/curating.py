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
    sides = [(number, side) for number, conflict in enumerate(result.data, 1) for side in conflict.sides]
    if not on_terminal():
        table((), [(number, f.id, day(f.said_at), f.speaker, f.text) for number, f in sides])
        return
    rows = [(number, short(f), f"{day(f.said_at)} {f.speaker}", f.text) for number, f in sides]
    table(("", "id", "said", "memory"), rows, grow="memory")
    line("Settle one with: memctl resolve ID --keep (or --drop, --both)", "dim")


def log(result: Result[tuple[Run, ...]], **_: Any) -> None:
    """The runs, newest first."""
    if not on_terminal():
        table((), [_run_columns(run) for run in result.data])
        return
    rows = [(run.id, run.command, run.facts_added, run.facts_changed, _story(run)) for run in result.data]
    table(("run", "command", "new", "changed", "what"), rows, grow="what")


def _run_columns(run: Run) -> tuple[object, ...]:
    return run.id, minute(run.started_at), run.command, run.facts_added, run.facts_changed, _fate(run), run.args


def undone(result: Result[Undone], **_: Any) -> None:
    """What was taken back."""
    data = result.data
    verb = "Would take back" if data.dry_run else "Took back"
    parts = (
        f"{counted(data.removed, 'memory', 'memories')} taken out" if data.removed else "",
        f"{counted(data.facts - data.removed, 'memory', 'memories')} as before" if data.facts > data.removed else "",
    )
    what = ", ".join(filter(None, parts))
    line(f"{verb} {', '.join(data.runs)}{what and f': {what}'}.")


def _story(run: Run) -> str:
    return _fate(run) if run.undoes else "; ".join(filter(None, (_fate(run), run.args)))


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
