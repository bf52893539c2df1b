"""Fuzz: lines, import files, names, questions and SQL, through the operations on a real store."""

import hashlib
import json
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memctl.cli.ingest import lines_of
from memctl.errors import MemctlError, UsageProblem
from memctl.memory import OpenMemory
from memctl.model import Fact, MemoryType, Source, State, Wording
from memctl.operations.exchange import export, import_facts
from memctl.operations.looking import Wanted, list_facts, sql
from memctl.operations.recall import Asked, read_questions, recall, recall_many, scope_chain
from memctl.operations.remember import read_lines, remember
from memctl.shapes import fact_shape
from memctl.store import Changes, FactWrite, RunInfo
from memctl.store.types import Filter
from memctl.times import parse_instant
from tests.conftest import NOW
from tests.hard.fuzzkit import HANG_SECONDS, TOKENS, broken_bytes, broken_values, dumped, fuzz, guarded

AT = parse_instant("2026-04-20T09:00:00Z")
NAMES = (
    *(
        "team",
        "team/coder",
        "global",
        "te'am",
        'te"am',
        "te\nam",
        "te;am--",
        "te%am",
        "te_am",
        "te\\am",
        "te\x00am",
        "tеam",
    ),
    *(
        "é",
        "e\u0301",
        "漢字",
        "\u202eteam",
        "' OR '1'='1",
        "team') OR (true",
        "{agent}",
        "$1",
        "?",
        "team ",
        "🚀",
        "NULL",
        "*",
    ),
)
REMEMBERED = (
    {"text": "Releases go out on Tuesdays", "agent": "team", "type": "decision", "at": "2026-04-20", "tags": ["ops"]},
    {"text": "The demo account is locked until Friday", "ttl": "7d", "speaker": "Ana"},
    {"text": "café ✓ 漢字 uses port 8080", "agent": "team/coder"},
)
ASKED = (
    {"query": "when do releases go out", "agent": "team", "as_of": "2026-04-21T00:00:00Z"},
    {"query": "which port\nis used?"},
    {"query": "'; DROP TABLE facts; --", "agent": "te'am"},
)
STATEMENTS = (
    "SELECT * FROM facts WHERE agent = 'team' ORDER BY said_at",
    "SELECT content FROM read_text('{canary}')",
    "SELECT * FROM read_csv('{canary}')",
    "SELECT * FROM '{canary}'",
    "SELECT * FROM glob('{folder}/*')",
    "SELECT * FROM sniff_csv('{canary}')",
    "SELECT * FROM query('SELECT * FROM ''{canary}''')",
    "SELECT * FROM parquet_scan('{canary}')",
    "COPY facts TO '{folder}/out.csv'",
    "COPY (SELECT 1) TO '{folder}/out.csv'",
    "EXPORT DATABASE '{folder}/out'",
    "ATTACH '{folder}/out.db' AS o",
    "WITH gone AS (DELETE FROM facts RETURNING *) SELECT * FROM gone",
    "SELECT 1; DELETE FROM facts",
    "SET enable_external_access = true",
    "PRAGMA database_list",
    "INSTALL httpfs",
    "CREATE TABLE x AS SELECT * FROM facts",
    "EXPLAIN ANALYZE DELETE FROM facts",
    "SELECT nextval('x'), current_setting('secret_directory')",
    "SELECT unnest(supersedes), list(text), * FROM facts GROUP BY ALL",
    "SELECT repeat('x', 3000000000)",
    "SELECT list(range) FROM range(200000000)",
    "SELECT list(range) FROM range(20000000)",
    "SELECT list(range) FROM range(10000000)",
    "SELECT range(20000000)",
    "SELECT list_resize([1], 100000000)",
    "SELECT length(printf('%1000000000d', 1)), length(format('{:>1000000000}', 1))",
    "SELECT length(replace(array_to_string(range(100000), ','), ',', array_to_string(range(10000), ',')))",
    "SELECT count(*) FROM range(100000) a, range(100000) b",
)

