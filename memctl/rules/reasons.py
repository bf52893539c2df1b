"""Why a verdict was reached, in plain words for people."""

from datetime import datetime

from memctl.model import Source, Wording
from memctl.rules.values import compare, values

_QUOTE_LENGTH = 80


def said(source: Source, at: datetime) -> str:
    """Write when and by whom something was said."""
    by = f" by {source.speaker}" if source.speaker else ""
    return f"on {at:%Y-%m-%d}{by}"


def first_said(wording: Wording) -> str:
    """Explain a new fact."""
    return f"first said {said(wording.source, wording.said_at)}"


def said_again(wording: Wording) -> str:
    """Explain a fact that was said once more."""
    return f"said again {said(wording.source, wording.said_at)}"


def replaced(old: Wording, new: Wording) -> str:
    """Explain why the newer wording retires the older: the value that changed, or the sentence itself."""
    why = _other_value(old.text, new.text) or f"replaced by {quoted(new.text)}"
    return f"{why}, said {said(new.source, new.said_at)}"


def replaces(old: Wording, new: Wording) -> str:
    """Explain the newer wording of a change by what it put aside."""
    value = _other_value(old.text, new.text)
    return f"{value} as before" if value else f"replaces {quoted(old.text)}"


def disputed(other: Wording) -> str:
    """Explain why two facts wait for a person."""
    return f"may contradict {quoted(other.text)}, said {said(other.source, other.said_at)}"


def same_as(text: str) -> str:
    """Explain a fact that went into another one."""
    return f"says the same as {quoted(text)}"


def _other_value(old: str, new: str) -> str:
    """Name the value that changed; nothing where no single one did."""
    changed = compare(values(old), values(new)).changed
    if len(changed) != 1:
        return ""
    before, after = changed[0]
    return f"says {after.words}, not {before.words}"


def quoted(text: str) -> str:
    """Quote a sentence, shortened where it is long."""
    return f"“{text}”" if len(text) <= _QUOTE_LENGTH else f"“{text[: _QUOTE_LENGTH - 1].rstrip()}…”"
