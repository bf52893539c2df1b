"""Drawing for a terminal, and the same as tab-separated lines where there is none."""

import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from memctl.model import Fact, State

STYLES = {
    State.ACTIVE: "green",
    State.SUPERSEDED: "dim",
    State.CONTESTED: "yellow",
    State.EXPIRED: "dim",
    State.QUARANTINED: "red",
    State.FORGOTTEN: "dim strike",
}
SHORT_ID = 8


def on_terminal() -> bool:
    """Whether people are looking."""
    return sys.stdout.isatty()


def table(columns: Sequence[str], rows: Iterable[Sequence[object]], *, grow: str = "", title: str = "") -> None:
    """Draw a table that fits the terminal (``grow`` names the column that wraps); elsewhere tab-separated lines."""
    if not on_terminal():
        for row in rows:
            print("\t".join(" ".join(str(cell).split()) for cell in row))
        return
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    drawn = Table(box=SIMPLE_HEAD, title=title or None, title_justify="left", pad_edge=False, expand=bool(grow))
    for name in columns:
        drawn.add_column(name, overflow="fold", no_wrap=name != grow, ratio=1 if name == grow else None)
    for row in rows:
        drawn.add_row(*(Text(str(cell)) for cell in row))
    Console(highlight=False).print(drawn)


def line(text: str = "", style: str = "") -> None:
    """Print a line, styled on a terminal only; the text is never read as markup."""
    if not style or not on_terminal():
        print(text)
        return
    from rich.console import Console
    from rich.text import Text

    Console(highlight=False, soft_wrap=True).print(Text(text, style=style))


def day(instant: datetime | None) -> str:
    """A date for people."""
    return instant.astimezone(UTC).strftime("%Y-%m-%d") if instant else "-"


def minute(instant: datetime | None) -> str:
    """A date and time for people."""
    return instant.astimezone(UTC).strftime("%Y-%m-%d %H:%M") if instant else "-"


def short(fact: Fact) -> str:
    """The id as people type it."""
    return fact.id[:SHORT_ID]


def size(count: int) -> str:
    """A number of bytes for people."""
    amount = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} TB"


def counted(number: int, noun: str, plural: str = "") -> str:
    """``1 fact``, ``2 facts``."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