names = st.one_of(
    st.sampled_from(NAMES),
    st.text(max_size=12),
    st.builds(
        "{}{}".format, st.sampled_from(NAMES), st.sampled_from(["'", "''", "\\", "%", "/", "--", "\x00", "\ud800"])
    ),
)
tokens = st.sampled_from([token.decode("utf-8", "surrogateescape") for token in TOKENS])
questions = st.one_of(st.text(max_size=60), tokens, st.builds("{} {}".format, st.text(max_size=10), tokens))
instants = st.none() | st.datetimes().map(lambda one: parse_instant(one.isoformat()))


def stored(text: str) -> str:
    """A text as a store keeps it: lone surrogates cannot be written."""
    return text.encode("utf-8", "replace").decode()


def fact(number: int, name: str) -> Fact:
    text = f"note {number} about {name}"
    source = Source("chat.json", number, name, text, AT, "agent")
    return Fact(
        id=hashlib.sha256(text.encode()).hexdigest()[:16],
        agent=name,
        text=text,
        type=MemoryType.FACT,
        state=State.ACTIVE,
        said_at=AT,
        last_said_at=AT,
        recorded_at=AT,
        tags=(name,),
        wordings=(Wording(text, AT, source),),
    )


FACTS = tuple(fact(number, name) for number, name in enumerate(NAMES))


