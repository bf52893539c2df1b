"""Facts by hand, and people's word on them: through the same judge, undoable to the byte."""

import json
from datetime import timedelta

import pytest

from memctl.errors import NotFound, UsageProblem
from memctl.model import State
from memctl.operations import curate, timeline
from memctl.operations.exchange import export, import_facts
from memctl.operations.looking import Wanted, list_facts, show
from memctl.operations.recall import recall
from memctl.operations.remember import Entry, read_lines, remember
from memctl.operations.upkeep import prune
from memctl.shapes import fact_shape
from memctl.times import parse_instant


def told(memory, *texts, **fields):
    return remember(memory, [Entry(text, agent="team", **fields) for text in texts]).data.verdicts


def everything(memory):
    return [json.dumps(fact_shape(fact)) for fact in export(memory, everything=True)]


def active(memory):
    return {fact.text for fact in list_facts(memory, Wanted(agent="team")).data.facts}


def test_what_is_said_again_is_one_memory_with_two_wordings(memory):
    told(memory, "The session timeout is 30 seconds", at="2026-03-02")
    told(memory, "The session timeout is 30 seconds.", at="2026-03-20")

    [fact] = list_facts(memory, Wanted(agent="team")).data.facts
    assert len(fact.wordings) == 2


def test_a_changed_value_replaces_the_old_one(memory):
    told(memory, "The session timeout is 30 seconds", at="2026-03-02")
    told(memory, "The session timeout is 45 seconds, not 30", at="2026-03-20")

    assert active(memory) == {"The session timeout is 45 seconds, not 30"}


UNRELATED = (
    "The warehouse opens at six in the morning",
    "Ingrid signs off every contract above 10,000 euros",
    "The search index is rebuilt on Sundays",
    "Thumbnails are 320 pixels wide",
    "Our mascot is a hedgehog",
    "Refunds take five working days",
    "The beta has 40 testers in Portugal",
    "Error messages never show stack traces",
    "The parser is written in Rust",
    "Printer toner is ordered by the front desk",
    "Sessions expire after 20 minutes",
    "Photos are stored in the Frankfurt bucket",
    "The newsletter goes out on the second Thursday",
    "Interns get read access only",
    "The load test tops out at 900 requests a second",
    "Maps come from OpenStreetMap",
    "Every migration needs a rollback script",
    "Every quarter ends with a review in Lyon",
    "Tickets without an owner go to Priyanka",
    "The dark theme is the default",
    "Coffee is free on every floor",
    "The scanner firmware must stay on 2.4",
)


def test_of_many_notes_about_different_things_each_stays(memory):
    told(memory, *UNRELATED)
    assert active(memory) == set(UNRELATED)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Sessions expire after 20 minutes", "Sessions expire after 45 minutes now, no longer after 20"),
        ("The parser is written in Rust", "We moved the parser from Rust to Go"),
    ],
)
def test_among_many_notes_a_change_still_finds_the_one_it_replaces(memory, old, new):
    told(memory, *UNRELATED, at="2026-03-02", type="fact")
    told(memory, new, at="2026-03-20", type="fact")
    assert active(memory) == {new, *UNRELATED} - {old}


def test_two_environments_both_stay(memory):
    told(memory, "The staging database is Postgres 15", "The production database is Postgres 16")

    assert len(active(memory)) == 2


def test_a_ttl_makes_it_expire_at_once_prune_or_no_prune(memory, monkeypatch):
    told(memory, "The demo account is blocked", ttl="2d", at="2026-05-03")
    assert active(memory)

    monkeypatch.setenv("MEMCTL_NOW", "2026-05-06T00:00:00Z")

    assert active(memory) == set()


def test_temporary_memories_expire_by_default_and_decisions_do_not(memory):
    [temporary] = told(memory, "The build is red", type="temporary")
    [decision] = told(memory, "We use Fly for everything", type="decision")

    assert temporary.fact.expires_at is not None
    assert decision.fact.expires_at is None


@pytest.mark.parametrize(
    "entry", [Entry(" "), Entry("x" * 5000), Entry("x", type="nosuch"), Entry("x", ttl="soon"), Entry("x", at="today")]
)
def test_what_cannot_be_remembered_is_refused_before_anything_is_written(memory, home, entry):
    with pytest.raises(UsageProblem):
        remember(memory, [Entry("good"), entry])

    assert not (home / "memctl.json").exists()


