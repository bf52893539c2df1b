"""AutoGen 0.2 / AG2: real group chats in which memory is shown, learned and never in the way."""

import asyncio
import copy
import gc
import logging
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from autogen import ConversableAgent

from memctl import Memory
from memctl.adapters import ag2
from memctl.adapters.ag2 import Attachment, attach
from memctl.errors import UsageProblem
from tests.adapters.chatkit import Speaker, group, histories

FENCE = "<memctl-memory"
BACKUP = "Decision: the ledger database is backed up every night at 02:00."
PARCELS = "Decision: parcels are shipped with DHL from 1 March."
KIOSK = "Decision: the kiosk restarts every Sunday at 03:00."
HOSTING = "Final decision: we host the shop on Hetzner, not on AWS."
ASKED = "Which port does the gateway service listen on?"


def shown_blocks(agent):
    return [[m for m in messages if FENCE in str(m.get("content"))] for messages in agent.shown]


def stored(mem):
    return [(m["speaker"], m["text"]) for m in mem.transcript(format="json").messages]


@pytest.fixture
def taught(mem):
    mem.remember("The gateway service listens on port 8443.", type="fact")
    return mem


def trio(*lines):
    admin = Speaker("Admin")
    planner = Speaker("Planner", lines[0] if lines else BACKUP)
    critic = Speaker("Critic", lines[1] if len(lines) > 1 else "Agreed, the ledger is backed up every night.")
    return admin, planner, critic


# Recall


def test_every_agent_reads_what_bears_on_the_question_before_it_replies(taught, scope):
    admin, planner, critic = trio("8443.", "Yes.")
    manager = group(admin, planner, critic)
    attach(manager.groupchat, scope, capture=False)

    admin.initiate_chat(manager, message=ASKED)

    for agent in (planner, critic):
        [[block]] = shown_blocks(agent)
        assert "8443" in block["content"]
        assert agent.shown[0][-1] is not block


def test_stored_history_is_the_same_with_and_without_memory(taught, scope):
    plain, remembering = group(*trio("8443.", "Yes.")), group(*trio("8443.", "Yes."))
    attach(remembering, scope)

    for manager in (plain, remembering):
        manager.groupchat.agents[0].initiate_chat(manager, message=ASKED)

    assert any(shown_blocks(agent) for agent in remembering.groupchat.agents[1:])
    assert histories(remembering) == histories(plain)


def test_recall_hands_out_a_new_list_and_changes_no_message(taught, scope):
    agent = Speaker("Planner")
    attach(agent, scope, capture=False)
    messages = [{"role": "user", "name": "Admin", "content": ASKED}]
    before = copy.deepcopy(messages)

    processed = agent.process_all_messages_before_reply(messages)

    assert messages == before
    assert processed is not messages
    assert processed[-1] == before[-1]
    assert FENCE in processed[0]["content"]


def test_nothing_piles_up_over_many_rounds(taught, scope):
    planner = Speaker("Planner", *["The gateway service listens on 8443."] * 5)
    critic = Speaker("Critic", *["Is it really the gateway's port?"] * 5)
    manager = group(Speaker("Admin"), planner, critic, rounds=9)
    attach(manager, scope, capture=False)

    manager.groupchat.agents[0].initiate_chat(manager, message=ASKED)

    assert len(planner.shown) == 3
    assert all(len(blocks) == 1 for blocks in [*shown_blocks(planner), *shown_blocks(critic)])


def test_where_nothing_is_known_agents_read_exactly_what_was_said(scope):
    admin, planner, critic = trio()
    manager = group(admin, planner, critic)
    attach(manager, scope, capture=False)

    admin.initiate_chat(manager, message=ASKED)

    assert [m["content"] for m in planner.shown[0]] == [ASKED]


def test_a_person_at_the_keyboard_is_not_prompted_with_memories(scope):
    person = Speaker("Person", human_input_mode="ALWAYS")
    attach(person, scope)

    assert person.hook_lists["process_all_messages_before_reply"] == []
    assert len(person.hook_lists["process_message_before_send"]) == 1


