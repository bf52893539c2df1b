"""Which pieces of a pasted page, plan or traceback are read."""

import pytest

from memctl.extraction.listings import worth_reading
from memctl.extraction.segment import Unit, segment

SAID = [f"The archive keeps {number} boxes of letters in the east wing." for number in range(13)]


def left_of(*lines: str) -> list[str]:
    """Read lines in the middle of a long message and tell which are left."""
    text = "\n".join([*SAID, *lines])
    return [unit.text for unit in worth_reading(segment(text))][len(SAID) :]


@pytest.mark.parametrize(
    "line",
    [
        '"is_in_loop": {',
        '"answer": false',
        '"og:image": "http://example.org/picture.png",',
        'File "/srv/app/main.py", line 216, in update',
        "ledger = await self.update(token)",
        "from app.core import main",
        "if self.rounds > max(limit, 3):",
        "https://example.org › passes",
        "SIGN UP",
        "People also ask",
        "$336,549",
        "[4]",
    ],
)
def test_a_piece_that_says_nothing_is_left_out_of_a_long_message(line):
    assert left_of(line) == []


@pytest.mark.parametrize(
    "line",
    [
        '"reason": "The export failed because the disk was full."',
        "Use Postgres.",
        "The limit is 30",
        "max_connections = 200 for the pool",
        "Return the keys to Ann on Friday",
        "For the backups we use the second disk:",
        "服务器在法兰克福。",
        "Import the ledger on Mondays (Bo does it)",
    ],
)
def test_a_piece_that_may_say_something_is_read(line):
    assert len(left_of(line)) == 1


def test_an_item_under_a_heading_and_a_row_of_a_table_are_read():
    assert left_of("Keepers:", "- Ann") == ["Ann"]
    assert left_of("| name | keys |", "|---|---|", "| Bo | 3 |") == ["Bo: keys 3"]


def test_a_short_message_is_read_whole():
    units = [Unit("2", 0, 1), Unit("Yes", 2, 5), Unit('"answer": true', 6, 20)]
    assert worth_reading(units) == units
