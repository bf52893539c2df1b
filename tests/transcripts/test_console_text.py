"""What the libraries print, with everything around it."""

import pytest

from memctl.errors import UnknownFormat
from memctl.model import Role
from memctl.transcripts import read

RULE = "-" * 80


def one(text):
    (transcript,) = read("console.txt", text.encode())
    return transcript


def block(sender, recipient, body):
    return f"{sender} (to {recipient}):\n\n{body}\n\n{RULE}\n"


def test_classic_console_text_gives_speakers_and_recipients():
    messages = one(block("Admin", "chat_manager", "Plan it.") + block("Planner", "chat_manager", "Done.")).messages
    assert [(m.speaker, m.recipient, m.text) for m in messages] == [
        ("Admin", "chat_manager", "Plan it."),
        ("Planner", "chat_manager", "Done."),
    ]


def test_colours_pip_noise_and_notices_are_dropped():
    text = (
        "Collecting typst\n  Downloading typst.whl\r\x1b[2K\n"
        + block("\x1b[33muser_proxy\x1b[0m", "assistant", "Go.")
        + "\x1b[32m\nNext speaker: assistant\n\x1b[0m\n\x1b[31m\n>>>>>>>> USING AUTO REPLY...\x1b[0m\n"
        + block("\x1b[33massistant\x1b[0m", "user_proxy", "Done.")
        + ">>>>>>>> TERMINATING RUN (1): max turns reached\n"
    )
    assert [(m.index, m.speaker, m.text) for m in one(text).messages] == [
        (0, "user_proxy", "Go."),
        (1, "assistant", "Done."),
    ]


def test_names_may_hold_spaces_and_signs():
    messages = one(block("DALLE Creator!", "Figure Critic~", "Here.")).messages
    assert messages[0].speaker == "DALLE Creator!"


def test_a_doubled_header_is_one_turn():
    answer = "***** Response from calling tool (call_1) *****\n42.5\n***********************************************"
    text = block("user", "bot", "Price?") + "user (to bot):\n\n" + block("user", "bot", answer)
    messages = one(text).messages
    assert [(m.index, m.role) for m in messages] == [(0, Role.USER), (1, Role.TOOL)]


def test_boxes_of_calls_and_answers_become_tools():
    call = '***** Suggested tool call (call_1): get_price *****\nArguments: \n{"item": "lamp"}\n' + "*" * 51
    answer = "***** Response from calling tool (call_1) *****\nError: no lamp\n" + "*" * 47
    first, second = one(block("Planner", "m", "Let me look.\n" + call) + block("Executor", "m", answer)).messages
    assert (first.text, first.tool_calls[0].name, first.tool_calls[0].arguments) == (
        "Let me look.",
        "get_price",
        '{"item": "lamp"}',
    )
    (result,) = second.tool_results
    assert (result.content, result.name, result.is_error) == ("Error: no lamp", "get_price", True)


def test_a_second_answer_below_the_rule_belongs_to_the_turn():
    def box(call, content):
        return f"***** Response from calling tool ({call}) *****\n{content}\n{'*' * 47}\n\n{RULE}\n"

    text = "Executor (to m):\n\n" + box("call_1", "one") + box("call_2", "two") + "noise\n" + block("P", "m", "Done.")
    executor, planner = one(text).messages
    assert [r.content for r in executor.tool_results] == ["one", "two"]
    assert planner.text == "Done."


def test_old_function_boxes_are_read():
    text = block("u", "b", '***** Response from calling function "schema" *****\nCREATE TABLE\n' + "*" * 50)
    assert one(text).messages[0].tool_results[0].name == "schema"


def test_relays_of_the_chat_manager_are_left_out():
    text = block("Admin", "chat_manager", "Plan it.") + block("chat_manager", "Planner", "Plan it.")
    assert [m.speaker for m in one(text).messages] == ["Admin"]


def test_the_talk_about_who_speaks_next_is_left_out():
    text = block("Admin", "chat_manager", "Plan it.") + block(
        "checking_agent", "speaker_selection_agent", "Who is next?"
    )
    assert [m.speaker for m in one(text).messages] == ["Admin"]


def test_what_the_chat_manager_says_first_is_kept():
    assert one(block("chat_manager", "Planner", "Plan it.")).messages[0].speaker == "chat_manager"


def test_a_header_needs_an_empty_line_below_it():
    text = block("Admin", "bot", "Write a mail:\nDear Bo (to the team):\nWe ship.")
    assert [m.speaker for m in one(text).messages] == ["Admin"]


