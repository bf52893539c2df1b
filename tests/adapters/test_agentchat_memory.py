"""AgentChat: real agents and teams with the replay client, and memory that is put in once and replaced."""

import asyncio
import logging

import pytest
from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.conditions import MaxMessageTermination
from autogen_agentchat.messages import MemoryQueryEvent, TextMessage
from autogen_agentchat.teams import RoundRobinGroupChat, SelectorGroupChat
from autogen_core import ComponentModel, Image
from autogen_core.memory import Memory as AutogenMemory
from autogen_core.memory import MemoryContent, MemoryMimeType
from autogen_core.model_context import (
    BufferedChatCompletionContext,
    HeadAndTailChatCompletionContext,
    UnboundedChatCompletionContext,
)
from autogen_core.models import (
    AssistantMessage,
    FunctionExecutionResult,
    FunctionExecutionResultMessage,
    SystemMessage,
    UserMessage,
)
from autogen_core.tools import FunctionTool
from autogen_ext.models.replay import ReplayChatCompletionClient

from memctl import Memory
from memctl.adapters.agentchat import MemctlMemory, record, remember_result
from memctl.errors import MemctlError

PARCELS = "Decision: parcels are shipped with DHL from 1 March."
KIOSK = "Decision: the kiosk restarts every Sunday at 03:00."
HOSTING = "Final decision: we host the shop on Hetzner, not on AWS."
LETTERS = "Decision: letters are shipped with the post from 1 April."
FENCE = "<memctl-memory"


def run(awaitable):
    return asyncio.run(awaitable)


def blocks(messages):
    return [m for m in messages if isinstance(m.content, str) and FENCE in m.content]


def agent(name, lines, memory=None, **options):
    client = ReplayChatCompletionClient(lines)
    made = AssistantAgent(name, model_client=client, memory=[memory] if memory else None, **options)
    return made, client


@pytest.fixture
def taught(mem):
    mem.remember("The gateway service listens on port 8443.", type="fact")
    mem.remember("Marketing mails are sent in French.", type="preference")
    return mem


def test_an_agent_is_shown_what_bears_on_the_question(taught, scope):
    assistant, client = agent("helper", ["It is 8443."], MemctlMemory(scope))

    result = run(assistant.run(task="Which port does the gateway service listen on?"))

    [seen] = blocks(client.create_calls[0]["messages"])
    assert "8443" in seen.content
    assert isinstance(seen, UserMessage)
    assert seen.source == "memory"
    [event] = [message for message in result.messages if isinstance(message, MemoryQueryEvent)]
    assert "8443" in event.content[0].content


def test_the_question_stays_the_last_thing_that_the_model_reads(taught, scope):
    assistant, client = agent("helper", ["It is 8443."], MemctlMemory(scope))

    run(assistant.run(task="Which port does the gateway service listen on?"))

    assert client.create_calls[0]["messages"][-1].content == "Which port does the gateway service listen on?"


def test_there_is_never_a_second_system_message(taught, scope):
    assistant, client = agent("helper", ["It is 8443."], MemctlMemory(scope), system_message="You answer.")

    run(assistant.run(task="Which port does the gateway service listen on?"))

    kinds = [type(message) for message in client.create_calls[0]["messages"]]
    assert kinds.count(SystemMessage) == 1


def test_memories_are_replaced_and_never_pile_up(taught, scope):
    assistant, client = agent("helper", ["8443.", "French.", "8443 again."], MemctlMemory(scope))

    async def three_turns():
        await assistant.run(task="Which port does the gateway service listen on?")
        await assistant.run(task="In which language are marketing mails sent?")
        await assistant.run(task="And the port of the gateway service, once more?")

    run(three_turns())

    for call in client.create_calls:
        assert len(blocks(call["messages"])) == 1
    assert "French" in blocks(client.create_calls[1]["messages"])[0].content
    spoken = [m.content for m in client.create_calls[2]["messages"] if not blocks([m])]
    assert spoken[-5:] == [
        "Which port does the gateway service listen on?",
        "8443.",
        "In which language are marketing mails sent?",
        "French.",
        "And the port of the gateway service, once more?",
    ]


