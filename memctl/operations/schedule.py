"""The schedule: a crontab line and a systemd timer for the nightly run, beside whatever else is there."""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from memctl.errors import ModelUnavailable, UsageProblem
from memctl.model import Result

MARK = "# memctl nightly"
_KEPT_VARIABLES = ("MEMCTL_HOME", "MEMCTL_CONFIG", "MEMCTL_CACHE")


class NoCrontab(ModelUnavailable):
    """The crontab cannot be changed: {reason}."""

    code = "crontab_unavailable"
    remedy = "Install cron, or use the systemd timer that memctl schedule show prints."


@dataclass(frozen=True, slots=True)
class Schedule:
    """The lines for cron and systemd, and whether cron has ours."""

    cron: str
    service: str
    timer: str
    installed: tuple[str, ...] = ()
    changed: bool = False


def show(folders: Sequence[str], *, at: str = "03:30", agent: str | None = None) -> Result[Schedule]:
    """Write out the crontab line and the systemd units; changes nothing."""
    return Result("schedule", _schedule(folders, at, agent, installed()))


def install(folders: Sequence[str], *, at: str = "03:30", agent: str | None = None) -> Result[Schedule]:
    """Put the line into the user's crontab; a line of ours is replaced, others are left as they are."""
    wanted = _schedule(folders, at, agent, ())
    before = _crontab()
    after = [*_others(before), wanted.cron]
    changed = after != before
    if changed:
        _write_crontab(after)
    return Result("schedule", _schedule(folders, at, agent, (wanted.cron,), changed=changed))


def remove() -> Result[Schedule]:
    """Take our line out of the user's crontab."""
    before = _crontab()
    after = _others(before)
    if after != before:
        _write_crontab(after)
    return Result("schedule", Schedule("", "", "", (), after != before))


def installed() -> tuple[str, ...]:
    """Our lines in the user's crontab; none where there is no cron."""
    try:
        return tuple(line for line in _crontab() if line.endswith(MARK))
    except NoCrontab:
        return ()


def cron_line(folders: Sequence[str], at: str, agent: str | None, environment: Mapping[str, str]) -> str:
    """One line for cron; a percent sign means a new line there, so it is escaped."""
    hour, minute = _clock(at)
    kept = [f"{name}={shlex.quote(environment[name])}" for name in _KEPT_VARIABLES if environment.get(name)]
    command = " ".join([*kept, *(shlex.quote(part) for part in _command(folders, agent))])
    escaped = command.replace("%", r"\%")
    return f"{minute} {hour} * * * {escaped} {MARK}"


def _schedule(
    folders: Sequence[str], at: str, agent: str | None, found: tuple[str, ...], *, changed: bool = False
) -> Schedule:
    hour, minute = _clock(at)
    environment = "".join(
        f"Environment={shlex.quote(f'{name}={os.environ[name]}')}\n" for name in _KEPT_VARIABLES if os.environ.get(name)
    )
    command = " ".join(shlex.quote(part) for part in _command(folders, agent)).replace("%", "%%")
    service = (
        f"[Unit]\nDescription=memctl: the nightly run\n\n"
        f"[Service]\nType=oneshot\n{environment}ExecStart={command}\nSuccessExitStatus=1\n"
    )
    timer = (
        f"[Unit]\nDescription=memctl: every night\n\n[Timer]\nOnCalendar=*-*-* {hour:02d}:{minute:02d}:00\n"
        f"Persistent=true\n\n[Install]\nWantedBy=timers.target\n"
    )
    return Schedule(cron_line(folders, at, agent, os.environ), service, timer, found, changed)


def _command(folders: Sequence[str], agent: str | None) -> list[str]:
    program = shutil.which("memctl") or f"{sys.executable} -m memctl"
    paths = [str(Path(folder).absolute()) for folder in folders]
    return [*shlex.split(program), "nightly", *paths, *(["--agent", agent] if agent else [])]


def _clock(at: str) -> tuple[int, int]:
    hour, _, minute = at.partition(":")
    if not (hour.isdecimal() and minute.isdecimal() and int(hour) < 24 and int(minute) < 60):
        raise UsageProblem(reason=f"{at!r} is not a time of day", remedy="Write it like 03:30.")
    return int(hour), int(minute)


def _others(lines: Sequence[str]) -> list[str]:
    return [line for line in lines if not line.endswith(MARK)]


def _crontab() -> list[str]:
    """Read the user's crontab; a user without one has an empty one."""
    done = _run_crontab(["-l"], None)
    if done.returncode and "no crontab" not in done.stderr.lower():
        raise NoCrontab(reason=done.stderr.strip() or f"crontab -l ended with {done.returncode}")
    return done.stdout.splitlines() if not done.returncode else []


def _write_crontab(lines: Sequence[str]) -> None:
    done = _run_crontab(["-"], "".join(f"{line}\n" for line in lines))
    if done.returncode:
        raise NoCrontab(reason=done.stderr.strip() or f"crontab ended with {done.returncode}")


def _run_crontab(arguments: Sequence[str], text: str | None) -> "subprocess.CompletedProcess[str]":
    try:
        return subprocess.run(["crontab", *arguments], input=text, capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise NoCrontab(reason="there is no crontab command on this machine") from error
