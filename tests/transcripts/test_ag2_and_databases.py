"""AG2 streams and channels, runtime logs, Studio, the Agent Framework: formats that keep names elsewhere."""

import json
import sqlite3

import pytest

from memctl.errors import UnknownFormat, UnreadableInput
from memctl.model import Role
from memctl.transcripts import read


def lines(*values):
    return "\n".join(value if isinstance(value, str) else json.dumps(value) for value in values).encode()


def event(kind, **content):
    return {"type": kind, "content": {"uuid": "u", **content}}


def test_an_event_stream_is_told_once_though_its_last_event_repeats_it():
    history = [{"content": "I live in Lisbon.", "role": "assistant", "name": "ada"}]
    data = lines(
        event("text", content="I live in Lisbon.", sender="ada", recipient="bo"),
        event("group_chat_run_chat", speaker="bo"),
        event("text", content="Noted. TERMINATE", sender="bo", recipient="ada"),
        event("run_completion", summary="Noted.", history=history),
    )
    (transcript,) = read("events.jsonl", data)
    assert transcript.format == "ag2-events"
    assert [(m.index, m.speaker, m.text) for m in transcript.messages] == [
        (0, "ada", "I live in Lisbon."),
        (1, "bo", "Noted."),
    ]


def test_an_event_stream_of_which_only_the_end_was_saved_is_read_from_its_history():
    history = [
        {"content": "My line is down.", "role": "assistant"},
        {"content": "Rebooted.", "name": "t", "role": "user"},
    ]
    (transcript,) = read("end.jsonl", lines(event("run_completion", history=history), event("termination")))
    assert [m.speaker for m in transcript.messages] == ["user", "t"]


def test_the_stand_in_for_the_user_is_the_user():
    (transcript,) = read("e.jsonl", lines(event("text", content="Help.", sender="_User"), event("termination")))
    assert (transcript.messages[0].speaker, transcript.messages[0].role) == ("user", Role.USER)


def test_an_event_stream_tells_which_tool_failed():
    data = lines(
        event(
            "tool_call",
            content=None,
            sender="t",
            tool_calls=[{"id": "c1", "function": {"name": "f", "arguments": "{}"}}],
        ),
        event("executed_function", func_name="f", call_id="c1", content="Timeout", is_exec_success=False),
        event(
            "tool_response",
            content="Timeout",
            sender="x",
            tool_responses=[{"tool_call_id": "c1", "content": "Timeout"}],
        ),
    )
    call, answer = read("e.jsonl", data)[0].messages
    assert call.tool_calls[0].name == "f"
    assert (answer.role, answer.tool_results[0].is_error, answer.tool_results[0].name) == (Role.TOOL, True, "f")


CALL = {"id": "c1", "name": "battery", "arguments": "{}", "created_at": 1777276801.0}
RESULT = {"parent_id": "c1", "name": "battery", "result": {"data": {"parts": [{"content": "71 %"}]}}}
STREAM = lines(
    {
        "type": "ag2.events.input_events.ModelRequest",
        "data": {"created_at": 1777276800.5, "parts": [{"content": "How?"}]},
    },
    {"type": "ag2.events.types.ModelResponse", "data": {"message": None, "tool_calls": {"calls": [CALL]}}},
    {"type": "ag2.events.tool_events.ToolCallsEvent", "data": {"calls": [CALL]}},
    {"type": "ag2.events.tool_events.ToolCallEvent", "data": CALL},
    {"type": "ag2.events.tool_events.ToolResultEvent", "data": RESULT},
    {"type": "ag2.events.tool_events.ToolResultsEvent", "data": {"results": [RESULT]}},
    {
        "type": "ag2.events.types.ModelResponse",
        "data": {"message": {"content": "41 days."}, "tool_calls": {"calls": []}},
    },
)


def test_a_stream_log_tells_calls_and_results_once():
    (transcript,) = read("stream.jsonl", STREAM)
    assert [(m.speaker, m.role, m.text) for m in transcript.messages] == [
        ("user", Role.USER, "How?"),
        ("assistant", Role.AGENT, ""),
        ("assistant", Role.TOOL, "71 %"),
        ("assistant", Role.AGENT, "41 days."),
    ]
    assert transcript.messages[0].at.year == 2026


def test_a_stream_log_takes_the_agents_name_from_its_store():
    files = {"../SKILL.md": b"# engineer Knowledge Store\n\nText."}
    (transcript,) = read("log/stream.jsonl", STREAM, companions=files.get)
    assert transcript.messages[-1].speaker == "engineer"


def envelope(kind, sender, **data):
    return {"event_type": kind, "sender_id": sender, "event_data": data, "created_at": "2026-04-27T08:02:00+00:00"}


CHANNEL = lines(
    envelope("ag2.channel.opened", "a1", channel_id="c"),
    envelope("ag2.msg.text", "a1", text="Who climbs?"),
    envelope("ag2.packet", "b2", body={"content": "I do."}),
    envelope("ag2.channel.closed", "a1", reason="done"),
)


