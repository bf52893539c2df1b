"""Memories are understood outside the chat."""

import tomllib
from pathlib import Path

import pytest

from memctl.extraction.standalone import MAX_WORDS, fits, leans_back, name_of, shorten, standalone, trim

CASES = tomllib.loads((Path(__file__).parents[1] / "cases" / "extraction_standalone.toml").read_text())["case"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["said"][:40])
def test_a_memory_names_who_spoke_and_drops_the_lead_in(case):
    assert standalone(case["said"], "Tom_QA") == case["memory"]


@pytest.mark.parametrize("speaker", ["user", "User", "user_proxy", "human", ""])
def test_speakers_without_a_name_are_the_user(speaker):
    assert standalone("I prefer short answers.", speaker) == "The user prefers short answers."


def test_a_name_is_written_as_one_reads_it():
    assert name_of("PI_Okonkwo") == "PI Okonkwo"
    assert name_of("Orchestrator (thought)") == "Orchestrator"


def test_trimming_never_takes_the_whole_sentence():
    assert trim("Yes, agreed.") == "Yes, agreed."
    assert trim("right") == "right"


def test_an_aside_goes_where_a_text_is_too_long():
    long = "We keep the logs for ninety days (" + "as the auditors asked us to do " * 4 + ") in Frankfurt."
    assert shorten(long) == "We keep the logs for ninety days in Frankfurt."
    assert shorten("We keep them (in Frankfurt).") == "We keep them (in Frankfurt)."


def test_a_memory_is_a_sentence_or_two():
    assert fits("word " * MAX_WORDS)
    assert not fits("word " * (MAX_WORDS + 1))
    assert not fits("字" * 80)


@pytest.mark.parametrize(
    "text", ["It failed twice.", "And that's why it broke.", "Das ging schief.", "它失败了。", "Eso no vale."]
)
def test_sentences_that_lean_on_the_one_before_are_known(text):
    assert leans_back(text)


@pytest.mark.parametrize("text", ["The import failed.", "Italy is next.", "Redis failed twice.", "Thatcher said so."])
def test_sentences_that_stand_are_left_alone(text):
    assert not leans_back(text)
