"""AutoGen 0.2 and AG2 classic lists, and the traps in them."""

import json

from memctl.model import Role
from memctl.transcripts import read


def one(value):
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    (transcript,) = read("chat.json", data)
    return transcript


def said(name, content, **more):
    return {"content": content, "role": "user", "name": name, **more}


CALL = {"id": "call_1", "type": "function", "function": {"name": "get_price", "arguments": '{"item": "lamp"}'}}


def test_the_index_of_a_message_is_its_index_in_the_list():
    chat = [said("user", "Hello."), said("Coder", ""), said("Coder", "We use Typst."), said("user", "TERMINATE")]
    assert [(m.index, m.speaker) for m in one(chat).messages] == [(0, "user"), (2, "Coder")]


def test_the_role_field_says_nothing_about_the_speaker():
    seen_by_one = [said("Ada", "I use vim."), {"content": "Noted.", "role": "assistant", "name": "Bo"}]
    seen_by_other = [{"content": "I use vim.", "role": "assistant", "name": "Ada"}, said("Bo", "Noted.")]
    assert one(seen_by_one).messages == one(seen_by_other).messages


def test_people_are_told_from_agents_by_name():
    names = ["user", "User_proxy", "Admin", "human", "用户", "Planner", "planner_user", "customer_service"]
    messages = one([said(name, f"{name} speaks") for name in names]).messages
    assert [m.role for m in messages] == [Role.USER] * 5 + [Role.AGENT] * 3


def test_the_text_none_of_a_tool_call_is_no_text():
    message = one([{"content": "None", "role": "assistant", "name": "Planner", "tool_calls": [CALL]}]).messages[0]
    assert message.text == ""
    assert message.tool_calls[0].name == "get_price"
    assert message.tool_calls[0].arguments == '{"item": "lamp"}'


def test_the_word_none_in_a_chat_stays():
    assert one([said("user", "Any objections?"), said("Coder", "None")]).messages[1].text == "None"


def test_a_doubled_tool_response_is_told_once_and_knows_its_tool():
    responses = [
        {"tool_call_id": "call_1", "role": "tool", "content": "42.5"},
        {"tool_call_id": "call_2", "role": "tool", "content": "Error: no such item"},
    ]
    chat = [
        {"content": None, "role": "assistant", "name": "Planner", "tool_calls": [CALL]},
        {"content": "42.5\n\nError: no such item", "role": "tool", "name": "Executor", "tool_responses": responses},
    ]
    message = one(chat).messages[1]
    assert (message.speaker, message.role, message.text) == ("Executor", Role.TOOL, "42.5\n\nError: no such item")
    assert [(r.content, r.name, r.is_error) for r in message.tool_results] == [
        ("42.5", "get_price", None),
        ("Error: no such item", "", True),
    ]


def test_the_name_of_a_function_message_is_the_tool():
    chat = [said("user", "Weather?"), {"content": "Sunny", "name": "get_weather", "role": "function"}]
    message = one(chat).messages[1]
    assert message.role is Role.TOOL
    assert message.tool_results[0].name == "get_weather"


def test_a_legacy_function_call_is_a_tool_call():
    call = {"name": "get_weather", "arguments": "{}"}
    chat = [said("user", "Go."), {"content": "", "role": "assistant", "name": "Planner", "function_call": call}]
    assert one(chat).messages[1].tool_calls[0].name == "get_weather"


def test_an_exit_code_makes_a_turn_a_tools_turn_whoever_sends_it():
    text = "exitcode: 1 (execution failed)\nCode output: Traceback (most recent call last):\nKeyError: 'rye'"
    message = one([said("user", "Run it."), said("user_proxy", text)]).messages[1]
    (result,) = message.tool_results
    assert (message.role, result.exit_code, result.is_error) == (Role.TOOL, 1, True)
    assert result.content.startswith("Traceback")


def test_a_successful_execution_is_no_error():
    chat = [said("user", "Run it."), said("Executor", "exitcode: 0 (execution succeeded)\nCode output: 4\n")]
    (result,) = one(chat).messages[1].tool_results
    assert (result.content, result.exit_code, result.is_error) == ("4", 0, False)


