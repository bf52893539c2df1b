"""The sample transcripts: every file is read in the format that its README names."""

import re
from pathlib import Path

import pytest

from memctl.model import Role
from memctl.transcripts import FORMATS, companions_of, find, load, read

SAMPLES = Path(__file__).parents[2] / "sample_transcripts"
_ROW = re.compile(r"^\| (?P<name>\S+) \| (?P<form>[\w-]+) \|", re.MULTILINE)
TABLE = {
    row["name"]: row["form"] for row in _ROW.finditer((SAMPLES / "README.md").read_text()) if row["name"] != "file"
}


def files():
    return find([str(SAMPLES)])[0]


def transcripts(name):
    path = SAMPLES / name
    return read(str(path), load(path), companions=companions_of(path))


@pytest.mark.parametrize("name", sorted(TABLE))
def test_a_sample_is_read_in_its_format(name):
    for path in find([str(SAMPLES / name)])[0]:
        found = read(str(path), load(path), companions=companions_of(path))
        assert {transcript.format for transcript in found} == {TABLE[name]}
        assert all(len(transcript.messages) >= 2 for transcript in found)
        assert any(m.role is Role.AGENT for transcript in found for m in transcript.messages)


def test_the_readme_lists_every_sample():
    listed = {name.rstrip("/") for name in TABLE}
    found = {path.relative_to(SAMPLES).parts[0] for path in files()} - {"demo.sh"}
    assert found == listed


def test_there_is_a_sample_of_every_format():
    assert set(TABLE.values()) == set(FORMATS)


def test_samples_stay_small():
    assert all(path.stat().st_size < 10_000 for path in files())


def test_the_same_chat_reads_the_same_from_every_way_of_saving_it():
    ways = ["chat_result.json", "repr.txt", "messages_to_string.txt", "groupchat.jsonl.gz", "chat_messages.json"]
    chats = [transcripts(f"brackwater.{way}")[0].messages for way in ways]
    assert all(chat == chats[0] for chat in chats)


def test_names_come_from_passports_and_stores():
    channel = transcripts("brackwater-hub/channels/19a0c0ffee00000000000000000000c3/wal.jsonl")[0]
    assert {m.speaker for m in channel.messages} == {"planner", "engineer"}
    assert {m.speaker for m in transcripts("brackwater-store/log/stream-1.jsonl")[0].messages} == {"user", "engineer"}


def test_the_failure_in_the_console_has_its_exit_code():
    results = [r for m in transcripts("quillmark-3.console.txt")[0].messages for r in m.tool_results]
    assert [r.exit_code for r in results] == [1, None]


def test_the_settings_in_the_logs_are_never_read():
    assert "sk-not-a-real-key" not in repr(
        [transcripts(name) for name in ("brackwater.logs.db", "brackwater.runtime.log")]
    )


def test_injected_memory_is_in_no_sample_transcript():
    everything = repr([read(str(path), load(path), companions=companions_of(path)) for path in files()])
    assert "Relevant memory content" not in everything
    assert "Quillmark manuscripts are Markdown" not in everything
