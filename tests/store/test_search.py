import dataclasses
import subprocess
import sys
from datetime import timedelta

import numpy as np
import pytest
from storekit import START, make_fact, message, unit, write

from memctl.model import State
from memctl.store import Changes, FactWrite, Filter, LedgerEntry, RunInfo, StoredMessage, chains
from memctl.store.ledger import longest_prefix

RUN = RunInfo("test")


@pytest.fixture
def filled(store):
    facts = [make_fact(f"fact n{number}", agent=f"team{number % 3}") for number in range(30)]
    store.apply(Changes(facts=[write(fact, number) for number, fact in enumerate(facts)]), RUN)
    return store


def test_search_finds_by_meaning_and_by_words_within_scopes(filled):
    found = filled.search_facts(unit(4), "n7", ["team1"], limit=3)
    assert found[0].fact.text == "fact n4"
    assert found[0].cosine == pytest.approx(1, abs=1e-5)
    by_words = {one.fact.text: one for one in found if one.bm25}
    assert set(by_words) == {"fact n7"}
    assert by_words["fact n7"].cosine == pytest.approx(float(unit(4) @ unit(7)), abs=1e-5)
    assert {one.fact.agent for one in found} == {"team1"}


def test_search_by_words_only(filled):
    assert [(one.fact.text, one.cosine) for one in filled.search_facts(None, "n7", ["team1"])] == [("fact n7", None)]
    assert filled.search_facts(None, "  ", ["team1"]) == []
    assert filled.search_facts(None, "n7 AND (\"'\\ *:^~ OR", ["team1"])


def test_search_narrows_by_filter_before_it_limits(filled):
    fact = next(one for one in filled.all_facts(Filter(contains="n9")))
    filled.apply(Changes(facts=[FactWrite(dataclasses.replace(fact, state=State.FORGOTTEN))]), RUN)
    found = filled.search_facts(unit(4), "fact", ["team0"], where=Filter(states=["forgotten"]), limit=1)
    assert [one.fact.text for one in found] == ["fact n9"]


def test_search_finds_rows_written_after_the_index_and_words_without_spaces(filled):
    filled.tidy()
    late = make_fact("我们 使用 数据库", at=START + timedelta(days=1))
    filled.apply(Changes(facts=[FactWrite(late, unit(99), "我们 使用 数据 据库")]), RUN)
    assert [one.fact.text for one in filled.search_facts(None, "数据", ["team"])] == [late.text]
    filled.compact()
    assert [one.fact.text for one in filled.search_facts(None, "数据", ["team"])] == [late.text]
    assert filled.search_facts(unit(99), "", ["team"])[0].fact == late


def test_near_looks_at_exactly_one_scope_in_any_state(filled):
    fact = next(one for one in filled.all_facts(Filter(contains="n9")))
    filled.apply(Changes(facts=[FactWrite(dataclasses.replace(fact, state=State.FORGOTTEN))]), RUN)
    [nine, four] = filled.near([unit(9), unit(4)], "team0", limit=2, floor=-1)
    assert (nine[0].fact.text, nine[0].fact.state) == ("fact n9", State.FORGOTTEN)
    assert np.allclose(nine[0].vector, unit(9))
    assert len(four) == 2
    assert all(one.fact.agent == "team0" for one in four)
    assert filled.near([unit(4)], "team0", floor=0.999) == [[]]
    assert filled.near([], "team0") == []
    assert filled.near([unit(1)], "nobody") == [[]]


def test_near_is_exact(filled):
    scope = [(fact, vector) for fact, vector in filled.all_facts(Filter(agents=["team2"]), vectors=True)]
    query = unit(12345)
    best = sorted(scope, key=lambda pair: -float(pair[1] @ query))[:4]
    assert [one.fact for one in filled.near([query], "team2", limit=4, floor=-1)[0]] == [fact for fact, _ in best]


def test_reading_does_not_import_lancedb(filled, home):
    code = (
        "import sys; from memctl.store import Store; s = Store.open(sys.argv[1]);"
        "assert s.search_facts(None, 'n7', ['team1']); assert 'lancedb' not in sys.modules;"
        "assert 'duckdb' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code, str(home)], check=True)


def test_lancedb_sees_the_same_tables(filled):
    import lancedb

    table = lancedb.connect(filled.home.record).open_table("facts")
    assert table.count_rows() == 30
    assert table.search("n7", query_type="fts").limit(2).to_list()[0]["text"] == "fact n7"
    assert table.search(unit(4)).limit(1).to_list()[0]["text"] == "fact n4"


def ingest(store, path, messages, agent="team", start=0):
    keys = chains(messages)
    stored = [
        StoredMessage(path, agent, path, one, key)
        for one, key in zip(messages, keys, strict=True)
        if one.index >= start
    ]
    entry = LedgerEntry(path, agent, path, f"digest of {path}", len(messages), keys[-1], START)
    store.apply(Changes(messages=stored, transcripts=[entry]), RUN)


def test_a_grown_chat_is_recognised_by_its_beginning(store):
    chat = [message(number, f"text {number}") for number in range(200)]
    ingest(store, "a.json", chat[:120])
    prefix = store.known_prefix("team", chains(chat))
    assert (prefix.length, prefix.path) == (120, "a.json")
    assert store.known_prefix("other", chains(chat)).length == 0
    assert store.known_prefix("team", chains([message(0, "else"), *chat[1:]])).length == 0
    assert store.known_prefix("team", []).length == 0


def test_chains_ignore_spacing_but_not_speakers():
    assert chains([message(0, "a  b")]) == chains([message(5, "a b ")])
    assert chains([message(0, "a b")]) != chains([message(0, "a b", speaker="ben")])


@pytest.mark.parametrize("size", [0, 1, 2, 31, 32, 33, 1000, 100_000])
def test_the_longest_prefix_is_found_in_a_few_looks(size):
    keys = [str(number) for number in range(size)]
    for known in {0, 1, size // 2, size - 1, size} & set(range(size + 1)):
        looks = []

        def look(probes, known=known, looks=looks):
            looks.append(probes)
            return {key for key in probes if int(key) < known}

        assert longest_prefix(keys, look) == known
        assert len(looks) <= 6
