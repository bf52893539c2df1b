"""The values in a statement, made comparable: "1.5 h" is "90 minutes" is "5400 s", "20k EUR" is "20,000 euros"."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from memctl.rules.numbers import spelled_out
from memctl.rules.units import DAYS, MONTHS, SIGNS, UNITS

_LOOSE = {"time", "size"}
_SLACK = 0.025  # a month is not exactly 30 days, a gigabyte not exactly 1000 MB

_UNIT_OF = re.compile(
    r"(?P<number>(?<![A-Za-z0-9_.,])-?\d+(?:[.,]\d+)?)\s*-?(?:"
    + "|".join(f"(?P<u{place}>{UNITS[unit][2]})" for place, unit in enumerate(UNITS))
    + r")(?![a-zäöüßé\d])",
    re.IGNORECASE,
)
_UNIT_NAMES = list(UNITS)
_MONEY_FIRST = re.compile(r"(?P<sign>R\$|US\$|kEUR|k€|€|\$|£|¥|EUR|USD|GBP|CHF)\s?(?P<number>\d+(?:[.,]\d+)?)(?!\d)")
_MONTH = "|".join(f"(?P<m{n}>{names})" for n, names in enumerate(MONTHS, 1))
_DATE = re.compile(
    rf"\b(?:(?P<before>\d{{1,2}})(?:st|nd|rd|th|\.)?\s+(?:of\s+|de\s+)?)?(?:{_MONTH})\b\.?(?:\s+(?P<after>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:|\.\d))?(?:,?\s+(?P<year>(?:19|20)\d\d)\b)?",
    re.IGNORECASE,
)
_ISO_DATE = re.compile(r"\b(?P<year>(?:19|20)\d\d)-(?P<month>\d\d)-(?P<day>\d\d)\b")
_CHINESE_DATE = re.compile(r"(?P<month>\d{1,2})月(?:(?P<day>\d{1,2})[日号])?")
_WEEKDAY = re.compile(
    "|".join(rf"(?P<w{n}>(?<![a-zäöü])(?:{names})(?![a-zäöü]))" for n, names in enumerate(DAYS)), re.IGNORECASE
)
_CLOCK = re.compile(
    r"\b(?P<hour>[01]?\d|2[0-4])[:h](?P<minute>[0-5]\d)(?::\d\d)?\s?(?P<half>[ap]\.?m\.?)?(?![\d.])"
    r"|\b(?P<hour2>1?\d)\s?(?P<half2>[ap]\.?m\b\.?|o'clock|uhr|点)"
    r"|\b(?P<hour3>1?\d)\s+in\s+the\s+(?P<part>morning|afternoon|evening)\b|\b(?P<word>noon|midnight)\b",
    re.IGNORECASE,
)
_VERSION = re.compile(r"\bv?(?P<version>\d+(?:\.\d+){1,3})\b(?!\s?%)|\bv(?P<short>\d+)\b", re.IGNORECASE)
_YEAR = re.compile(r"(?<![A-Za-z0-9_])(?:19|20)\d\d(?![A-Za-z0-9_])")
_PERIOD = re.compile(r"\b(?P<period>[QH][1-4])\b(?:\s+(?P<year>20\d\d))?", re.IGNORECASE)
_BARE = re.compile(r"(?<![A-Za-z0-9_.,-])-?\d+(?:[.,]\d+)?(?![A-Za-z0-9_])")


@dataclass(frozen=True, slots=True)
class Value:
    """A comparable value: what kind it is, how much of the base unit, the words that said so, and their unit."""

    kind: str
    amount: float
    words: str
    unit: str = ""

    def same(self, other: "Value") -> bool:
        """Tell whether both say the same amount of the same kind."""
        if self.kind != other.kind:
            return False
        slack = _SLACK if self.kind in _LOOSE and self.unit != other.unit else 1e-9
        return abs(self.amount - other.amount) <= slack * max(abs(self.amount), abs(other.amount))


# The judge compares a statement with many others.
@lru_cache(maxsize=16384)
def values(text: str) -> tuple[Value, ...]:
    """Find the values of a statement, in the order in which they are written; each span is read once."""
    plain = spelled_out(text)
    found: list[tuple[int, Value]] = []
    for reader in (_dates, _weekdays, _clocks, _measures, _periods, _years, _versions, _numbers):
        for start, end, value in reader(plain):
            found.append((start, value))
            plain = plain[:start] + "\x01" * (end - start) + plain[end:]
    return tuple(value for _, value in sorted(found, key=lambda item: item[0]))


_Spans = list[tuple[int, int, Value]]


def _dates(text: str) -> _Spans:
    spans = [
        _span(match, "date", int(match["month"]) * 100 + int(match["day"] or 0))
        for pattern in (_ISO_DATE, _CHINESE_DATE)
        for match in pattern.finditer(text)
    ]
    for match in _DATE.finditer(text):
        month = next(n for n in range(1, 13) if match[f"m{n}"])
        day = int(match["before"] or match["after"] or 0)
        if match[f"m{month}"].lower() in {"may", "mar", "mars"} and not day and match[f"m{month}"] != "May":
            continue
        spans.append(_span(match, "date", month * 100 + day))
    return spans


def _weekdays(text: str) -> _Spans:
    return [_span(m, "weekday", next(n for n in range(7) if m[f"w{n}"])) for m in _WEEKDAY.finditer(text)]


def _clocks(text: str) -> _Spans:
    return [_span(match, "clock", _minutes(match)) for match in _CLOCK.finditer(text)]


def _minutes(match: re.Match[str]) -> float:
    if match["word"]:
        return 720 if match["word"].lower() == "noon" else 0
    hour = int(match["hour"] or match["hour2"] or match["hour3"])
    half = (match["half"] or match["half2"] or match["part"] or "").lower()
    if (half.startswith("p") or half in {"afternoon", "evening"}) and hour < 12:
        hour += 12
    return hour * 60 + int(match["minute"] or 0)


def _measures(text: str) -> _Spans:
    spans: _Spans = []
    for match in _MONEY_FIRST.finditer(text):
        kind, size, _ = UNITS[SIGNS[match["sign"].lower()]]
        spans.append(_span(match, kind, _amount(match["number"], money=True) * size))
    for match in _UNIT_OF.finditer(text):
        unit = _UNIT_NAMES[next(n for n in range(len(_UNIT_NAMES)) if match[f"u{n}"])]
        kind, size, _ = UNITS[unit]
        amount = _amount(match["number"], money=kind.startswith("money")) * size
        spans.append((match.start(), match.end(), Value(kind, amount, match[0].strip(), unit)))
    return [span for place, span in enumerate(spans) if not any(_overlap(span, other) for other in spans[:place])]


def _amount(digits: str, *, money: bool = False) -> float:
    """Read digits; in sums of money a point before three digits parts the thousands, as in ``18.400``."""
    if money and re.fullmatch(r"[1-9]\d{0,2}[.,]\d{3}", digits):
        return float(digits.replace(".", "").replace(",", ""))
    return float(digits.replace(",", "."))


def _periods(text: str) -> _Spans:
    return [_span(m, "period", ord(m["period"][0].upper()) * 10 + int(m["period"][1])) for m in _PERIOD.finditer(text)]


def _years(text: str) -> _Spans:
    return [_span(match, "year", int(match[0])) for match in _YEAR.finditer(text)]


def _versions(text: str) -> _Spans:
    spans: _Spans = []
    for match in _VERSION.finditer(text):
        parts = [int(part) for part in (match["version"] or match["short"]).split(".")]
        if match["version"] and len(parts) == 2 and not match[0].lower().startswith("v") and parts[0] == 0:
            continue  # 0.85 is a number
        spans.append(_span(match, "version", sum(part * 1000.0**-place for place, part in enumerate(parts))))
    return spans


def _numbers(text: str) -> _Spans:
    return [_span(match, "number", float(match[0].replace(",", "."))) for match in _BARE.finditer(text)]


def _span(match: re.Match[str], kind: str, amount: float) -> tuple[int, int, Value]:
    return match.start(), match.end(), Value(kind, amount, match[0].strip())


def _overlap(one: tuple[int, int, Value], other: tuple[int, int, Value]) -> bool:
    return one[0] < other[1] and other[0] < one[1]


@dataclass(frozen=True, slots=True)
class Comparison:
    """How the values of two statements relate: said by both, only by one, and changed within a kind."""

    shared: tuple[tuple[Value, Value], ...]
    changed: tuple[tuple[Value, Value], ...]
    only_old: tuple[Value, ...]
    only_new: tuple[Value, ...]


def compare(old: tuple[Value, ...], new: tuple[Value, ...]) -> Comparison:
    """Match equal values first; what is left of one kind on both sides has changed."""
    shared, old_left, new_left = _match(old, new, lambda one, other: one.same(other) or _loosely(one, other))
    changed, old_left, new_left = _match(old_left, new_left, lambda one, other: one.kind == other.kind)
    return Comparison(tuple(shared), tuple(changed), tuple(old_left), tuple(new_left))


def _loosely(one: Value, other: Value) -> bool:
    """Accept a number without a unit ("we raised it to 45") or a month without its day as the same."""
    if "number" in (one.kind, other.kind) or {one.kind, other.kind} == {"version", "number"}:
        return any(abs(one.amount - amount) < 1e-9 for amount in _readings(other)) or any(
            abs(other.amount - amount) < 1e-9 for amount in _readings(one)
        )
    return (
        one.kind == other.kind == "date"
        and one.amount // 100 == other.amount // 100
        and 0 in (one.amount % 100, other.amount % 100)
    )


def _readings(value: Value) -> Iterator[float]:
    """Give the number that the words themselves show, beside the amount in base units."""
    yield value.amount
    digits = re.search(r"\d+(?:[.,]\d+)?", value.words)
    if digits:
        yield float(digits[0].replace(",", "."))


def _match(
    old: Sequence[Value], new: Sequence[Value], accept: Callable[[Value, Value], bool]
) -> tuple[list[tuple[Value, Value]], list[Value], list[Value]]:
    """Pair values off in their order: the pairs, what is left of the old ones, what is left of the new ones."""
    pairs: list[tuple[Value, Value]] = []
    left, rest = [], list(new)
    for value in old:
        partner = next((other for other in rest if accept(value, other)), None)
        if partner is None:
            left.append(value)
        else:
            pairs.append((value, partner))
            rest.remove(partner)
    return pairs, left, rest
