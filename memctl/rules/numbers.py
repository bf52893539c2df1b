"""Numbers as people write them: digits with separators and suffixes, and number words in five languages."""

import re
from collections.abc import Iterator

_ENGLISH_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
).split()
_ENGLISH_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_GERMAN_ONES = (
    "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn "
    "sechzehn siebzehn achtzehn neunzehn"
).split()
_GERMAN_TENS = "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig".split()
_SPANISH = (
    "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete "
    "dieciocho diecinueve veinte veintiuno veintidós veintitrés veinticuatro veinticinco veintiséis veintisiete "
    "veintiocho veintinueve treinta"
).split()
_FRENCH = (
    "zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize"  # codespell:ignore
).split()
_PORTUGUESE = "zero um dois três quatro cinco seis sete oito nove dez onze doze treze catorze quinze".split()
_LATER_TENS = {
    "cuarenta": 40, "cincuenta": 50, "sesenta": 60, "setenta": 70, "ochenta": 80, "noventa": 90, "cien": 100,
    "vingt": 20, "trente": 30, "quarante": 40, "cinquante": 50, "soixante": 60, "cent": 100,
    "vinte": 20, "trinta": 30, "quarenta": 40, "cinquenta": 50, "sessenta": 60, "oitenta": 80, "cem": 100,
}  # fmt: skip
_ENGLISH_SCALES = {"hundred": 100, "thousand": 1e3, "million": 1e6, "billion": 1e9, "dozen": 12}
_SCALES = {
    "k": 1e3, "m": 1e6, "bn": 1e9, "mn": 1e6, "mio": 1e6, "million": 1e6, "millions": 1e6, "millionen": 1e6,
    "millones": 1e6, "milhões": 1e6, "thousand": 1e3, "tausend": 1e3, "mil": 1e3, "mille": 1e3, "billion": 1e9,
    "hundred": 100, "万": 1e4, "千": 1e3, "亿": 1e8, "百": 100,
}  # fmt: skip
# Words that are articles, months' neighbours or plain verbs far more often than numbers.
_TOO_COMMON = {"un", "um", "uno", "null", "six", "once", "mil", "cent", "sept"}
_CHINESE_DIGITS = {digit: value for value, digit in enumerate("零一二三四五六七八九")} | {"两": 2, "〇": 0}
_CHINESE_UNITS = {"十": 10, "百": 100, "千": 1000, "万": 10000}

DIGITS = r"\d{1,3}(?:[,'’  ]\d{3})+(?:\.\d+)?(?![\d])|\d+(?:[.,]\d+)?"
_NUMBER = re.compile(
    rf"(?P<digits>{DIGITS})(?:\s?(?P<scale>k|bn|mn|mio|[Mm]illi(?:on|ons|onen|ones)|milhões|thousand|tausend|mil|hundred|万|千|亿)(?![a-zäöüß]))?",
    re.IGNORECASE,
)
_SIMPLE_FRACTIONS = {"half": 0.5, "quarter": 0.25, "third": 1 / 3, "halbe": 0.5, "media": 0.5, "viertel": 0.25}


def _german() -> Iterator[tuple[str, int]]:
    yield from ((word, value) for value, word in enumerate(_GERMAN_ONES))
    for tens, word in enumerate(_GERMAN_TENS, 2):
        yield word, tens * 10
        for ones in range(1, 10):
            stem = "ein" if ones == 1 else _GERMAN_ONES[ones]
            yield f"{stem}und{word}", tens * 10 + ones
    yield from (("hundert", 100), ("tausend", 1000), ("zweihundert", 200), ("dreihundert", 300))


def _english() -> Iterator[tuple[str, int]]:
    yield from ((word, value) for value, word in enumerate(_ENGLISH_ONES))
    for tens, word in enumerate(_ENGLISH_TENS, 2):
        yield word, tens * 10
        for ones in range(1, 10):
            yield f"{word}-{_ENGLISH_ONES[ones]}", tens * 10 + ones


