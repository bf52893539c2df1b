import dataclasses
import json
import math
import os
import resource
import shutil
import subprocess
import sys
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from time import monotonic
from uuid import UUID

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from storekit import DIMENSION, MODEL, START, make_fact, message, write

from memctl.errors import UsageProblem
from memctl.model import MemoryType, State
from memctl.store import Changes, FactWrite, Filter, RunInfo, StateEntry, Store, StoredMessage, batch
from memctl.store.rows import state_row, to_table

RUN = RunInfo("test")
NASTY = st.text(
    alphabet=st.one_of(st.sampled_from("'\"\\;%_-\n\r\t\0`$(){}数"), st.characters(exclude_categories=["Cs"])),
    max_size=12,
)


@pytest.fixture
def filled(store):
    facts = [
        make_fact("Use Fly for hosting", type=MemoryType.DECISION, tags=("infra",), speaker="ana"),
        make_fact("Budget is 40 EUR", agent="team/coder", at=START + timedelta(days=1), speaker="ben"),
        make_fact("Old port 80", state=State.SUPERSEDED, at=START - timedelta(days=40)),
        make_fact("Freeze until Friday", expires_at=START + timedelta(days=2), type=MemoryType.TEMPORARY),
        make_fact("Pinned", agent="global", pinned=True, tags=("infra", "x")),
    ]
    store.apply(Changes(facts=[write(fact) for fact in facts]), RUN)
    return store


CASES = [
    (Filter(agents=["team"]), {"Use Fly for hosting", "Old port 80", "Freeze until Friday"}),
    (Filter(agents=["team/coder", "global"]), {"Budget is 40 EUR", "Pinned"}),
    (Filter(types=[MemoryType.DECISION, "temporary"]), {"Use Fly for hosting", "Freeze until Friday"}),
    (Filter(states=["superseded"]), {"Old port 80"}),
    (Filter(tags=["infra", "none"]), {"Use Fly for hosting", "Pinned"}),
    (Filter(speakers=["ben"]), {"Budget is 40 EUR"}),
    (Filter(since=START + timedelta(hours=1)), {"Budget is 40 EUR"}),
    (Filter(until=START - timedelta(days=1)), {"Old port 80"}),
    (Filter(contains="FLY"), {"Use Fly for hosting"}),
    (Filter(expired_at=START + timedelta(days=2)), {"Freeze until Friday"}),
    (Filter(alive_at=START + timedelta(days=2), agents=["team"]), {"Use Fly for hosting", "Old port 80"}),
    (Filter(pinned=True), {"Pinned"}),
    (Filter(agents=["nobody"]), set()),
]


@pytest.mark.parametrize(("wanted", "texts"), CASES)
def test_index_and_record_understand_a_filter_alike(filled, wanted, texts):
    assert {fact.text for fact in filled.list_facts(wanted)} == texts
    assert {fact.text for fact in filled.all_facts(wanted)} == texts
    assert filled.count_facts(wanted) == len(texts)


def test_listing_sorts_and_limits(filled):
    assert [fact.text for fact in filled.list_facts(sort="oldest", limit=1)] == ["Old port 80"]
    assert [fact.text for fact in filled.list_facts(sort="said", limit=1)] == ["Budget is 40 EUR"]
    with pytest.raises(UsageProblem):
        filled.list_facts(sort="id; DROP TABLE facts")


def test_statistics_count_by_everything(filled):
    stored = StoredMessage("t", "team", "chat.json", message(0, "hi"), "c")
    filled.apply(Changes(messages=[stored]), RUN)
    stats = filled.stats()
    assert stats["facts"] == 5
    assert stats["by_agent"] == {"global": 1, "team": 3, "team/coder": 1}
    assert stats["by_type"] == {"decision": 1, "fact": 3, "temporary": 1}
    assert stats["by_month"] == {"2026-03": 1, "2026-05": 4}
    assert (stats["messages"], stats["runs"]) == (1, 2)
    assert stats["bytes"] > 1000


