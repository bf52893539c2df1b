"""How long a memory lasts."""

import tomllib
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memctl.extraction.expiry import expires
from memctl.model import MemoryType

SAID = datetime(2026, 3, 4, 10, 0, tzinfo=UTC)
CASES = tomllib.loads((Path(__file__).parents[1] / "cases" / "extraction_expiry.toml").read_text())["case"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["text"][:40])
def test_a_memory_ends_when_it_was_said_to_end(case):
    end = expires(case["text"], MemoryType(case["type"]), SAID)
    assert (end.date().isoformat() if end else "none") == case["until"]


def test_no_memory_ends_before_it_was_said_nor_at_once():
    late = SAID.replace(hour=23, minute=50)
    end = expires("The box is down until 23:55.", MemoryType.TEMPORARY, late)
    assert end is not None
    assert end >= late + timedelta(hours=12)


def test_defaults_come_from_the_settings():
    lifetimes = {MemoryType.TEMPORARY: timedelta(days=2), MemoryType.CONTEXT: None}
    assert expires("Paused at row 9.", MemoryType.TEMPORARY, SAID, lifetimes) == SAID + timedelta(days=2)
    assert expires("Half of it is done.", MemoryType.CONTEXT, SAID, lifetimes) is None


@pytest.mark.parametrize(
    "text", ["", "31 February", "2026-13-45", "until the 99. März", "99月99日", "0.0.0 bis 00.00."]
)
def test_dates_that_do_not_exist_fall_back_to_the_default(text):
    assert expires(text, MemoryType.TEMPORARY, SAID) == SAID + timedelta(days=7)


@pytest.mark.parametrize("year", [1, 9999])
@pytest.mark.parametrize("kind", list(MemoryType))
def test_at_the_ends_of_the_calendar_a_memory_still_has_an_end(year, kind):
    said = datetime(year, 12 if year > 1 else 1, 31, tzinfo=UTC)
    end = expires("The rollout is frozen until Friday, for 999 years, until end of December", kind, said)
    assert end is None or end >= said
