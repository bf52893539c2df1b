"""Keys are random, kept as digests, private, and gone when revoked."""

import os
import stat
from pathlib import Path

import pytest

from memctl.errors import ClosedStore, NotFound, ReadOnlyStore, UsageProblem
from memctl.server.keys import KeyFile, KeysUnreadable, keys_path
from tests.conftest import CommandLine

NOW = "2026-05-04T09:00:00Z"


@pytest.fixture
def keys(tmp_path: Path) -> KeyFile:
    return KeyFile(tmp_path / "home" / "keys.json")


def made(keys: KeyFile, agent: str | None = "team", name: str = "") -> str:
    return keys.create(agent, name=name, read_only=False, now=NOW)[1]


def test_a_token_opens_the_scope_it_was_made_for(keys: KeyFile) -> None:
    token = made(keys, "bakery-team")
    made(keys, "library-team")
    found = keys.match(token)
    assert found is not None
    assert found.access().scope == "bakery-team"


def test_another_token_opens_nothing(keys: KeyFile) -> None:
    token = made(keys)
    assert keys.match(token[:-1] + "x") is None
    assert keys.match("") is None
    assert keys.match("\udcff") is None


def test_the_token_is_kept_nowhere_and_the_file_is_private(keys: KeyFile) -> None:
    token = made(keys)
    assert token not in keys.path.read_text()
    assert stat.S_IMODE(keys.path.stat().st_mode) == 0o600


def test_a_revoked_key_is_refused_by_those_who_have_the_file_open(keys: KeyFile) -> None:
    token = made(keys, name="ci")
    watching = KeyFile(keys.path)
    assert watching.match(token) is not None
    keys.revoke("ci")
    assert watching.match(token) is None


def test_revoking_needs_one_key(keys: KeyFile) -> None:
    made(keys, name="twin")
    made(keys, name="twin")
    with pytest.raises(UsageProblem):
        keys.revoke("twin")
    with pytest.raises(NotFound):
        keys.revoke("nobody")


def test_a_damaged_key_file_shuts_the_door(keys: KeyFile) -> None:
    token = made(keys)
    keys.path.write_text("{")
    with pytest.raises(KeysUnreadable):
        keys.match(token)


def test_keys_of_a_memory_on_an_object_store_lie_beside_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMCTL_CONFIG", f"{os.sep}etc{os.sep}memctl{os.sep}config.toml")
    assert keys_path("s3://bucket/team") == Path("/etc/memctl/keys.json")


def test_the_command_line_makes_lists_and_revokes(memctl: CommandLine) -> None:
    token = memctl("key", "create", "--agent", "bakery-team", "--read-only", "--name", "ci").out.strip()
    assert token.startswith("mctl_")
    listed = memctl("key", "list", "--json").json["data"]["keys"]
    assert [(row["name"], row["agent"], row["read_only"]) for row in listed] == [("ci", "bakery-team", True)]
    assert token not in str(listed)
    assert memctl("key", "revoke", "ci").code == 0
    assert memctl("key", "list", "--json").json["data"]["keys"] == []


def test_a_key_needs_a_scope_or_the_word_that_it_is_for_all(memctl: CommandLine) -> None:
    assert memctl("key", "create").code == 2
    assert memctl("key", "create", "--agent", "a", "--all-scopes").code == 2


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can become somebody else")
def test_a_folder_of_somebody_else_is_said_and_not_a_fault(keys: KeyFile) -> None:
    keys.create("team", name="ci", read_only=False, now="2026-05-04T09:00:00Z")
    os.seteuid(65534)
    try:
        with pytest.raises(ClosedStore):
            KeyFile(keys.path).all()
    finally:
        os.seteuid(0)


def test_keys_that_cannot_be_written_are_said_and_not_a_fault(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ReadOnlyStore):
        KeyFile(tmp_path / "file" / "keys.json").create("team", name="ci", read_only=False, now="2026-05-04T09:00:00Z")


def test_revoking_the_last_key_shuts_the_door_of_those_who_have_the_file_open(keys: KeyFile) -> None:
    assert not keys.needed
    token = made(keys, name="only")
    assert keys.needed

    KeyFile(keys.path).revoke("only")

    assert keys.needed
    assert keys.match(token) is None
    assert not KeyFile(keys.path).needed
