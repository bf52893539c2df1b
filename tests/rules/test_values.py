"""Values are compared by what they say, not by how they are written."""

import itertools
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memctl.rules.numbers import spelled_out
from memctl.rules.values import compare, values

CASES = tomllib.loads((Path(__file__).parents[1] / "cases" / "judge_values.toml").read_text(encoding="utf-8"))


def pairs(kind: str) -> list[tuple[str, str]]:
    return [pair for case in CASES[kind] for pair in itertools.combinations(case["texts"], 2)]


@pytest.mark.parametrize(("one", "other"), pairs("same"))
def test_the_same_value_is_recognised_however_it_is_put(one, other):
    found = compare(values(one), values(other))
    assert found.shared
    assert (found.changed, found.only_old, found.only_new) == ((), (), ())


@pytest.mark.parametrize(("one", "other"), pairs("different"))
def test_values_that_differ_are_told_apart(one, other):
    found = compare(values(one), values(other))
    assert not found.shared
    assert found.changed or (found.only_old and found.only_new)


@pytest.mark.parametrize("text", [text for case in CASES["none"] for text in case["texts"]])
def test_plain_words_are_no_values(text):
    assert values(text) == ()


def test_a_number_without_its_unit_still_matches():
    assert compare(values("The limit is 45 seconds."), values("We raised it to 45.")).shared


def test_the_changed_value_is_named_in_the_words_of_the_statement():
    (pair,) = compare(values("It waits 30 seconds."), values("It waits 45 seconds.")).changed
    assert (pair[0].words, pair[1].words) == ("30 seconds", "45 seconds")


@given(st.text(max_size=80))
def test_no_text_is_too_strange_to_read(text):
    values(text)


@given(st.integers(1, 10**7))
def test_thousands_separators_change_nothing(number):
    (plain,) = values(f"{number} euros")
    (grouped,) = values(f"{number:,} euros")
    assert plain.same(grouped)


@given(st.integers(0, 99))
def test_every_numeral_up_to_a_hundred_is_read_in_chinese(number):
    signs = "零一二三四五六七八九"
    tens, ones = divmod(number, 10)
    text = signs[ones] if not tens else (signs[tens] if tens > 1 else "") + "十" + (signs[ones] if ones else "")
    assert spelled_out(text) == str(number)
