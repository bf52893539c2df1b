"""What people see on a terminal of eighty columns: tables that fit, and no more rows than can be read."""

import os
import pty
import re
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from memctl.model import Fact, Interval, MemoryType, Result, State
from memctl.operations.curate import Conflict
from memctl.operations.ingest import FileReport, Ingested
from memctl.operations.looking import Explanation, Shown
from memctl.operations.state import Stored
from memctl.operations.timeline import Undone
from memctl.render import show
from memctl.render.drawing import fitted
from memctl.settings import load
from memctl.store.types import Run

MONDAY = datetime(2026, 5, 4, 9, tzinfo=UTC)
SENTENCE = "Finished files go to the share in the office instead of the bucket, because the bucket is too expensive."
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


def test_files_of_one_folder_have_short_names_and_only_the_columns_that_count_something(on_terminal):
    lines = on_terminal(ingested(read(1), read(2)))

    assert lines[0] == "in chats/of/a/long/summer/"
    assert [line.split() for line in lines if "json" in line] == [
        ["0001.json", "read", "groupchat", "12", "2"],
        ["0002.json", "read", "groupchat", "12", "2"],
    ]


def test_a_folder_without_files_is_no_silent_success(on_terminal):
    assert on_terminal(ingested())[0] == "There are no files to read."


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


def fact(name: str) -> Fact:
    held = (Interval(MONDAY),)
    kind, state = MemoryType.DECISION, State.CONTESTED
    return Fact(name * 16, "team", SENTENCE, kind, state, MONDAY, MONDAY, MONDAY, held=held)


def why(asked: Fact) -> Result[Explanation]:
    return Result("why", Explanation(asked, ()))


def run(number: int, **fate: str) -> Run:
    args = "quillmark: chats/of/a/long/summer/and-a-long-name-of-a-file.groupchat.json"
    name = f"20260504T090000-{number:05d}"
    return Run(name, "state delete", args, MONDAY, MONDAY, {}, 1, number, facts_added=12, facts_changed=3, **fate)


def test_the_log_fits_and_shows_every_run_whole(on_terminal):
    runs = (run(3, undoes="20260504T090000-00002"), run(2, undone_by="20260504T090000-00003"), run(1))

    lines = on_terminal(Result("log", runs))

    assert max(map(len, lines)) <= 80
    assert [line.split()[0] for line in lines if line.startswith("2026")] == [one.id for one in runs]


def test_a_long_value_leaves_room_for_its_key_and_its_end(on_terminal):
    stored = Stored("team", "last-title", {"words": ["many"] * 40}, MONDAY, MONDAY)

    lines = on_terminal(Result("state", (stored,)))

    assert max(map(len, lines)) <= 80
    assert any(line.startswith("last-title ") and line.endswith("2026-05-04 09:00") for line in lines)


def test_settings_are_readable_with_what_they_mean(on_terminal, home):
    lines = on_terminal(Result("config", tuple(load().all())))

    assert max(map(len, lines)) <= 80
    assert lines[lines.index('agent = "global"') + 1] == "    the scope that commands use when --agent is not given"


def test_rows_that_are_too_wide_are_written_below_each_other(on_terminal):
    columns = [f"column_{number}" for number in range(12)]

    lines = on_terminal(Result("sql", {"columns": columns, "rows": [["a" * 16] * 12]}))

    assert [line.split() for line in lines if line] == [[name, "a" * 16] for name in columns]


def test_narrow_columns_keep_their_width_beside_wide_ones():
    widths = fitted(("id", "text", "said"), [("a" * 16, "b" * 300, "c" * 20)], 80)

    assert widths == [16, 38, 20]
    assert fitted(("id", "text"), [("a" * 16, "b" * 10)], 80) == [16, 10]
    assert fitted(("id", "text"), [("a" * 70, "b" * 100)], 80, "text") is None


def test_a_long_line_is_broken_between_words_below_its_beginning(on_terminal):
    lines = on_terminal(Result("show", Shown(fact("a"), 0.5, 0.1, (fact("b"),))))

    assert max(map(len, lines)) <= 80
    assert " ".join(line.strip() for line in lines[:2]) == SENTENCE
    assert "  contested: bbbbbbbb Finished" in lines[-3]
    assert lines[-2].startswith("    ")


def test_a_memory_that_was_never_recalled_says_so(on_terminal):
    lines = on_terminal(Result("show", Shown(fact("a"), 0.5, 0.1)))

    assert "  recalled    never" in lines


def test_why_names_the_rule_behind_the_reason(on_terminal):
    replaced = replace(fact("a"), state=State.SUPERSEDED, because="replaced by “B”", rule="supersede", score=0.94)
    pinned = replace(fact("a"), state=State.ACTIVE, because="pinned by hand", rule="by hand")

    assert "superseded: replaced by “B” (rule: supersede, score 0.94)" in on_terminal(why(replaced))
    assert "active: pinned by hand" in on_terminal(why(pinned))


def test_an_undo_tells_what_goes_from_what_is_as_before(on_terminal):
    assert on_terminal(Result("undo", Undone(("run-1",), 3, dry_run=True, removed=2)))[0] == (
        "Would take back run-1: 2 memories taken out, 1 memory as before."
    )


def test_scripts_get_the_sides_of_a_conflict_as_columns(capsys):
    show(Result("conflicts", (Conflict((fact("a"), fact("b"))),)))

    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert [row[:3] for row in rows] == [["1", "a" * 16, "2026-05-04"], ["1", "b" * 16, "2026-05-04"]]


def test_scripts_are_told_what_a_number_counts(capsys):
    show(Result("stats", {"facts": 3, "by_type": {"decision": 2, "fact": 1}, "bytes": 2_000_000}))

    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert rows == [["facts", "", "3"], ["by_type", "decision", "2"], ["by_type", "fact", "1"], ["bytes", "", "2.0 MB"]]