def test_hooks_of_others_work_before_and_after_ours(taught, scope):
    admin, planner, critic = trio("8443.", "Yes.")
    order = []

    def early(messages):
        order.append(("early", any(FENCE in str(m["content"]) for m in messages)))
        return messages

    def late(messages):
        order.append(("late", any(FENCE in str(m["content"]) for m in messages)))
        return messages

    def last(content):
        order.append(("last", FENCE in content))
        return content

    planner.register_hook("process_all_messages_before_reply", early)
    attach([admin, planner, critic], scope, capture=False)
    planner.register_hook("process_all_messages_before_reply", late)
    planner.register_hook("process_last_received_message", last)
    manager = group(admin, planner, critic)

    admin.initiate_chat(manager, message=ASKED)

    assert order == [("last", False), ("early", False), ("late", True)]


# Capture


def test_a_group_chat_is_learned_from_with_everybodys_own_words(mem, scope):
    admin, planner, critic = trio()
    manager = group(admin, planner, critic)
    attachment = attach(manager.groupchat, scope)

    admin.initiate_chat(manager, message="How often is the ledger backed up?")
    attachment.flush()

    assert stored(mem) == [
        ("Admin", "How often is the ledger backed up?"),
        ("Planner", BACKUP),
        ("Critic", "Agreed, the ledger is backed up every night."),
    ]
    assert any("every night" in fact.text for fact in mem.list())


def test_no_message_is_put_into_the_mouth_of_the_agent_that_was_tied_last(mem, scope):
    speakers = [Speaker(name, f"Decision: {name} owns the {name.lower()} budget.") for name in ("Ann", "Ben", "Cora")]
    manager = group(*speakers, rounds=4)
    attachments = [attach(agent, scope) for agent in speakers]  # the loop in which late-bound closures go wrong

    speakers[0].initiate_chat(manager, message="Who owns which budget?")
    attachments[0].flush()

    said = {text: speaker for speaker, text in stored(mem)}
    assert said["Decision: Ben owns the ben budget."] == "Ben"
    assert said["Decision: Cora owns the cora budget."] == "Cora"
    assert said["Decision: Ann owns the ann budget."] == "Ann"


def test_a_message_leaves_the_hook_as_the_very_object_that_came_in(scope):
    agent, other = Speaker("Planner"), Speaker("Critic")
    attach(agent, scope)
    [hook] = agent.hook_lists["process_message_before_send"]

    for message in ("plain text", {"content": "a dict", "role": "user", "extra": 1}, {"content": None}):
        before = copy.deepcopy(message)
        assert hook(sender=agent, message=message, recipient=other, silent=True) is message
        assert message == before


def test_the_manager_is_never_listened_to(scope):
    manager = group(*trio())
    before = {name: list(hooks) for name, hooks in manager.hook_lists.items()}

    attach(manager, scope)
    attach([manager], f"{scope}-again")

    assert {name: list(hooks) for name, hooks in manager.hook_lists.items()} == before


def test_tying_the_same_memory_twice_listens_once(mem, scope):
    admin, planner, critic = trio()
    manager = group(admin, planner, critic)
    first = attach(manager, scope)
    attach(manager.groupchat, scope)

    admin.initiate_chat(manager, message="How often is the ledger backed up?")
    first.flush()

    assert len(planner.hook_lists["process_message_before_send"]) == 1
    assert len(planner.hook_lists["process_all_messages_before_reply"]) == 1
    assert len(stored(mem)) == 3


def test_two_memories_can_listen_to_one_chat(scope):
    admin, planner, critic = trio()
    manager = group(admin, planner, critic)
    team, private = attach(manager, scope), attach(planner, f"{scope}/planner")

    admin.initiate_chat(manager, message="How often is the ledger backed up?")
    team.flush()
    private.flush()

    assert len(stored(Memory(scope))) == 3
    assert len(stored(Memory(f"{scope}/planner"))) == 3


def test_a_chat_is_learned_from_while_it_goes_on(mem, scope):
    admin = Speaker("Admin")
    watched = []

    def watch():
        store = mem._memory.existing
        watched.append(sum(entry.messages for entry in store.transcripts(agent=scope)) if store else 0)

    lines = (
        PARCELS,
        KIOSK,
        "Done.",
    )
    planner = Speaker("Planner", *lines, watch=watch)
    manager = group(admin, planner, rounds=6)
    attachment = attach(manager, scope, every=2, background=False)

    admin.initiate_chat(manager, message="When does the post leave?")
    attachment.flush()

    assert watched == [0, 2, 4]
    assert len(stored(mem)) == 6
    assert len(mem._memory.store.transcripts(agent=scope)) == 1