def test_two_memories_of_one_agent_each_replace_their_own_block(taught, scope):
    Memory('office "2"').remember("The key of the office lies at the porter's.", type="fact")
    context = UnboundedChatCompletionContext()
    memories = [MemctlMemory(scope), MemctlMemory('office "2"')]

    async def turn():
        for memory in memories:
            await memory.update_context(context)
        return [message.content for message in blocks(await context.get_messages())]

    async def two_turns():
        asked = "Which port does the gateway service listen on, and where is the key of the office?"
        await context.add_message(UserMessage(content=asked, source="user"))
        first = await turn()
        taught.clear()
        return first, await turn()

    first, second = run(two_turns())

    assert len(first) == 2
    assert "8443" in first[0]
    assert second == [first[1]]
    assert "porter" in second[0]


def test_a_block_that_still_holds_stays_where_it_is(taught, scope):
    context = UnboundedChatCompletionContext()
    memory = MemctlMemory(scope)

    async def two_turns():
        await context.add_message(UserMessage(content="Which port does the gateway service listen on?", source="user"))
        await memory.update_context(context)
        first = [m.content for m in await context.get_messages()]
        await memory.update_context(context)
        return first, [m.content for m in await context.get_messages()]

    first, second = run(two_turns())

    assert first == second


def test_a_block_goes_when_nothing_is_known_any_more(taught, scope):
    context = UnboundedChatCompletionContext()
    memory = MemctlMemory(scope)

    async def told_then_cleared():
        await context.add_message(UserMessage(content="Which port does the gateway service listen on?", source="user"))
        await memory.update_context(context)
        before = await context.get_messages()
        await memory.clear()
        result = await memory.update_context(context)
        return before, await context.get_messages(), result

    before, after, result = run(told_then_cleared())

    assert len(blocks(before)) == 1
    assert blocks(after) == []
    assert [m.content for m in after] == ["Which port does the gateway service listen on?"]
    assert result.memories.results == []


@pytest.mark.parametrize(
    "context",
    [
        UnboundedChatCompletionContext(),
        BufferedChatCompletionContext(buffer_size=4),
        HeadAndTailChatCompletionContext(head_size=1, tail_size=3),
    ],
    ids=["unbounded", "buffered", "head-and-tail"],
)
def test_a_context_that_shows_only_a_part_loses_nothing(taught, scope, context):
    memory = MemctlMemory(scope)
    questions = ["Which port does the gateway service listen on?", "In which language are marketing mails sent?"] * 4

    async def chat():
        for number, asked in enumerate(questions):
            await context.add_message(UserMessage(content=f"{asked} ({number})", source="user"))
            await memory.update_context(context)
            assert len(blocks(await context.get_messages())) == 1
            await context.add_message(AssistantMessage(content=f"Answer {number}.", source="helper"))
        return (await context.save_state())["messages"]

    held = run(chat())

    spoken = [m["content"] for m in held if FENCE not in str(m["content"])]
    expected = [line for n, asked in enumerate(questions) for line in (f"{asked} ({n})", f"Answer {n}.")]
    assert spoken == expected
    assert len(held) == len(expected) + 1


def test_pictures_and_tool_calls_survive_the_replacing(taught, scope):
    from autogen_core import FunctionCall
    from PIL import Image as Picture

    picture = Image(Picture.new("RGB", (2, 2), "red"))
    context = UnboundedChatCompletionContext()
    memory = MemctlMemory(scope)
    call = FunctionCall(id="1", name="look", arguments="{}")
    answer = FunctionExecutionResult(call_id="1", content="a picture", name="look", is_error=False)

    async def chat():
        await context.add_message(UserMessage(content=["On this picture?", picture], source="user"))
        await context.add_message(AssistantMessage(content=[call], source="helper"))
        await context.add_message(FunctionExecutionResultMessage(content=[answer]))
        await context.add_message(UserMessage(content="Which port does the gateway service use?", source="user"))
        await memory.update_context(context)
        await context.add_message(UserMessage(content="In which language are marketing mails sent?", source="user"))
        await memory.update_context(context)
        return await context.get_messages()

    messages = run(chat())

    assert isinstance(messages[0].content[1], Image)
    assert messages[0].content[1].to_base64() == picture.to_base64()
    assert messages[1].content == [call]
    assert messages[2].content == [answer]
    assert len(blocks(messages)) == 1


