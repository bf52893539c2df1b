"""What the commands that only look say."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from memctl.model import Fact, Result
from memctl.render.drawing import SHORT_ID, STYLES, counted, day, fields, line, minute, on_terminal, short, size, table
from memctl.shapes import plain

if TYPE_CHECKING:
    from memctl.operations.looking import Explanation, Listed, Shown
    from memctl.operations.timeline import History


def listed(result: Result[Listed], **_: Any) -> None:
    """A table of facts, and how many more there are."""
    facts = result.data.facts
    if not on_terminal():
        table((), [(f.id, f.type, f.state, day(f.said_at), f.agent, f.speaker, f.text) for f in facts])
        return
    rows = [(short(f), _kind(f), day(f.said_at), f.text) for f in facts]
    table(("id", "type", "said", "memory"), rows, grow="memory")
    more = result.data.total - len(facts)
    line(counted(result.data.total, "memory", "memories") + (f", {more} more with --limit" if more > 0 else ""), "dim")


def shown(result: Result[Shown], **_: Any) -> None:
    """One fact, a line a field."""
    fact = result.data.fact
    line(fact.text, "bold", hang=0)
    rows: list[tuple[str, str]] = [
        ("id", fact.id),
        ("agent", fact.agent),
        ("type", str(fact.type)),
        ("state", str(fact.state)),
        ("because", fact.because or "-"),
        ("said", f"{minute(fact.said_at)} by {fact.speaker or 'nobody known'}"),
        ("last said", f"{minute(fact.last_said_at)}, {counted(len(fact.wordings), 'time')} in all"),
        ("held", "; ".join(f"{day(span.since)} to {day(span.until) if span.until else 'now'}" for span in fact.held)),
        ("expires", minute(fact.expires_at) if fact.expires_at else "never"),
        ("recalled", f"{counted(fact.uses, 'time')}, last {minute(fact.last_used_at)}" if fact.uses else "never"),
        ("recency", f"{result.data.recency:.2f}"),
        ("reinforced", f"{result.data.reinforcement:.2f}"),
        ("confidence", f"{fact.confidence:.2f}{', confirmed' if fact.confirmed else ''}"),
        ("tags", ", ".join(fact.tags) or "-"),
        ("pinned", "yes" if fact.pinned else "no"),
    ]
    fields(rows)
    for other in result.data.related:
        line(f"  {other.state}: {short(other)} {other.text}", STYLES[other.state])


def explained(result: Result[Explanation], **_: Any) -> None:
    """Where a fact was said, in whose words, and what kept it."""
    fact = result.data.fact
    line(fact.text, "bold", hang=0)
    line(f"{fact.state}{_reason(fact)}")
    for item in result.data.evidence:
        where = f"{item.transcript} #{item.message}" if item.message is not None else item.transcript
        line("")
        line(f"{minute(item.at)}  {item.speaker}  ({where})", "cyan")
        line(f"  “{item.quote}”")
        for stored in item.around:
            mark = ">" if stored.message.index == item.message else " "
            text = " ".join(stored.message.text.split())
            line(f"  {mark} #{stored.message.index} {stored.message.speaker}: {text[:160]}", "dim")


def history(result: Result[History], **_: Any) -> None:
    """The versions of a fact, oldest first."""
    for fact in result.data.versions:
        until = fact.held[-1].until if fact.held else None
        held = f"{day(fact.said_at)} to {day(until) if until else 'now'}"
        line(f"{held}  {fact.state}  {short(fact)}", STYLES[fact.state])
        line(f"  {fact.text}", "bold" if fact.id == result.data.asked else "")
        for wording in fact.wordings:
            source = wording.source
            where = f"{source.transcript} #{source.message}" if source.message is not None else source.transcript
            line(f"  {minute(wording.said_at)} {source.speaker} ({where}): {source.quote}", "dim")
        if fact.because:
            line(f"  {fact.because}", "dim")


def difference(result: Result[Any], **_: Any) -> None:
    """What was learned, changed and dropped."""
    data = result.data
    _facts("+", data.learned, "green")
    for change in data.changed:
        line(f"~ {short(change.old)} {change.old.text}", "dim")
        line(f"  {short(change.new)} {change.new.text}", "yellow")
    _facts("-", data.dropped, "dim")
    if not (data.learned or data.changed or data.dropped):
        line("Nothing was learned, changed or dropped in that time.")


def statistics(result: Result[dict[str, Any]], **_: Any) -> None:
    """The numbers, group by group."""
    rows = [row for name, value in result.data.items() for row in _counted(name, value)]
    table(("what", "which", "number"), rows)


def _counted(name: str, value: Any) -> list[tuple[object, ...]]:
    """A row a number; numbers of one group have the group's name in front."""
    if isinstance(value, Mapping):
        return [(name, part, number) for part, number in value.items()]
    return [(name, "", size(value) if name == "bytes" else value)]