def test_images_become_a_mark_and_their_bytes_are_left_out():
    parts = [
        {"type": "text", "text": "See the chart."},
        {"type": "image_url", "image_url": {"url": "data:image/png;AA"}},
    ]
    assert one([said("user", parts)]).messages[0].text == "See the chart.\n<image>"


def test_a_list_of_lines_is_joined():
    assert one([said("user", ["line one", "line two"])]).messages[0].text == "line one\nline two"


def test_an_object_as_content_is_kept_as_json():
    assert one([said("Coder", {"port": 8080})]).messages[0].text == '{"port": 8080}'


def test_nan_null_and_missing_content_say_nothing():
    chat = b'[{"content": NaN, "role": "user", "name": "A"}, {"content": null, "role": "user", "name": "B"},'
    chat += b' {"role": "user", "name": "C", "content": "real"}]'
    assert [(m.index, m.speaker) for m in one(chat).messages] == [(2, "C")]


def test_the_termination_word_is_cut_off():
    ends = ["Done. TERMINATE", "Done.\n\nTERMINATE", "Done. **TERMINATE**", "Done. TERMINATE."]
    assert {m.text for m in one([said("Planner", end) for end in ends]).messages} == {"Done."}


def test_a_sentence_about_the_termination_word_stays_whole():
    text = "When all is done, reply with TERMINATE"
    assert one([said("user", text)]).messages[0].text == text


def test_a_resumed_dump_matches_the_dump_before_it():
    before = one([said("user", "Which database?"), said("Planner", "PostgreSQL. TERMINATE")])
    resumed = one([said("user", "Which database?"), said("Planner", "PostgreSQL. "), said("Coder", "Fine.")])
    assert resumed.messages[:2] == before.messages


def test_the_copies_in_a_file_with_two_dumps_are_left_out_and_counted():
    chat = [said("user", "Which database?"), said("Planner", "PostgreSQL. TERMINATE")]
    resumed = [said("user", "Which database?"), said("Planner", "PostgreSQL. "), said("Coder", "Fine.")]
    transcript = one((json.dumps(chat) + json.dumps(resumed)).encode())
    assert [(m.index, m.text) for m in transcript.messages] == [
        (0, "Which database?"),
        (1, "PostgreSQL."),
        (4, "Fine."),
    ]
    assert transcript.notes == ("left out 2 repeated messages of a resumed chat",)


def test_a_team_that_repeats_itself_is_not_taken_for_a_resumed_chat():
    assert len(one([said("user", "continue")] * 9).messages) == 9


def test_two_lists_in_one_file_are_one_chat():
    data = json.dumps([said("user", "One.")]) + "\n" + json.dumps([said("Coder", "Two.")])
    assert [(m.index, m.text) for m in one(data.encode()).messages] == [(0, "One."), (1, "Two.")]


def test_the_first_message_of_a_group_run_is_the_users_though_it_has_no_name():
    response = {
        "messages": [{"content": "My line is down.", "role": "assistant"}, said("triage", "I look into it.")],
        "summary": "",
        "last_speaker": "triage",
    }
    transcript = one(response)
    assert transcript.format == "run-response"
    assert (transcript.messages[0].speaker, transcript.messages[0].role) == ("user", Role.USER)


def test_a_chat_result_with_a_128_bit_id_is_read():
    result = {
        "chat_id": 2**127 + 1,
        "chat_history": [said("user", "Hi."), said("Coder", "Hello.")],
        "summary": "Hello.",
    }
    transcript = one(result)
    assert (transcript.format, len(transcript.messages)) == ("chat-result", 2)


def test_several_chat_results_are_several_chats_with_running_indexes():
    results = {"1": {"chat_history": [said("user", "Hi.")]}, "2": {"chat_history": [said("user", "Ho.")]}}
    transcripts = read("results.json", json.dumps(results).encode())
    assert [(t.part, t.messages[0].index) for t in transcripts] == [("chat 1", 0), ("chat 2", 1)]


