"""The Python way in: one Memory per scope, every operation, threads and asyncio."""

import asyncio
import threading

import pytest

from memctl import Memory
from memctl.errors import MemctlError, UsageProblem
from memctl.model import MemoryType, State
from memctl.transcripts import read

PARCELS = "Decision: parcels are shipped with DHL from 1 March."
KIOSK = "Decision: the kiosk restarts every Sunday at 03:00."
WAREHOUSE = "The warehouse in Bremen closes at six from now on."
CHAT = """User: Which database do we use for the ledger?
Architect: Final decision: the ledger service runs on PostgreSQL 16, not on MySQL.
User: Agreed, PostgreSQL 16 it is.
"""


def texts(facts):
    return " ".join(fact.text for fact in facts)


def test_what_is_remembered_is_recalled_in_a_fenced_block(mem):
    mem.remember("The billing service is deployed on Thursdays.", type="decision")

    block = mem.recall("when is billing deployed?")

    assert "Thursdays" in block.text
    assert block.text.startswith("<memctl-memory")
    assert block.hits[0].fact.type == MemoryType.DECISION


def test_a_memory_of_nothing_recalls_an_empty_block(mem):
    assert mem.recall("anything at all?").text == ""
    assert mem.list() == ()


def test_a_fresh_place_can_be_looked_at_before_anything_is_in_it(tmp_path):
    fresh = Memory("team", home=str(tmp_path / "new"))

    assert fresh.list() == ()
    assert fresh.recall("anything?").text == ""
    assert fresh.state.get("key", "none") == "none"
    assert fresh.state.list() == {}
    assert fresh.state.delete("key") is False
    assert not (tmp_path / "new").exists()


def test_learning_from_a_conversation_in_text_keeps_what_was_decided(mem):
    mem.add(CHAT)

    assert "PostgreSQL 16" in texts(mem.list())
    assert "PostgreSQL 16" in mem.recall("which database does the ledger use?").text


@pytest.mark.parametrize(
    "text",
    [
        "From now on we deploy on Fly.",
        "user: From now on we deploy on Fly.",
        "User: From now on we deploy on Fly.\nA: ok",
    ],
)
def test_what_one_side_said_is_kept_without_its_label(mem, text):
    mem.add(text)

    [fact] = mem.list()
    assert fact.text.startswith("From now on we deploy on Fly.")
    assert fact.speaker.lower() == "user"


def test_adding_a_conversation_twice_changes_nothing(mem):
    mem.add(CHAT, name="chat.txt")
    before = mem.list()
    again = mem.add(CHAT, name="chat.txt")

    assert again.files[0].status == "unchanged"
    assert mem.list() == before


def test_a_conversation_that_grew_is_read_from_where_it_ended(mem):
    turns = [
        {"role": "user", "name": "User", "content": KIOSK},
        {"role": "user", "name": "Planner", "content": "Understood."},
    ]
    mem.add(turns)
    grown = mem.add([*turns, {"role": "user", "name": "User", "content": PARCELS}])

    assert grown.files[0].status == "grown"
    assert grown.files[0].new_messages == 1
    assert len(mem.transcript(format="json").messages) == 3


@pytest.mark.parametrize(
    "conversation",
    [
        [("User", WAREHOUSE), ("Planner", "Noted, thank you.")],
        [{"role": "user", "content": WAREHOUSE}],
        {"messages": [{"role": "user", "name": "User", "content": WAREHOUSE}]},
        WAREHOUSE,
        b"User: The warehouse in Bremen closes at six from now on.\nPlanner: Noted, thank you.\n",
    ],
    ids=["pairs", "openai", "holder", "one-turn", "bytes"],
)
def test_conversations_come_in_many_shapes(mem, conversation):
    mem.add(conversation)

    assert "Bremen" in texts(mem.list())