def test_after_saving_and_loading_an_agent_the_block_is_still_replaced(taught, scope):
    first, _ = agent("helper", ["8443."], MemctlMemory(scope))
    second, client = agent("helper", ["French."], MemctlMemory(scope))

    async def move():
        await first.run(task="Which port does the gateway service listen on?")
        await second.load_state(await first.save_state())
        await second.run(task="In which language are marketing mails sent?")

    run(move())

    [block] = blocks(client.create_calls[0]["messages"])
    assert "French" in block.content


def test_a_short_answer_is_understood_by_the_turns_before_it(taught, scope):
    context = UnboundedChatCompletionContext()
    memory = MemctlMemory(scope)

    async def chat():
        await context.add_message(UserMessage(content="Shall I look up the gateway's port?", source="user"))
        await context.add_message(AssistantMessage(content="Do you want the port of the gateway?", source="helper"))
        await context.add_message(UserMessage(content="Yes, please.", source="user"))
        return await memory.update_context(context)

    result = run(chat())

    assert any("8443" in content.content for content in result.memories.results)


def test_results_carry_what_is_known_of_a_memory(taught, scope):
    result = run(MemctlMemory(scope).query("Which port does the gateway service listen on?"))

    best = result.results[0]
    assert "8443" in best.content
    assert best.metadata["type"] == "fact"
    assert best.metadata["score"] > 0
    assert best.metadata["said_at"]
    assert best.metadata["sources"][0]["speaker"] == "user"
    assert best.metadata["id"] == taught.list(text="8443")[0].id


def test_a_query_may_be_a_content_and_narrowed(taught, scope):
    asked = MemoryContent(content="What is known about mails?", mime_type=MemoryMimeType.TEXT)

    result = run(MemctlMemory(scope).query(asked, types=["preference"]))

    assert [content.metadata["type"] for content in result.results] == ["preference"]


def test_content_is_added_with_what_its_metadata_says(mem, scope):
    memory = MemctlMemory(scope)
    content = MemoryContent(
        content="The test device is lent out to the studio.",
        mime_type=MemoryMimeType.TEXT,
        metadata={"type": "context", "tags": ["devices"], "ttl": "3d", "unrelated": 1},
    )

    run(memory.add(content))

    [fact] = mem.list()
    assert (fact.type, fact.tags) == ("context", ("devices",))
    assert fact.expires_at


def test_content_without_text_is_passed_over(mem, scope, caplog):
    from PIL import Image as Picture

    picture = MemoryContent(content=Image(Picture.new("RGB", (2, 2))), mime_type=MemoryMimeType.IMAGE)

    with caplog.at_level(logging.WARNING, "memctl"):
        run(MemctlMemory(scope).add(picture))

    assert mem.list() == ()
    assert "no text" in caplog.text


def test_a_memory_is_a_component_that_can_be_written_down_and_made_again(scope, home):
    memory = MemctlMemory(scope, home=home, limit=3, max_tokens=200, types=["fact"], tags=["a"], deep=True)

    dumped = memory.dump_component()
    again = AutogenMemory.load_component(ComponentModel.model_validate_json(dumped.model_dump_json()))

    assert dumped.provider == "memctl.adapters.agentchat.MemctlMemory"
    assert isinstance(again, MemctlMemory)
    assert again.dump_component() == dumped


def test_an_agent_with_this_memory_can_be_written_down_and_made_again(taught, scope):
    assistant, _ = agent("helper", ["It is 8443."], MemctlMemory(scope))

    again = AssistantAgent.load_component(assistant.dump_component())
    result = run(again.run(task="Which port does the gateway service listen on?"))

    assert any(isinstance(message, MemoryQueryEvent) for message in result.messages)