def test_chats_by_name_are_told_once_though_every_agent_keeps_a_copy():
    views = {
        "Ada": {"manager": [said("Ada", "One."), said("Bo", "Two."), said("Ada", "Three.")]},
        "Bo": {"manager": [said("Ada", "One."), said("Bo", "Two.")]},
    }
    transcript = one(views)
    assert [m.text for m in transcript.messages] == ["One.", "Two.", "Three."]


def test_a_private_chat_beside_the_group_chat_is_a_part_of_its_own():
    views = {"manager": [said("Ada", "One."), said("Bo", "Two.")], "Cy": [said("Cy", "Secretly, three.")]}
    transcripts = read("views.json", json.dumps(views).encode())
    assert [[m.text for m in t.messages] for t in transcripts] == [["One.", "Two."], ["Secretly, three."]]
    assert [t.part for t in transcripts] == ["", "view 2"]


def test_python_reprs_are_read_like_json():
    chat = [said("user", 'It\'s "quoted" – naïve ✓'), said("Coder", None, tool_calls=[CALL])]
    assert one(str(chat).encode()).messages == one(chat).messages


def test_the_repr_of_a_chat_result_is_read():
    text = f"ChatResult(chat_id=None, chat_history={[said('user', 'Hi.')]!r}, summary='Hi.', cost={{}}, human_input=[])"
    assert one(text.encode()).messages[0].text == "Hi."


def test_json_lines_of_messages_are_read():
    lines = "\n".join(json.dumps(said("user", f"Line {n}.")) for n in range(3))
    assert [m.index for m in one(lines.encode()).messages] == [0, 1, 2]


def test_an_openai_list_takes_speakers_from_roles():
    chat = [
        {"role": "system", "content": "You are helpful."},
        {"role": "user", "content": "Hi."},
        {"role": "assistant", "content": "Hello."},
        {"role": "tool", "tool_call_id": "c1", "content": "42"},
    ]
    transcript = one(chat)
    assert transcript.format == "openai"
    assert [(m.speaker, m.role) for m in transcript.messages] == [
        ("system", Role.SYSTEM),
        ("user", Role.USER),
        ("assistant", Role.AGENT),
        ("tool", Role.TOOL),
    ]


def test_lines_that_each_hold_a_chat_are_several_chats():
    lines = "\n".join(json.dumps({"messages": [{"role": "user", "content": f"Chat {n}"}]}) for n in range(2))
    assert [t.part for t in read("tuning.jsonl", lines.encode())] == ["chat 1", "chat 2"]


def test_memories_that_teachability_appended_are_cut_out():
    text = "Book the room.\n\n# Memories that might help\n- The user likes room 4\n- Old fact\n"
    assert one([said("user", text)]).messages[0].text == "Book the room."


def test_a_history_takes_speaker_and_addressee_from_the_role():
    history = {
        "question": "Which one?",
        "history": [
            {"role": "human", "content": "Find it."},
            {"role": "Orchestrator (thought)", "content": "Ask the surfer."},
            {"role": "Orchestrator (thought)", "content": "Next speaker WebSurfer"},
            {"role": "Orchestrator (-> WebSurfer)", "content": "Search."},
            {"role": "Assistant", "content": "Found."},
        ],
    }
    messages = one(history).messages
    assert [(m.index, m.speaker, m.recipient) for m in messages] == [
        (0, "human", ""),
        (1, "Orchestrator", ""),
        (3, "Orchestrator", "WebSurfer"),
        (4, "Assistant", ""),
    ]


def test_a_trajectory_may_be_text():
    text = "mathproxy: Solve 1+1.\n\nassistant: The answer is 2.\n\nmathproxy: Right, thanks.\n"
    assert [m.speaker for m in one({"trajectory": text}).messages] == ["mathproxy", "assistant", "mathproxy"]


def test_items_that_are_no_messages_are_left_out_with_a_note():
    transcript = one([said("user", "Hi."), "stray", said("Coder", "Hello.")])
    assert [m.index for m in transcript.messages] == [0, 2]
    assert transcript.notes == ("left out 1 item without the shape of a message",)
