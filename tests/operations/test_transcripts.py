"""Stored chats: listed, shown, and written so that they can be read and resumed again."""

import json

import pytest

from memctl.errors import NotFound, UsageProblem
from memctl.memory import OpenMemory
from memctl.operations.ingest import ingest
from memctl.operations.transcripts import export_transcript, list_transcripts, show_transcript
from memctl.transcripts import read

PRICE = {"name": "price", "arguments": '{"item": "bolt"}'}
CHAT = [
    {"role": "user", "name": "Admin", "content": "What do bolts cost?"},
    {
        "role": "assistant",
        "name": "Planner",
        "content": "",
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "price", "arguments": '{"item": "bolt"}'}}
        ],
    },
    {
        "role": "tool",
        "name": "Executor",
        "content": "12 cents",
        "tool_responses": [{"tool_call_id": "c1", "role": "tool", "content": "12 cents"}],
    },
    {"role": "user", "name": "Planner", "content": "Decision: we buy bolts at 12 cents. TERMINATE"},
]


@pytest.fixture(scope="module")
def memory(tmp_path_factory):
    opened = OpenMemory.at_home(home=str(tmp_path_factory.mktemp("transcripts") / "home"))
    for name, chat in (("bolts.json", CHAT), ("nuts.json", [{**CHAT[0], "content": "What do nuts cost?"}])):
        ingest(opened, ["-"], agent="shop", stdin=lambda chat=chat: json.dumps(chat).encode(), stdin_name=name)
    return opened


def test_chats_are_listed_with_the_latest_first(memory):
    assert [entry.path for entry in list_transcripts(memory, agent="shop").data] == ["nuts.json", "bolts.json"]
    assert list_transcripts(memory, agent="other").data == ()


def test_a_chat_is_found_by_path_by_id_and_as_the_latest(memory):
    entry = show_transcript(memory, "bolts.json").data.entry

    assert show_transcript(memory, entry.id[:8]).data.entry == entry
    assert show_transcript(memory).data.entry.path == "nuts.json"


def test_a_chat_that_is_not_there_is_named_with_a_remedy(memory):
    with pytest.raises(NotFound) as caught:
        show_transcript(memory, "screws.json")

    assert "memctl transcript list" in caught.value.remedy


def test_a_format_that_does_not_exist_is_refused(memory):
    with pytest.raises(UsageProblem):
        export_transcript(memory, format="csv")


def test_a_chat_written_for_resuming_has_the_shape_of_groupchat_messages(memory):
    messages = list(export_transcript(memory, "bolts.json").data.messages)

    assert messages[:3] == CHAT[:3]
    assert messages[3] == {"role": "user", "name": "Planner", "content": "Decision: we buy bolts at 12 cents."}


@pytest.mark.parametrize("form", ["groupchat", "text"])
def test_what_was_written_is_read_as_the_same_chat(memory, form):
    exported = export_transcript(memory, "bolts.json", format=form).data
    [again] = read("again", exported.text.encode())
    before = [message for message in show_transcript(memory, "bolts.json").data.messages if message.text]

    spoken = [(message.speaker, message.text) for message in again.messages if message.text]
    assert spoken == [(message.speaker, message.text) for message in before]


def test_json_tells_everything_that_is_known_of_a_message(memory):
    exported = export_transcript(memory, "bolts.json", format="json").data

    assert json.loads(exported.text) == list(exported.messages)
    assert exported.messages[1]["tool_calls"] == [{"name": "price", "arguments": '{"item": "bolt"}', "call_id": "c1"}]
    assert exported.messages[2]["role"] == "tool"
    assert exported.messages[0]["at"]