def test_trouble_with_the_store_is_logged_and_the_turn_goes_on(broken_home, caplog):
    assistant, client = agent("helper", ["I do not know."], MemctlMemory("team"))

    with caplog.at_level(logging.WARNING, "memctl"):
        result = run(assistant.run(task="Which port does the gateway service listen on?"))
        run(MemctlMemory("team").add(MemoryContent(content="A fact.", mime_type=MemoryMimeType.TEXT)))
        run(MemctlMemory("team").clear())

    assert result.messages[-1].content == "I do not know."
    assert blocks(client.create_calls[0]["messages"]) == []
    assert "going on without it" in caplog.text


def test_trouble_with_the_store_is_raised_where_that_was_asked_for(broken_home):
    with pytest.raises(MemctlError):
        run(
            MemctlMemory("team", strict=True).add(
                MemoryContent(content="A fact.", mime_type=MemoryMimeType.TEXT, metadata={"type": "fact"})
            )
        )


def test_waiting_for_the_memory_does_not_stop_the_event_loop(taught, scope):
    async def both():
        ticks = 0
        asking = asyncio.ensure_future(MemctlMemory(scope).query("Which port does the gateway service use?"))
        while not asking.done():
            await asyncio.sleep(0)
            ticks += 1
        return ticks, asking.result()

    ticks, result = run(both())

    assert ticks > 1
    assert result.results


# Runs


def test_a_round_robin_team_is_recorded_while_its_items_pass_through(mem, scope):
    planner, _ = agent("Planner", ["Decision: the catalogue is exported as CSV every night at 03:00."])
    critic, _ = agent("Critic", ["I agree with the nightly CSV export."])
    team = RoundRobinGroupChat([planner, critic], termination_condition=MaxMessageTermination(3))

    async def watch():
        stream = record(team.run_stream(task="How do we export the catalogue?"), agent=scope, name="export-run")
        return [item async for item in stream]

    items = run(watch())

    assert items[-1].stop_reason
    assert [m.source for m in items[:-1]] == ["user", "Planner", "Critic"]
    facts = [fact for fact in mem.list() if "CSV" in fact.text]
    assert facts
    assert facts[0].sources[0].transcript == "export-run"
    assert {m["speaker"] for m in mem.transcript("export-run", format="json").messages} == {"user", "Planner", "Critic"}


def test_a_selector_team_with_memory_is_recorded_without_feeding_on_itself(taught, mem, scope):
    first, client = agent("Operator", ["The gateway answers on 8443."], MemctlMemory(scope), description="runs things")
    second, _ = agent("Writer", [HOSTING], description="writes things")
    chooser = ReplayChatCompletionClient(["Operator", "Writer"])
    team = SelectorGroupChat([first, second], model_client=chooser, termination_condition=MaxMessageTermination(3))
    known = {fact.id: fact for fact in mem.list()}

    async def watch():
        return [item async for item in record(team, task="Which port does the gateway service listen on?", agent=scope)]

    run(watch())

    assert len(blocks(client.create_calls[0]["messages"])) == 1
    assert any("Hetzner" in fact.text for fact in mem.list())
    again = {fact.id: fact for fact in mem.list()}
    for fact_id, fact in known.items():
        assert len(again[fact_id].sources) <= len(fact.sources) + 1
    assert all(FENCE not in m["text"] for m in mem.transcript(format="json").messages)


def test_a_task_result_is_learned_from_and_learned_once(mem, scope):
    planner, _ = agent("Planner", [KIOSK])

    async def both():
        result = await planner.run(task="When does the kiosk restart?")
        return await remember_result(result, agent=scope), await remember_result(result, agent=scope)

    first, again = run(both())

    assert first.files[0].status == "read"
    assert again.files[0].status == "unchanged"
    assert any("Sunday" in fact.text for fact in mem.list())


