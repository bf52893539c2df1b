"""Instants and durations, and the one place that reads the clock."""

import os
import re
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta

from memctl.errors import UsageProblem

CLOCK_VARIABLE = "MEMCTL_NOW"
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800, "y": 31536000}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*([smhdwy])", re.IGNORECASE)
_LONGEST_SECONDS = 200 * _UNITS["y"]

# What MEMCTL_NOW is for the present request of a process that works for others; None: look at the environment.
CLOCK: ContextVar[str | None] = ContextVar("clock", default=None)


def now() -> datetime:
    """Tell the time: ``MEMCTL_NOW`` where it is set, else the system's clock; always in UTC."""
    told = CLOCK.get()
    fixed = os.environ.get(CLOCK_VARIABLE) if told is None else told
    return parse_instant(fixed, what=CLOCK_VARIABLE) if fixed else datetime.now(UTC)


def parse_instant(text: str, *, what: str = "instant") -> datetime:
    """Read an ISO 8601 instant or date; one without a zone is taken as UTC."""
    try:
        instant = datetime.fromisoformat(text.strip())
        return instant.astimezone(UTC) if instant.tzinfo else instant.replace(tzinfo=UTC)
    except (ValueError, OverflowError) as error:
        raise UsageProblem(
            reason=f"{what} {text!r} is not an ISO date or time",
            remedy="Write it like 2026-05-04 or 2026-05-04T09:00:00Z.",
        ) from error


def parse_duration(text: str) -> timedelta:
    """Read ``90d``, ``12h``, ``1h30m`` or ``2w``."""
    compact = text.replace(" ", "")
    parts = _DURATION.findall(compact)
    if not parts or "".join(number + unit for number, unit in parts) != compact:
        raise UsageProblem(reason=f"{text!r} is not a duration", remedy="Write it like 7d, 12h or 1h30m.")
    seconds = sum(float(number) * _UNITS[unit.lower()] for number, unit in parts)
    if seconds > _LONGEST_SECONDS:
        raise UsageProblem(reason=f"{text!r} is too long a duration", remedy="Use at most 200y.")
    return timedelta(seconds=seconds)


def later(instant: datetime, duration: timedelta) -> datetime:
    """Add a duration; beyond what a calendar can say, it is the calendar's last day."""
    try:
        return instant + duration
    except OverflowError:
        return datetime.max.replace(microsecond=0, tzinfo=UTC)


def iso(instant: datetime | None) -> str | None:
    """Write an instant as every output of memctl does: UTC, ``Z``, no fraction where there is none."""
    if instant is None:
        return None
    return instant.astimezone(UTC).isoformat().replace("+00:00", "Z")
