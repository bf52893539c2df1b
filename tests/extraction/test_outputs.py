"""Tool output gives the cause of a failure and nothing else."""

import pytest

from memctl.extraction.outputs import error_units, exit_code, failed, is_output
from memctl.model import Message, Role, ToolResult

TRACEBACK = (
    "exitcode: 1 (execution failed)\nCode output:\nTraceback (most recent call last):\n"
    "  File \"/app/x.py\", line 3, in <module>\n    import lxml\nModuleNotFoundError: No module named 'lxml'\n"
)


def output(text, **more):
    return Message(0, "Executor", more.pop("role", Role.TOOL), text, **more)


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (
            TRACEBACK.replace("ModuleNotFoundError", "psycopg2.errors.UniqueViolation"),
            "psycopg2.errors.UniqueViolation: No module named 'lxml'",
        ),
        (TRACEBACK, "ModuleNotFoundError: No module named 'lxml'"),
        (
            "ERROR:  canceling statement due to statement timeout\nHINT: 30s",
            "ERROR: canceling statement due to statement timeout",
        ),
        ("HTTP 403 Forbidden – please log in", "HTTP 403 Forbidden – please log in"),
        ("exitcode: 137 (killed)\nCode output:\nreading a.csv\nKilled", "Killed"),
        (
            "2026-05-03T22:00:03Z sync ERROR tz: cannot resolve 'Europe/Linz'\n2026-05-03T22:00:04Z ok",
            "sync ERROR tz: cannot resolve 'Europe/Linz'",
        ),
    ],
)
def test_the_cause_is_found(text, cause):
    assert [unit.text for unit in error_units(output(text))] == [cause]


@pytest.mark.parametrize(
    "text",
    ["exitcode: 0 (execution succeeded)\nCode output:\n0 errors", "q | n\n1 | 2\n(1 row)", '{"state": "RUNNING"}', ""],
)
def test_output_that_reports_no_failure_gives_nothing(text):
    assert error_units(output(text)) == []


def test_a_flag_of_the_format_counts():
    flagged = output("disk quota exceeded: failed to write", tool_results=(ToolResult("x", is_error=True),))
    assert failed(flagged)
    assert exit_code(output("x", tool_results=(ToolResult("x", exit_code=3),))) == 3


def test_executors_that_speak_as_users_are_known_by_what_they_print():
    assert is_output(output(TRACEBACK, role=Role.USER))
    assert not is_output(output("The exit code was fine.", role=Role.USER))