def test_a_transcript_that_was_read_can_be_added(mem):
    [transcript] = read("chat.txt", CHAT.encode())

    mem.add(transcript)

    assert "PostgreSQL 16" in texts(mem.list())


def test_what_is_no_conversation_is_refused_with_a_remedy(mem):
    with pytest.raises(MemctlError) as caught:
        mem.add(42)

    assert caught.value.remedy


def test_a_memory_can_say_what_it_is_and_how_long_it_lasts(mem, monkeypatch):
    monkeypatch.setenv("MEMCTL_NOW", "2026-05-04T09:00:00Z")
    verdict = mem.remember("The staging cluster is down.", type="temporary", ttl_days=2, tags=["ops"]).verdicts[0]

    assert verdict.fact.expires_at.isoformat() == "2026-05-06T09:00:00+00:00"
    assert verdict.fact.tags == ("ops",)
    monkeypatch.setenv("MEMCTL_NOW", "2026-05-07T09:00:00Z")
    assert mem.recall("is staging down?").text == ""


def test_two_lifetimes_are_one_too_many(mem):
    with pytest.raises(UsageProblem):
        mem.remember("The staging cluster is down.", ttl="1d", ttl_days=1)


def test_recall_can_be_narrowed_by_tag_and_type(mem):
    mem.remember("The office has a red door.", type="fact", tags=["office"])
    mem.remember("The office plants are watered on Mondays.", type="decision", tags=["plants"])

    assert "red door" not in mem.recall("the office", tags="plants").text
    assert "watered" not in mem.recall("the office", types=["fact"]).text


def test_a_scope_sees_the_scopes_above_it_and_not_its_siblings(scope):
    team, coder, tester = Memory(scope), Memory(f"{scope}/coder"), Memory(f"{scope}/tester")
    team.remember("The release branch is called stable.", type="fact")
    coder.remember("The release script is called ship.sh.", type="fact")

    assert "stable" in coder.recall("what is the release branch called?").text
    assert "ship.sh" in coder.recall("what is the release script called?").text
    assert "ship.sh" not in tester.recall("what is the release script called?").text
    assert "ship.sh" not in team.recall("what is the release script called?").text


def test_context_is_put_in_front_of_a_prompt(mem):
    mem.remember("The customer portal speaks Portuguese.", type="fact")

    prompt = mem.inject_context("which language does the portal speak?", "Write the greeting.")

    assert prompt.startswith("<memctl-memory")
    assert prompt.endswith("Write the greeting.")
    assert mem.inject_context("which language does the portal speak?").startswith("<memctl-memory")


def test_context_is_put_among_messages_and_the_callers_list_stays_as_it_was(mem):
    mem.remember("The customer portal speaks Portuguese.", type="fact")
    messages = [
        {"role": "system", "content": "You write greetings."},
        {"role": "user", "content": "Which language does the portal speak?"},
    ]
    before = [dict(message) for message in messages]

    injected = mem.inject_context("which language does the portal speak?", messages)

    assert messages == before
    assert [message["role"] for message in injected] == ["system", "user", "user"]
    assert "Portuguese" in injected[1]["content"]
    assert injected[-1] is messages[-1]


def test_a_context_never_comes_between_a_tool_call_and_its_answer(mem):
    mem.remember("The customer portal speaks Portuguese.", type="fact")
    messages = [
        {"role": "user", "content": "Which language does the portal speak?"},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "function": {"name": "f"}}]},
        {"role": "tool", "tool_call_id": "1", "content": "…"},
    ]

    injected = mem.inject_context("which language does the portal speak?", messages)

    assert injected[1:] == messages


def test_nothing_known_injects_nothing(mem):
    messages = [{"role": "user", "content": "Hello"}]

    assert mem.inject_context("anything?", "The prompt.") == "The prompt."
    assert mem.inject_context("anything?", messages) == messages


