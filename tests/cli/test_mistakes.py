"""Mistakes on the command line: one clear line, the right exit code, the envelope where JSON was asked for."""

import json
import os
import pty
import subprocess
import sys

import pytest

from tests.conftest import SAMPLES

WRONG = [
    (("list", "--limit", "-1"), "--limit"),
    (("list", "--nosuch"), "--nosuch"),
    (("--nosuch",), "--nosuch"),
    (("nosuch",), "nosuch"),
    (("show",), "ID"),
    (("state", "set", "key"), "VALUE"),
    (("state", "nosuch"), "nosuch"),
    (("serve", "--port", "99999"), "--port"),
    (("ingest", str(SAMPLES / "marginalia.plain.txt"), "--extractor", "nosuch"), "local or llm"),
    (("ingest", str(SAMPLES / "marginalia.plain.txt"), "--judge", "nosuch"), "local or llm"),
    (("ingest", str(SAMPLES / "marginalia.plain.txt"), "--format", "nosuch"), "no format 'nosuch'"),
    (("remember", "x", "--at", "never"), "at 'never'"),
]


@pytest.mark.parametrize(("arguments", "named"), WRONG, ids=lambda value: " ".join(value)[-30:])
def test_a_mistake_is_one_line_that_names_it_and_nothing_is_done(memctl, home, arguments, named):
    done = memctl(*arguments)

    assert (done.code, done.out) == (2, "")
    [said] = done.err.splitlines()
    assert said.startswith("memctl: ")
    assert named in said
    assert not home.exists()


def test_a_mistake_is_an_envelope_where_json_was_asked_for(memctl):
    done = memctl("list", "--limit", "-1", "--json")

    assert done.code == 2
    assert (done.json["command"], done.json["status"]) == ("list", "error")
    [problem] = done.json["problems"]
    assert (problem["code"], problem["remedy"]) == ("usage", "See memctl list --help.")


def test_a_mistake_before_the_command_is_an_envelope_too(memctl):
    done = memctl("--json", "list")

    assert done.code == 2
    assert (done.json["status"], done.json["problems"][0]["code"]) == ("error", "usage")


@pytest.mark.parametrize("command", ["remember", "recall"])
def test_a_line_of_standard_input_is_named_in_words(memctl, command):
    done = memctl(command, "--from", "-", stdin="no JSON\n")

    assert done.code == 3
    assert done.err.startswith("memctl: Cannot read standard input: ")


def test_one_memory_that_would_go_is_spoken_of_as_one(memctl):
    memctl("remember", "The API is written in Go")

    done = memctl("forget", "--query", "language of the API")

    assert done.code == 2
    assert "memctl: 1 memory would go." in done.err


def test_no_command_at_all_shows_the_help(memctl):
    done = memctl()

    assert done.code == 2
    assert "Example: memctl ingest" in done.err
    assert "Commands:" in done.err


def test_a_value_may_begin_with_a_minus(memctl):
    assert memctl("state", "set", "offset", "-5").code == 0
    assert memctl("state", "get", "offset").json == -5
    assert memctl("config", "set", "recall.floor", "-0.5").code == 0


@pytest.mark.parametrize(
    ("options", "empty"),
    [
        (("--format", "markdown"), ""),
        (("--format", "messages"), []),
        (("--format", "jsonl"), ""),
        (("--json",), ""),
    ],
)
def test_an_answer_that_comes_too_late_is_an_empty_one_in_the_form_that_was_asked_for(memctl, options, empty):
    memctl("remember", "The API is written in Go")

    done = memctl("recall", "language of the API", "--timeout", "0.001s", *options)

    assert done.code == 0
    assert "no answer within" in done.err
    if "markdown" in options:
        assert done.out == empty
    elif "messages" in options:
        assert done.json == empty
    else:
        block = done.json.get("data", done.json)
        assert (block["query"], block["text"], block["facts"]) == ("language of the API", empty, [])


@pytest.mark.parametrize("command", [("import",), ("remember", "--from"), ("recall", "--from")], ids=" ".join)
def test_a_file_of_another_kind_is_refused_as_a_whole(memctl, command):
    done = memctl(*command, SAMPLES / "quillmark-3.console.txt")

    assert done.code == 3
    [said] = done.err.splitlines()
    assert "line 1: not JSON" in said