def test_contested_pairs_are_listed_once(store):
    a, b = make_fact("A"), make_fact("B", at=START + timedelta(hours=1))
    a = dataclasses.replace(a, state=State.CONTESTED, contested_with=(b.id,))
    b = dataclasses.replace(b, state=State.CONTESTED, contested_with=(a.id,))
    store.apply(Changes(facts=[write(a), write(b)]), RUN)
    assert store.contested() == [(a, b)]
    assert store.contested(["other"]) == []


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(agent=NASTY, tag=NASTY, text=NASTY)
def test_names_cannot_break_out_of_a_filter(filled, agent, tag, text):
    wanted = Filter(agents=[agent], tags=[tag], speakers=[tag], contains=text, ids=[text or "x"])
    assert list(filled.all_facts(wanted)) == filled.list_facts(wanted) == []
    assert filled.state_get(agent, tag) is None
    assert filled.transcripts(agent=agent, path=tag, digest=text) == []
    assert filled.known_prefix(agent, [tag, text]).length == 0


@pytest.mark.parametrize("name", ["o'brien", 'q"uote', "new\nline", "back\\slash", "数据 團隊", "%_", "--", "nul\0x"])
def test_odd_names_are_found_again(store, name):
    fact = make_fact("text", agent=name, tags=(name,), speaker=name)
    store.apply(Changes(facts=[write(fact), write(make_fact("other"))]), RUN)
    wanted = Filter(agents=[name], tags=[name], speakers=[name])
    assert list(store.all_facts(wanted)) == store.list_facts(wanted) == [fact]


@pytest.mark.parametrize(
    "query",
    [
        "DROP TABLE facts",
        "DELETE FROM facts",
        "SELECT 1; SELECT 2",
        "COPY facts TO '/tmp/x.csv'",
        "ATTACH '/tmp/x.db'",
        "INSTALL httpfs",
        "SET enable_external_access = true",
        "PRAGMA database_list",
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM read_text('/etc/hostname')",
        "SELECT * FROM glob('/*')",
        "SELECT * FROM '/etc/passwd'",
        "EXPLAIN ANALYZE DELETE FROM facts",
        "CREATE TABLE x AS SELECT 1",
        "nonsense",
        "",
    ],
)
def test_sql_can_neither_write_nor_read_files(filled, query):
    with pytest.raises(UsageProblem):
        filled.sql(query)
    assert filled.count_facts() == 5


def test_sql_answers_questions(filled):
    names, rows = filled.sql("SELECT state, count(*) AS n FROM facts GROUP BY 1 ORDER BY 2", limit=1)
    assert (names, rows) == (["state", "n"], [("superseded", 1)])


def test_an_answer_that_would_fill_the_memory_is_refused(filled):
    with pytest.raises(UsageProblem, match="larger than 16 MB"):
        filled.sql("SELECT list(range) FROM range(5000000)")
    assert len(filled.sql("SELECT list(range) FROM range(1000)")[1][0][0]) == 1000


def test_a_query_that_takes_too_long_is_stopped(filled):
    with pytest.raises(UsageProblem, match="longer"):
        filled.sql("SELECT count(*) FROM range(10000000000) a, range(1000) b WHERE a.range % 7 = b.range", seconds=0.2)


def test_a_query_that_only_sleeps_is_stopped(filled):
    started = monotonic()
    with pytest.raises(UsageProblem, match="longer"):
        filled.sql("SELECT sleep_ms(100000)", seconds=0.2)
    assert monotonic() - started < 50  # of which a busy machine may need some to start


@pytest.mark.parametrize(
    "query",
    [
        "SELECT range(20000000)",
        "SELECT list_resize([1], 100000000)",
        "SELECT length(printf('%1000000000d', 1))",
        "SELECT length(repeat('a', 3000000000))",
        "SELECT length(replace(array_to_string(range(100000), ','), ',', array_to_string(range(10000), ',')))",
    ],
)
def test_a_query_that_wants_all_the_memory_harms_nobody(filled, query):
    with pytest.raises(UsageProblem, match="more memory than it may have"):
        filled.sql(query)
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 1024 * 1024  # kilobytes
    assert filled.count_facts() == 5