def test_bad_lines_are_problems_that_name_their_place():
    lines = ['{"text": "good"}', "not json", '{"text": 5}', '{"text": "x", "colour": "red"}', "", "[" * 100_000]

    entries, problems = read_lines(lines, "facts.jsonl")

    assert [entry.text for entry in entries] == ["good"]
    assert [problem.where for problem in problems] == [f"facts.jsonl:{number}" for number in (2, 3, 4, 6)]


@pytest.mark.parametrize(
    "change",
    [
        lambda memory, fact: curate.pin(memory, [fact.id]),
        lambda memory, fact: curate.forget(memory, [fact]),
        lambda memory, fact: curate.edit(memory, fact.id, curate.Edit(text="The timeout is 31 seconds")),
        lambda memory, fact: curate.edit(memory, fact.id, curate.Edit(type="fact", ttl="3d", tags=["x"])),
        lambda memory, fact: remember(memory, [Entry("The session timeout is 60 seconds now, not 30", agent="team")]),
    ],
    ids=["pin", "forget", "reword", "edit", "remember"],
)
def test_undo_restores_the_export_byte_for_byte(memory, change):
    [verdict] = told(memory, "The session timeout is 30 seconds", type="decision", at="2026-03-02")
    before = everything(memory)

    change(memory, verdict.fact)
    assert everything(memory) != before
    timeline.undo(memory)

    assert everything(memory) == before


def test_an_edit_keeps_the_old_words_readable(memory):
    [verdict] = told(memory, "The session timeout is 30 seconds")

    curate.edit(memory, verdict.fact.id, curate.Edit(text="The session timeout is 31 seconds"))

    versions = timeline.history(memory, verdict.fact.id).data.versions
    assert [fact.state for fact in versions] == [State.SUPERSEDED, State.ACTIVE]


def test_a_pinned_fact_is_contested_rather_than_retired_and_people_settle_it(memory):
    [verdict] = told(memory, "The session timeout is 30 seconds", at="2026-03-02")
    curate.pin(memory, [verdict.fact.id])
    told(memory, "The session timeout is 45 seconds now, not 30", at="2026-03-20")

    [conflict] = curate.conflicts(memory, "team").data
    assert conflict.sides[0].text == "The session timeout is 30 seconds"
    assert [fact.state for fact in conflict.sides] == [State.CONTESTED, State.CONTESTED]
    shown = recall(memory, "what is the session timeout", agent="team").data.hits
    assert {hit.fact.text for hit in shown} == {fact.text for fact in conflict.sides}
    assert shown[0].fact.pinned

    curate.resolve(memory, conflict.sides[1].id, "keep")

    assert active(memory) == {"The session timeout is 45 seconds now, not 30"}
    assert curate.conflicts(memory, "team").data == ()


def test_a_pinned_fact_that_a_person_kept_is_contested_only_by_what_is_said_afterwards(memory):
    [verdict] = told(memory, "The session timeout is 30 seconds", at="2026-03-02")
    curate.pin(memory, [verdict.fact.id])
    told(memory, "The session timeout is 45 seconds now, not 30", at="2026-03-20")
    curate.resolve(memory, verdict.fact.id, "keep")
    assert active(memory) == {"The session timeout is 30 seconds"}

    told(memory, "The session timeout is 60 seconds now, not 30", at="2026-04-20")

    [conflict] = curate.conflicts(memory, "team").data
    assert [(fact.text, fact.state) for fact in conflict.sides] == [
        ("The session timeout is 30 seconds", State.CONTESTED),
        ("The session timeout is 60 seconds now, not 30", State.CONTESTED),
    ]


def test_forgotten_facts_can_be_restored_and_purged_ones_are_in_no_file(memory, home):
    [verdict] = told(memory, "The zanzibar migration happens in week twelve")
    curate.forget(memory, [verdict.fact])
    assert active(memory) == set()
    curate.restore(memory, [verdict.fact.id])
    assert active(memory)

    curate.forget(memory, [show(memory, verdict.fact.id).data.fact], purge=True)

    assert not [path for path in home.rglob("*") if path.is_file() and b"zanzibar" in path.read_bytes().lower()]


def test_resolving_what_is_not_contested_says_so(memory):
    [verdict] = told(memory, "The session timeout is 30 seconds")

    with pytest.raises(NotFound):
        curate.resolve(memory, verdict.fact.id, "keep")