def test_learning_in_the_background_gives_the_same(mem, scope):
    planner = Speaker(
        "Planner",
        PARCELS,
        KIOSK,
        "Done.",
    )
    manager = group(Speaker("Admin"), planner, rounds=6)
    attachment = attach(manager, scope, every=1)

    manager.groupchat.agents[0].initiate_chat(manager, message="When does the post leave?")
    attachment.flush()

    assert len(stored(mem)) == 6
    assert len(mem._memory.store.transcripts(agent=scope)) == 1
    assert any("DHL" in fact.text for fact in mem.list())


def test_a_second_chat_is_a_transcript_of_its_own(mem, scope):
    admin, planner, critic = trio()
    manager = group(admin, planner, critic)
    attachment = attach(manager, scope)
    admin.initiate_chat(manager, message="How often is the ledger backed up?")
    planner.lines = ["Decision: the till is counted every evening."]
    critic.lines = ["Agreed."]
    admin.initiate_chat(manager, message="How often is the till counted?")
    attachment.flush()

    entries = mem._memory.store.transcripts(agent=scope)
    assert [entry.messages for entry in entries] == [3, 3]
    assert {m["text"] for m in mem.transcript(format="json").messages} >= {"How often is the till counted?"}


def test_a_chat_that_is_continued_stays_one_transcript(mem, scope):
    one, other = (
        Speaker("Ann", PARCELS),
        Speaker("Ben", "And letters?", "Thanks."),
    )
    attachment = attach([one, other], scope)
    one.initiate_chat(other, message="Shall we settle the post?", max_turns=1)
    one.initiate_chat(other, message=KIOSK, max_turns=1, clear_history=False)
    attachment.flush()

    assert [entry.messages for entry in mem._memory.store.transcripts(agent=scope)] == [4]


def test_tying_one_of_two_agents_hears_both(mem, scope):
    user, assistant = Speaker("Boss"), Speaker("Assistant", "Understood, DHL from 1 March.", "Goodbye.")
    user.lines = ["Thank you, that is all."]
    attachment = attach(assistant, scope)

    user.initiate_chat(assistant, message=PARCELS, max_turns=2)
    attachment.flush()

    assert stored(mem) == [
        ("Boss", PARCELS),
        ("Assistant", "Understood, DHL from 1 March."),
        ("Boss", "Thank you, that is all."),
        ("Assistant", "Goodbye."),
    ]


def test_agents_nobody_listens_to_are_heard_in_the_group_all_the_same(mem, scope):
    admin, planner, critic = trio()
    manager = group(admin, planner, critic)
    attachment = attach([planner], scope)

    admin.initiate_chat(manager, message="How often is the ledger backed up?")
    attachment.flush()

    assert [speaker for speaker, _ in stored(mem)] == ["Admin", "Planner", "Critic"]


def test_what_is_said_outside_the_group_stays_outside(mem, scope):
    admin, planner, critic = trio()
    adviser = Speaker("Adviser", "The safe is behind the painting.")

    def ask_adviser(messages):
        planner.initiate_chat(adviser, message="Where is the safe?", max_turns=1, silent=True)
        return messages

    planner.register_hook("process_all_messages_before_reply", ask_adviser)
    manager = group(admin, planner, critic)
    attachment = attach(manager, scope)

    admin.initiate_chat(manager, message="How often is the ledger backed up?")
    attachment.flush()

    assert [speaker for speaker, _ in stored(mem)] == ["Admin", "Planner", "Critic"]
    assert "safe" not in str(stored(mem))


def test_introductions_are_not_taken_for_something_said(mem, scope):
    admin, planner, critic = trio()
    manager = group(admin, planner, critic, send_introductions=True)
    attachment = attach(manager, scope)

    admin.initiate_chat(manager, message="How often is the ledger backed up?")
    attachment.flush()

    assert [speaker for speaker, _ in stored(mem)] == ["Admin", "Planner", "Critic"]