def test_values_of_every_kind_come_back_as_they_are(filled):
    query = """SELECT NULL, true, 170141183460469231731687303715884105727, 1.5::DOUBLE, 'é', [1, NULL],
        {'a': [DATE '2026-01-02']}, MAP {DATE '2026-01-02': 2}, TIMESTAMP '2026-01-02 03:04:05', TIME '10:11',
        INTERVAL 3 DAY, 'x'::BLOB, 1.25::DECIMAL(5, 2), 'f0b9f5c1-8f0b-4a43-9d0c-3d0b4d6d8f6a'::UUID, 'nan'::DOUBLE"""
    (*values, nan) = filled.sql(query)[1][0]
    assert values == [
        *(None, True, 2**127 - 1, 1.5, "é", [1, None]),
        *({"a": [date(2026, 1, 2)]}, {date(2026, 1, 2): 2}, datetime(2026, 1, 2, 3, 4, 5), time(10, 11), timedelta(3)),
        *(b"x", Decimal("1.25"), UUID("f0b9f5c1-8f0b-4a43-9d0c-3d0b4d6d8f6a")),
    ]
    assert math.isnan(nan)


def other_schema(path):
    with duckdb.connect(str(path)) as connection:
        connection.execute("UPDATE memctl SET schema = 99")


def other_version(path):
    """Write the number of another storage version where DuckDB looks for it."""
    content = bytearray(path.read_bytes())
    assert content[8:12] == b"DUCK"
    content[12:20] = (9_999).to_bytes(8, "little")
    path.write_bytes(content)


