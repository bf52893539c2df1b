"""What people see on a terminal of eighty columns: tables that fit, and no more rows than can be read."""

import os
import pty
import re
from collections.abc import Callable
from contextlib import redirect_stdout

import pytest

from memctl.model import Result
from memctl.operations.ingest import FileReport, Ingested
from memctl.render import show

COUNTED = ("add", "refresh", "supersede", "contest", "skip", "quarantine")


@pytest.fixture
def on_terminal(monkeypatch: pytest.MonkeyPatch) -> Callable[[Result], list[str]]:
    """The lines that a real terminal is given for a result, without colours."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")

    def lines(result: Result) -> list[str]:
        screen, terminal = pty.openpty()
        os.set_blocking(screen, False)
        shown = b""
        with os.fdopen(terminal, "w", encoding="utf-8") as out, redirect_stdout(out):
            show(result)
            out.flush()
            while True:
                try:
                    shown += os.read(screen, 65536)
                except BlockingIOError:
                    break
        os.close(screen)
        plain = re.sub(r"\x1b\[[0-9;]*m", "", shown.decode())
        return [line.rstrip() for line in plain.replace("\r\n", "\n").split("\n")]

    return lines


def ingested(*files: FileReport) -> Result[Ingested]:
    return Result("ingest", Ingested("payments-team", files, dict.fromkeys(COUNTED, 0), {}))


def read(number: int) -> FileReport:
    return FileReport(f"chats/of/a/long/summer/{number:04d}.json", "read", "groupchat", 12, 12, {"add": 2})


def test_a_few_files_have_a_row_each_and_the_table_fits(on_terminal):
    broken = FileReport("chats/broken.json", "unreadable")

    lines = on_terminal(ingested(read(1), read(2), broken))

    assert max(map(len, lines)) <= 80
    assert sum("groupchat" in line for line in lines) == 2
    assert sum("unreadable" in line for line in lines) == 1


def test_a_great_many_files_have_a_row_a_kind_with_their_sums(on_terminal):
    broken = FileReport("chats/broken.json", "unreadable")

    lines = on_terminal(ingested(*(read(number) for number in range(300)), broken))

    assert len(lines) < 12
    assert max(map(len, lines)) <= 80
    [row] = [line.split() for line in lines if "groupchat" in line]
    assert row == ["read", "groupchat", "300", "3600", "600", "0", "0"]


def test_scripts_get_a_line_a_file_however_many_there_are(capsys):
    show(ingested(*(read(number) for number in range(300))))

    *files, total = capsys.readouterr().out.splitlines()
    assert len(files) == 300
    assert files[7].split("\t") == ["chats/of/a/long/summer/0007.json", "read", "groupchat", "12", "2", "0", "0"]
    assert total.startswith("payments-team: 3,600 new messages")