def test_an_execution_keeps_its_exit_code():
    text = block("Executor", "m", "exitcode: 1 (execution failed)\nCode output: KeyError: 'rye'")
    (result,) = one(text).messages[0].tool_results
    assert (result.exit_code, result.content) == (1, "KeyError: 'rye'")


NEW = """---------- TextMessage (user) ----------
Plan it.
---------- MemoryQueryEvent (Planner) ----------
[MemoryContent(content='Old', mime_type=<MemoryMimeType.TEXT: 'text/plain'>, metadata=None)]
---------- ToolCallRequestEvent (Planner) ----------
[FunctionCall(id='call_1', arguments='{"item": "lamp"}', name='get_price')]
[Prompt tokens: 10, Completion tokens: 5]
---------- ToolCallExecutionEvent (Planner) ----------
[FunctionExecutionResult(content='42.5', name='get_price', call_id='call_1', is_error=False)]
---------- ToolCallSummaryMessage (Planner) ----------
42.5
---------- ModelClientStreamingChunkEvent (Critic) ----------
Streamed words.
---------- TextMessage (Planner) ----------
Buy it. TERMINATE
[Prompt tokens: 23, Completion tokens: 3]
---------- Summary ----------
Number of messages: 4
Duration: 0.01 seconds
"""


def test_agentchat_console_text_is_read_and_its_statistics_are_not():
    messages = one(NEW).messages
    assert [(m.speaker, m.role, m.text) for m in messages] == [
        ("user", Role.USER, "Plan it."),
        ("Planner", Role.AGENT, ""),
        ("Planner", Role.TOOL, "42.5"),
        ("Critic", Role.AGENT, "Streamed words."),
        ("Planner", Role.AGENT, "Buy it."),
    ]


def test_the_old_agentchat_style_is_read():
    text = (
        "---------- user ----------\nWeather?\n---------- bot ----------\n"
        "[FunctionCall(id='call_1', arguments='{}', name='weather')]\n---------- bot ----------\n"
        "[FunctionExecutionResult(content='Sunny', call_id='call_1')]\n---------- bot ----------\nSunny\n"
        "---------- Summary ----------\nNumber of messages: 4\n"
    )
    messages = one(text).messages
    assert [(m.speaker, m.role, m.text) for m in messages] == [
        ("user", Role.USER, "Weather?"),
        ("bot", Role.AGENT, ""),
        ("bot", Role.TOOL, "Sunny"),
    ]


def test_a_printed_state_before_the_chat_is_passed_over():
    text = "{'type': 'TeamState', 'agent_states': {}}\n---------- user ----------\nHi there.\n"
    assert [m.text for m in one(text).messages] == ["Hi there."]


PLAIN = """Maya: We publish on Sundays.
Note: the calendar says Saturday.

Editor: Recorded.
Pros: more readers
Cons: late shift

```
status: open
Maya: not me
```

Maya: Fine.

Editor: Good. TERMINATE
"""


def test_labels_inside_a_body_are_no_speakers():
    messages = one(PLAIN).messages
    assert [m.speaker for m in messages] == ["Maya", "Editor", "Maya", "Editor"]
    assert "Pros: more readers" in messages[1].text


def test_times_before_names_are_read():
    text = "[2026-05-04 09:00] Maya: We ship.\n[2026-05-04 09:01] Bo: Why now?\nmore of it\n"
    messages = one(text).messages
    assert [m.at.isoformat() for m in messages] == ["2026-05-04T09:00:00+00:00", "2026-05-04T09:01:00+00:00"]
    assert messages[1].text == "Why now?\nmore of it"


def test_bold_names_are_speakers():
    text = "**Planner:** We use Typst.\n\n**Coder**: Fine by me.\n\n**Planner:** Good.\n"
    assert [m.speaker for m in one(text).messages] == ["Planner", "Coder", "Planner"]


def test_user_and_assistant_may_speak_once_each():
    assert [m.role for m in one("User: Hi\n\nAssistant: Hello there\n").messages] == [Role.USER, Role.AGENT]


def test_a_short_chat_may_have_answers_of_one_word():
    text = "Ines: We close the workshop on Mondays.\nTomas: Good.\n"
    assert [m.speaker for m in one(text).messages] == ["Ines", "Tomas"]


def test_a_form_is_no_chat():
    with pytest.raises(UnknownFormat):
        one("Colour: red\nSize: large\nPrice: 20 euros\n")