DAMAGES = {
    "deleted": lambda path: path.unlink(),
    "truncated": lambda path: os.truncate(path, 5000),
    "empty": lambda path: os.truncate(path, 0),
    "garbage": lambda path: path.write_bytes(b"not a database" * 1000),
    "other schema": other_schema,
    "other version of DuckDB": other_version,
    "flipped header": lambda path: path.write_bytes(bytes(255 - byte for byte in path.read_bytes()[:4096])),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_index_is_rebuilt_and_said_so(filled, home, damage):
    expected = filled.list_facts()
    DAMAGES[damage](home / "index.duckdb")
    store = Store.open(home)
    assert store.list_facts() == expected
    if damage != "deleted":
        assert "rebuilt" in store.notes[0]
    quiet = Store.open(home)
    assert quiet.list_facts() == expected
    assert quiet.notes == []


def damage_rows(path):
    """Overwrite a block of rows; the blocks that say what is in the file stay whole."""
    content = bytearray(path.read_bytes())
    place = content.index(b"a long row")
    content[place : place + 4096] = bytes(4096)
    path.write_bytes(content)


@pytest.mark.parametrize(
    "ask", [Store.list_facts, lambda store: sorted(store.sql("SELECT id FROM facts WHERE length(text) > 0")[1])]
)
def test_an_index_whose_rows_are_damaged_is_rebuilt_when_they_are_read(store, home, ask):
    facts = [make_fact(f"{number:04d} " + "a long row " * 30) for number in range(300)]
    store.apply(Changes(facts=[write(fact) for fact in facts]), RUN)
    store.index.rebuild()
    expected = ask(store)
    damage_rows(home / "index.duckdb")
    store = Store.open(home)
    assert ask(store) == expected
    assert "rebuilt" in store.notes[0]
    damage_rows(home / "index.duckdb")
    assert [finding.code for finding in store.check()] in ([], ["index_differs"])
    store.repair()
    quiet = Store.open(home)
    assert ask(quiet) == expected
    assert quiet.notes == []


def test_an_index_that_is_behind_catches_up(filled, home):
    old = (home / "index.duckdb").read_bytes()
    fact = filled.list_facts(sort="oldest", limit=1)[0]
    filled.apply(Changes(facts=[FactWrite(dataclasses.replace(fact, pinned=True)), write(make_fact("new"))]), RUN)
    filled.apply(Changes(drop_facts=[filled.list_facts(Filter(contains="Budget"))[0].id]), RUN)
    expected = filled.list_facts()
    (home / "index.duckdb").write_bytes(old)
    assert Store.open(home).list_facts() == expected
    assert len(expected) == 5


def test_a_busy_index_does_not_stop_readers(filled, home):
    code = "import duckdb,sys; c=duckdb.connect(sys.argv[1]); print('open',flush=True); sys.stdin.read()"
    argv = [sys.executable, "-c", code, str(home / "index.duckdb")]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout.readline().strip() == b"open"
        assert filled.count_facts() == 5
        filled.apply(Changes(facts=[write(make_fact("while busy"))]), RUN)
        assert filled.count_facts() == 6
        other.stdin.close()
    assert Store.open(filled.home.root).count_facts() == 6
    assert json.dumps(filled.index.watermark()) == json.dumps(filled.record.versions())


def without_powers(argv):
    """Run a program that may not write where permissions forbid it, even when the tests run as root."""
    if os.geteuid():
        return argv
    if not shutil.which("setpriv"):
        pytest.skip("root may write everywhere")
    return ["setpriv", "--bounding-set=-all", "--inh-caps=-all", *argv]


def test_a_read_only_folder_is_read_and_not_written(filled, home):
    (home / "index.duckdb").unlink()
    code = """
import sys
from memctl.errors import ReadOnlyStore
from memctl.store import Changes, RunInfo, StateEntry, Store
from memctl.times import now
store = Store.open(sys.argv[1])
assert store.count_facts() == 5 and store.search_facts(None, "fly", ["team"])
assert store.sql("SELECT count(*) FROM facts")[1] == [(5,)]
store.record_use(["x"], now())
try:
    store.apply(Changes(state=[StateEntry("team", "k", 1, now())]), RunInfo("test"))
except ReadOnlyStore as error:
    print(error.exit_code)
"""
    for path in [home, *home.rglob("*")]:
        path.chmod(0o500 if path.is_dir() else 0o400)
    try:
        argv = without_powers([sys.executable, "-c", code, str(home)])
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        assert (done.stdout, done.stderr) == ("5\n", "")
    finally:
        for path in [home, *home.rglob("*")]:
            path.chmod(0o700)


def test_a_reader_that_catches_up_in_the_middle_of_a_write_misses_nothing(filled, home):
    filled.apply(Changes(state=[StateEntry("team", "k", 1, START)]), RUN)
    sequence, later = filled.record.sequence() + 1, START + timedelta(days=9)
    row = batch.rows_of(Changes(facts=[write(make_fact("in the middle"))]))["facts"][0] | {"changed": sequence}
    filled.record.upsert("facts", to_table("facts", [row], DIMENSION))
    assert Store.open(home).count_facts() == 6
    row = state_row(StateEntry("team", "k", 2, later)) | {"changed": sequence}
    filled.record.upsert("state", to_table("state", [row], DIMENSION))
    assert Store.open(home).sql("SELECT updated_at FROM state")[1] == [(later.replace(tzinfo=None),)]


def test_an_index_of_another_store_is_not_trusted(filled, home, tmp_path):
    other = Store.create(tmp_path / "other", MODEL)
    facts = [make_fact(f"other {number}") for number in range(5)]
    other.apply(Changes(facts=[write(fact) for fact in facts]), RUN)
    assert other.record.versions() == filled.record.versions()
    shutil.copy(home / "index.duckdb", tmp_path / "other" / "index.duckdb")
    assert {fact.text for fact in Store.open(tmp_path / "other").list_facts()} == {fact.text for fact in facts}
