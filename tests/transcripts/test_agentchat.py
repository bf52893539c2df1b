"""AgentChat messages, results, states and logs, and the traps in them."""

import json
from datetime import UTC, datetime

import pytest

from memctl.errors import HollowTranscript, UnknownFormat
from memctl.model import Role
from memctl.transcripts import read


def one(value):
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    (transcript,) = read("run.json", data)
    return transcript


def text(source, content, kind="TextMessage", **more):
    return {"source": source, "models_usage": None, "metadata": {}, "content": content, "type": kind, **more}


CALLS = [{"id": "call_1", "arguments": "{}", "name": "run_build"}]
ANSWERS = [{"content": "MemoryError", "name": "run_build", "call_id": "call_1", "is_error": True}]


def test_a_task_result_gives_speakers_and_times():
    result = {"messages": [text("user", "Go.", created_at="2026-03-09T07:02:00Z")], "stop_reason": "done"}
    transcript = one(result)
    assert transcript.format == "task-result"
    assert transcript.messages[0].at == datetime(2026, 3, 9, 7, 2, tzinfo=UTC)


def test_times_written_with_str_are_read_too():
    message = one([text("user", "Go.", created_at="2026-03-09 07:02:00.588710+00:00")]).messages[0]
    assert message.at == datetime(2026, 3, 9, 7, 2, 0, 588710, tzinfo=UTC)


def test_messages_of_the_first_releases_need_no_id_or_time():
    old = [{"source": "user", "models_usage": None, "content": "Plan.", "type": "TextMessage"}]
    assert one({"messages": old, "stop_reason": None}).messages[0].text == "Plan."


def test_results_of_the_first_releases_need_no_name_or_error_flag():
    old = text("Planner", [{"content": "42", "call_id": "call_1"}], "ToolCallExecutionEvent")
    message = one([text("Planner", CALLS, "ToolCallRequestEvent"), old]).messages[1]
    (result,) = message.tool_results
    assert (result.name, result.is_error) == ("run_build", None)


@pytest.mark.parametrize("extra", [{}, {"id": "x", "created_at": "2026-11-18T00:46:42Z"}])
def test_a_hollow_task_result_names_the_releases_and_what_to_do(extra):
    hollow = {"messages": [{"source": "user", "models_usage": None, "metadata": {}, **extra}], "stop_reason": "x"}
    with pytest.raises(HollowTranscript) as caught:
        read("lost.json", json.dumps(hollow).encode())
    assert "lost.json" in str(caught.value)
    assert "0.5.4 to 0.7.1" in str(caught.value)
    assert "save_state" in caught.value.remedy
    assert "model_dump" in caught.value.remedy


@pytest.mark.parametrize(
    "kind", ["MemoryQueryEvent", "SelectSpeakerEvent", "ModelClientStreamingChunkEvent", "UserInputRequestedEvent"]
)
def test_machinery_is_skipped(kind):
    content = [{"content": "x", "mime_type": "text/plain", "metadata": None}] if kind == "MemoryQueryEvent" else "x"
    messages = one([text("user", "Go."), text("Planner", content, kind), text("Planner", "Done.")]).messages
    assert [(m.index, m.text) for m in messages] == [(0, "Go."), (2, "Done.")]


def test_the_stop_of_a_graph_is_machinery():
    stop = text("DiGraphStopAgent", "Digraph execution is complete", "StopMessage")
    assert [m.speaker for m in one([text("user", "Go."), stop]).messages] == ["user"]


def test_a_memory_event_saved_with_str_is_skipped():
    content = "[MemoryContent(content='Old fact', mime_type=<MemoryMimeType.TEXT: 'text/plain'>, metadata={'k': 1})]"
    chat = [{"source": "user", "content": "Go."}, {"source": "Planner", "content": content}]
    assert [m.text for m in one(chat).messages] == ["Go."]


def test_tool_events_keep_calls_results_and_errors():
    chat = [text("Coder", CALLS, "ToolCallRequestEvent"), text("Coder", ANSWERS, "ToolCallExecutionEvent")]
    call, answer = one(chat).messages
    assert (call.role, call.tool_calls[0].name) == (Role.AGENT, "run_build")
    assert (answer.role, answer.tool_results[0].is_error, answer.text) == (Role.TOOL, True, "MemoryError")


