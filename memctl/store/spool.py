"""The spool of recall counts: readers append a line, the next writer folds them into the facts.

Best effort by design: a recall never waits for it and never fails by it.
"""

import json
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from memctl.times import iso, parse_instant

_TAKEN = "taken-"


@dataclass(frozen=True, slots=True)
class Uses:
    """How often each fact was recalled since the last writer, when last, and the files that say so."""

    counts: dict[str, int] = field(default_factory=dict)
    last: dict[str, datetime] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)


def record_use(folder: Path, ids: Sequence[str], at: datetime) -> None:
    """Note that these facts were shown; a folder that cannot be written is no trouble."""
    if not ids:
        return
    line = json.dumps({"at": iso(at), "ids": list(ids)}) + "\n"
    with suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(folder / f"{os.getpid()}.jsonl", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(descriptor, line.encode())
        finally:
            os.close(descriptor)


def pending(folder: Path) -> bool:
    """Tell whether there are counts that no writer has taken in."""
    return any(folder.glob("*.jsonl"))


def take(folder: Path, sequence: int) -> Uses:
    """Take the counts for batch ``sequence``. The files are renamed first, so that later recalls start new ones."""
    if not folder.is_dir():
        return Uses()
    for path in sorted(folder.glob("[0-9]*.jsonl")):
        with suppress(FileNotFoundError):
            path.rename(path.with_name(f"{_TAKEN}{sequence:012d}-{path.name}"))
    return count(sorted(folder.glob(f"{_TAKEN}*.jsonl")))


def count(files: Iterable[Path]) -> Uses:
    """Add up spool files; a line that was cut off by a crash is passed over."""
    uses = Uses()
    for path in files:
        uses.files.append(path.name)
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            _add_line(uses, line)
    return uses


def _add_line(uses: Uses, line: str) -> None:
    try:
        entry = json.loads(line)
        at = parse_instant(entry["at"])
        ids = [str(name) for name in entry["ids"]]
    except (ValueError, KeyError, TypeError):
        return
    for name in ids:
        uses.counts[name] = uses.counts.get(name, 0) + 1
        uses.last[name] = max(at, uses.last.get(name, at))


def remove(folder: Path, names: Iterable[str]) -> None:
    """Forget files whose counts are in the record."""
    for name in names:
        (folder / Path(name).name).unlink(missing_ok=True)
