"""What the installed libraries write is what the readers read."""

import asyncio
import contextlib
import dataclasses
import io
import json
import logging

import pytest

from memctl.model import Role
from memctl.transcripts import read


@pytest.fixture(scope="module")
def team_run():
    """Run a real AgentChat team without a model; give its result, its state and its console text."""
    pytest.importorskip("autogen_agentchat")
    replay = pytest.importorskip("autogen_ext.models.replay")
    from autogen_agentchat.agents import AssistantAgent
    from autogen_agentchat.conditions import MaxMessageTermination
    from autogen_agentchat.teams import RoundRobinGroupChat
    from autogen_agentchat.ui import Console

    def agent(name, *lines):
        return AssistantAgent(name, model_client=replay.ReplayChatCompletionClient(list(lines)))

    async def run():
        members = [agent("Planner", "We typeset with Typst."), agent("Coder", "Fine, Typst 0.13 then.")]
        team = RoundRobinGroupChat(members, termination_condition=MaxMessageTermination(3))
        result = await Console(team.run_stream(task="Choose the engine."))
        return result, await team.save_state()

    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        result, state = asyncio.run(run())
    return result, state, printed.getvalue()


EXPECTED = [
    ("user", Role.USER, "Choose the engine."),
    ("Planner", Role.AGENT, "We typeset with Typst."),
    ("Coder", Role.AGENT, "Fine, Typst 0.13 then."),
]


def heard(data):
    (transcript,) = read("run", data.encode())
    return transcript.format, [(m.speaker, m.role, m.text) for m in transcript.messages]


def test_every_way_to_save_an_agentchat_run_reads_the_same(team_run):
    result, state, printed = team_run
    saved = {
        "task-result": result.model_dump_json(),
        "team-state": json.dumps(state, default=str),
        "agentchat": "\n".join(message.model_dump_json() for message in result.messages),
        "agentchat-console": printed,
    }
    for form, data in saved.items():
        assert heard(data) == (form, EXPECTED)


def test_the_repr_of_a_real_task_result_reads_the_same(team_run):
    assert heard(repr(team_run[0])) == ("task-result", EXPECTED)


@contextlib.contextmanager
def printing_to(stream):
    """AG2 prints through a logger that keeps the stdout of the time when it was first imported."""
    handlers = [
        handler
        for handler in logging.getLogger("ag2.event.processor").handlers
        if type(handler).__name__ == "EventStreamHandler"
    ]
    before = [handler.stream for handler in handlers]
    for handler in handlers:
        handler.stream = stream  # not setStream, which flushes the old one: another test may have closed it
    try:
        yield
    finally:
        for handler, old in zip(handlers, before, strict=True):
            handler.stream = old


@pytest.fixture(scope="module")
def group_chat(tmp_path_factory):
    """Run a real AG2 classic group chat without a model, with its logger on."""
    autogen = pytest.importorskip("autogen", reason="AG2 classic is not installed")
    if not hasattr(autogen, "GroupChat"):
        pytest.skip("this autogen has no group chat")
    folder = tmp_path_factory.mktemp("logs")

    def agent(name, reply):
        return autogen.ConversableAgent(name, llm_config=False, human_input_mode="NEVER", default_auto_reply=reply)

    with contextlib.chdir(folder):
        autogen.runtime_logging.start(logger_type="sqlite", config={"dbname": "logs.db"})
        members = [
            agent("Admin", "Go on."),
            agent("Planner", "We typeset with Typst."),
            agent("Coder", "Fine. TERMINATE"),
        ]
        chat = autogen.GroupChat(members, messages=[], max_round=3, speaker_selection_method="round_robin")
        manager = autogen.GroupChatManager(chat, llm_config=False)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), printing_to(printed):
            result = members[0].initiate_chat(manager, message="Choose the engine.")
        autogen.runtime_logging.stop()
    return chat, result, printed.getvalue(), (folder / "logs.db").read_bytes()


SPOKEN = [
    ("Admin", Role.USER, "Choose the engine."),
    ("Planner", Role.AGENT, "We typeset with Typst."),
    ("Coder", Role.AGENT, "Fine."),
]


def test_every_way_to_save_a_classic_group_chat_reads_the_same(group_chat):
    chat, result, printed, _ = group_chat
    saved = [json.dumps(chat.messages), str(chat.messages), json.dumps(dataclasses.asdict(result)), printed]
    for data in saved:
        assert heard(data)[1] == SPOKEN


def test_the_log_database_of_a_real_run_reads_the_same(group_chat):
    (transcript,) = read("logs.db", group_chat[3])
    assert [(m.speaker, m.role, m.text) for m in transcript.messages] == SPOKEN
    assert all(m.at for m in transcript.messages)
