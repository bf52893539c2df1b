"""Counts are never too few; figures were taken with the real vocabularies."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memctl.rules.tokens import count

# text, tokens in cl100k_base, tokens in o200k_base
REAL = [
    ("", 0, 0),
    ("The staging database is frozen until Friday.", 8, 8),
    ("Retrying refunds twice booked them double; use the idempotency key.", 16, 15),
    ("orders.created_at is UTC but legacy_orders.created_at is Warsaw time", 13, 13),
    ("a1b2c3d4", 8, 8),
    ("我们决定使用数据库", 6, 4),
    ("Die Datenschutzgrundverordnung gilt für Überweisungen", 12, 10),
    ("🎉👍🏽", 9, 5),
    ("xqzjv kjzqx", 8, 8),
    ("'default 'results", 4, 3),
]


@pytest.mark.parametrize(("text", "cl100k", "o200k"), REAL)
def test_a_count_is_at_least_the_real_one(text, cl100k, o200k):
    assert count(text) >= max(cl100k, o200k)


def test_prose_is_not_counted_far_too_high():
    prose = "We decided to keep the weekly report in one place, because two copies were never the same. " * 5
    assert count(prose) <= len(prose.split()) * 1.5


@given(st.lists(st.text()))
def test_the_count_of_a_text_is_that_of_its_lines_and_line_ends(lines):
    flat = [line.replace("\n", " ") for line in lines]
    assert count("\n".join(flat)) == sum(map(count, flat)) + max(0, len(flat) - 1)


@given(st.text(alphabet=st.characters(min_codepoint=0x80)))
def test_no_text_costs_more_than_its_bytes(text):
    assert count(text) <= len(text.encode("utf-8", "surrogatepass"))
