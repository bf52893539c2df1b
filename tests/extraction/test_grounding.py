"""A fact counts only if the chat bears it out."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memctl.extraction.grounding import Proposed, quoted, refusal

CASES = tomllib.loads(Path(__file__).with_name("grounding_cases.toml").read_text(encoding="utf-8"))["cases"]


@pytest.mark.parametrize(("fact", "quote", "message", "reason"), CASES)
def test_facts_are_checked_against_what_was_said(fact: str, quote: str, message: str, reason: str) -> None:
    found = refusal(Proposed(fact, quote), message, names=["Anna"])
    assert found.startswith(reason)
    assert bool(found) == bool(reason)


def test_names_and_numbers_may_come_from_the_messages_around() -> None:
    fact = Proposed("The Lima service moves to Postgres 16.", "OK, B then")
    assert refusal(fact, "OK, B then.") == "not said: Lima"
    assert refusal(fact, "OK, B then.", ["Option B: move the Lima service to Postgres 16?"]) == ""


def test_a_name_nobody_used_is_refused_even_if_all_else_was_said() -> None:
    fact = Proposed("The client Borealis wants British spelling.", "wants British spelling")
    assert refusal(fact, "The client wants British spelling.") == "not said: Borealis"


@given(st.lists(st.from_regex(r"[a-zA-Z]{3,9}[,;]?", fullmatch=True), min_size=2, max_size=9).map(" ".join))
def test_a_text_quotes_itself_whatever_stands_around(text: str) -> None:
    assert quoted(text, f"before {text} after")
    assert quoted(f'"{text.upper()}"', f"before **{text}** after")