def _words() -> dict[str, float]:
    table: dict[str, float] = {}
    for words in (_FRENCH, _PORTUGUESE, _SPANISH):
        table |= {word: value for value, word in enumerate(words)}
    table |= {word: value for word, value in _LATER_TENS.items()}
    table |= dict(_german())
    for word in _TOO_COMMON:
        table.pop(word, None)
    return table | dict(_english())


WORDS = _words()
_WORD_NUMBER = re.compile(
    r"\b(?P<first>" + "|".join(sorted(map(re.escape, WORDS), key=len, reverse=True)) + r")\b"
    r"(?P<scales>(?:[\s-](?:hundred|thousand|million|billion|dozen)\b)*)"
    r"(?:\s+and\s+(?P<half>a\s+half)\b)?",
    re.IGNORECASE,
)
_CHINESE = re.compile("[零一二两三四五六七八九十百千万〇]+")


def digits_value(digits: str) -> float:
    """Read ``1,200``, ``1.5``, ``1,5`` or ``12'000``."""
    bare = re.sub(r"['’  ]", "", digits)
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", bare):
        return float(bare.replace(",", ""))
    return float(bare.replace(",", "."))


def chinese_value(text: str) -> float:
    """Read a Chinese numeral such as 四十五 or 三百."""
    total, current = 0, 0
    for sign in text:
        if sign in _CHINESE_DIGITS:
            current = _CHINESE_DIGITS[sign]
        else:
            unit = _CHINESE_UNITS[sign]
            total = (total + current) * unit if unit == 10000 else total + (current or 1) * unit
            current = 0
    return float(total + current)


def spelled_out(text: str) -> str:
    """Rewrite every number of a text in plain digits, so that one pattern for units can read them all."""
    text = re.sub(r"\bthree[\s-]quarters of an?\b", "0.75", text, flags=re.IGNORECASE)
    text = re.sub(r"\ba\s+(half|quarter|third)\s+of\s+an?\b|\bhalf\s+an?\b|\b(?:an?|eine[rn]?)\s+(?:halbe|viertel)\b",
                  lambda m: str(_fraction(m.group(0))), text, flags=re.IGNORECASE)  # fmt: skip
    text = re.sub(r"\b(an?|one)\s+(\w+)\s+and\s+a\s+half\b", r"1.5 \2", text, flags=re.IGNORECASE)
    text = re.sub(
        r"\b(?:an?|ein(?:e|er|en)?)\s+(?=(?:hour|minute|day|week|month|year|stunde|woche|monat|jahr)\b)",
        "1 ",
        text,
        flags=re.IGNORECASE,
    )
    text = re.sub(r"\b(?:minus|menos)\s+(?=\w)", "-", text, flags=re.IGNORECASE)
    text = _NUMBER.sub(_digits_match, text)
    text = _WORD_NUMBER.sub(_word_match, text)
    return _CHINESE.sub(lambda m: _plain(chinese_value(m.group(0))), text)


def _fraction(words: str) -> float:
    low = words.lower()
    return next((value for word, value in _SIMPLE_FRACTIONS.items() if word in low), 0.5)


def _plain(value: float) -> str:
    return f"{value:.6f}".rstrip("0").rstrip(".")


def _digits_match(match: re.Match[str]) -> str:
    scale = match.group("scale")
    if not scale:
        grouped = len(match.group("digits")) > 4 and match.group("digits").count(",") >= 1
        return _plain(digits_value(match.group("digits"))) if grouped else match.group("digits")
    return (
        _plain(
            digits_value(match.group("digits"))
            * _SCALES.get(scale.lower(), 1e6 if scale.lower().startswith("milli") else 1)
        )
        + " "
    )


def _word_match(match: re.Match[str]) -> str:
    value = WORDS[match.group("first").lower()]
    for scale in re.findall(r"[a-z]+", match.group("scales").lower()):
        value *= _ENGLISH_SCALES[scale]
    return _plain(value + (0.5 if match.group("half") else 0))
