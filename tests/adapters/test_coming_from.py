"""Every program of docs/coming-from.md runs as it stands, and does what the text around it says."""

import re
from pathlib import Path

import pytest

from memctl import Memory

PAGE = (Path(__file__).parents[2] / "docs" / "coming-from.md").read_text(encoding="utf-8")
PROGRAMS = dict(zip(re.findall(r"^## (.+)$", PAGE, re.M), re.findall(r"```python\n(.*?)```", PAGE, re.S), strict=True))


def run(capsys, beginning):
    [program] = [code for title, code in PROGRAMS.items() if title.startswith(beginning)]
    exec(compile(program, f"docs/coming-from.md: {beginning}", "exec"), {"__name__": "__main__"})
    return capsys.readouterr().out


@pytest.mark.parametrize("title", PROGRAMS)
def test_every_program_stands_by_itself(title):
    assert "import" in PROGRAMS[title]


def test_a_group_chat_starts_with_what_the_last_one_decided(capsys):
    out = run(capsys, "… 0Latency")

    assert "PostgreSQL 16" in out.split("<memctl-memory")[-1]


def test_types_and_lifetimes_are_kept(capsys):
    out = run(capsys, "… Kronvex")

    assert "an answer to" in out
    assert "bullet points" in out
    facts = Memory("support").list()
    assert {str(fact.type) for fact in facts} >= {"preference", "temporary"}
    assert any(fact.expires_at for fact in facts)


def test_tools_remember_and_recall_with_tags(capsys):
    out = run(capsys, "… Memstore")

    assert "Remembered." in out
    assert "30 June" in out
    assert set(Memory("research-team").list()[0].tags) == {"survey", "deadlines"}


def test_state_survives_a_restart(capsys):
    out = run(capsys, "… BotWire")

    assert "['index', 'about', 'prices']" in out
    assert Memory("crawler").state.get("status") == {"phase": "read", "pages": 3}
    assert Memory("crawler").list() == ()


def test_a_prompt_is_built_from_what_matters(capsys):
    out = run(capsys, "… a SQLite table")

    assert "metric" in out.split("<memctl-memory")[-1]
    assert len(Memory("tutor").transcript(format="json").messages) == 4


def test_an_agentchat_team_knows_what_it_decided(capsys):
    out = run(capsys, "… AgentChat")

    assert "MemoryQueryEvent" in out


def test_a_pupil_is_told_that_it_can_remember(capsys):
    out = run(capsys, "… Teachability")

    assert "remember" in out
    assert any("day.month.year" in fact.text for fact in Memory("pupil").list())