def test_tool_events_saved_with_str_are_undone():
    call = "[FunctionCall(id='call_1', arguments='{\"n\": 1}', name='run_build')]"
    answer = "[FunctionExecutionResult(content='it\\'s done', name='run_build', call_id='call_1', is_error=False)]"
    chat = [{"source": "Coder", "content": call}, {"source": "Coder", "content": answer}]
    first, second = one(chat).messages
    assert first.tool_calls[0].arguments == '{"n": 1}'
    assert second.text == "it's done"


def test_a_tool_summary_does_not_tell_the_result_again():
    summary = text("Coder", "MemoryError", "ToolCallSummaryMessage", tool_calls=CALLS, results=ANSWERS)
    chat = [text("Coder", CALLS, "ToolCallRequestEvent"), text("Coder", ANSWERS, "ToolCallExecutionEvent"), summary]
    assert [m.index for m in one(chat).messages] == [0, 1]


def test_a_tool_summary_alone_is_a_tools_turn():
    summary = text("Coder", "MemoryError", "ToolCallSummaryMessage", tool_calls=CALLS, results=ANSWERS)
    message = one([text("user", "Go."), summary]).messages[1]
    assert (message.role, message.tool_results[0].is_error) == (Role.TOOL, True)


def test_a_code_execution_event_has_an_exit_code_and_no_content():
    event = {"source": "Coder", "type": "CodeExecutionEvent", "result": {"exit_code": 2, "output": "boom"}}
    message = one([text("user", "Run."), event]).messages[1]
    (result,) = message.tool_results
    assert (message.role, result.exit_code, result.is_error, result.content) == (Role.TOOL, 2, True, "boom")


def test_a_code_executors_words_give_the_exit_code():
    said = "The script ran, then exited with an error (POSIX exit code: 1)\nIts output was:\nKeyError: 'rye'"
    (result,) = one([text("user", "Run."), text("executor", said)]).messages[1].tool_results
    assert (result.exit_code, result.content) == (1, "KeyError: 'rye'")


def test_a_handoff_names_its_target():
    assert one([text("Triage", "Over to you.", "HandoffMessage", target="Refunds")]).messages[0].recipient == "Refunds"


def test_structured_and_multimodal_content_becomes_text():
    chat = [
        text("Extractor", {"subject": "db"}, "StructuredMessage[Fact]"),
        text("user", ["What is this?", {"data": "iVBORw0KGgo="}], "MultiModalMessage"),
    ]
    assert [m.text for m in one(chat).messages] == ['{"subject": "db"}', "What is this?\n<image>"]


def test_the_task_result_at_the_end_of_a_stream_repeats_nothing():
    chat = [text("user", "Go."), text("Planner", "Done.")]
    lines = [*chat, {"messages": chat, "stop_reason": "done"}]
    assert [m.index for m in one("\n".join(map(json.dumps, lines)).encode()).messages] == [0, 1]


def test_the_repr_of_a_task_result_is_read():
    source = (
        "TaskResult(messages=[TextMessage(id='1', source='user', models_usage=RequestUsage(prompt_tokens=1,"
        " completion_tokens=2), metadata={}, created_at=datetime.datetime(2026, 3, 9, 7, 2,"
        " tzinfo=datetime.timezone.utc), content='Go.', type='TextMessage'), MemoryQueryEvent(source='Planner',"
        " content=[MemoryContent(content='x', mime_type=<MemoryMimeType.TEXT: 'text/plain'>, metadata=None)],"
        " type='MemoryQueryEvent')], stop_reason=\"Text 'x' mentioned\")"
    )
    (message,) = one(source.encode()).messages
    assert (message.text, message.at) == ("Go.", datetime(2026, 3, 9, 7, 2, tzinfo=UTC))


def team(*states):
    return {"type": "TeamState", "version": "1.0.0", "agent_states": dict(states)}


