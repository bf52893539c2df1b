"""The programs in examples/ run as a user runs them, and the second run knows what the first decided."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
LEARNED = {"ag2_groupchat.py": "RabbitMQ", "agentchat_team.py": "spreadsheets"}


def run(name):
    environment = {key: value for key, value in os.environ.items() if key != "OPENAI_API_KEY"}
    done = subprocess.run(
        [sys.executable, EXAMPLES / name], env=environment, capture_output=True, text=True, timeout=180
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_example_is_run():
    assert {path.name for path in EXAMPLES.iterdir() if path.suffix in (".py", ".sh")} == set(LEARNED)


@pytest.mark.parametrize("name", LEARNED)
def test_an_example_learns_what_it_decides(name):
    out = run(name)

    assert LEARNED[name] in out.split("Known now:")[1]


def test_the_second_run_begins_with_what_the_first_decided():
    run("ag2_groupchat.py")

    assert "RabbitMQ" in run("ag2_groupchat.py").split("Known now:")[0].split("User (to")[0]
