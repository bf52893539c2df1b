"""Drawing for a terminal, and the same as tab-separated lines where there is none."""

import shutil
import sys
import textwrap
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
# Between columns, and the least in which a text can be read.
_GAP = 2
_NARROWEST = 16


def on_terminal() -> bool:
    """Whether people are looking."""
    return sys.stdout.isatty()


def table(columns: Sequence[str], rows: Iterable[Sequence[object]], *, grow: str = "") -> None:
    """Draw a table that fits the terminal; elsewhere tab-separated lines without a heading.

    ``grow`` names the column that takes what room is left and wraps; the others are never cut or wrapped. Without
    one, the widest columns wrap. Rows that cannot be read side by side are written below each other, a line a cell.
    """
    cells = [[str(cell) for cell in row] for row in rows]
    if not on_terminal():
        for row in cells:
            print("\t".join(" ".join(cell.split()) for cell in row))
        return
    widths = fitted(columns, cells, terminal_width(), grow)
    if widths is None:
        _below_each_other(columns, cells)
    else:
        _side_by_side(columns, cells, widths)


def fitted(columns: Sequence[str], rows: Sequence[Sequence[str]], width: int, grow: str = "") -> list[int] | None:
    """Give each column its width within ``width`` characters; None where some would be too narrow to be read."""
    wanted = [max(map(_width, (name, *(row[n] for row in rows)))) for n, name in enumerate(columns)]
    room = width - _GAP * len(columns)
    if sum(wanted) <= room:
        return wanted
    if grow:
        place = list(columns).index(grow)
        wanted[place] = room - (sum(wanted) - wanted[place])
        return wanted if wanted[place] >= _NARROWEST else None
    left = room
    for number, place in enumerate(sorted(range(len(wanted)), key=lambda n: wanted[n])):
        share = left // (len(wanted) - number)
        if wanted[place] > share < _NARROWEST:
            return None
        wanted[place] = min(wanted[place], share)
        left -= wanted[place]
    return wanted


def _width(text: str) -> int:
    from rich.cells import cell_len

    return max(map(cell_len, text.split("\n")))


def _side_by_side(columns: Sequence[str], rows: Sequence[Sequence[str]], widths: Sequence[int]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    drawn = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for name, width in zip(columns, widths, strict=True):
        drawn.add_column(name, overflow="fold", width=width)
    for row in rows:
        drawn.add_row(*map(Text, row))
    Console(highlight=False).print(drawn)


def _below_each_other(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    for number, row in enumerate(rows):
        if number:
            print()
        fields(list(zip(columns, row, strict=True)))


def fields(rows: Sequence[tuple[str, str]]) -> None:
    """Print a name and a value a line, the values below each other."""
    width = max((len(name) for name, _ in rows), default=0)
    for name, value in rows:
        line(f"  {name:<{width}}  {value}", hang=width + 4)


def terminal_width() -> int:
    """How many characters a line of the terminal has."""
    return shutil.get_terminal_size().columns


def line(text: str = "", style: str = "", *, hang: int | None = None) -> None:
    """Print a line. On a terminal it is styled, and a long one is broken between words, never read as markup.

    ``hang`` is how far the rest of a broken line is moved in, words that are too long included; without it two more
    than the line itself, and such words (paths, addresses) stay whole, to be copied.
    """
    if not on_terminal():
        print(text)
        return
    shown = text if "\n" in text else _broken(text, hang)
    if not style:
        print(shown)
        return
    from rich.console import Console
    from rich.text import Text

    Console(highlight=False, soft_wrap=True).print(Text(shown, style=style))


def _broken(text: str, hang: int | None) -> str:
    width = terminal_width()
    if len(text) <= width:
        return text
    indent = hang if hang is not None else len(text) - len(text.lstrip()) + 2
    return textwrap.fill(
        text, width, subsequent_indent=" " * indent, break_long_words=hang is not None, break_on_hyphens=False
    )


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
