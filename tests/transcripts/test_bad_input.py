"""Bad input is refused in one line that names the file, the place and the reason; what can be read is read."""

import gzip
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memctl.errors import MemctlError, UnknownFormat, UnreadableInput, UsageProblem
from memctl.transcripts import FORMATS, read

CHAT = [
    {"content": "Which database?", "role": "user", "name": "user"},
    {"content": "Naïve ✓ 漢字: PostgreSQL.", "role": "user", "name": "Planner"},
]
TEXTS = [message["content"] for message in CHAT]


def texts(data):
    return [m.text for m in read("chat", data)[0].messages]


def refused(data):
    with pytest.raises(UnreadableInput) as caught:
        read("bad/chat.json", data)
    message = str(caught.value)
    assert "bad/chat.json" in message
    assert "\n" not in message
    return message


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_every_unicode_encoding_is_read(encoding):
    assert texts(json.dumps(CHAT, ensure_ascii=False).encode(encoding)) == TEXTS


def test_compressed_files_are_read():
    assert texts(gzip.compress(json.dumps(CHAT).encode())) == TEXTS


@pytest.mark.parametrize("data", [b"", b"  \n\t ", gzip.compress(b"", mtime=0)])
def test_an_empty_file_is_said_to_be_empty(data):
    assert "the file is empty" in refused(data)


def test_an_empty_list_holds_no_messages():
    assert "holds no messages" in refused(b"[]")


@pytest.mark.parametrize("cut", [30, 60, 100])
def test_truncated_json_names_the_line_and_nothing_is_read(cut):
    data = json.dumps(CHAT, indent=1).encode()[:cut]
    line = data.count(b"\n") + 1
    assert f"cut off at line {line}" in refused(data)


def test_a_truncated_json_line_is_named():
    data = "\n".join(map(json.dumps, CHAT * 2)).encode()[:-20]
    assert "line 4 is broken JSON" in refused(data)


@pytest.mark.parametrize("ending", [b'{"name": nul', b'{"name": "a\\u00', b'{"name": "a', b'{"name"', b"{"])
def test_every_way_to_stop_too_early_is_told_from_wrong_json(ending):
    assert "cut off" in refused(b"[" + ending)


def test_a_truncated_python_repr_is_refused_as_such():
    assert "cut off Python text at line 1" in refused(str(CHAT).encode("utf-8")[:60])


def test_text_that_ends_inside_a_character_is_cut_off():
    assert "cut off inside a character at offset 8" in refused("User: hi✓".encode()[:-1])


def test_an_error_never_prints_what_a_file_smuggles_into_it():
    message = refused(json.dumps({"a\x1b[31m\n" + "k" * 500: 1}).encode())
    assert "\x1b" not in message
    assert len(message) < 200


def test_broken_json_names_line_and_column():
    assert "line 1, column 13" in refused(b'[{"name": 1 2}]')


def test_truncated_gzip_is_refused():
    assert "gzip" in refused(gzip.compress(json.dumps(CHAT).encode())[:-9])


def test_text_that_is_not_utf_8_names_the_byte():
    assert "byte 0xe9 at offset 6 (line 2)" in refused(b"User:\n\xe9t\xe9\n")


@pytest.mark.parametrize(
    ("data", "what"),
    [(b"\x89PNG\r\n\x1a\n", "PNG"), (b"%PDF-1.7", "PDF"), (b"PK\x03\x04rest", "zip"), (b"\x80\x04\x95\x10", "pickle")],
)
def test_a_binary_file_is_named_for_what_it_is(data, what):
    assert what in refused(data)


def test_a_file_of_nul_bytes_is_binary():
    assert "NUL byte at offset 0" in refused(b"\x00" * 500)


def test_nul_bytes_that_a_crash_left_are_dropped_with_a_note():
    (transcript,) = read("log", json.dumps(CHAT).encode() + b"\x00" * 40)
    assert [m.text for m in transcript.messages] == TEXTS
    assert transcript.notes[0].startswith("left out 40 NUL bytes")


def test_escaped_nul_and_lone_surrogates_are_made_storable():
    (text,) = texts(b'[{"name": "A", "role": "user", "content": "a\\u0000b \\ud83d c"}]')
    assert text == "ab \ufffd c"
    text.encode()


def test_a_pair_of_surrogates_is_one_character():
    assert texts(b'[{"name": "A", "role": "user", "content": "\\ud83d\\ude80"}]') == ["🚀"]


@pytest.mark.parametrize("opening", ["[", '{"a":', '[{"content":', "[{'a':", "("])
def test_deep_nesting_is_refused(opening):
    refused((opening * 100_000).encode())