def test_a_line_that_is_none_is_named_and_the_others_count(memctl, tmp_path):
    (tmp_path / "facts.jsonl").write_text('{"text": "The API is written in Go"}\nThe API is old\n')

    done = memctl("remember", "--from", tmp_path / "facts.jsonl", "--json")

    assert done.code == 1
    assert len(done.json["data"]["verdicts"]) == 1
    [problem] = done.json["problems"]
    assert problem["message"].endswith("facts.jsonl, line 2: not JSON.")


def test_a_dry_run_restores_no_backup(memctl, tmp_path):
    memctl("remember", "The API is written in Go")
    assert memctl("backup", tmp_path / "copy").code == 0

    done = memctl("restore", "--backup", tmp_path / "copy", "--dry-run", MEMCTL_HOME=str(tmp_path / "other"))

    assert done.code == 2
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("recall.limit", "0"),
        ("recall.limit", "many"),
        ("recall.floor", "nan"),
        ("recall.recency_days", "inf"),
        ("undo.keep", "long"),
        ("ttl.temporary", "soon"),
        ("extraction.extractor", "nosuch"),
        ("redact.patterns", "("),
        ("redact.emails", "perhaps"),
        ("agent", " "),
    ],
)
def test_a_setting_takes_only_what_it_can_mean(memctl, name, value):
    done = memctl("config", "set", name, value)

    assert done.code == 2
    assert f"{name} cannot be" in done.err
    assert "it must be" in done.err


def test_a_wrong_setting_is_named_with_the_way_to_mend_it(memctl, home):
    memctl("config", "set", "recall.limit", "5")
    (home / "config.toml").write_text('undo.keep = "long"\n')

    assert "memctl config unset undo.keep" in memctl("config").err
    assert "Change MEMCTL_UNDO_KEEP." in memctl("config", MEMCTL_UNDO_KEEP="long").err
    assert memctl("config", "unset", "undo.keep").code == 0


def test_expressions_with_a_comma_are_given_as_a_json_list(memctl):
    done = memctl("config", "set", "redact.patterns", '["id-[0-9]{2,4}", "x"]', "--json")

    assert done.json["data"][0]["value"] == ["id-[0-9]{2,4}", "x"]
    assert json.loads(memctl("config", "--json").out)["status"] == "ok"


@pytest.mark.parametrize(
    "locale", [{"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, {"PYTHONIOENCODING": "ascii"}]
)
@pytest.mark.parametrize(
    "command", [("list",), ("list", "--json"), ("recall", "street"), ("recall", "--from", "-")], ids=" ".join
)
def test_an_old_locale_is_no_reason_to_fail(memctl, locale, command):
    memctl("remember", "The street is called Müllerstraße, in Japanese 通り")

    done = memctl(*command, stdin='{"query": "street"}', **locale)

    assert done.code == 0, done.err
    assert ("Müllerstraße" if "LC_ALL" in locale else "M?llerstra?e") in done.out


@pytest.mark.parametrize("command", ["list", "recall street", "state list --json"])
def test_closed_streams_are_no_reason_to_fail(memctl, command):
    memctl("remember", "The street is called Long Lane")

    done = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m memctl {command} <&- >&-"],
        env=memctl.env(),
        capture_output=True,
        text=True,
    )

    assert (done.returncode, done.stderr) == (0, "")


def test_a_question_that_is_left_without_an_answer_changes_nothing(memctl):
    memctl("remember", "The API is written in Go")
    [fact] = memctl("export").lines
    screen, terminal = pty.openpty()
    os.write(screen, b"\x04")  # the end of input, as people type it

    done = subprocess.run(
        [sys.executable, "-m", "memctl", "forget", fact["id"], "--purge"],
        stdin=terminal,
        env=memctl.env(),
        capture_output=True,
        text=True,
        timeout=120,
    )

    assert done.returncode == 130
    assert "interrupted" in done.stderr
    assert memctl("export").lines == [fact]
