"""What is read off a pair is also told to the model, in words it knows, before the older statement.

A small model does not know that two weeks are 14 days or that two names are two people; told so, it can use it.
"""

from memctl.languages import in_english
from memctl.rules import cues
from memctl.rules.values import Comparison, compare, values


def hinted(old: str, new: str, *, by_hand: bool) -> tuple[str, str]:
    """Give the pair as the model reads it, in English; notes written by hand are told from what is said in a chat."""
    old, new = in_english(old), in_english(new)
    told = [
        "note" if by_hand else "chat",
        _values(compare(values(old), values(new))),
        _groups("place", cues.environments(old), cues.environments(new)),
        _names(old, new),
        "not" if cues.has("negation", old) != cues.has("negation", new) else "",
    ]
    return f"[{', '.join(hint for hint in told if hint)}] {old}", new


def _values(found: Comparison) -> str:
    parts = {
        "same": found.shared,
        "changed": found.changed,
        "old only": found.only_old and not found.only_new,
        "new only": found.only_new and not found.only_old,
        "mixed": found.only_old and found.only_new,
    }
    said = [name for name, there in parts.items() if there]
    return f"value {' '.join(said)}" if said else ""


def _groups(what: str, before: frozenset[str], after: frozenset[str]) -> str:
    if not (before and after):
        return f"{what} one" if before or after else ""
    return f"{what} same" if before & after else f"{what} other"


def _names(old: str, new: str) -> str:
    before, after = cues.names(old), cues.names(new)
    gone, come = before - set(cues.words(new)), after - set(cues.words(old))
    if gone and come:
        return "names other"
    if before & after:
        return "names same"
    return "names one" if gone or come else ""
