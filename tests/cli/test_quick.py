"""A plain recall is answered without the command-line library, and as that would answer it."""

import pytest

from memctl import quick


@pytest.mark.parametrize(
    ("words", "options"),
    [
        (["recall", "how we deploy"], {}),
        (["recall", "how we deploy", "--agent", "team/coder"], {"agent": "team/coder"}),
        (["recall", "-a", "team", "how we deploy"], {"agent": "team"}),
        (["recall", "--agent=team", "how we deploy", "--limit=3"], {"agent": "team", "limit": 3}),
        (["recall", "how we deploy", "--max-tokens", "0800", "--deep"], {"max_tokens": 800, "deep": True}),
        (["recall", "how we deploy", "--format", "jsonl", "--cite"], {"format": "jsonl", "cite": True}),
    ],
)
def test_plain_words_are_understood(words, options):
    assert quick.read(words) == ("how we deploy", options)


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["list"],
        ["recall"],
        ["recall", ""],
        ["recall", "--help"],
        ["recall", "two", "questions"],
        ["recall", "q", "--limit"],
        ["recall", "q", "--limit", "0"],
        ["recall", "q", "--limit", "many"],
        ["recall", "q", "--agent", "--deep"],
        ["recall", "q", "--agent", "a", "--agent", "b"],
        ["recall", "q", "-a=team"],
        ["recall", "q", "-ateam"],
        ["recall", "q", "--deep=yes"],
        ["recall", "q", "--strict"],
        ["recall", "q", "--timeout", "2s"],
        ["recall", "--from", "-"],
        ["recall", "--", "q"],
    ],
)
def test_everything_else_is_left_to_the_command_line(words):
    assert quick.read(words) is None


def test_both_ways_print_the_same(memctl):
    memctl("remember", "The API is written in Go", "--agent", "team")
    question = ("recall", "which language is the API written in", "--agent", "team")

    for more in ((), ("--format", "jsonl"), ("--format", "xml"), ("--limit", "1", "--cite")):
        plain = memctl(*question, *more)
        proper = memctl(*question, *more, "--strict")

        assert "Go" in plain.out
        assert plain == proper


def test_a_mistake_is_told_by_the_command_line(memctl):
    memctl("remember", "The API is written in Go", "--agent", "team")

    wrong = memctl("recall", "the API", "--agent", "team", "--format", "runes")

    assert (wrong.code, wrong.out) == (2, "")
    assert "runes" in wrong.err
