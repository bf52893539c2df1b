"""What can be read off two statements without a model: shared words, values, names, environments and cues."""

from functools import lru_cache

from memctl.languages import in_english
from memctl.rules import cues
from memctl.rules.replaced import names_what_it_replaces
from memctl.rules.stopwords import STOPWORDS
from memctl.rules.values import Comparison, compare, values

FEATURES = (
    "cosine",
    "overlap",
    "old_covered",
    "new_covered",
    "length_ratio",
    "value_shared",
    "value_changed",
    "value_only_one",
    "values_equal",
    "changed_alike",
    "equal_alike",
    "change_new",
    "change_old",
    "correction_new",
    "addition_new",
    "hypothetical_new",
    "negation_differs",
    "other_environment",
    "names_shared",
    "names_apart",
    "names_only_new",
    "things_shared",
    "things_apart",
    "months_apart",
    "restating_new",
    "change_told",
    "replaced_named",
)
_COMMON = frozenset(word for language in STOPWORDS.values() for word in language)


def features(old: str, new: str, cosine: float) -> list[float]:
    """Describe a pair, read in English, by the numbers named in FEATURES."""
    old, new = in_english(old), in_english(new)
    found = compare(values(old), values(new))
    shared = _shared_words(old, new)
    equal = bool(found.shared) and not (found.changed or found.only_old or found.only_new)
    return [
        cosine,
        *shared,
        *_value_features(found, equal),
        float(bool(found.changed)) * shared[0],
        float(equal) * shared[0],
        *(float(cues.has(cue, text)) for cue, text in (("change", new), ("change", old), ("correction", new))),
        *(float(cues.has(cue, new)) for cue in ("addition", "hypothetical")),
        float(cues.has("negation", old) != cues.has("negation", new)),
        float(_apart(cues.environments(old), cues.environments(new))),
        *_name_features(old, new),
        float(_apart(cues.months(old), cues.months(new))),
        float(cues.has("restating", new)),
        float(bool(found.changed) and cues.has("change", new)),
        float(names_what_it_replaces(old, new)),
    ]


def _shared_words(old: str, new: str) -> tuple[float, float, float, float]:
    """Give the overlap, how much of each statement the other covers, and the ratio of their lengths."""
    before, after = _content(old), _content(new)
    both = len(before & after)
    smaller, larger = sorted((len(cues.words(old)), len(cues.words(new))))
    return (
        both / max(1, len(before | after)),
        both / max(1, len(before)),
        both / max(1, len(after)),
        smaller / max(1, larger),
    )


@lru_cache(maxsize=16384)
def _content(text: str) -> frozenset[str]:
    """Reduce a statement to the beginnings of its telling words, so that endings do not matter."""
    return frozenset(word[:6] for word in cues.words(text) if word not in _COMMON)


def _value_features(found: Comparison, equal: bool) -> tuple[float, float, float, float]:
    one_sided = bool(found.only_old) != bool(found.only_new)
    return float(bool(found.shared)), float(bool(found.changed)), float(one_sided), float(equal)


def _name_features(old: str, new: str) -> tuple[float, float, float, float, float]:
    before, after = cues.names(old), cues.names(new)
    said_before, said_after = set(cues.words(old)), set(cues.words(new))
    things_before, things_after = cues.identifiers(old), cues.identifiers(new)
    return (
        float(bool(before & after)),
        float(bool(before - said_after) and bool(after - said_before)),
        float(bool(after - said_before)),
        float(bool(things_before & things_after)),
        float(_apart(things_before, things_after)),
    )


def _apart(before: frozenset[str], after: frozenset[str]) -> bool:
    return bool(before) and bool(after) and not before & after
