"""Shell completion: the scripts that shells load, and what they are answered."""

import pytest


def completed(memctl, *words: str) -> set[str]:
    """What bash is offered for the last of the words."""
    done = memctl(_MEMCTL_COMPLETE="complete_bash", COMP_WORDS=" ".join(words), COMP_CWORD=str(len(words) - 1))
    return set(done.out.split())


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_usual_shell_gets_a_script(memctl, shell):
    done = memctl(_MEMCTL_COMPLETE=f"source_{shell}")

    assert f"_MEMCTL_COMPLETE=complete_{shell}" in done.out


def test_commands_their_commands_and_their_options_are_completed(memctl):
    assert completed(memctl, "memctl", "re") == {"remember", "recall", "resolve", "restore", "reembed"}
    assert completed(memctl, "memctl", "state", "") == {"set", "get", "list", "delete"}
    assert completed(memctl, "memctl", "ingest", "--dry") == {"--dry-run"}


def test_only_the_program_itself_installs_completion(memctl):
    assert "--install-completion" in memctl("--help").out
    assert "--install-completion" not in memctl("recall", "--help").out
