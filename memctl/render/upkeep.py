"""What the upkeep commands say."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from memctl.model import Result, State
from memctl.render.drawing import counted, line, size, table
from memctl.render.ingesting import show_verdicts

if TYPE_CHECKING:
    from memctl.operations.auditing import Audit
    from memctl.operations.doctor import Diagnosis
    from memctl.operations.exchange import Imported
    from memctl.operations.nightly import Nightly
    from memctl.operations.schedule import Schedule
    from memctl.operations.upkeep import Checked, Compacted, Pruned, Reembedded, Scrubbed


def pruned(result: Result[Pruned], **_: Any) -> None:
    """What was retired."""
    data = result.data
    show_verdicts(data.verdicts)
    verb = "would be retired (dry run)" if data.dry_run else "retired"
    gone = sum(verdict.fact.state is not State.ACTIVE for verdict in data.verdicts)
    line(f"{counted(gone, 'memory', 'memories')} {verb}.")


def compacted(result: Result[Compacted], **_: Any) -> None:
    """Size before and after."""
    data = result.data
    line(f"{size(data.bytes_before)} before, {size(data.bytes_after)} now.")


def checked(result: Result[Checked], **_: Any) -> None:
    """What a check found, or that all is well."""
    data = result.data
    for finding in data.findings:
        mark = "repaired" if finding.repaired else "found"
        line(f"{mark}: {finding.message}", "yellow")
    if not result.problems:
        line(f"In order: {counted(data.facts, 'fact')}, {counted(data.messages, 'message')}.", "green")


def scrubbed(result: Result[Scrubbed], **_: Any) -> None:
    """What was redacted afterwards."""
    data = result.data
    if not data.redactions:
        line("Nothing to redact.")
        return
    kinds = ", ".join(f"{number} {kind}" for kind, number in sorted(data.redactions.items()))
    verb = "Would redact" if data.dry_run else "Redacted"
    line(f"{verb} {kinds} in {counted(data.facts, 'fact')} and {counted(data.messages, 'message')}.")


def reembedded(result: Result[Reembedded], **_: Any) -> None:
    """How much was converted."""
    data = result.data
    line(
        f"{counted(data.facts, 'fact')} and {counted(data.messages, 'message')} embedded with {data.model} "
        f"({data.dimension} dimensions)."
    )


def imported(result: Result[Imported], **_: Any) -> None:
    """How many facts came in."""
    data = result.data
    prefix = "Dry run: " if data.dry_run else ""
    line(f"{prefix}{data.added} added, {data.changed} changed, {data.unchanged} there already.")


def backed_up(result: Result[dict[str, Any]], **_: Any) -> None:
    """Where the copy is and how large."""
    for name, value in result.data.items():
        line(f"{name}: {size(value) if name == 'bytes' else value}")


def nightly(result: Result[Nightly], **_: Any) -> None:
    """The night in one line."""
    from memctl.operations.nightly import sentence

    line(sentence(result.data))


def schedule(result: Result[Schedule], **_: Any) -> None:
    """The crontab line and the units, ready to copy."""
    data = result.data
    if not data.cron:
        line("Removed from your crontab." if data.changed else "Your crontab has no line of memctl.")
        return
    line("# crontab" + (" (installed)" if data.cron in data.installed else ""), "bold")
    print(data.cron)  # whole, to be copied
    for other in data.installed:
        if other != data.cron:
            line("# in your crontab now", "bold")
            print(other)
    line("")
    line("# ~/.config/systemd/user/memctl-nightly.service", "bold")
    print(data.service)
    line("# ~/.config/systemd/user/memctl-nightly.timer", "bold")
    print(data.timer.rstrip())


def diagnosis(result: Result[Diagnosis], **_: Any) -> None:
    """One line a subject, and what to do where it is not well."""
    for finding in result.data.findings:
        mark, style = ("ok", "green") if finding.well else ("!!", "bold red")
        line(f"{mark}  {finding.subject:<22} {finding.seen}", style if not finding.well else "")
        if not finding.well and finding.remedy:
            line(f"    {'':<22} {finding.remedy}", "yellow")


def audited(result: Result[Audit], **_: Any) -> None:
    """The rates of rot."""
    rows = [(rate.name, rate.count, f"{rate.share:.1%}", rate.about) for rate in result.data.rates]
    table(("rot", "facts", "share", "what it means"), rows, grow="what it means")
    for rate in result.data.rates:
        for example in rate.examples:
            line(f"{rate.name}: {example}", "dim")


RENDERERS: dict[str, Callable[..., None]] = {
    "prune": pruned,
    "compact": compacted,
    "check": checked,
    "scrub": scrubbed,
    "reembed": reembedded,
    "import": imported,
    "backup": backed_up,
    "nightly": nightly,
    "schedule": schedule,
    "doctor": diagnosis,
    "audit": audited,
}