def test_what_was_recalled_is_not_learned_again(taught, scope):
    admin, planner, critic = trio("Good to know.", "Good.")
    manager = group(admin, planner, critic)
    planner.register_hook(
        "process_message_before_send",
        lambda sender, message, recipient, silent: f"{planner.shown[0][0]['content']}\n\n{message}",
    )
    attachment = attach(manager, scope)  # listens behind the hook that repeats the block

    admin.initiate_chat(manager, message=ASKED)
    attachment.flush()

    assert FENCE in manager.groupchat.messages[1]["content"]
    assert FENCE not in str(stored(taught))
    assert len(taught.list()) == 1
    assert len(taught.list()[0].sources) == 1


def test_async_chats_are_shown_and_learned_alike(taught, scope):
    admin, planner, critic = trio("It is 8443.", HOSTING)
    manager = group(admin, planner, critic)
    attachment = attach(manager, scope)

    asyncio.run(admin.a_initiate_chat(manager, message=ASKED))
    attachment.flush()

    assert len(shown_blocks(planner)[0]) == 1
    assert [speaker for speaker, _ in stored(taught)] == ["Admin", "Planner", "Critic"]
    assert any("Hetzner" in fact.text for fact in taught.list())


def test_group_runs_of_ag2_are_heard_from_the_first_word(mem, scope):
    from autogen.agentchat import initiate_group_chat
    from autogen.agentchat.group.patterns import RoundRobinPattern

    planner, critic = Speaker("Planner", PARCELS), Speaker("Critic", "Agreed.")
    attachment = attach([planner, critic], scope)

    pattern = RoundRobinPattern(initial_agent=planner, agents=[planner, critic])
    initiate_group_chat(pattern=pattern, messages="How do we ship parcels?", max_rounds=3)
    attachment.flush()

    assert stored(mem) == [("user", "How do we ship parcels?"), ("Planner", PARCELS), ("Critic", "Agreed.")]


def test_being_shown_unasked_does_not_count_as_use(taught, scope):
    admin, planner, critic = trio("8443.", "Yes.")
    manager = group(admin, planner, critic)
    attach(manager, scope, capture=False)

    admin.initiate_chat(manager, message=ASKED)
    taught.remember("The archive is in the cellar.", type="fact")  # a writer folds in what was counted

    assert [fact.uses for fact in taught.list(text="8443")] == [0]


def test_tool_calls_and_their_answers_are_taken_down(mem, scope):
    call = {"id": "call_1", "type": "function", "function": {"name": "price", "arguments": '{"item": "bolt"}'}}
    planner = Speaker("Planner", {"content": None, "tool_calls": [call]}, "Decision: we buy bolts at 12 cents.")
    executor = Speaker("Executor")
    executor.register_function({"price": lambda item: f"{item}: 12 cents"})
    executor.replace_reply_func(Speaker.say, ConversableAgent.generate_tool_calls_reply)
    following = {"Admin": planner, "Planner": executor, "Executor": planner}
    manager = group(
        Speaker("Admin"), planner, executor, rounds=4, speaker_selection_method=lambda last, _: following[last.name]
    )
    attachment = attach(manager, scope)

    manager.groupchat.agents[0].initiate_chat(manager, message="What do bolts cost?")
    attachment.flush()

    messages = mem.transcript(format="groupchat").messages
    assert messages[1]["tool_calls"][0]["function"]["name"] == "price"
    assert messages[2]["tool_responses"][0] == {"tool_call_id": "call_1", "role": "tool", "content": "bolt: 12 cents"}
    assert [m["name"] for m in messages] == ["Admin", "Planner", "Executor", "Planner"]


# Trouble


def test_a_store_in_trouble_neither_stops_nor_changes_a_chat(broken_home, caplog):
    plain, remembering = group(*trio()), group(*trio())
    attachment = attach(remembering, "team", every=1)

    with caplog.at_level(logging.WARNING, "memctl"):
        for manager in (plain, remembering):
            manager.groupchat.agents[0].initiate_chat(manager, message="How often is the ledger backed up?")
        attachment.flush()
        attachment.detach()

    assert histories(remembering) == histories(plain)
    assert "going on without it" in caplog.text


