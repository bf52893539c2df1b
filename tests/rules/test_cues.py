"""The words that show how a statement stands to an earlier one."""

import pytest

from memctl.rules import cues


@pytest.mark.parametrize(
    "text",
    [
        "We no longer use Redis.",
        "Postgres instead of MySQL.",
        "We moved from Railway to Fly.",
        "From now on answers are short.",
        "The plan was scrapped.",
        "Ab sofort wird geduzt.",
        "Freitags wird nicht mehr deployt.",
        "Ya no usamos Redis.",
        "A partir de junio abrimos antes.",
        "Nous ne sommes plus sur Slack.",
        "会议改到周五。",
        "我们不再用MySQL。",
    ],
)
def test_words_of_change_are_seen_in_many_languages(text):
    assert cues.has("change", text)


@pytest.mark.parametrize("text", ["Postgres holds the orders.", "Anna likes tea.", "订单存在MySQL里。"])
def test_a_plain_statement_shows_no_change(text):
    assert not cues.has("change", text)


@pytest.mark.parametrize(
    "text",
    [
        "45 seconds, not 30",
        "Scratch that, use Fly.",
        "Sorry, I meant Tuesday.",
        "Korrektur: Dienstag.",
        "不对，应该是五号。",
    ],
)
def test_corrections_are_seen(text):
    assert cues.corrects(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Staging DB is Postgres 15.", {"staging"}),
        ("In prod we run 16.", {"production"}),
        ("Der Produktivserver steht in Dublin.", {"production"}),
        ("The kitchen is blue.", set()),
    ],
)
def test_environments_are_named(text, expected):
    assert cues.environments(text) == expected


def test_names_are_found_but_not_the_first_word_of_a_sentence():
    assert cues.names("The owner is Anna Meyer. Berlin calls.") == {"anna", "meyer"}


def test_identifiers_are_found_and_plain_words_are_not():
    assert cues.identifiers("Set MAX_TTL on B6-417 for FastAPI, see #ops.") == {"max_ttl", "b6-417", "fastapi", "#ops"}
    assert cues.identifiers("The well-known 90 minutes of football.") == set()
