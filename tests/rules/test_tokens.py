"""Counts are not too low; figures were taken with the real vocabularies."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rules.counting import count

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
    ("Azerbaijani", 4, 5),
    ("suspiciously good if you ask me", 9, 9),
    ("2. Assumptions", 5, 5),
    ("| Heron (incumbent) | 0.912 | 61% |", 18, 18),
    ("- We ship on Tuesdays, never on Fridays. [2026-03-02 Lead a1b2c3d4]", 28, 27),
    ("kubectl rollout undo deployment/payments-api -n prod", 10, 11),
    ("s3://quillmark-out/2026/03/PRESS_READY_v2.pdf", 18, 18),
    ("P2sYkA6mOy3LwsbU", 15, 14),
    ("템플릿 :", 9, 4),
    ("설정 파일을 찾을 수 없습니다", 11, 8),
    ("Шүүлтүүр: Хэрэглэгч", 24, 9),
    ("設定ファイルが見つかりません", 15, 9),
    ("कृपया एक मान्य मान दर्ज करें", 27, 10),
    ("pneumonoultramicroscopicsilicovolcanoconiosis" * 3, 51, 45),
]


@pytest.mark.parametrize(("text", "cl100k", "o200k"), REAL)
def test_a_count_is_at_least_the_real_one(text, cl100k, o200k):
    assert count(text) >= max(cl100k, o200k)


def test_prose_is_not_counted_far_too_high():
    prose = "We decided to keep the weekly report in one place, because two copies were never the same. " * 5
    assert count(prose) <= len(prose.split()) * 1.5


@settings(deadline=None)
@given(st.lists(st.text()))
def test_the_count_of_a_text_is_that_of_its_lines_and_line_ends(lines):
    flat = [line.replace("\n", " ") for line in lines]
    assert count("\n".join(flat)) == sum(map(count, flat)) + max(0, len(flat) - 1)


@settings(deadline=None)
@given(st.text(alphabet=st.characters(min_codepoint=0x80)))
def test_no_text_costs_more_than_its_bytes(text):
    assert count(text) <= len(text.encode("utf-8", "surrogatepass"))