@pytest.fixture(scope="module")
def memory(tmp_path_factory) -> Iterator[OpenMemory]:
    """A memory whose scopes, tags and speakers have awkward names."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MEMCTL_NOW", NOW)
        opened = OpenMemory.at_home(home=str(tmp_path_factory.mktemp("fuzz") / "home"))
        vectors = opened.embed([one.text for one in FACTS])
        writes = [FactWrite(one, vector, one.text) for one, vector in zip(FACTS, vectors, strict=True)]
        opened.created.apply(Changes(facts=writes), RunInfo("test"))
        yield opened


@contextmanager
def only_foreseen() -> Iterator[None]:
    with guarded():
        try:
            yield
        except MemctlError as error:
            str(error).encode("utf-8", "surrogateescape")


def as_file(shapes: tuple[dict[str, object], ...]) -> st.SearchStrategy[bytes]:
    """Files of such lines: with odd values, or broken as bytes."""
    text = "\n".join(json.dumps(shape, ensure_ascii=False) for shape in shapes).encode()
    odd = st.lists(st.sampled_from(shapes).flatmap(broken_values), min_size=1, max_size=3)
    as_bytes = odd.map(lambda listed: "\n".join(map(dumped, listed)).encode("utf-8", "surrogateescape"))
    return as_bytes | broken_bytes(lambda: (("lines", text),)).map(lambda file: file[1])


@pytest.fixture(scope="module")
def given_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("lines") / "given.jsonl"

    def lines(data: bytes) -> list[str]:
        path.write_bytes(data)
        return list(lines_of(str(path)))

    return lines


@fuzz(0.08)
@given(as_file(REMEMBERED))
def test_lines_to_remember_are_judged_or_refused(memory, given_file, data):
    with only_foreseen():
        entries, _ = read_lines(given_file(data), "given.jsonl")
        remember(memory, entries[:3], dry_run=True)


@fuzz(0.08)
@given(as_file(ASKED))
def test_lines_of_questions_are_answered_or_refused(memory, given_file, data):
    with only_foreseen():
        asked, _ = read_questions(given_file(data), "given.jsonl")
        recall_many(memory, asked[:3])


EXPORTED = tuple(fact_shape(one) for one in FACTS[:3])


@fuzz(0.05)
@given(as_file(EXPORTED))
def test_lines_to_import_are_taken_or_refused(memory, given_file, data):
    with only_foreseen():
        import_facts(memory, given_file(data), "given.jsonl", dry_run=True)


@fuzz(0.015)
@given(as_file(EXPORTED), st.integers())
def test_what_an_import_takes_can_be_listed_and_exported(memory, given_file, tmp_path_factory, data, number):
    other = OpenMemory(str(tmp_path_factory.mktemp("import") / "home"), memory.settings)
    other.embedder = memory.embedder
    with only_foreseen():
        import_facts(other, given_file(data), "given.jsonl", agent="x" if number % 3 == 0 else None)
        facts = list(export(other, everything=True))
        assert {one.id for one in other.store.list_facts()} == {one.id for one in facts}
        lines = [json.dumps(fact_shape(one)) for one in facts]
        assert import_facts(other, lines, "again.jsonl").data.unchanged == len(lines)


@fuzz(0.06)
@given(names, names, st.sampled_from(["agent", "tags", "speaker", "text"]))
def test_a_filter_means_the_name_and_nothing_else(memory, name, other, field):
    expected = {
        "agent": [one for one in FACTS if stored(name) in ("", one.agent)],
        "tags": [one for one in FACTS if one.agent in (stored(name), stored(other))],
        "speaker": [one for one in FACTS if stored(name) in ("", one.speaker)],
        "text": [one for one in FACTS if stored(name).lower() in one.text.lower()],
    }[field]
    wanted = Wanted(**{field: (name, other) if field == "tags" else name})
    restricted = Filter(
        agents=(name,) if name and field == "agent" else (),
        tags=(name, other) if field == "tags" else (),
        speakers=(name,) if name and field == "speaker" else (),
        contains=name if field == "text" else "",
    )
    with guarded():
        listed = list_facts(memory, wanted, limit=None).data.facts
        read = list(memory.store.all_facts(restricted))
    assert {one.id for one in listed} == {one.id for one in expected} == {one.id for one in read}


@fuzz(0.06)
@given(questions, names, st.lists(names, max_size=2), names, instants, instants, st.booleans())
def test_a_question_is_answered_from_the_scopes_it_may_see(memory, question, agent, tags, speaker, since, until, deep):
    asked = Asked(tags=tuple(tags), speaker=speaker, since=since, until=until, as_of=until, deep=deep, limit=5)
    with only_foreseen():
        block = recall(memory, question, agent=agent, asked=asked).data
        allowed = set(map(stored, scope_chain(agent or "global")))
        assert {hit.fact.agent for hit in block.hits} <= allowed


@st.composite
def statements(draw: st.DrawFn) -> str:
    statement = draw(st.sampled_from(STATEMENTS))
    if draw(st.booleans()):
        place = draw(st.integers(0, len(statement)))
        statement = statement[:place] + draw(tokens) + statement[place + draw(st.integers(0, 9)) :]
    return draw(st.just(statement) | st.text(max_size=30))


@fuzz(0.035)
@given(statements())
def test_sql_changes_nothing_and_reads_no_file(memory, tmp_path_factory, statement):
    folder = _folder(tmp_path_factory)
    (folder / "canary.csv").write_text("yellow,bird\n1,2\n")
    filled = statement.replace("{canary}", str(folder / "canary.csv")).replace("{folder}", str(folder))
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    with guarded():
        try:
            told = sql(memory, filled, limit=50).data
        except UsageProblem:
            told = {}
    total = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert total.ru_utime + total.ru_stime - spent.ru_utime - spent.ru_stime < 2 * HANG_SECONDS  # its start included
    # kilobytes, the highest of all children so far; a child begins as large as this process, until it becomes its own
    started_with = max(spent.ru_maxrss, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    assert total.ru_maxrss <= max(started_with, 1024 * 1024)
    assert "yellow" not in str(told.get("rows", ""))
    assert "canary.csv" not in str(told.get("rows", "")) or "canary.csv" in filled
    assert [path.name for path in folder.iterdir()] == ["canary.csv"]
    assert memory.store.count_facts() == len(FACTS)


_folders: list[Path] = []


def _folder(factory: pytest.TempPathFactory) -> Path:
    if not _folders:
        _folders.append(factory.mktemp("sql"))
    return _folders[0]
