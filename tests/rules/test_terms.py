"""What is stored and what is asked meet in the same terms."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memctl.rules.terms import LONGEST_TERM, analyse, query_terms

MEETING = [
    ("deploying the service", "We deployed two services"),
    ("policy", "all policies were reviewed"),
    ("1200 requests", "limit is 1,200 requests per second"),
    ("1,200", "limit is 1200 per second"),
    ("1.200 Euro", "höchstens 1200 Euro"),
    ("54.10", "der Preis ist 54,10 €"),
    ("created_at", "orders.created_at is stored in UTC"),
    ("legacy orders", "legacy_orders.created_at is local time"),
    ("get user name", "call getUserName first"),
    ("JWT", "JWTDecoder rejects it"),
    ("main.py", "see src/app/main.py"),
    ("golive", "the go-live moved"),
    ("go live", "the GoLive moved"),
    ("v2.3.1", "pinned to v2.3.1"),
    ("RS256", "we sign with rs256"),
    ("Zürich", "the office in Zurich"),
    ("jefe", "¿qué dijo el jefe de producto?"),
    ("decisión", "las decisiones de la reunión"),
    ("Entscheidung", "die Entscheidungen der Gruppe sind gefallen"),
    ("Straße", "STRASSE 12"),
    ("数据库", "我们决定使用PostgreSQL数据库"),
    ("決定", "チームはそれを決定した"),
    ("ﬁle", "the file"),
    ("Ｃａｆé", "cafe"),
    ("C++", "written in C++"),
    ("Caroline", "Caroline’s painting"),
]


@pytest.mark.parametrize(("question", "text"), MEETING, ids=[question for question, _ in MEETING])
def test_a_question_meets_the_text_that_answers_it(question, text):
    assert set(query_terms(question)) & set(analyse(text).split())


@pytest.mark.parametrize(
    ("question", "text"),
    [("2026-05-04", "due 2026-05-14"), ("1.2.3", "1.2.4"), ("the of", "nothing here"), ("port 5432", "port-less 543")],
)
def test_a_question_does_not_meet_what_only_looks_alike(question, text):
    shared = set(query_terms(question)) & set(analyse(text).split())
    assert shared <= {"2026", "port"}


def test_small_words_of_the_language_are_left_out_of_questions_only():
    assert query_terms("what is the plan for the team") == ["plan", "team"]
    assert "is" in analyse("what is the plan").split()
    assert query_terms("¿cómo quiere la jefa que le contemos el progreso?")[0] == "quiere"


def test_a_question_of_small_words_only_keeps_them():
    assert query_terms("The Who") == ["the", "who"]


def test_an_empty_question_has_no_terms():
    assert query_terms("") == query_terms("… — !?") == []


@given(st.text())
def test_terms_are_words_without_spaces_and_never_too_long(text):
    terms = analyse(text).split(" ") if analyse(text) else []
    assert all(term and len(term) <= LONGEST_TERM and not term.isspace() for term in terms)


@given(st.text())
def test_composed_and_decomposed_spellings_have_the_same_terms(text):
    assert analyse(unicodedata.normalize("NFC", text)) == analyse(unicodedata.normalize("NFD", text))


@given(st.text(alphabet=st.characters(categories=["Ll", "Lu", "Nd", "Zs", "Po"])))
def test_a_text_is_found_by_itself(text):
    assert set(query_terms(text)) & set(analyse(text).split()) or not analyse(text)
