"""The schedule: a crontab line and a systemd timer for the nightly run, beside whatever else is there.

The crontab is read and written by the ``crontab`` command that is on the PATH. It is handled as bytes: lines that
are not ours come back exactly as they were.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from memctl.errors import ModelUnavailable, UsageProblem
from memctl.model import Result
from memctl.settings import KNOWN
from memctl.store.home import is_uri

MARK = "# memctl nightly"
_PLACES = ("MEMCTL_HOME", "MEMCTL_CONFIG", "MEMCTL_CACHE")
# What the crontab commands of Debian, Red Hat and busybox say of a user who has none yet.
_NONE_YET = ("no crontab for", "no such file or directory")


class NoCrontab(ModelUnavailable):
    """The crontab cannot be changed: {reason}."""

    code = "crontab_unavailable"
    remedy = "Install cron, or use the systemd timer that memctl schedule show prints."


@dataclass(frozen=True, slots=True)
class Schedule:
    """The lines for cron and systemd, and those of ours that cron has."""

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
    cron = cron_line(folders, at, agent, os.environ)
    before = _crontab()
    after = _ended(_others(before)) + os.fsencode(cron) + b"\n"
    if after != before:
        _write_crontab(after)
    return Result("schedule", _schedule(folders, at, agent, (cron,), changed=after != before))


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
        return tuple(os.fsdecode(line.rstrip()) for line in _lines(_crontab()) if _ours(line))
    except NoCrontab:
        return ()


def cron_line(folders: Sequence[str], at: str, agent: str | None, environment: Mapping[str, str]) -> str:
    """One line for cron; a percent sign means a new line there, so it is escaped."""
    hour, minute = _clock(at)
    kept = [f"{name}={shlex.quote(value)}" for name, value in _kept(environment).items()]
    command = " ".join([*kept, *(shlex.quote(part) for part in _command(folders, agent))])
    escaped = command.replace("%", r"\%")
    return f"{minute} {hour} * * * {escaped} {MARK}"


def _schedule(
    folders: Sequence[str], at: str, agent: str | None, found: tuple[str, ...], *, changed: bool = False
) -> Schedule:
    hour, minute = _clock(at)
    environment = "".join(
        f"Environment={_for_systemd(f'{name}={value}')}\n" for name, value in _kept(os.environ).items()
    )
    command = " ".join(_for_systemd(part).replace("$", "$$") for part in _command(folders, agent))
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
    """The nightly run as words; neither cron nor systemd knows the folder that we are in, so paths are whole."""
    found = shutil.which("memctl")
    program = [str(Path(found).absolute())] if found else [sys.executable, "-m", "memctl"]
    paths = [str(Path(folder).absolute()) for folder in folders]
    return [_one_line(word) for word in (*program, "nightly", *paths, *(["--agent", agent] if agent else []))]


def _kept(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that say where the memory is and what holds for it, which cron and systemd would not pass on."""
    names = (*_PLACES, *(setting.variable for setting in KNOWN))
    given = {name: environment[name] for name in names if environment.get(name)}
    return {name: _one_line(_whole(value) if name in _PLACES else value) for name, value in given.items()}


def _whole(place: str) -> str:
    return place if is_uri(place) else str(Path(place).expanduser().absolute())


def _one_line(word: str) -> str:
    if set(word) & set("\n\r\0"):
        raise UsageProblem(reason=f"{word!r} cannot stand in a crontab", remedy="Choose a name without line breaks.")
    return word


def _for_systemd(word: str) -> str:
    """Quote a word as unit files want it: their backslash and percent sign have meanings of their own."""
    if word and all(char.isalnum() or char in "/._-=:@+," for char in word):
        return word
    escaped = word.replace("\\", r"\\").replace('"', r"\"").replace("%", "%%")
    return f'"{escaped}"'


def _clock(at: str) -> tuple[int, int]:
    hour, _, minute = at.partition(":")
    if not (_two_digits(hour) and _two_digits(minute) and int(hour) < 24 and int(minute) < 60):
        raise UsageProblem(reason=f"{at!r} is not a time of day", remedy="Write it like 03:30.")
    return int(hour), int(minute)


def _two_digits(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= 2


def _lines(crontab: bytes) -> list[bytes]:
    """Cut after line feeds only: whatever else looks like the end of a line belongs to its line."""
    return [part for part in re.split(rb"(?<=\n)", crontab) if part]


def _ours(line: bytes) -> bool:
    """Whether we wrote the line; a comment is somebody's own, also one that names us."""
    return line.rstrip().endswith(MARK.encode()) and not line.lstrip().startswith(b"#")


def _others(crontab: bytes) -> bytes:
    return b"".join(line for line in _lines(crontab) if not _ours(line))


def _ended(crontab: bytes) -> bytes:
    return crontab + b"\n" if crontab and not crontab.endswith(b"\n") else crontab


def _crontab() -> bytes:
    """Read the user's crontab; a user without one has an empty one."""
    done = _run_crontab("-l")
    said = _said(done)
    if done.returncode and not any(words in said.lower() for words in _NONE_YET):
        raise NoCrontab(reason=said or f"crontab -l ended with {done.returncode}")
    return done.stdout if not done.returncode else b""


def _write_crontab(crontab: bytes) -> None:
    done = _run_crontab("-", crontab)
    if done.returncode:
        raise NoCrontab(reason=_said(done) or f"crontab ended with {done.returncode}")


def _run_crontab(argument: str, data: bytes = b"") -> "subprocess.CompletedProcess[bytes]":
    spoken = {**os.environ, "LC_ALL": "C"}  # the words of a user without a crontab must be the ones we know
    try:
        return subprocess.run(["crontab", argument], input=data, capture_output=True, env=spoken, check=False)
    except OSError as error:
        missing = isinstance(error, FileNotFoundError)
        reason = "there is no crontab command on this machine" if missing else error.strerror or str(error)
        raise NoCrontab(reason=reason) from error


def _said(done: "subprocess.CompletedProcess[bytes]") -> str:
    return " ".join(done.stderr.decode("utf-8", "replace").split())