def test_a_channel_takes_names_from_passports():
    passports = {
        f"../../agents/{key}/passport.json": json.dumps({"name": name}).encode()
        for key, name in [("a1", "planner"), ("b2", "engineer")]
    }
    (transcript,) = read("channels/c/wal.jsonl", CHANNEL, companions=passports.get)
    assert [(m.index, m.speaker, m.text) for m in transcript.messages] == [
        (0, "planner", "Who climbs?"),
        (1, "engineer", "I do."),
    ]
    assert transcript.notes == ()


def test_a_channel_without_passports_says_so():
    (transcript,) = read("wal.jsonl", CHANNEL)
    assert [m.speaker for m in transcript.messages] == ["a1", "b2"]
    assert transcript.notes == ("2 speakers named by id only: no passport.json was found",)


def test_a_sender_cannot_make_the_reader_look_elsewhere():
    asked = []
    data = lines(envelope("ag2.msg.text", "../../../etc", text="Hi."), envelope("ag2.msg.text", "a/b", text="Ho."))
    read("wal.jsonl", data, companions=asked.append)
    assert asked == []


def log_database(*, wal=False):
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE chat_completions (id INTEGER PRIMARY KEY, request TEXT, response TEXT)")
    connection.execute(
        "CREATE TABLE agents (agent_id INTEGER, session_id TEXT, name TEXT, init_args TEXT, timestamp TEXT)"
    )
    connection.execute(
        "CREATE TABLE events (event_name TEXT, source_id INTEGER, source_name TEXT, agent_class_name TEXT,"
        " id INTEGER PRIMARY KEY, json_state TEXT, timestamp TEXT)"
    )
    connection.execute('INSERT INTO chat_completions (request) VALUES (\'{"api_key": "sk-secret"}\')')
    for session, day in (("one", "2026-04-20"), ("two", "2026-04-21")):
        connection.execute(
            "INSERT INTO agents VALUES (7, ?, 'chat_manager', 'sk-secret', ?)", (session, f"{day} 08:00:00")
        )
        for source, kind, state in (
            (7, "GroupChatManager", {"message": f"Plan of {session}.", "sender": "Admin", "valid": True}),
            (
                8,
                "AssistantAgent",
                {"message": {"content": f"Plan of {session}.", "name": "Admin"}, "sender": "chat_manager"},
            ),
            (7, "GroupChatManager", {"message": {"content": "Done.", "role": "user"}, "sender": "Planner"}),
        ):
            row = (
                "received_message",
                source,
                "chat_manager" if source == 7 else "Planner",
                kind,
                json.dumps(state),
                f"{day} 08:01:00",
            )
            connection.execute("INSERT INTO events VALUES (?, ?, ?, ?, NULL, ?, ?)", row)
    connection.commit()
    data = bytearray(connection.serialize())
    if wal:
        data[18:20] = b"\x02\x02"
    return bytes(data)


@pytest.mark.parametrize("wal", [False, True])
def test_a_log_database_gives_each_session_once_as_the_manager_heard_it(wal):
    transcripts = read("logs.db", log_database(wal=wal))
    assert [t.part for t in transcripts] == ["session one", "session two"]
    assert [[(m.index, m.speaker, m.text) for m in t.messages] for t in transcripts] == [
        [(0, "Admin", "Plan of one."), (1, "Planner", "Done.")],
        [(2, "Admin", "Plan of two."), (3, "Planner", "Done.")],
    ]
    assert transcripts[1].messages[0].at.isoformat() == "2026-04-21T08:01:00+00:00"


def test_settings_in_a_log_database_are_never_read():
    assert "sk-secret" not in repr(read("logs.db", log_database()))


def test_a_damaged_database_is_refused():
    data = log_database()
    with pytest.raises(UnreadableInput, match="damaged"):
        read("logs.db", data[:100] + b"\xff" * (len(data) - 100))


def test_a_database_that_is_cut_off_is_refused_with_its_length():
    with pytest.raises(UnreadableInput, match="cut off: 8192 of 16384 bytes"):
        read("logs.db", log_database()[:8192])


def test_a_foreign_database_is_refused_with_its_tables():
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE invoices (id INTEGER)")
    with pytest.raises(UnknownFormat, match="invoices"):
        read("shop.db", connection.serialize())


def logged(source, kind, message, sender):
    state = json.dumps({"message": message, "sender": sender})
    return {
        "event_name": "received_message",
        "source_id": source,
        "source_name": "x",
        "agent_class": kind,
        "json_state": state,
        "timestamp": "2026-04-20 08:01:00",
    }