def test_why_names_the_place_where_it_was_said(mem):
    mem.add(CHAT, name="ledger.txt")
    [fact] = [fact for fact in mem.list() if "PostgreSQL" in fact.text][:1]

    explained = mem.why(fact.id)

    assert explained.evidence[0].transcript == "ledger.txt"
    assert explained.evidence[0].speaker in ("Architect", "User")


def test_what_is_forgotten_is_recalled_no_more(mem):
    fact = mem.remember("The guest password is on the blue card.", type="fact").verdicts[0].fact
    mem.forget(fact.id[:10])

    assert "blue card" not in mem.recall("where is the guest password?").text
    assert [found.state for found in mem.list(states=["forgotten"])] == [State.FORGOTTEN]


def test_clearing_empties_this_scope_only(scope):
    team, coder = Memory(scope), Memory(f"{scope}/coder")
    team.remember("The release branch is called stable.", type="fact")
    coder.remember("The release script is called ship.sh.", type="fact")

    assert coder.clear() == 1
    assert coder.list() == ()
    assert len(team.list()) == 1


def test_working_state_is_shared_and_never_recalled(scope):
    one, other = Memory(scope), Memory(scope)
    one.state.set("step", {"number": 3, "done": ["plan", "build"]})
    one.state.set("stage/region", "north", ttl="1h")

    assert other.state.get("step") == {"number": 3, "done": ["plan", "build"]}
    assert other.state.list("stage/") == {"stage/region": "north"}
    assert other.state.delete("step") is True
    assert one.state.get("step", "gone") == "gone"
    assert one.recall("which region is it?").text == ""


def test_working_state_ends_with_its_time(mem, monkeypatch):
    monkeypatch.setenv("MEMCTL_NOW", "2026-05-04T09:00:00Z")
    mem.state.set("lock", "taken", ttl="10m")
    monkeypatch.setenv("MEMCTL_NOW", "2026-05-04T09:11:00Z")

    assert mem.state.get("lock") is None


def test_every_method_has_a_twin_for_asyncio(mem):
    async def day():
        await mem.aremember("The night shift starts at ten.", type="fact")
        await mem.aadd("User: Decision: the day shift starts at 06:00 from 1 March.\nPlanner: Noted, thank you.")
        await mem.state.aset("shift", "night")
        block = await mem.arecall("when does the night shift start?")
        prompt = await mem.ainject_context("when does the night shift start?", "Plan it.")
        facts = await mem.alist()
        await mem.aforget(facts[0].id)
        return block, prompt, facts, await mem.state.aget("shift"), await mem.aclear()

    block, prompt, facts, shift, cleared = asyncio.run(day())

    assert "ten" in block.text
    assert prompt.endswith("Plan it.")
    assert shift == "night"
    assert cleared == len(facts) - 1


def test_threads_share_a_memory_without_losing_anything(mem):
    told = [
        "The roof of the barn is painted red.",
        "Invoices are archived as PDF files.",
        "Nina looks after the greenhouse.",
        "The bakery opens at seven.",
        "Our mail server runs Postfix.",
    ]

    def tell(text):
        mem.remember(text, type="fact")
        mem.recall(text)

    threads = [threading.Thread(target=tell, args=(text,)) for text in told]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(fact.text for fact in mem.list()) == sorted(told)


def test_trouble_with_the_store_is_raised_or_where_asked_survived(broken_home, caplog):
    mem = Memory("team")

    with pytest.raises(MemctlError):
        mem.remember("The release branch is called stable.", type="fact")
    assert mem.recall("what is the release branch called?", safe=True).text == ""
    assert mem.inject_context("what is the release branch called?", "Go on.") == "Go on."


def test_a_memory_closes_behind_its_block_and_can_be_used_again(scope):
    with Memory(scope) as mem:
        mem.remember("The archive is in the cellar.", type="fact")

    assert "cellar" in mem.recall("where is the archive?").text


def test_memories_of_one_place_share_the_store_and_its_models(home):
    assert Memory("a")._memory is Memory("b", home=home)._memory