def test_a_busy_store_is_tried_again_and_nothing_is_lost(mem, scope, monkeypatch, caplog, home):
    mem.remember("There is a store.", type="fact")
    admin, planner, critic = trio()
    manager = group(admin, planner, critic)
    attachment = attach(manager, scope, every=1, background=False)
    settings = mem._memory.settings
    mem._memory.settings = settings.override(store_wait_seconds=0.05)
    taken, free = threading.Event(), threading.Event()

    def hold():
        with mem._memory.store.writing("elsewhere"):
            taken.set()
            free.wait(30)

    other = threading.Thread(target=hold)
    other.start()
    try:
        taken.wait(30)
        with caplog.at_level(logging.WARNING, "memctl"):
            admin.initiate_chat(manager, message="How often is the ledger backed up?")
    finally:
        free.set()
        other.join()
        mem._memory.settings = settings
    attachment.flush()

    assert "being written by" in caplog.text
    assert len(stored(mem)) == 3


def test_a_bug_in_a_hook_of_ours_would_not_reach_the_chat(mem, scope, caplog):
    admin, planner, critic = trio()
    manager = group(admin, planner, critic)
    attachment = attach(manager, scope)
    attachment.memory = None  # nothing works any more
    attachment.recorder = None

    with caplog.at_level(logging.ERROR, "memctl"):
        result = admin.initiate_chat(manager, message="How often is the ledger backed up?")
    attachment.detach()

    assert len(manager.groupchat.messages) == 3
    assert result is not None
    assert "AttributeError" in caplog.text


# Letting go


def test_detaching_learns_the_rest_and_takes_every_hook_away(mem, scope):
    admin, planner, critic = trio()
    manager = group(admin, planner, critic)
    with attach(manager, scope, every=100):
        admin.initiate_chat(manager, message="How often is the ledger backed up?")

    assert len(stored(mem)) == 3
    for agent in (admin, planner, critic):
        assert agent.hook_lists["process_message_before_send"] == []
        assert agent.hook_lists["process_all_messages_before_reply"] == []


def dropped_chat(attachment):
    """Hold a chat with a memory and drop all of it; the garbage collector has not come yet."""
    admin, planner, critic = trio()
    for agent in (admin, planner, critic):
        attachment.add(agent)
    admin.initiate_chat(group(admin, planner, critic), message="How often is the ledger backed up?")


def messages_of(mem):
    return sum(entry.messages for entry in mem._memory.store.transcripts(agent=mem.agent))


def wait_until(true, seconds=60):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.02)


def test_a_chat_that_the_program_drops_is_learned_from_all_the_same(mem):
    mem.remember("The gateway service listens on port 8443.", type="fact")
    dropped_chat(Attachment(mem, every=100))
    gc.collect()

    wait_until(lambda: messages_of(mem) == 3)


def test_a_chat_that_is_dropped_in_the_middle_of_a_write_is_learned_from_after_it(mem):
    mem.remember("The gateway service listens on port 8443.", type="fact")
    store = mem._memory.store
    dropped_chat(Attachment(mem, every=100))

    with store.writing("test"):
        runs = len(store.runs())
        gc.collect()
        assert len(store.runs()) == runs

    wait_until(lambda: messages_of(mem) == 3)


class Collecting(Memory):
    """A memory whose learner meets the garbage collector, as any thread may at any moment."""

    def __init__(self, scope):
        super().__init__(scope)
        self.dropped = threading.Event()

    def add(self, *args, **kwargs):
        assert self.dropped.wait(60)
        gc.collect()
        return super().add(*args, **kwargs)


def test_a_learner_that_collects_its_own_dropped_chat_does_not_wait_for_itself(mem, scope):
    mem.remember("The gateway service listens on port 8443.", type="fact")
    collecting = Collecting(scope)
    dropped_chat(Attachment(collecting, every=3))
    collecting.dropped.set()

    wait_until(lambda: messages_of(mem) == 3)
    mem.remember("The kiosk restarts every Sunday.", type="fact")  # and nobody holds the lock


PROGRAM = """
import sys
from memctl.adapters.ag2 import Attachment, attach
from tests.adapters.chatkit import Speaker, group

planner = Speaker("Planner", "Decision: the ledger database is backed up every night at 02:00.")
manager = group(Speaker("Admin"), planner)
attach(manager, sys.argv[1], every=int(sys.argv[2]))
manager.groupchat.agents[0].initiate_chat(manager, message="How often is the ledger backed up?")
"""


