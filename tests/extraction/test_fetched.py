"""What was fetched is nobody's word: pages, searches and retrieved passages are not mined for memories."""

import pytest

from memctl.extraction.turns import turns
from memctl.model import Message, Role

PAGES = {
    "a retrieval prompt": """You're a retrieve augmented chatbot. You answer questions.

Context is: The bridge opened in 1931. They decided to paint it red.""",
    "a page of the text browser": """Address: https://example.org/a
Title: A
Viewport position: Showing page 1 of 2.
=======================
The error was never found. The firm decided to close its plant.""",
    "a screenshot": """I clicked 'History'.

Here is a screenshot of [A](https://example.org). The viewport shows 8% of the webpage, and is at the top of the page.
The firm moved to Leeds in 1999.""",
    "a search": """A Bing search for 'old mills' found 10 results:

1. The mill failed in 1880.""",
}


@pytest.mark.parametrize("text", PAGES.values(), ids=PAGES)
def test_what_was_fetched_yields_nothing_to_remember(text):
    [turn] = turns([Message(0, "surfer", Role.AGENT, text)])
    assert turn.units == ()


def test_what_is_said_about_a_page_is_still_read():
    [turn] = turns([Message(0, "Planner", Role.AGENT, "The page says that the viewport matters; we drop IE 11.")])
    assert [unit.text for unit in turn.units] == ["The page says that the viewport matters; we drop IE 11."]
