"""Commands through a server: the same bytes, the same codes, and never worse than without one."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from memctl import client
from memctl.settings import home_location
from tests.conftest import NOW, CommandLine, Done
from tests.server.conftest import FACTS, Served, id_of, short_folder

OVENS = id_of(FACTS[0][1])
HIDDEN = "hidden.sock"


@pytest.fixture
def alone(served: Served) -> Iterator[CommandLine]:
    """The command line on the same home, unable to find the server."""
    moved = served.home / HIDDEN
    served.socket.rename(moved)
    yield served.command_line
    moved.rename(served.socket)


def both(served: Served, *arguments: str, stdin: str | None = None, **environment: str) -> tuple[Done, Done]:
    """Run a command through the server and without it."""
    through = served.command_line(*arguments, stdin=stdin, **environment)
    moved = served.home / HIDDEN
    served.socket.rename(moved)
    try:
        return through, served.command_line(*arguments, stdin=stdin, **environment)
    finally:
        moved.rename(served.socket)


@pytest.mark.parametrize(
    "arguments",
    [
        ["recall", "when are the ovens on", "--agent", "bakery-team"],
        ["recall", "bread", "--agent", "bakery-team", "--format", "json", "--limit", "2"],
        ["recall", "bread", "--agent", "bakery-team", "--json", "--explain"],
        ["recall"],
        ["recall", "bread", "--type", "nonsense"],
        ["list", "--agent", "bakery-team"],
        ["list", "--json", "--sort", "text"],
        ["list", "--state", "nonsense", "--json"],
        ["show", OVENS[:8]],
        ["show", "ffffffff"],
        ["why", OVENS[:8], "--json"],
        ["stats", "--no-such-option"],
        ["history", OVENS[:8]],
        ["conflicts"],
        ["state", "get", "nothing", "--agent", "bakery-team"],
    ],
    ids=" ".join,
)
def test_output_and_exit_code_are_the_same_with_and_without_a_server(served: Served, arguments: list[str]) -> None:
    through, here = both(served, *arguments)
    assert through == here


def test_many_questions_from_standard_input_go_through(served: Served) -> None:
    lines = '{"query": "ovens", "agent": "bakery-team"}\n{"query": "books", "agent": "library-team"}\n'
    through, here = both(served, "recall", "--from", "-", "--format", "jsonl", stdin=lines)
    assert through == here
    assert [line["query"] for line in through.lines] == ["ovens", "books"]


def test_the_clock_and_the_settings_are_the_callers(served: Served) -> None:
    later = {"MEMCTL_NOW": "2027-05-04T09:00:00Z", "MEMCTL_RECALL_LIMIT": "1", "MEMCTL_AGENT": "bakery-team"}
    through, here = both(served, "recall", "bread and ovens", "--json", **later)
    assert through == here
    assert through.json["data"]["agent"] == "bakery-team"
    assert len(through.json["data"]["facts"]) <= 1


def test_a_command_through_the_server_is_seen_in_its_metrics(served: Served) -> None:
    def forwarded() -> int:
        with served.client() as http:
            line = [part for part in http.get("/metrics").text.splitlines() if 'route="/v1/command"' in part]
            return int(line[0].split()[-1]) if line else 0

    before = forwarded()
    served.command_line("list")
    assert forwarded() == before + 1
    served.command_line("check")
    assert forwarded() == before + 1


def test_both_spellings_of_memctl_server_work(served: Served, tmp_path: Path) -> None:
    elsewhere = CommandLine(tmp_path / "other")
    for address in (served.url, str(served.socket), f"unix:{served.socket}"):
        done = elsewhere("list", "--agent", "library-team", MEMCTL_SERVER=address)
        assert (done.code, done.err) == (0, "")
        assert "Overdue books" in done.out


def test_a_command_that_runs_here_uses_the_memory_of_the_chosen_server(served: Served, tmp_path: Path) -> None:
    elsewhere = CommandLine(tmp_path / "other")
    done = elsewhere("export", "--agent", "library-team", MEMCTL_SERVER=str(served.socket))
    assert "Overdue books" in done.out
    assert not (tmp_path / "other").exists()


def test_a_server_that_is_not_there_is_said_and_the_local_memory_is_used(alone: CommandLine, served: Served) -> None:
    for address in ("http://127.0.0.1:9", str(served.home / "no.sock"), "ftp://nonsense"):
        done = alone("list", "--agent", "library-team", MEMCTL_SERVER=address)
        assert done.code == 0
        assert "Overdue books" in done.out
        assert "using the memory of this machine" in done.err


def test_a_socket_without_a_server_is_passed_over_in_silence(bakery: Path) -> None:
    folder = short_folder()
    shutil.copytree(bakery, folder / "home")
    code = "import socket,sys,os; s=socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); os._exit(9)"
    subprocess.run([sys.executable, "-c", code, str(folder / "home" / "serve.sock")], check=False)
    done = CommandLine(folder / "home")("list", "--agent", "library-team")
    shutil.rmtree(folder)
    assert (done.code, done.err) == (0, "")
    assert "Overdue books" in done.out


def test_a_time_limit_is_kept_by_this_side(served: Served, tmp_path: Path) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as deaf:
        address = f"http://127.0.0.1:{deaf.getsockname()[1]}"
        done = CommandLine(tmp_path)("recall", "bread", "--timeout", "0.3s", MEMCTL_SERVER=address)
    assert (done.code, done.out) == (0, "")
    assert "no answer within 0.3 s" in done.err
    through = served.command_line("recall", "ovens", "--agent", "bakery-team", "--timeout=30s")
    assert through == served.command_line("recall", "ovens", "--agent", "bakery-team")


def test_a_broken_pipe_is_no_error(served: Served) -> None:
    command = f"{sys.executable} -m memctl list --json | head -c 1"
    done = subprocess.run(["sh", "-c", command], env=served.command_line.env(), capture_output=True)
    assert done.stderr == b""


def test_the_way_through_a_server_imports_next_to_nothing(served: Served) -> None:
    code = (
        "import sys; from memctl import client; code = client.try_server(sys.argv[1:]);"
        "print(code, [name for name in sys.modules if name.split('.')[0] in"
        " {'typer', 'rich', 'pathlib', 'http', 'email', 'asyncio', 'numpy', 'lance', 'platformdirs', 'subprocess'}"
        " and name != 'pathlib'], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "list"], env=served.command_line.env(), capture_output=True, text=True
    )
    assert done.stderr.strip() == "0 []"


@pytest.mark.parametrize(
    ("argv", "goes"),
    [
        (["recall", "x"], True),
        (["recall", "--from", "-"], True),
        (["recall", "--from=-"], True),
        (["recall", "--from", "file.jsonl"], False),
        (["remember", "--from=file.jsonl"], False),
        (["recall", "x", "--timeout", "soon"], False),
        (["ingest", "chat.json"], False),
        (["forget", "abc"], False),
        (["serve"], False),
        ([], False),
    ],
)
def test_only_commands_without_files_of_their_own_go_through(argv: list[str], goes: bool) -> None:
    assert client.forwards(argv) is goes


@pytest.mark.parametrize("home", ["", "~/somewhere", "/srv/memory"])
def test_the_thin_client_and_the_settings_name_the_same_home(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMCTL_HOME", home)
    assert client.home_folder() == home_location()


def test_a_server_on_another_machine_is_not_given_files_of_this_one(tmp_path: Path) -> None:
    done = CommandLine(tmp_path)("ingest", "chat.json", MEMCTL_SERVER="http://192.0.2.1:8765")
    assert done.code == 2
    assert len(done.err.splitlines()) == 1


def test_commands_side_by_side_do_not_mix_their_words(served: Served) -> None:
    texts = {agent: text for agent, text, _ in FACTS}
    agents = ["bakery-team", "library-team", "global", "bakery-team/planner"] * 3
    running = [
        subprocess.Popen(
            [sys.executable, "-m", "memctl", "list", "--agent", agent],
            env={**os.environ, "MEMCTL_HOME": str(served.home), "MEMCTL_NOW": NOW},
            stdout=subprocess.PIPE,
            text=True,
        )
        for agent in agents
    ]
    for agent, process in zip(agents, running, strict=True):
        out, _ = process.communicate(timeout=60)
        assert texts[agent] in out
        assert all(line.split("\t")[4] == agent for line in out.splitlines())
