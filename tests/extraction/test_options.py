"""The memory says what B is."""

import pytest

from memctl.extraction.options import chosen
from memctl.extraction.turns import turns
from memctl.model import Message, Role

LISTED = "Three ways:\n\nA) Rent a unit at the harbour\nB) Convert the print room\nC) Digitise everything"


def said(*texts):
    return turns([Message(i, f"S{i}", Role.USER, text) for i, text in enumerate(texts)])


@pytest.mark.parametrize(
    "reply",
    [
        "OK, B then.",
        "B.",
        "Option B please",
        "I vote for B.",
        "Let's go with option B",
        "the second one.",
        "Variante B",
        "选B吧。",
    ],
)
def test_a_choice_is_resolved_to_the_words_of_the_option(reply):
    assert chosen(reply, said(LISTED, reply), 1) == ("B", "Convert the print room")


def test_numbers_and_other_languages_work_too():
    chat = said("1. Kafka\n2. Redis Streams", "Opción 2, gracias")
    assert chosen("Opción 2, gracias", chat, 1) == ("2", "Redis Streams")
    assert chosen("方案A吧。", said("方案A：卡通渲染，方案B：写实渲染", "x"), 1) == ("A", "卡通渲染")


def test_the_latest_list_counts():
    chat = said(LISTED, "A) tea\nB) coffee", "B then.")
    assert chosen("B then.", chat, 2) == ("B", "coffee")


@pytest.mark.parametrize("reply", ["Both are fine.", "D then.", "Because of the rain.", "A good idea."])
def test_what_chooses_nothing_is_left_alone(reply):
    assert chosen(reply, said(LISTED, reply), 1) is None