@pytest.mark.parametrize("every", [1, 100])
def test_a_program_that_just_ends_has_learned_everything(scope, home, every):
    repository = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, scope, str(every)], cwd=repository, capture_output=True, text=True, timeout=120
    )

    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert [speaker for speaker, _ in stored(Memory(scope))] == ["Admin", "Planner"]
    assert any("every night" in fact.text for fact in Memory(scope).list())


def test_what_is_no_agent_is_refused_with_a_remedy(scope):
    with pytest.raises(UsageProblem) as caught:
        attach(42, scope)

    assert "GroupChat" in caught.value.remedy


# Tools, capability, resuming


class Scripted:
    """A model client that gives what it is told to, in order, as AutoGen's own interface wants it."""

    def __init__(self, config, **_):
        self.replies = config["replies"]

    def create(self, params):
        reply = self.replies.pop(0)
        return SimpleNamespace(reply=reply, model="scripted", cost=0, usage=None, message_retrieval_function=None)

    def message_retrieval(self, response):
        return [response.reply]

    def cost(self, response):
        return 0

    @staticmethod
    def get_usage(response):
        return {}


def thinking(name, *replies):
    config = {"model": "scripted", "model_client_cls": "Scripted", "replies": list(replies), "api_key": "none"}
    return ConversableAgent(name, llm_config={"config_list": [config]}, human_input_mode="NEVER")


def tool_call(name, arguments):
    return {
        "tool_calls": [{"id": f"call-{name}", "type": "function", "function": {"name": name, "arguments": arguments}}]
    }


def test_an_agent_can_remember_and_recall_by_tools(mem, scope):
    assistant = thinking(
        "Assistant",
        tool_call("remember", '{"text": "The gateway service listens on port 8443.", "tags": "ports, gateway"}'),
        tool_call("recall", '{"query": "Which port does the gateway service listen on?", "tags": "ports"}'),
        "It is 8443. TERMINATE",
    )
    executor = Speaker("Executor", is_termination_msg=lambda m: "TERMINATE" in str(m.get("content")))
    executor.replace_reply_func(Speaker.say, ConversableAgent.generate_tool_calls_reply)
    ag2.tools(assistant, executor, scope)
    assistant.register_model_client(model_client_cls=Scripted)

    executor.initiate_chat(assistant, message="Remember the gateway's port, then tell me.", max_turns=4)

    answers = [m["content"] for m in assistant.chat_messages[executor] if m["role"] == "tool"]
    assert answers[0] == "Remembered."
    assert "8443" in answers[1]
    [fact] = mem.list()
    assert set(fact.tags) == {"ports", "gateway"}
    assert fact.speaker == "Assistant"


def test_the_tools_describe_themselves_to_the_model(scope):
    assistant = thinking("Assistant")
    ag2.tools(assistant, Speaker("Executor"), scope)

    described = {tool["function"]["name"]: tool["function"] for tool in assistant.llm_config["tools"]}
    assert set(described) == {"remember", "recall"}
    assert described["remember"]["parameters"]["required"] == ["text"]
    assert "sentence" in described["remember"]["parameters"]["properties"]["text"]["description"]


def test_the_functions_can_be_registered_the_way_autogen_does(mem, scope):
    from autogen import register_function

    assistant, executor = thinking("Assistant"), Speaker("Executor")
    remember, recall = ag2.make_tools(scope)
    register_function(remember, caller=assistant, executor=executor, description="Remember something.")
    register_function(recall, caller=assistant, executor=executor, description="Look something up.")

    assert executor.can_execute_function(["remember", "recall"])
    assert remember("The gateway service listens on port 8443.") == "Remembered."
    assert "8443" in recall("Which port does the gateway service listen on?")
    assert recall("Who waters the plants?", tags="plants") == "Nothing is remembered about that."


def test_tools_of_a_store_in_trouble_say_so_to_the_model(broken_home):
    remember, recall = ag2.make_tools("team")

    assert "could not be remembered" in remember("A fact.")
    assert recall("Which port?") == "Nothing is remembered about that."


