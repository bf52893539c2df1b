"""Which files are meant, and reading their bytes."""

import os
from pathlib import Path

import pytest

from memctl.errors import UnreadableInput
from memctl.transcripts import companions_of, find, load


def names(paths):
    return [path.name for path in paths]


@pytest.fixture
def folder(tmp_path):
    for name in ["b.json", "a.jsonl", "sub/c.txt", ".hidden.json", "README.md", "schema.sql", "plot.png", "LICENSE"]:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("[]")
    return tmp_path


def test_a_folder_gives_its_transcripts_in_order_and_nothing_else(folder):
    found, problems = find([str(folder)])
    assert names(found) == ["a.jsonl", "b.json", "c.txt"]
    assert problems == []


def test_a_named_file_is_always_taken(folder):
    assert names(find([str(folder / "README.md"), str(folder / ".hidden.json")])[0]) == ["README.md", ".hidden.json"]


def test_a_glob_gives_its_matches(folder):
    assert names(find([str(folder / "*.json*")])[0]) == ["a.jsonl", "b.json"]
    assert names(find([str(folder / "**" / "*.txt")])[0]) == ["c.txt"]


def test_a_file_whose_name_looks_like_a_glob_is_that_file(tmp_path):
    (tmp_path / "run[1].json").write_text("[]")
    assert names(find([str(tmp_path / "run[1].json")])[0]) == ["run[1].json"]


def test_a_file_met_twice_is_taken_once(folder):
    (folder / "link.json").symlink_to(folder / "b.json")
    found, _ = find([str(folder / "b.json"), str(folder)])
    assert names(found) == ["b.json", "a.jsonl", "c.txt"]


def test_links_that_go_in_a_circle_end(folder):
    (folder / "sub" / "up").symlink_to(folder)
    (folder / "self.json").symlink_to(folder / "self.json")
    found, problems = find([str(folder)])
    assert names(found) == ["a.jsonl", "b.json", "c.txt"]
    assert [p.where for p in problems] == [str(folder / "self.json")]


@pytest.mark.parametrize(("name", "reason"), [("missing.json", "no such file"), ("none*.json", "nothing matches")])
def test_what_is_not_there_becomes_a_problem(tmp_path, name, reason):
    found, (problem,) = find([str(tmp_path / name)])
    assert found == []
    assert reason in problem.message
    assert problem.code == "input_unreadable"


def test_pipes_and_devices_are_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe.json")
    found, problems = find([str(tmp_path), "/dev/null"])
    assert found == []
    assert len(problems) == 2
    with pytest.raises(UnreadableInput, match="not a file"):
        load(tmp_path / "pipe.json")


def test_the_passports_of_a_hub_are_no_transcripts(tmp_path):
    for name in ["agents/a1/passport.json", "channels/c/wal.jsonl", "channels/c/metadata.json", "audit/audit.jsonl"]:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")
    assert names(find([str(tmp_path)])[0]) == ["wal.jsonl"]


def test_a_file_is_loaded(tmp_path):
    (tmp_path / "a.json").write_bytes(b"[1]")
    assert load(tmp_path / "a.json") == b"[1]"


def test_a_missing_file_and_a_folder_are_refused_by_name(tmp_path):
    with pytest.raises(UnreadableInput, match=r"gone\.json: there is no such file"):
        load(tmp_path / "gone.json")
    with pytest.raises(UnreadableInput, match="it is a folder"):
        load(tmp_path)
    with pytest.raises(UnreadableInput):
        load("a\x00b")


def test_a_file_without_permission_is_refused(tmp_path, monkeypatch):
    closed = tmp_path / "closed.json"
    closed.write_text("[]")
    closed.chmod(0)
    if os.access(closed, os.R_OK):
        pytest.skip("this user may read everything")
    with pytest.raises(UnreadableInput, match="no permission"):
        load(closed)


def test_a_file_beyond_the_limit_is_refused(tmp_path):
    (tmp_path / "big.json").write_bytes(b"x" * 100)
    with pytest.raises(UnreadableInput, match="100 bytes, more than the 99"):
        load(tmp_path / "big.json", largest=99)


def test_companions_are_found_relative_to_the_transcript(tmp_path):
    (tmp_path / "log").mkdir()
    (tmp_path / "SKILL.md").write_bytes(b"# x")
    fetch = companions_of(tmp_path / "log" / "s.jsonl")
    assert fetch("../SKILL.md") == b"# x"
    assert fetch("../gone.md") is None
    assert fetch("..") is None


def test_paths_are_given_back_as_they_were_given(folder, monkeypatch):
    monkeypatch.chdir(folder)
    assert find(["b.json", "sub"])[0] == [Path("b.json"), Path("sub/c.txt")]