def test_content_that_is_nested_deeply_never_breaks_the_reader():
    data = f'[{{"name": "A", "role": "user", "content": {"[" * 700}{"]" * 700}}}]'
    with pytest.raises(UnreadableInput, match="nested too deeply"):
        read("deep.json", data.encode())


def test_an_endless_number_is_refused():
    assert "line 1" in refused(b'[{"name": "A", "role": "user", "content": ' + b"9" * 10_000 + b"}]")


def test_a_message_of_ten_megabytes_is_read_whole():
    body = "word " * 2_000_000
    (text,) = texts(json.dumps([{"name": "A", "role": "user", "content": body}]).encode())
    assert len(text) == len(body.strip())


def test_twenty_thousand_messages_are_read():
    chat = [{"name": f"Agent {n % 5}", "role": "user", "content": f"Message {n}"} for n in range(20_000)]
    messages = read("long", json.dumps(chat).encode())[0].messages
    assert (len(messages), messages[-1].index) == (20_000, 19_999)


def test_line_ends_of_every_system_are_read():
    data = b"\r\n".join(json.dumps(message).encode() for message in CHAT)
    assert texts(data) == TEXTS


def test_unicode_line_separators_inside_a_json_line_do_not_break_it():
    lines = "\n".join(json.dumps({**m, "content": "a\u2028b\x85c"}, ensure_ascii=False) for m in CHAT)
    assert texts(lines.encode()) == ["a\u2028b\x85c"] * 2


@pytest.mark.parametrize(
    "text",
    [
        "foo: 1\nbar: 2\n",
        "INFO: started\nERROR: stopped\n",
        "From: a@example.org\nTo: b@example.org\nSubject: hello\n\nHi.\n",
        "Just a text without speakers.\n",
        "def f(x):\n    return x\n",
        '{"version": 1, "access": {}}',
        '["a", "b"]',
        "3",
    ],
)
def test_what_is_no_transcript_is_not_taken_for_one(text):
    with pytest.raises(UnknownFormat):
        read("other.txt", text.encode())


def test_an_unknown_format_name_is_a_usage_problem_that_lists_the_formats():
    with pytest.raises(UsageProblem) as caught:
        read("chat.json", b"[]", format="word")
    assert "groupchat" in caught.value.remedy


def test_a_named_format_that_cannot_be_is_refused():
    with pytest.raises(UnknownFormat, match="console"):
        read("chat.json", json.dumps(CHAT).encode(), format="console")


def test_a_named_format_reads_what_recognition_would_not():
    (transcript,) = read("note.txt", b"Maya: We ship on Friday.\n", format="plain")
    assert transcript.messages[0].speaker == "Maya"


def test_the_digest_identifies_the_bytes():
    data = json.dumps(CHAT).encode()
    assert read("a", data)[0].digest == read("b", data)[0].digest != read("a", data + b" ")[0].digest


_KEYS = """
content role name source type messages message chat_history history trajectory agent_states llm_context
message_thread contents parts data runs config session_id payload delivery_stage event_type sender_id event_name
json_state tool_calls tool_responses function_call result results task_result uuid
"""
_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(_KEYS.split()), inner, max_size=5),
    max_leaves=25,
)


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=400))
def test_no_bytes_raise_anything_but_a_foreseen_error(data):
    for prefix in (b"", b"SQLite format 3\x00", b"\x1f\x8b\x08", b"[", b'{"', b"User: "):
        try:
            read("any", prefix + data)
        except MemctlError:
            continue


@settings(max_examples=300, deadline=None)
@given(_json, st.sampled_from([None, *FORMATS]))
def test_no_json_raises_anything_but_a_foreseen_error(value, form):
    try:
        read("any", json.dumps(value).encode(), format=form)
    except MemctlError:
        return


@settings(max_examples=200, deadline=None)
@given(
    st.text(alphabet="AB (to):-*\n\x1b[3m{}'\",=<>", max_size=300),
    st.sampled_from([None, "console", "agentchat-console", "plain"]),
)
def test_no_text_raises_anything_but_a_foreseen_error(text, form):
    try:
        read("any", text.encode(), format=form)
    except MemctlError:
        return


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(["user", "Planner", "Coder"]), st.text(max_size=40)), min_size=1, max_size=12)
)
def test_every_message_keeps_its_place_and_its_words(turns):
    chat = [{"content": text, "role": "user", "name": name} for name, text in turns]
    for transcript in read("chat", json.dumps(chat).encode()):
        for message in transcript.messages:
            name, text = turns[message.index]
            assert message.speaker == name
            assert message.text in text.replace("\x00", "") or "\ufffd" in message.text


def test_a_small_file_that_unpacks_to_a_huge_one_is_refused():
    bomb = gzip.compress(b"[" + b" " * 70_000_000, compresslevel=9)
    assert "unpacks to more than 64000000 bytes" in refused(bomb)