def rows(result: Result[dict[str, Any]], **_: Any) -> None:
    """The answer to a question in SQL."""
    data = result.data
    table(data["columns"], [[_cell(value) for value in row] for row in data["rows"]])


def settings(result: Result[Any], **_: Any) -> None:
    """Each setting with its value and origin."""
    rows = [(s.name, json.dumps(s.value, ensure_ascii=False), s.origin, s.about) for s in result.data]
    if not on_terminal():
        table((), rows)
        return
    for name, value, origin, about in rows:
        line(f"{name} = {value}" + (f"  ({origin})" if origin != "default" else ""), "bold")
        line(f"    {about}", "dim", hang=4)


def state(result: Result[Any], **_: Any) -> None:
    """A value as JSON; several as key and value."""
    data = result.data
    if isinstance(data, tuple):
        table(
            ("key", "value", "expires"),
            [(s.key, json.dumps(s.value, ensure_ascii=False), minute(s.expires_at)) for s in data],
            grow="value",
        )
    elif isinstance(data, dict):
        line(f"{data['key']}: {'deleted' if data['deleted'] else 'was not there'}")
    else:
        print(json.dumps(data.value, ensure_ascii=False))


def transcripts(result: Result[Any], **_: Any) -> None:
    """The transcripts that were read, the messages of one, or one as it was exported."""
    data = result.data
    if isinstance(data, tuple):
        if on_terminal():
            shown = [(e.id[:SHORT_ID], e.format, e.messages, e.path) for e in data]
            table(("id", "format", "messages", "path"), shown, grow="path")
        else:
            table((), [(e.id, e.format, e.messages, day(e.recorded_at), e.path) for e in data])
    elif hasattr(data, "text"):
        print(data.text)
    else:
        for message in data.messages:
            line(f"#{message.index} {message.speaker} ({minute(message.at)})", "cyan")
            if message.text or not message.tool_calls:
                line(message.text, hang=0)
            for call in message.tool_calls:
                line(f"calls {call.name} {call.arguments}".rstrip(), "dim")


def _facts(sign: str, facts: Any, style: str) -> None:
    for fact in facts:
        line(f"{sign} {short(fact)} {fact.type}: {fact.text}", style)


def _reason(fact: Fact) -> str:
    from memctl.rules.board import BY_HAND

    said = f": {fact.because}" if fact.because else ""
    return said if fact.rule in ("", BY_HAND) else f"{said} (rule: {fact.rule}, score {fact.score:.2f})"


def _kind(fact: Fact) -> str:
    marks = {"active": "", "superseded": " (old)", "contested": " (?)", "expired": " (expired)"}
    return f"{fact.type}{marks.get(str(fact.state), f' ({fact.state})')}{' *' if fact.pinned else ''}"


def _cell(value: Any) -> str:
    if isinstance(value, datetime):
        return str(plain(value))
    return "" if value is None else str(value)


RENDERERS: dict[str, Callable[..., None]] = {
    "list": listed,
    "show": shown,
    "why": explained,
    "history": history,
    "diff": difference,
    "stats": statistics,
    "sql": rows,
    "config": settings,
    "state": state,
    "transcript": transcripts,
}
