"""From the text of a message to the units that are judged."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memctl.extraction.segment import LONG_WORDS, plain, segment, words

CASES = tomllib.loads((Path(__file__).parents[1] / "cases" / "extraction_segment.toml").read_text())["case"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_message_is_cut_into_what_was_said(case):
    assert [unit.text for unit in segment(case["text"])] == case["units"]


def test_list_items_know_their_label_and_what_introduces_them():
    units = segment("Two ways:\n\nA) Rent a unit\nB) Convert the print room")
    assert [(unit.kind, unit.label, unit.lead) for unit in units[1:]] == [
        ("item", "A", "Two ways"),
        ("item", "B", "Two ways"),
    ]


def test_clauses_of_one_sentence_say_that_they_continue_it():
    long = "The first part has quite a number of words in it; " * 3
    assert [unit.continues for unit in segment(long)] == [False, True, True]


def test_ideographs_count_half_a_word():
    assert words("我们决定用PostgreSQL") == 4
    assert words("We use PostgreSQL 16.2 now") == 5


@settings(deadline=None)  # how busy the machine is says nothing about the cutter
@given(st.text(max_size=400))
def test_units_stand_where_they_say(text):
    for unit in segment(text):
        assert 0 <= unit.start < unit.end <= len(text)
        assert unit.text
        if unit.kind != "row":
            assert plain(text[unit.start : unit.end]).startswith(unit.text[:50])


@settings(deadline=None)  # how busy the machine is says nothing about the cutter
@given(st.lists(st.sampled_from(["alpha", "beta;", "gamma,", "and", "so", "delta:"]), min_size=1, max_size=80))
def test_cutting_loses_no_word(parts):
    text = " ".join(parts)
    assert " ".join(unit.text for unit in segment(text)).split() == text.split()


def test_the_limit_is_a_sentence_or_two():
    assert LONG_WORDS <= 28


@pytest.mark.parametrize("text", ["B. And keep the old one for March.", "A. Jones will sign it."])
def test_a_letter_that_begins_a_message_without_a_list_is_part_of_its_sentence(text):
    assert [(unit.kind, unit.text) for unit in segment(text)] == [("sentence", text)]


def test_a_number_that_answers_is_a_sentence_and_no_item():
    assert [unit.text for unit in segment("90. Not 60, that was too short.")] == ["90.", "Not 60, that was too short."]
    assert {unit.kind for unit in segment("1. Weigh it\n2. Label it")} == {"item"}
