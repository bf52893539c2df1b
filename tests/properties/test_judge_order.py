"""Any order of ingesting the same claims ends in the same memory."""

import hashlib
import itertools
from datetime import UTC, datetime, timedelta

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from memctl.model import Action, Claim, Fact, MemoryType, Role, Source
from memctl.rules.judge import judge
from memctl.rules.relation import Label, Pair, Relation

START = datetime(2026, 3, 1, tzinfo=UTC)
NOW = START + timedelta(days=400)


def claim(text: str, day: int, message: int, role: Role, confirmed: bool) -> Claim:
    at = START + timedelta(days=day)
    source = Source(f"chat-{day}.json", message, "QA", text, at, role)
    return Claim(text, MemoryType.FACT, "team", at, source, confirmed=confirmed)


def ingest(batches: list[list[Claim]], relate) -> dict[str, Fact]:
    """Play batches into an empty memory."""
    known: dict[str, Fact] = {}
    for batch in batches:
        facts = list(known.values())
        vectors, known_vectors = np.ones((len(batch), 2), np.float32), np.ones((len(facts), 2), np.float32)
        for verdict in judge(batch, vectors, facts, known_vectors, relate=relate, now=NOW):
            if verdict.action is not Action.SKIP:
                known[verdict.fact.id] = verdict.fact
    return known


def view(known: dict[str, Fact]) -> list[tuple]:
    """What must not depend on the order: everything but the words that tell how it came about."""
    facts = sorted((fact for fact in known.values() if fact.rule != "same"), key=lambda fact: fact.id)
    return [
        (f.id, f.text, f.state, f.said_at, f.last_said_at, f.wordings, f.held, f.supersedes, f.superseded_by)
        for f in facts
    ]


def relate_by_topic(pairs: list[Pair]) -> list[Relation]:
    """A world that makes sense: a sentence is "topic value style"."""

    def relation(pair: Pair) -> Relation:
        (topic, value, _), (other, changed, _) = pair.old.split(), pair.new.split()
        if topic != other:
            return Relation(Label.COMPATIBLE, 0.9)
        return Relation(Label.DUPLICATE if value == changed else Label.SUPERSEDES, 0.95)

    return [relation(pair) for pair in pairs]


def relate_by_likelihood(pairs: list[Pair]) -> list[Relation]:
    """A world in which no change is sure: only the likeliest of what may be meant is replaced."""

    def relation(pair: Pair) -> Relation:
        (topic, value, _), (other, changed, _) = pair.old.split(), pair.new.split()
        if topic == other and value == changed:
            return Relation(Label.DUPLICATE, 0.95)
        return Relation(Label.LIKELY, 0.4) if topic == other else Relation(Label.COMPATIBLE, 0.9)

    return [relation(pair) for pair in pairs]


def relate_at_random(pairs: list[Pair]) -> list[Relation]:
    """A world that makes none: every ordered pair of sentences relates by chance, always the same way."""
    labels = (Label.COMPATIBLE, Label.COMPATIBLE, Label.COMPATIBLE, Label.DUPLICATE, Label.SUPERSEDES, Label.UNSURE)
    digests = [hashlib.sha256(f"{pair.old}|{pair.new}".encode()).digest() for pair in pairs]
    return [Relation(labels[digest[0] % len(labels)], 0.5 + digest[1] / 512) for digest in digests]


sentences = st.builds(
    lambda topic, value, style: f"{topic} {value} {style}",
    st.sampled_from(["timeout", "owner", "region"]),
    st.sampled_from(["one", "two", "three"]),
    st.sampled_from(["plain", "fancy"]),
)
roles = st.sampled_from([Role.USER, Role.AGENT])
claims = st.lists(
    st.builds(claim, sentences, st.integers(0, 5), st.integers(0, 30), roles, st.booleans()),
    min_size=2,
    max_size=9,
    unique_by=lambda c: (c.said_at, c.source.message),
)


def orders(data: st.DataObject, said: list[Claim]) -> list[list[Claim]]:
    """Shuffle claims and cut them into batches."""
    shuffled = data.draw(st.permutations(said))
    cuts = sorted(data.draw(st.sets(st.integers(1, len(said)), max_size=4)) | {0, len(said)})
    return [shuffled[start:end] for start, end in itertools.pairwise(cuts)]


@settings(max_examples=150, deadline=None)
@given(said=claims, data=st.data())
def test_any_order_ends_in_the_same_memory(said, data):
    assert view(ingest(orders(data, said), relate_by_topic)) == view(ingest([said], relate_by_topic))


@settings(max_examples=150, deadline=None)
@given(said=claims, data=st.data())
def test_the_order_does_not_matter_where_only_the_likeliest_is_replaced(said, data):
    assert view(ingest(orders(data, said), relate_by_likelihood)) == view(ingest([said], relate_by_likelihood))


@settings(max_examples=250, deadline=None)
@given(said=claims, data=st.data())
def test_even_senseless_relations_do_not_make_the_order_matter(said, data):
    assert view(ingest(orders(data, said), relate_at_random)) == view(ingest([said], relate_at_random))


@settings(max_examples=50, deadline=None)
@given(said=claims)
def test_the_latest_word_on_a_topic_is_the_only_active_one(said):
    known = ingest([said], relate_by_topic).values()
    last = {c.text.split()[0]: c.text.split()[1] for c in sorted(said, key=lambda c: (c.said_at, c.source.message))}
    assert {f.text.split()[0]: f.text.split()[1] for f in known if f.state == "active"} == last


@settings(max_examples=50, deadline=None)
@given(said=claims, data=st.data())
def test_ingesting_again_changes_nothing(said, data):
    once = ingest(orders(data, said), relate_at_random)
    vectors, known_vectors = np.ones((len(said), 2), np.float32), np.ones((len(once), 2), np.float32)
    verdicts = judge(said, vectors, list(once.values()), known_vectors, relate=relate_at_random, now=NOW)
    assert {verdict.action for verdict in verdicts} == {Action.SKIP}
