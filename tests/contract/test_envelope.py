"""``--json`` prints one envelope, whatever the command and whether it went well."""

import pytest

KEYS = {"memctl", "command", "status", "data", "problems"}

READING = [
    ("list",),
    ("stats",),
    ("log",),
    ("conflicts",),
    ("check",),
    ("audit",),
    ("doctor",),
    ("config",),
    ("export",),
    ("state", "list"),
    ("transcript", "list"),
    ("diff", "2026-01-01", "2026-12-31"),
    ("sql", "SELECT count(*) AS facts FROM facts"),
    ("recall", "which language"),
    ("prune", "--dry-run"),
    ("schedule", "show", "chats"),
]


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    from tests.conftest import CommandLine

    command = CommandLine(tmp_path_factory.mktemp("envelope") / "home")
    assert command("remember", "The API is written in Go", "--agent", "global").code == 0
    return command


@pytest.mark.parametrize("arguments", READING, ids=" ".join)
def test_every_command_prints_one_envelope(filled, arguments):
    done = filled(*arguments, "--json")

    assert done.code == 0, done.err
    assert done.json.keys() == KEYS
    assert done.json["memctl"] == 1
    assert done.json["status"] == "ok"
    assert done.json["command"] == arguments[0]


def test_an_error_is_an_envelope_with_its_code_and_remedy(filled):
    done = filled("show", "ffffffff", "--json")

    assert done.code == 2
    assert done.json["status"] == "error"
    [problem] = done.json["problems"]
    assert problem.keys() == {"code", "message", "where", "remedy"}
    assert problem["code"] == "not_found"
    assert problem["remedy"]


def test_some_unreadable_inputs_make_a_partial_result(filled, tmp_path):
    good = '[{"name": "user", "role": "user", "content": "We use Fly."}]'
    (tmp_path / "good.json").write_text(good)
    (tmp_path / "bad.json").write_text('[{"name": "user", "content": "cut of')

    done = filled("ingest", tmp_path, "--json", "--agent", "partial")

    assert done.code == 1
    assert done.json["status"] == "partial"
    assert [problem["where"].endswith("bad.json") for problem in done.json["problems"]] == [True]
