"""The ranking: what answers comes first, each memory once, and silence where nothing answers."""

from datetime import UTC, datetime, timedelta

import pytest

from memctl.model import Fact, MemoryType, Source, State, Wording
from memctl.rules.intent import intent_of
from memctl.rules.rank import READ_AT_MOST, Balance, rank
from memctl.rules.relevance import Candidate, Line, Question, Weights, fitted

NOW = datetime(2026, 5, 4, 9, tzinfo=UTC)


def fact(text, kind="fact", *, days=10, again=0, **fields):
    said = NOW - timedelta(days=days)
    wording = Wording(text, said, Source("chat.json", 1, "Ana", text, said))
    return Fact(
        id=f"{sum(text.encode()):016x}",
        agent="team",
        text=text,
        type=MemoryType(kind),
        state=State.ACTIVE,
        said_at=said,
        last_said_at=said,
        recorded_at=said,
        wordings=(wording,) * (1 + again),
        **fields,
    )


FILLER = [Candidate(fact(f"Unrelated note number {name} about gardens"), 0.05) for name in "abcdefghijklmno"]


def ranked(query, *candidates, **options):
    return rank(
        Question.of(query), [*candidates, *FILLER], now=NOW, weights=fitted(options.pop("weights", "plain")), **options
    )


def texts(hits):
    return [hit.fact.text for hit in hits]


def test_the_memory_nearest_in_meaning_and_words_comes_first():
    near = Candidate(fact("Payments are deployed with Helm"), 0.7)
    far = Candidate(fact("Refunds are booked at night"), 0.35)
    assert texts(ranked("how are payments deployed", far, near))[0] == near.fact.text


def test_nothing_that_bears_on_the_question_is_silence():
    assert ranked("coffee machine supplier", Candidate(fact("Payments are deployed with Helm"), 0.06)) == []


def test_no_candidates_is_silence():
    assert rank(Question.of("anything"), [], now=NOW, weights=fitted("plain")) == []


def test_words_find_what_has_no_vector():
    named = Candidate(fact("RS256 is used for signing tokens in auth-gateway"), None)
    assert texts(ranked("auth-gateway RS256 signing tokens", named, floor=0.01))[:1] == [named.fact.text]


def test_a_question_about_pitfalls_prefers_failures():
    plain = Candidate(fact("The cache is rebuilt on every deploy", "fact"), 0.5)
    failed = Candidate(fact("The cache lost entries when two nodes wrote", "failure"), 0.5)
    assert texts(ranked("pitfalls with the cache", plain, failed))[0] == failed.fact.text


def test_of_equally_relevant_memories_the_fresher_and_the_more_often_said_win():
    old, new = (
        Candidate(fact(f"The {age} report goes to Ana", days=days), 0.6) for age, days in (("old", 200), ("new", 1))
    )
    assert texts(ranked("who gets the report", old, new))[0] == new.fact.text
    once, often = Candidate(fact("Deploys need a review"), 0.6), Candidate(fact("Deploys need a ticket", again=6), 0.6)
    assert texts(ranked("what do deploys need", once, often))[0] == often.fact.text


def test_freshness_does_not_bring_in_what_is_beside_the_point():
    beside = Candidate(fact("Lunch is at noon", days=0, again=20, pinned=True), 0.05)
    assert beside.fact.text not in texts(
        ranked("deploying payments", Candidate(fact("Deploy payments with Helm"), 0.7), beside)
    )


def test_near_duplicates_appear_once_but_another_figure_is_another_memory():
    pair = [
        Candidate(fact(text), 0.7) for text in ("Payments are deployed with Helm.", "payments are deployed with helm")
    ]
    assert len(ranked("how are payments deployed", *pair)) == 1
    limits = [Candidate(fact(f"The request limit of the gateway is {n} per minute"), 0.7) for n in (100, 200)]
    assert len(ranked("request limit of the gateway", *limits)) == 2


def test_the_order_of_candidates_does_not_matter():
    some = [Candidate(fact(f"Payments are deployed by {who}"), 0.6) for who in ("Ana", "Ben", "Cleo", "Dan")]
    assert texts(ranked("who deploys payments", *some)) == texts(ranked("who deploys payments", *reversed(some)))


def test_every_part_of_the_score_is_between_nothing_and_one():
    hit = ranked("how are payments deployed", Candidate(fact("Payments are deployed with Helm", confirmed=True), 0.7))[
        0
    ]
    assert {"similarity", "recency", "frequency", "prior", "cosine"} <= set(hit.parts)
    assert all(0 <= value <= 1 for value in hit.parts.values())


def test_the_balance_is_a_setting():
    old = Candidate(fact("The report goes to Ana", days=300), 0.65)
    new = Candidate(fact("The report is sent to Ben by mail", days=0), 0.6)
    only_similar = Balance(1.0, 0.0, 0.0)
    assert texts(ranked("the report goes to whom", old, new, balance=only_similar))[0] == old.fact.text
    assert texts(ranked("the report goes to whom", old, new, balance=Balance(0.1, 0.9, 0.0)))[0] == new.fact.text


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("what to avoid for notifications", "failure"),
        ("problemas con la pasarela", "failure"),
        ("was ist schiefgegangen", "failure"),
        ("之前哪些方案失败了", "failure"),
        ("is anyone away today", "temporary"),
        ("目前进度如何", "temporary"),
        ("¿cómo quiere la jefa los informes?", "preference"),
        ("which database did we choose", "decision"),
    ],
)
def test_a_question_says_what_kind_of_memory_it_wants(question, kind):
    assert MemoryType(kind) in intent_of(question)


def test_a_plain_topic_wants_no_kind():
    assert intent_of("go-live date") == frozenset()


READ = Weights(
    relevance=fitted("plain").relevance,
    answerable=Line(9.0, {}),
    least=0.5,
    share=0.0,
    floor=0.0,
    overtaken=1.1,
    read=Line(0.0, {"read": 1.0}),
)


def read_with(said, *candidates):
    """Rank with a reader that says of passages what a table tells by a word in them."""

    def read(pairs):
        return [next((logit for word, logit in said.items() if word in told), -3.0) for _, told in pairs]

    return rank(Question.of("who signs"), candidates, now=NOW, weights=READ, read=read)


def test_what_the_reader_takes_for_the_answer_comes_before_what_is_merely_alike():
    alike, answer = Candidate(fact("The signing page is blue"), 0.8), Candidate(fact("Marta approves it"), 0.3)
    assert texts(read_with({"Marta": 3.0}, alike, answer))[0] == answer.fact.text


def test_the_reader_sees_the_message_before_the_one_a_memory_was_made_of():
    plain = Candidate(fact("Marta, then."), 0.5)
    reply = Candidate(fact("Tomas, then."), 0.3, before="Who signs the orders from now on?")
    assert texts(read_with({"signs the orders": 3.0}, plain, reply))[0] == reply.fact.text


def test_memories_that_were_not_read_come_after_those_that_were():
    many = [
        Candidate(fact(f"Note {name} on orders"), 0.6 - place / 100) for place, name in enumerate("abcdefghijklmnop")
    ]
    shown = read_with({"Note": -2.0}, *many)
    assert len(shown) == len(many)
    assert {hit.fact.id for hit in shown[:READ_AT_MOST]} == {one.fact.id for one in many[:READ_AT_MOST]}


def test_without_weights_for_it_nothing_is_read():
    def refuse(_):
        raise AssertionError("read")

    near = Candidate(fact("Payments are deployed with Helm"), 0.7)
    assert texts(ranked("how are payments deployed", near, read=refuse)) == [near.fact.text]
