"""How long a memory lasts: the time that was said, else the default of its type.

``temporary`` and ``context`` memories end by themselves, a fact only where it names its end, all
others never. Times are read in English, German,
Spanish, French, Portuguese and Chinese, and counted from the moment of speaking.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from memctl.extraction.timewords import DAYS_AHEAD, MONTHS, NUMBERS, SPANS, UNITS, WEEKDAYS
from memctl.model import MemoryType
from memctl.times import later

DEFAULTS: Mapping[MemoryType, timedelta] = {
    MemoryType.TEMPORARY: timedelta(days=7),
    MemoryType.CONTEXT: timedelta(days=30),
}
_LEAST = {MemoryType.TEMPORARY: timedelta(hours=12), MemoryType.CONTEXT: timedelta(days=25)}
_LEAST_FACT = timedelta(days=31)
_LONGEST = timedelta(days=370)
_SOON = timedelta(days=15)
_FIRST_YEAR, _LAST_YEAR = 1000, 8000  # outside, counting on from a date may leave the calendar


def _any(names: Mapping[str, object]) -> str:
    return "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))


def _latin(names: Mapping[str, object]) -> str:
    return _any({name: None for name in names if name[0] < "一"})


def _ideographs(names: Mapping[str, object]) -> str:
    return _any({name: None for name in names if name[0] >= "一"})


_LATIN_UNTIL = (
    r"until|till|til|by|before|through|up to|due|deadline|expires?|ends?|not before|bis|vor|spätestens|fällig|frist|"
    r"hasta|antes del?|para el|plazo|jusqu'(?:à|au)|avant|d'ici|até|antes d[aeo]"
)
_UNTIL = re.compile(rf"(?:\b(?:{_LATIN_UNTIL})\b|截止|直到|之前|为止|到)[^.;\d。；]{{0,20}}$", re.IGNORECASE)
_SINCE = re.compile(
    r"(?:\b(?:from|since|as of|starting|begins?|ab|seit|desde|a partir del?|depuis|à partir du|dès)\b|从|"
    r"自)[^.;,。；，]{0,12}$",
    re.IGNORECASE,
)
_ISO = re.compile(r"\b(20\d\d)-(\d{1,2})-(\d{1,2})\b")
_NUMERIC = re.compile(
    r"\b(?:am|bis|bis zum|vom|zum|ab|dem|until|by)\s+(\d{1,2})\.(\d{1,2})\.(20\d\d)?(?!\d)", re.IGNORECASE
)
_DAY_MONTH = re.compile(
    rf"\b(\d{{1,2}})(?:st|nd|rd|th|er|\.|º)?\s+(?:of\s+|de\s+)?({_any(MONTHS)})\b\.?(?:,?\s+(?:de\s+)?(20\d\d))?",
    re.IGNORECASE,
)
_MONTH_DAY = re.compile(
    rf"\b({_any(MONTHS)})\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)(?:,?\s+(20\d\d))?",
    re.IGNORECASE,
)
_CHINESE_DATE = re.compile(r"(?:(20\d\d)年)?(\d{1,2})月(?:\d{1,2}\s*[-–—到至]\s*)?(\d{1,2})[日号]")
_MONTH_ONLY = re.compile(
    rf"\b(?:in|until|till|by|end of|early|mid|late|bis|im|ende|hasta|en|fin de|fin|finales de|até|"
    rf"em)[ -]({_any(MONTHS)})\b",
    re.IGNORECASE,
)
_WEEKDAY = re.compile(
    rf"(?:\b({_latin(WEEKDAYS)})\b|(下)?({_ideographs(WEEKDAYS)}))",
    re.IGNORECASE,
)
_EVERY = re.compile(
    r"(?:\b(?:every|each|jede[nrs]?|cada|todos los|chaque|tous les|toda|todas as)\s+(?:other\s+)?|每个?)$",
    re.IGNORECASE,
)
_AHEAD = re.compile(
    rf"(?:\b(?:{_latin(DAYS_AHEAD)})\b|(?:{_ideographs(DAYS_AHEAD)}))",
    re.IGNORECASE,
)
_SPAN = re.compile(
    rf"(?:\b(?:{_latin(SPANS)})\b|(?:{_ideographs(SPANS)}))",
    re.IGNORECASE,
)
_NUMBER = rf"\d{{1,3}}|{_latin(NUMBERS)}"
_LENGTH = re.compile(
    rf"\b(?:for|in|within|another|next|für|in|noch|nächsten?|durante|dentro de|en|pendant|dans|por|em|daqui a|"
    rf"próxim[oa]s)\s+"
    rf"(?:the\s+|about\s+|another\s+|den\s+|die\s+|los\s+|las\s+|les\s+|next\s+|nächsten\s+|próximos\s+|"
    rf"ungefähr\s+|etwa\s+|further\s+)*({_NUMBER})\s+(?:more\s+|weitere\s+)?"
    rf"({_latin(UNITS)})\b",
    re.IGNORECASE,
)
_CHINESE_LENGTH = re.compile(
    rf"(?<!\d)(\d{{1,3}}|[一两二三四五六七八九十])\s*({_ideographs(UNITS)})(?:内|后|之内|之后)?"
)
_CLOCK = re.compile(
    r"\b(?:until|till|by|before|at|bis|um|hasta las|a las|jusqu'à|até às)\s+(\d{1,2})(?::(\d\d)|h\b| ?(?:am|pm|"
    r"uhr)\b)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Moment:
    """An instant that a text names, where in it, and whether it is said to be an end."""

    at: datetime
    start: int
    ends: bool


def expires(
    text: str,
    kind: MemoryType,
    said_at: datetime,
    defaults: Mapping[MemoryType, timedelta | None] = DEFAULTS,
) -> datetime | None:
    """Tell when a memory stops being true, or None where its type lasts.

    A fact lasts unless it names its own end, and even then for a month.

    An end that was said ("until Thursday") counts as it is. A date that merely occurs in the text
    extends a memory's time, it does not cut it short of what its type needs.
    """
    if kind not in (MemoryType.TEMPORARY, MemoryType.CONTEXT, MemoryType.FACT):
        return None
    ahead = [moment for moment in _moments(text, said_at) if said_at < moment.at <= later(said_at, _LONGEST)]
    ends = [moment.at for moment in ahead if moment.ends]
    if kind is MemoryType.FACT:
        return max(max(ends), later(said_at, _LEAST_FACT)) if ends else None
    default = defaults.get(kind)
    if default is None:
        return None
    if ends:
        return max(max(ends), said_at + _LEAST[MemoryType.TEMPORARY])
    if ahead:
        return max(max(moment.at for moment in ahead), said_at + _LEAST[kind])
    return later(said_at, default)


def passes(text: str, said_at: datetime) -> bool:
    """Say whether a text names its own end within a fortnight, so that it tells of a passing state."""
    return any(moment.ends and said_at < moment.at <= said_at + _SOON for moment in _moments(text, said_at))


def _moments(text: str, now: datetime) -> Iterator[_Moment]:
    """Find every instant that the text names."""
    if not _FIRST_YEAR <= now.year <= _LAST_YEAR:
        return
    taken: list[tuple[int, int]] = []
    for reader in (_dates, _weekdays, _relative, _lengths, _months, _clocks):
        for match, at in reader(text, now):
            if any(match.start() < end and start < match.end() for start, end in taken):
                continue
            taken.append(match.span())
            if _SINCE.search(text[: match.start()]):
                continue
            yield _Moment(at, match.start(), bool(_UNTIL.search(text[: match.start()])) or _ends_itself(match.group()))


def _ends_itself(words: str) -> bool:
    """Some expressions are ends by themselves: "this week", "for two weeks", "until 18:00"."""
    return bool(
        re.match(r"(?:this|for|until|till|by|diese|für|bis|esta|hasta|durante|jusqu|ce|até|本)", words, re.IGNORECASE)
    )


def _end_of_day(day: datetime) -> datetime:
    return day.replace(hour=23, minute=59, second=59, microsecond=0)


def _date(now: datetime, year: str | None, month: int, day: int) -> datetime | None:
    """Make a date; without a year it is the next such day, unless that lies far back in the past."""
    try:
        if year:
            number = int(year)
            return _end_of_day(now.replace(year=number + 2000 if number < 100 else number, month=month, day=day))
        this = _end_of_day(now.replace(month=month, day=day))
        return this if this > now - timedelta(days=120) else this.replace(year=now.year + 1)
    except ValueError:
        return None


_Found = Iterator[tuple[re.Match[str], datetime]]


def _dates(text: str, now: datetime) -> _Found:
    readings: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], datetime | None]], ...] = (
        (_ISO, lambda m: _date(now, m[1], int(m[2]), int(m[3]))),
        (_CHINESE_DATE, lambda m: _date(now, m[1], int(m[2]), int(m[3]))),
        (_DAY_MONTH, lambda m: _date(now, m[3], MONTHS[m[2].lower()], int(m[1]))),
        (_MONTH_DAY, lambda m: _date(now, m[3], MONTHS[m[1].lower()], int(m[2]))),
        (_NUMERIC, lambda m: _date(now, m[3], int(m[2]), int(m[1]))),
    )
    for pattern, read in readings:
        for match in pattern.finditer(text):
            at = read(match)
            if at is not None:
                yield match, at


def _weekdays(text: str, now: datetime) -> _Found:
    """Find days of the week; "on Sundays" and "every Sunday" name no single one."""
    for match in _WEEKDAY.finditer(text):
        if _EVERY.search(text[: match.start()]):
            continue
        name = (match[1] or match[3]).lower()
        days = (WEEKDAYS[name] - now.weekday()) % 7 or 7
        if match[2] and WEEKDAYS[name] > now.weekday():
            days += 7
        yield match, _end_of_day(now + timedelta(days=days))


def _relative(text: str, now: datetime) -> _Found:
    for match in _SPAN.finditer(text):
        yield match, _span_end(SPANS[match.group().lower()], now)
    for match in _AHEAD.finditer(text):
        yield match, _end_of_day(now + timedelta(days=DAYS_AHEAD[match.group().lower()]))


def _span_end(name: str, now: datetime) -> datetime:
    """Tell when "this week", "next month" or "this sprint" is over."""
    sunday = now + timedelta(days=6 - now.weekday())
    first = now.replace(day=1)
    month_end = _month_after(first, 1) - timedelta(days=1)
    ends = {
        "week": sunday,
        "next week": sunday + timedelta(days=7),
        "sprint": now + timedelta(days=14),
        "next sprint": now + timedelta(days=28),
        "month": month_end,
        "next month": _month_after(first, 2) - timedelta(days=1),
        "quarter": _month_after(first, 3 - (now.month - 1) % 3) - timedelta(days=1),
        "next quarter": _month_after(first, 6 - (now.month - 1) % 3) - timedelta(days=1),
        "year": now.replace(month=12, day=31),
    }
    return _end_of_day(ends[name])


def _month_after(first: datetime, months: int) -> datetime:
    year, month = divmod(first.month - 1 + months, 12)
    return first.replace(year=first.year + year, month=month + 1)


def _lengths(text: str, now: datetime) -> _Found:
    for match in _LENGTH.finditer(text):
        yield match, _after(now, match[1], match[2])
    for match in _CHINESE_LENGTH.finditer(text):
        yield match, _after(now, match[1], match[2])


def _after(now: datetime, number: str, unit: str) -> datetime:
    count = int(number) if number.isdigit() else NUMBERS.get(number.lower(), 1)
    return now + timedelta(hours=count * UNITS[unit.lower()])


def _months(text: str, now: datetime) -> _Found:
    for match in _MONTH_ONLY.finditer(text):
        month = MONTHS[match[1].lower()]
        first = now.replace(day=1, month=month, year=now.year + (month < now.month))
        yield match, _end_of_day(_month_after(first, 1) - timedelta(days=1))


def _clocks(text: str, now: datetime) -> _Found:
    for match in _CLOCK.finditer(text):
        yield match, _end_of_day(now)