def test_export_and_import_lose_nothing(memory, tmp_path):
    from memctl.memory import OpenMemory

    told(memory, "The session timeout is 30 seconds", at="2026-03-02", tags=("api",))
    told(memory, "The session timeout is 45 seconds, not 30", at="2026-03-20")
    lines = everything(memory)
    other = OpenMemory.at_home(home=str(tmp_path / "other"))

    result = import_facts(other, lines, "export")

    assert result.data.added == 2
    assert everything(other) == lines
    assert import_facts(other, lines, "export").data.unchanged == 2


def test_an_import_or_a_list_with_nothing_in_it_leaves_no_store_behind(memory, home):
    imported = import_facts(memory, ["not json", ""], "facts.jsonl")
    remembered = remember(memory, [])

    assert (imported.data.added, len(imported.problems)) == (0, 1)
    assert remembered.data.verdicts == ()
    assert not home.exists()


def test_an_imported_fact_without_intervals_held_since_it_was_said(memory):
    shape = {"agent": "team", "type": "fact", "state": "active"}
    old, new, left = "a" * 16, "b" * 16, "c" * 16
    lines = [
        {**shape, "id": old, "text": "Builds run on Jenkins", "said_at": "2026-03-02", "state": "superseded"}
        | {"superseded_by": new},
        {**shape, "id": new, "text": "Builds run on Buildkite", "said_at": "2026-03-20", "supersedes": [old]},
        {**shape, "id": left, "text": "Go is 1.22", "said_at": "2026-03-10"},
    ]

    assert import_facts(memory, map(json.dumps, lines), "other.jsonl").problems == ()

    early, late = (parse_instant(f"2026-03-{day}") for day in ("05", "25"))
    difference = timeline.diff(memory, early, late).data
    assert [(change.old.id, change.new.id) for change in difference.changed] == [(old, new)]
    assert [fact.id for fact in difference.learned] == [left]
    then = list_facts(memory, Wanted("team"), as_of=early).data.facts
    assert [fact.id for fact in then] == [old]


def test_what_an_export_says_about_intervals_is_kept_word_for_word(memory):
    told(memory, "The session timeout is 30 seconds", at="2026-03-02")
    [line] = everything(memory)
    without = json.dumps(json.loads(line) | {"held": []})

    import_facts(memory, [without], "other.jsonl")

    assert json.loads(everything(memory)[0])["held"] == []


@pytest.mark.parametrize("text", ["", " \n", "\u200b", "x" * 5000], ids=["empty", "blank", "invisible", "too long"])
def test_a_memory_is_not_edited_into_something_that_could_not_be_remembered(memory, text):
    [verdict] = told(memory, "The session timeout is 30 seconds")
    before = everything(memory)

    with pytest.raises(UsageProblem):
        curate.edit(memory, verdict.fact.id, curate.Edit(text=text))

    assert everything(memory) == before


def test_what_is_forgotten_already_is_nothing_to_change(memory):
    [verdict] = told(memory, "The session timeout is 30 seconds")
    curate.forget(memory, [verdict.fact])

    again = curate.forget(memory, [memory.store.fact(verdict.fact.id)])

    assert (again.data.verdicts, again.data.run) == ((), "")


def test_what_has_expired_is_listed_however_many_memories_are_newer(memory, monkeypatch):
    told(memory, "The demo account is blocked", ttl="2d", at="2026-05-03")
    monkeypatch.setenv("MEMCTL_NOW", "2026-05-06T00:00:00Z")
    told(memory, "The staging database is Postgres 15", "Deploys go out on Tuesdays", "Reports are sent as CSV")

    expired = list_facts(memory, Wanted(agent="team", states=("expired",)), limit=2).data
    active = list_facts(memory, Wanted(agent="team", states=("active",)), limit=2).data

    assert [fact.text for fact in expired.facts] == ["The demo account is blocked"]
    assert (expired.total, len(active.facts), active.total) == (1, 2, 3)


def test_pruning_what_was_superseded_leaves_the_rest_and_what_is_young(memory, monkeypatch):
    told(memory, "The session timeout is 30 seconds", at="2026-04-20")
    told(memory, "The session timeout is 45 seconds, not 30", at="2026-04-28")
    told(memory, "The demo account is blocked", ttl="1d")
    monkeypatch.setenv("MEMCTL_NOW", "2026-05-06T00:00:00Z")

    assert prune(memory, superseded=True, dry_run=True).data.verdicts == ()
    [old] = prune(memory, superseded=True, older_than=timedelta(0), dry_run=True).data.verdicts
    [ended] = prune(memory, dry_run=True).data.verdicts
    assert (old.fact.text, ended.fact.text) == ("The session timeout is 30 seconds", "The demo account is blocked")