THREAD = [text("user", "Go."), text("Planner", "Done. TERMINATE")]
CONTEXT = [
    {"content": "Go.", "source": "user", "type": "UserMessage"},
    {"content": "\nRelevant memory content (in chronological order):\n1. Old\n", "type": "SystemMessage"},
    {"content": CALLS, "thought": "Build first.", "source": "Planner", "type": "AssistantMessage"},
    {"content": ANSWERS, "type": "FunctionExecutionResultMessage"},
    {"content": "Batches work.", "thought": None, "source": "Planner", "type": "AssistantMessage"},
]


@pytest.mark.parametrize("manager", ["RoundRobinGroupChatManager", "group_chat_manager/0c2bbb02-152e"])
def test_a_team_state_is_read_from_its_thread_and_not_from_the_copies(manager):
    agent = {"agent_state": {"llm_context": {"messages": CONTEXT}}, "message_buffer": THREAD}
    transcript = one(team(("Planner", agent), (manager, {"message_thread": THREAD, "current_turn": 0})))
    assert transcript.format == "team-state"
    assert [m.text for m in transcript.messages] == ["Go.", "Done."]


def test_a_team_state_with_an_empty_thread_is_read_from_its_fullest_agent():
    agent = {"agent_state": {"llm_context": {"messages": CONTEXT}}}
    transcript = one(team(("Planner", agent), ("Manager", {"message_thread": []})))
    assert transcript.messages[-1].text == "Batches work."


def test_an_agent_state_leaves_injected_memory_out():
    transcript = one({"type": "AssistantAgentState", "version": "1.0.0", "llm_context": {"messages": CONTEXT}})
    assert [(m.index, m.speaker, m.role) for m in transcript.messages] == [
        (0, "user", Role.USER),
        (2, "Planner", Role.AGENT),
        (3, "tool", Role.TOOL),
        (4, "Planner", Role.AGENT),
    ]
    assert transcript.messages[1].text == "Build first."
    assert transcript.messages[2].tool_results[0].is_error is True


def test_a_model_context_alone_is_an_agent_state():
    assert one({"messages": CONTEXT}).format == "agent-state"


def logged(payload, stage="SEND"):
    body = payload if isinstance(payload, str) else json.dumps(payload)
    return json.dumps(
        {
            "payload": body,
            "sender": None,
            "receiver": "x",
            "delivery_stage": f"DeliveryStage.{stage}",
            "type": "Message",
        }
    )


def test_an_event_log_tells_each_message_once():
    user, planner = text("user", "Go.", id="1"), text("Planner", "Done.", id="2")
    lines = [
        logged({"messages": [user]}),
        "a warning that is not JSON",
        logged({"messages": [user]}, "DELIVER"),
        logged({}),
        logged("Message could not be serialized"),
        logged({"message": planner}),
        logged({"response": {"chat_message": planner, "inner_messages": []}}),
    ]
    transcript = one("\n".join(lines).encode())
    assert [(m.index, m.text) for m in transcript.messages] == [(0, "Go."), (1, "Done.")]
    assert transcript.notes == ("left out 1 line outside JSON",)


def test_an_event_log_without_ids_is_told_once_too():
    lines = [logged({"message": text("user", "Go.")})] * 3
    assert len(one("\n".join(lines).encode()).messages) == 1


def test_an_event_log_of_model_calls_is_refused_because_prompts_are_not_read():
    line = json.dumps({"type": "LLMCall", "messages": [{"role": "system", "content": "secret"}], "agent_id": "a/b"})
    with pytest.raises(UnknownFormat, match="prompts are not read"):
        read("calls.jsonl", f"{line}\n{line}".encode())


def test_magentic_logs_give_speakers_and_leave_token_counts_out():
    lines = [
        {
            "timestamp": "2026-05-14T10:00:00",
            "source": "UserProxy",
            "message": "Find it.",
            "type": "OrchestrationEvent",
        },
        {"timestamp": "2026-05-14T10:00:01", "prompt_tokens": 1, "completion_tokens": 1, "type": "LLMCallEvent"},
        {"source": "Orchestrator (-> Coder)", "message": "Write it.", "type": "OrchestrationEvent"},
    ]
    messages = one("\n".join(map(json.dumps, lines)).encode()).messages
    assert [(m.speaker, m.recipient) for m in messages] == [("UserProxy", ""), ("Orchestrator", "Coder")]
