"""What ``ingest`` and ``remember`` say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from memctl.model import Action, Result, Verdict
from memctl.render.drawing import counted, line, on_terminal, short, table

if TYPE_CHECKING:
    from memctl.operations.ingest import FileReport, Ingested
    from memctl.operations.remember import Remembered

_WORDS = {
    Action.ADD: ("+", "green"),
    Action.REFRESH: ("=", ""),
    Action.SUPERSEDE: ("-", "dim"),
    Action.CONTEST: ("?", "yellow"),
    Action.SKIP: ("·", "dim"),
    Action.QUARANTINE: ("!", "red"),
    Action.EXPIRE: ("-", "dim"),
    Action.FORGET: ("-", "dim"),
    Action.RESTORE: ("+", "green"),
    Action.EDIT: ("~", ""),
}
_NUMBERS = ("messages", "new", "again", "replaced")
_MANY_FILES = 1
_MOST_ROWS = 40


def show_verdict(verdict: Verdict) -> None:
    """One line a verdict: a sign, the id, the type, the text, and why."""
    sign, style = _WORDS[verdict.action]
    line(f"{sign} {short(verdict.fact)} {verdict.fact.type}: {verdict.fact.text}", style)
    if verdict.because:
        line(f"    {verdict.because}", "dim")


def show_verdicts(verdicts: Iterable[Verdict]) -> None:
    """All verdicts that do something."""
    for verdict in verdicts:
        if verdict.action is not Action.SKIP:
            show_verdict(verdict)


def ingested(result: Result[Ingested], **_: Any) -> None:
    """A table of files where there are several, then the sum in a sentence."""
    data = result.data
    for part in data.explained:
        _explained(part)
    if data.dry_run:
        show_verdicts(data.verdicts)
    if not data.files:
        line("There are no files to read.")
    if len(data.files) > _MANY_FILES:
        _files(data.files)
    else:
        for file in data.files:
            for note in file.notes:
                line(f"{file.path}: {note}", "dim")
    if data.plan:
        plan = data.plan
        line(f"Would ask the model {plan['calls']} times, about {plan['tokens']:,} tokens ({plan['cached']} cached).")
        return
    line(_sum(data))


def remembered(result: Result[Remembered], **_: Any) -> None:
    """What became of each thing told."""
    if result.data.dry_run:
        line("Nothing was written (dry run). It would be:")
    if not result.data.verdicts:
        line("Nothing to remember.")
        return
    if len(result.data.verdicts) <= 20:
        for verdict in result.data.verdicts:
            show_verdict(verdict)
        return
    counts = Counter(str(verdict.action) for verdict in result.data.verdicts)
    line(", ".join(f"{number} {name}" for name, number in sorted(counts.items())))


def _explained(part: Any) -> None:
    line(part.path, "bold")
    for trace in part.trace:
        sign = "+" if trace.kept else "·"
        kind = f"{trace.type} " if trace.type else ""
        line(f"{sign} #{trace.message} {kind}{trace.score:.2f}  {trace.sentence}", "green" if trace.kept else "dim")
        line(f"      {trace.why}", "dim")


def _files(files: Sequence[FileReport]) -> None:
    """A row a file; people who look at a great many get a row for each kind of them instead."""
    if on_terminal() and len(files) > _MOST_ROWS:
        kinds = sorted({(file.status, file.format) for file in files})
        grouped = {kind: [file for file in files if (file.status, file.format) == kind] for kind in kinds}
        rows = [(*kind, len(group), *_numbers(group)) for kind, group in grouped.items()]
        table(("status", "format", "files", *_NUMBERS), rows)
        return
    if not on_terminal():
        table((), [(file.path, file.status, file.format, *_numbers([file])) for file in files])
        return
    folder = _common_folder([file.path for file in files])
    if folder:
        line(f"in {folder}", "dim")
    counts = [_numbers([file]) for file in files]
    told = [place for place in range(len(_NUMBERS)) if any(row[place] for row in counts)]
    rows = [
        (file.path[len(folder) :], file.status, file.format, *(row[place] for place in told))
        for file, row in zip(files, counts, strict=True)
    ]
    table(("file", "status", "format", *(_NUMBERS[place] for place in told)), rows, grow="file")


def _common_folder(paths: Sequence[str]) -> str:
    """Give the folder that all paths begin with, its slash included; nothing where they share none."""
    levels = zip(*(path.split("/")[:-1] for path in paths), strict=False)
    return "".join(f"{names[0]}/" for names in takewhile(lambda names: len(set(names)) == 1, levels))


def _numbers(files: Sequence[FileReport]) -> tuple[int, ...]:
    facts = (sum(file.counts.get(name, 0) for file in files) for name in ("add", "refresh", "supersede"))
    return (sum(file.new_messages for file in files), *facts)


def _sum(data: Ingested) -> str:
    counts = data.counts
    messages = sum(file.new_messages for file in data.files)
    unchanged = sum(file.status in ("unchanged", "copy") for file in data.files)
    parts = [f"{counts['add']} new"]
    parts += [f"{counts[name]} {word}" for name, word in _SUM_WORDS if counts[name]]
    said = f"{data.agent}: {counted(messages, 'new message')}, facts: {', '.join(parts)}."
    if unchanged:
        said += f" {counted(unchanged, 'file')} unchanged."
    if data.redactions:
        kinds = ", ".join(f"{number} {kind}" for kind, number in sorted(data.redactions.items()))
        said += f" Redacted: {kinds}."
    return f"Dry run, nothing was written. {said}" if data.dry_run else said


_SUM_WORDS = (
    ("refresh", "said again"),
    ("supersede", "replaced"),
    ("contest", "contested"),
    ("quarantine", "quarantined"),
)
RENDERERS: dict[str, Callable[..., None]] = {"ingest": ingested, "remember": remembered}
