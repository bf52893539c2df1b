"""Who may see and change what."""

import pytest

from memctl.server.access import Access, Forbidden

TEAM = Access("bakery-team")


@pytest.mark.parametrize("agent", ["bakery-team", "bakery-team/planner", "global"])
def test_a_scope_sees_itself_what_is_below_and_global(agent: str) -> None:
    assert TEAM.sees(agent)


@pytest.mark.parametrize("agent", ["library-team", "bakery-team-2", "bakery", "", "global/x"])
def test_a_scope_sees_no_other_scope_however_alike_its_name(agent: str) -> None:
    assert not TEAM.sees(agent)


def test_a_scope_below_sees_those_above_but_not_its_siblings() -> None:
    planner = Access("bakery-team/planner")
    assert planner.sees("bakery-team")
    assert not planner.sees("bakery-team/coder")


def test_what_is_above_is_read_but_not_written() -> None:
    planner = Access("bakery-team/planner")
    assert planner.to_read("bakery-team") == "bakery-team"
    with pytest.raises(Forbidden):
        planner.to_write("bakery-team")
    with pytest.raises(Forbidden):
        planner.to_write("global")


def test_no_scope_asked_for_means_the_keys_own() -> None:
    assert TEAM.to_read(None) == "bakery-team"
    assert TEAM.to_write(None) == "bakery-team"
    assert Access().to_read(None) is None


def test_a_read_only_key_writes_nowhere() -> None:
    with pytest.raises(Forbidden):
        Access("bakery-team", read_only=True).to_write(None)
    assert not Access(read_only=True).owns("anything")


def test_only_an_unbound_key_concerns_itself_with_everything() -> None:
    Access().require_everything()
    with pytest.raises(Forbidden):
        TEAM.require_everything()