def test_the_file_logger_is_read_between_lines_that_are_not_json():
    data = lines(
        "Started new session with Session ID: s",
        {
            "id": 1,
            "agent_name": "m",
            "session_id": "s",
            "current_time": "2026",
            "args": {"llm_config": {"api_key": "sk-secret"}},
        },
        logged(1, "GroupChatManager", "Plan it.", "Admin"),
        "[file_logger] Failed to log event Object of type set is not JSON serializable",
        logged(2, "AssistantAgent", {"content": "Plan it.", "name": "Admin"}, "chat_manager"),
        logged(1, "GroupChatManager", "Done.", "Planner"),
    )
    (transcript,) = read("runtime.log", data)
    assert [(m.speaker, m.text) for m in transcript.messages] == [("Admin", "Plan it."), ("Planner", "Done.")]
    assert "sk-secret" not in repr(transcript)


def test_a_logged_chat_of_two_is_heard_by_both():
    data = lines(logged(1, "AssistantAgent", "Hi.", "Ada"), logged(2, "AssistantAgent", "Ho.", "Bo"))
    assert [m.speaker for m in read("runtime.log", data)[0].messages] == ["Ada", "Bo"]


def test_rows_of_model_calls_are_refused_because_they_hold_settings():
    rows = [{"id": 1, "invocation_id": "x", "request": "{}", "response": "{}"}]
    with pytest.raises(UnknownFormat, match="not read"):
        read("rows.json", json.dumps(rows).encode())


def row(number, session, source, content):
    config = {"source": source, "models_usage": None, "metadata": {}, "content": content, "type": "TextMessage"}
    return {"id": number, "session_id": session, "run_id": 1, "created_at": "2026-05-13T06:00:00", "config": config}


def test_studio_runs_are_read_from_rows_because_their_results_are_hollow():
    hollow = {"task_result": {"messages": [{"source": "user", "models_usage": None, "metadata": {}}]}}
    runs = {
        "status": True,
        "data": {
            "runs": [
                {
                    "id": "1",
                    "team_result": hollow,
                    "messages": [row(1, 1, "user", "Which till?"), row(2, 1, "Planner", "The small one.")],
                }
            ]
        },
    }
    (transcript,) = read("runs.json", json.dumps(runs).encode())
    assert transcript.format == "studio"
    assert [(m.speaker, m.text) for m in transcript.messages] == [
        ("user", "Which till?"),
        ("Planner", "The small one."),
    ]
    assert transcript.messages[0].at.isoformat() == "2026-05-13T06:00:00+00:00"


def test_sessions_of_studio_are_chats_of_their_own():
    rows = [row(1, 1, "user", "One."), row(2, 2, "user", "Two."), row(3, 1, "llm_call_event", "noise")]
    transcripts = read("rows.json", json.dumps(rows).encode())
    assert [(t.part, [m.text for m in t.messages]) for t in transcripts] == [
        ("session 1", ["One."]),
        ("session 2", ["Two."]),
    ]


def test_the_first_studio_keeps_the_talk_of_agents_inside_a_row():
    inner = [
        {"sender": "user_proxy", "recipient": "coder", "message": {"content": "Plot it.", "role": "user"}},
        {"sender": "coder", "message": "Plotted."},
    ]
    rows = [
        {"role": "user", "content": "Plot it.", "session_id": "s"},
        {"role": "assistant", "content": "Plotted.", "session_id": "s", "meta": {"messages": inner}},
    ]
    (transcript,) = read("rows.json", json.dumps(rows).encode())
    assert [(m.speaker, m.text) for m in transcript.messages] == [("user", "Plot it."), ("coder", "Plotted.")]


def part(text):
    return {"type": "text", "text": text}


FRAMEWORK = [
    {"type": "message", "role": "user", "contents": [part("Which box?")]},
    {
        "type": "message",
        "role": "assistant",
        "author_name": "Packer",
        "contents": [{"type": "function_call", "call_id": "c", "name": "box", "arguments": "{}"}],
    },
    {"type": "message", "role": "tool", "contents": [{"type": "function_result", "call_id": "c", "result": "40 cm"}]},
    {"type": "message", "role": "assistant", "author_name": "Packer", "contents": [part("The small one.")]},
]


@pytest.mark.parametrize(
    "saved",
    [
        FRAMEWORK,
        {"type": "session", "session_id": "s", "state": {"in_memory": {"messages": FRAMEWORK}}},
        {"type": "agent_response", "messages": FRAMEWORK},
    ],
    ids=["list", "session", "response"],
)
def test_the_agent_framework_is_read_wherever_it_keeps_messages(saved):
    (transcript,) = read("chat.json", json.dumps(saved).encode())
    assert transcript.format == "agent-framework"
    assert [(m.speaker, m.role, m.text) for m in transcript.messages] == [
        ("user", Role.USER, "Which box?"),
        ("Packer", Role.AGENT, ""),
        ("tool", Role.TOOL, "40 cm"),
        ("Packer", Role.AGENT, "The small one."),
    ]
    assert transcript.messages[2].tool_results[0].name == "box"
