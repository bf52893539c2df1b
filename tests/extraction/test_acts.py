"""What a turn does, and who speaks."""

import pytest

from memctl.extraction import acts
from memctl.model import Message, Role, ToolCall


@pytest.mark.parametrize("text", ["Shall we?", "¿Vale?", "要不要升级？", 'Did he say "now?"'])
def test_questions_are_known(text):
    assert acts.is_question(text)


@pytest.mark.parametrize(
    "text", ["Thanks!", "Good morning", "TERMINATE", "谢谢", "Danke dir", "Gracias a todos", "Got it."]
)
def test_courtesies_are_known(text):
    assert acts.is_courtesy(text)


@pytest.mark.parametrize(
    "text", ["Thanks to the cache we answer in 20 ms now.", "We use Redis.", "谢谢大家把数据库迁移到新的服务器上"]
)
def test_what_says_something_is_no_courtesy(text):
    assert not acts.is_courtesy(text)


@pytest.mark.parametrize(
    "text", ["Yes, do that.", "ok", "Agreed, B it is.", "Einverstanden.", "Vale.", "fechado", "好的，就这样"]
)
def test_agreement_is_known(text):
    assert acts.accepts(text)
    assert not acts.refuses(text)


@pytest.mark.parametrize("text", ["No.", "No, we keep it.", "Nein, lieber nicht.", "不要", "Don't."])
def test_refusal_is_known(text):
    assert acts.refuses(text)
    assert not acts.accepts(text)


def message(speaker, text, role=Role.USER, **more):
    return Message(0, speaker, role, text, **more)


def test_roles_names_and_manners_tell_people_from_agents_and_tools():
    found = acts.kinds(
        [
            message("Jonas", "We use Redis."),
            message("FeatureAgent", "Sure."),
            message("Helper", "Here:", Role.AGENT),
            message("助手", "好的"),
            message("Mara", "## Plan\n\n**One**\n\n```x```"),
            message("Runner", "exitcode: 1 (execution failed)\nCode output:\nboom"),
            message("db", "42", Role.TOOL),
            message("Caller", "", tool_calls=(ToolCall("f"),)),
        ]
    )
    assert found == {
        "Jonas": "person",
        "FeatureAgent": "agent",
        "Helper": "agent",
        "助手": "agent",
        "Mara": "agent",
        "Runner": "tool",
        "db": "tool",
        "Caller": "agent",
    }


def test_a_speaker_who_writes_and_also_prints_output_is_an_agent():
    spoken = [message("Extractor", "We read 41 of 60 papers so far."), message("Extractor", "rows: 41", Role.TOOL)]
    assert acts.kinds(spoken) == {"Extractor": "agent"}
    assert acts.kinds(reversed(spoken)) == {"Extractor": "agent"}