def test_facts_of_a_run_are_dated_by_its_messages(mem, scope):
    said = TextMessage(
        content=HOSTING,
        source="Planner",
        created_at="2026-02-01T10:00:00Z",
    )

    run(remember_result([said], agent=scope))

    assert {fact.said_at.isoformat() for fact in mem.list()} == {"2026-02-01T10:00:00+00:00"}


def test_a_run_that_is_broken_off_is_learned_from_up_to_there(mem, scope):
    planner, _ = agent(
        "Planner",
        [
            PARCELS,
            LETTERS,
        ],
    )
    critic, _ = agent("Critic", ["Fine.", "Fine."])
    team = RoundRobinGroupChat([planner, critic], termination_condition=MaxMessageTermination(5))

    async def break_off():
        stream = record(team.run_stream(task="How are parcels shipped?"), agent=scope)
        async for item in stream:
            if getattr(item, "source", "") == "Planner":
                break
        await stream.aclose()

    run(break_off())

    assert any("DHL" in fact.text for fact in mem.list())


def test_a_run_that_fails_is_learned_from_and_its_error_arrives(mem, scope):
    planner, _ = agent("Planner", [PARCELS])
    team = RoundRobinGroupChat([planner], termination_condition=MaxMessageTermination(5))

    async def watch():
        return [item async for item in record(team.run_stream(task="How are parcels shipped?"), agent=scope)]

    with pytest.raises(Exception, match="No more mock responses"):
        run(watch())

    assert any("DHL" in fact.text for fact in mem.list())


def test_a_store_in_trouble_does_not_spoil_a_recorded_run(broken_home, caplog):
    planner, _ = agent("Planner", [PARCELS])

    async def watch():
        return [item async for item in record(planner, task="How are parcels shipped?", agent="team")]

    with caplog.at_level(logging.WARNING, "memctl"):
        items = run(watch())

    assert items[-1].messages[-1].content == PARCELS
    assert "going on without it" in caplog.text


def test_memory_stays_whole_across_tool_calls(taught, scope):
    from autogen_core import FunctionCall
    from autogen_core.models import CreateResult, ModelFamily, RequestUsage

    def clock() -> str:
        """Tell the time."""
        return "noon"

    asks = CreateResult(
        finish_reason="function_calls",
        content=[FunctionCall(id="1", name="clock", arguments="{}")],
        usage=RequestUsage(prompt_tokens=1, completion_tokens=1),
        cached=False,
    )
    info = {
        "vision": False,
        "function_calling": True,
        "json_output": False,
        "family": ModelFamily.UNKNOWN,
        "structured_output": False,
    }
    client = ReplayChatCompletionClient([asks, "Noon, on 8443.", "Still 8443."], model_info=info)
    tool = FunctionTool(clock, description="Tell the time.")
    assistant = AssistantAgent(
        "helper", model_client=client, tools=[tool], memory=[MemctlMemory(scope)], reflect_on_tool_use=True
    )

    async def two_turns():
        await assistant.run(task="Which port does the gateway service listen on, and what time is it?")
        await assistant.run(task="And which port does the gateway service use now?")

    run(two_turns())

    for call in client.create_calls:
        assert len(blocks(call["messages"])) == 1
        kinds = [type(message).__name__ for message in call["messages"]]
        for place, kind in enumerate(kinds):
            if kind == "FunctionExecutionResultMessage":
                assert kinds[place - 1] == "AssistantMessage"


def test_two_agents_of_a_team_can_share_a_memory(taught, scope):
    shared = MemctlMemory(scope)
    one, first = agent("One", ["8443."], shared)
    two, second = agent("Two", ["Yes, 8443."], shared)
    team = RoundRobinGroupChat([one, two], termination_condition=MaxMessageTermination(3))

    run(team.run(task="Which port does the gateway service listen on?"))

    assert len(blocks(first.create_calls[0]["messages"])) == 1
    assert len(blocks(second.create_calls[0]["messages"])) == 1
    assert Memory(scope).list(text="8443")
