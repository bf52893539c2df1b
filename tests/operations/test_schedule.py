"""The schedule in a crontab: one line of ours beside everybody else's, which come back byte for byte.

Every test runs the real command line against a ``crontab`` command on the PATH: a small one that keeps a file, and
where the machine has cron, the real one. The real one is left as it was found.
"""

import configparser
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from memctl.operations.schedule import MARK
from tests.conftest import CommandLine

KEEPER = """#!/bin/sh
file='{file}'
case "$1" in
-l) if [ -f "$file" ]; then cat "$file"; else echo "no crontab for somebody" >&2; exit 1; fi ;;
-) cat > "$file.new" && mv "$file.new" "$file" ;;
*) exit 2 ;;
esac
"""
OTHERS = (
    "# memctl nightly\n"
    "MAILTO=somebody@example.org\n"
    "\n"
    "  # kept for the winter: 30 3 * * * memctl nightly old # memctl nightly\n"
    "0 0 1 1 * true\tSchöne Grüße \x0c next page \u2028 next line\n"
    "15 4 * * 1 true % with\\%percent # memctl nightly backup\n"
).encode() + b"# Latin-1: gr\xfc\xdfe\n"


class Crontab:
    """A user's crontab, as the ``crontab`` command on a PATH gives it."""

    def __init__(self, path: str) -> None:
        self.path = path

    def read(self) -> bytes | None:
        done = self._run("-l")
        return done.stdout if done.returncode == 0 else None

    def write(self, content: bytes | None) -> None:
        done = self._run("-r") if content is None else self._run("-", content)
        assert done.returncode == 0, done.stderr

    def _run(self, argument: str, data: bytes = b"") -> "subprocess.CompletedProcess[bytes]":
        program = shutil.which("crontab", path=self.path)
        assert program is not None
        return subprocess.run([program, argument], input=data, capture_output=True)


@pytest.fixture(params=["a crontab command that keeps a file", "the crontab of cron"])
def crontab(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Crontab]:
    """An empty crontab or, of the real one, whatever is there."""
    if request.param.startswith("a "):
        folder = tmp_path / "bin"
        folder.mkdir()
        (folder / "crontab").write_text(KEEPER.format(file=tmp_path / "crontab"))
        (folder / "crontab").chmod(0o755)
        yield Crontab(f"{folder}{os.pathsep}{os.environ['PATH']}")
        return
    if shutil.which("crontab") is None:
        pytest.skip("there is no cron on this machine")
    real = Crontab(os.environ["PATH"])
    before = real.read()
    try:
        real.write(before or b"")
    except AssertionError as error:
        pytest.skip(f"this user has no right to a crontab: {error}")
    yield real
    real.write(before)


@pytest.fixture
def schedule(memctl: CommandLine, crontab: Crontab, tmp_path: Path):
    def run(*arguments: object, **environment: str):
        return memctl("schedule", *arguments, cwd=tmp_path, PATH=crontab.path, **environment)

    return run


def ours(crontab: Crontab) -> list[bytes]:
    lines = (crontab.read() or b"").split(b"\n")
    return [line for line in lines if line.endswith(MARK.encode()) and not line.lstrip().startswith(b"#")]


def test_install_and_remove_leave_every_other_line_byte_for_byte(schedule, crontab):
    before = (crontab.read() or b"") + OTHERS
    crontab.write(before)

    assert schedule("install", "chats").code == 0
    between = crontab.read()
    assert schedule("remove").code == 0

    assert between is not None
    assert between.startswith(before)
    assert crontab.read() == before


def test_install_twice_leaves_one_line_and_the_later_one(schedule, crontab):
    first = schedule("install", "chats", "--at", "03:30", "--json").json["data"]
    again = schedule("install", "chats", "--at", "03:30", "--json").json["data"]
    schedule("install", "chats", "--at", "23:05", "--agent", "payments-team")

    [line] = ours(crontab)
    assert (first["changed"], again["changed"]) == (True, False)
    assert line.startswith(b"5 23 * * * ")
    assert b"--agent payments-team" in line
    schedule("remove")


def test_a_user_without_a_crontab_gets_one(schedule, crontab, tmp_path):
    if crontab.read():
        pytest.skip("this user has a crontab")
    assert schedule("remove").out == "Your crontab has no line of memctl.\n"

    done = schedule("install", "chats")

    assert done.code == 0, done.err
    [line] = ours(crontab)
    assert crontab.read() == line + b"\n"
    assert str(tmp_path / "chats") in line.decode()
    assert schedule("remove").out == "Removed from your crontab.\n"
    assert not crontab.read()


def test_show_changes_nothing_and_tells_what_is_installed(schedule, crontab):
    before = crontab.read()
    assert "(installed)" not in schedule("show", "chats").out
    assert crontab.read() == before
    schedule("install", "chats")

    assert "# crontab (installed)" in schedule("show", "chats").out
    assert "# in your crontab now" in schedule("show", "chats", "--at", "01:00").out
    schedule("remove")