def test_a_teachable_agent_knows_tomorrow_what_it_was_told_today(mem, scope):
    user, pupil = Speaker("User"), Speaker("Pupil", "Understood.", system_message="You help.")
    ag2.MemctlTeachability(scope).add_to_agent(pupil)
    user.initiate_chat(pupil, message="I want all amounts in Swiss francs from now on, not in euros.", max_turns=1)

    later = Speaker("Pupil", "In Swiss francs.", system_message="You help.")
    ag2.MemctlTeachability(scope, max_num_retrievals=3).add_to_agent(later)
    Speaker("User").initiate_chat(later, message="In which currency do you write amounts?", max_turns=1)

    [[block]] = shown_blocks(later)
    assert "Swiss francs" in block["content"]
    assert later.system_message.startswith("You help.")
    assert "remember" in later.system_message


def test_teachability_can_start_afresh(mem, scope, home):
    mem.remember("Amounts are written in Swiss francs.", type="preference")

    ag2.MemctlTeachability(scope, path_to_db_dir=home, reset_db=True)

    assert mem.list() == ()


def test_a_program_with_autogens_teachability_needs_another_import_only(home):
    """The call is the one of AutoGen's own examples."""
    pupil = Speaker("pupil", "Understood.", system_message="You help.")
    options = {"verbosity": 0, "recall_threshold": 1.5, "max_num_retrievals": 10, "llm_config": False}
    ag2.MemctlTeachability(reset_db=True, path_to_db_dir=home, **options).add_to_agent(pupil)
    Speaker("User").initiate_chat(pupil, message="I want all amounts in Swiss francs from now on.", max_turns=1)

    assert [fact.agent for fact in Memory("pupil", home=home).list()] == ["pupil"]

    again = Speaker("pupil", "Yes.", system_message="You help.")
    ag2.MemctlTeachability(reset_db=True, path_to_db_dir=home).add_to_agent(again)
    assert Memory("pupil", home=home).list() == ()


def finished_chat(scope):
    admin, planner, critic = trio()
    manager = group(admin, planner, critic)
    with attach(manager, scope):
        admin.initiate_chat(manager, message="How often is the ledger backed up?")


def test_a_stored_chat_goes_on_with_its_manager(mem, scope):
    finished_chat(scope)
    admin, planner, critic = trio(HOSTING, "Agreed.")
    manager = group(admin, planner, critic, rounds=3)

    resumed = ag2.resume(manager, scope)

    assert resumed.agent is critic
    assert resumed.message["content"] == "Agreed, the ledger is backed up every night."
    assert [m["name"] for m in manager.groupchat.messages] == ["Admin", "Planner"]
    resumed.agent.initiate_chat(resumed.manager, message=resumed.message, clear_history=False)
    assert [m["content"] for m in planner.shown[0]][:2] == [
        "How often is the ledger backed up?",
        BACKUP,
    ]


def test_a_resumed_chat_that_is_learned_from_stays_one_transcript(mem, scope):
    finished_chat(scope)
    admin, planner, critic = trio(HOSTING, "Agreed.")
    manager = group(admin, planner, critic, rounds=3)
    with attach(manager, scope):
        resumed = ag2.resume(manager, scope)
        resumed.agent.initiate_chat(manager, message=resumed.message, clear_history=False)

    [entry] = mem._memory.store.transcripts(agent=scope)
    assert entry.messages == 5
    assert any("Hetzner" in fact.text for fact in mem.list())


def test_a_group_chat_without_a_manager_gets_one(scope):
    finished_chat(scope)
    admin, planner, critic = trio(HOSTING, "Agreed.")
    chat = group(admin, planner, critic).groupchat

    agent, message, manager = ag2.resume(chat, scope, llm_config=False)

    assert agent is critic
    assert manager.groupchat is chat
    assert message["name"] == "Critic"


def test_what_strangers_said_is_told_by_the_manager(scope):
    finished_chat(scope)
    admin, critic = Speaker("Admin"), Speaker("Critic", "Good.")
    manager = group(admin, critic)

    ag2.resume(manager, scope)

    assert manager.groupchat.messages[1]["content"] == f"Planner: {BACKUP}"
    assert manager.groupchat.messages[1]["name"] == manager.name


def test_a_chat_that_nobody_present_can_go_on_with_is_refused(scope):
    finished_chat(scope)

    with pytest.raises(UsageProblem):
        ag2.resume(group(Speaker("Admin"), Speaker("Planner")), scope)
    with pytest.raises(UsageProblem):
        ag2.resume(Speaker("Admin"), scope)