def test_the_line_runs_the_nightly_run_of_this_memory_from_any_folder(memctl, schedule, crontab, tmp_path):
    chats = tmp_path / "it's 5% off"
    chats.mkdir()
    (chats / "a.txt").write_text("Ines: We close the workshop on Mondays from now on.\nTomas: Good.\nInes: Thanks.\n")
    schedule("install", chats.name, "--agent", "bakery-team", MEMCTL_HOME="home")
    [line] = ours(crontab)
    schedule("remove")

    command = line.decode().split(" ", 5)[5].replace("\\%", "%")  # as cron does before it calls the shell
    environment = {**memctl.env(), "PATH": "/usr/bin:/bin"}
    environment.pop("MEMCTL_HOME")
    done = subprocess.run(["/bin/sh", "-c", command], cwd="/", env=environment, capture_output=True, text=True)

    assert done.returncode == 0, done.stderr
    assert "1 files (0 unreadable), 3 new messages" in done.stdout
    assert (tmp_path / "home" / "memctl.json").exists()


def test_settings_of_the_environment_hold_at_night_too(memctl, tmp_path):
    told = {"MEMCTL_AGENT": "bakery team", "MEMCTL_REDACT_EMAILS": "true", "MEMCTL_NOW": "2026-05-04T09:00:00Z"}
    data = memctl("schedule", "show", "chats", "--json", PATH=f"/usr/bin{os.pathsep}/bin", **told).json["data"]

    assert f" MEMCTL_HOME={memctl.home} MEMCTL_AGENT='bakery team' MEMCTL_REDACT_EMAILS=true " in data["cron"]
    assert 'Environment="MEMCTL_AGENT=bakery team"' in data["service"]
    assert "MEMCTL_NOW" not in data["cron"] + data["service"]


@pytest.mark.parametrize("at", ["24:00", "3", "03:60", "-1:00", "03:30:00", "٠٣:٣٠", "003:30", ""])
def test_what_is_no_time_of_day_is_refused(memctl, at):
    done = memctl("schedule", "show", "chats", f"--at={at}")

    assert done.code == 2
    assert "time of day" in done.err


def test_a_folder_whose_name_would_break_the_line_is_refused(memctl):
    assert memctl("schedule", "show", "chats\n* * * * * true").code == 2


def test_a_crontab_that_cannot_be_read_is_never_written(memctl, tmp_path):
    (tmp_path / "crontab").write_text(f"#!/bin/sh\necho \"$@\" >> '{tmp_path}/calls'\necho not allowed >&2\nexit 1\n")
    (tmp_path / "crontab").chmod(0o755)

    done = memctl("schedule", "install", "chats", PATH=f"{tmp_path}{os.pathsep}{os.environ['PATH']}")

    assert done.code == 7
    assert "not allowed" in done.err
    assert (tmp_path / "calls").read_text() == "-l\n"


def test_without_cron_install_says_what_to_do_and_show_still_shows(memctl, tmp_path):
    installed = memctl("schedule", "install", "chats", PATH=str(tmp_path))

    assert installed.code == 7
    assert "no crontab command" in installed.err
    assert "systemd" in installed.err
    assert memctl("schedule", "show", "chats", PATH=str(tmp_path)).code == 0


def test_the_systemd_units_start_the_same_command_every_night(memctl, tmp_path):
    folder = tmp_path / 'a "b" $HOME 5%'
    data = memctl("schedule", "show", folder, "--agent", "team", "--at", "3:07", "--json").json["data"]
    service, timer = configparser.RawConfigParser(), configparser.RawConfigParser()
    service.read_string(data["service"])
    timer.read_string(data["timer"])

    quoted = f'"{tmp_path}/a \\"b\\" $$HOME 5%%"'
    assert service["Service"]["ExecStart"].endswith(f" nightly {quoted} --agent team")
    assert service["Service"]["Environment"] == f"MEMCTL_HOME={memctl.home}"
    assert service["Service"]["Type"] == "oneshot"
    assert timer["Timer"]["OnCalendar"] == "*-*-* 03:07:00"
    assert timer["Install"]["WantedBy"] == "timers.target"


def test_systemd_accepts_the_units(memctl, tmp_path):
    if shutil.which("systemd-analyze") is None:
        pytest.skip("there is no systemd on this machine")
    data = memctl("schedule", "show", tmp_path / "my chats", "--json").json["data"]
    units = [tmp_path / "memctl-nightly.service", tmp_path / "memctl-nightly.timer"]
    for unit, text in zip(units, (data["service"], data["timer"]), strict=True):
        unit.write_text(text)

    done = subprocess.run(["systemd-analyze", "verify", *units], capture_output=True, text=True)

    complaints = [line for line in done.stderr.splitlines() if str(tmp_path) in line or "memctl-nightly" in line]
    assert complaints == []
