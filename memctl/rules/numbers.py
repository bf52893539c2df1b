"""Numbers as people write them: digits with separators and suffixes, and number words in five languages."""

import re
from collections.abc import Iterator


def _listed(words: str) -> tuple[str, ...]:
    """Take number words apart; the place of a word in the list is what it says."""
    return tuple(words.split())


_ENGLISH_ONES = _listed(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_ENGLISH_TENS = _listed("twenty thirty forty fifty sixty seventy eighty ninety")
_GERMAN_ONES = _listed(
    "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn "
    "achtzehn neunzehn"
)
_GERMAN_TENS = _listed("zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig")
_SPANISH = _listed(
    "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete "
    "dieciocho diecinueve veinte veintiuno veintidós veintitrés veinticuatro veinticinco veintiséis veintisiete "
    "veintiocho veintinueve treinta"
)
_FRENCH = _listed("zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize")
_PORTUGUESE = _listed("zero um dois três quatro cinco seis sete oito nove dez onze doze treze catorze quinze")
_LATER_TENS = {
    "cuarenta": 40, "cincuenta": 50, "sesenta": 60, "setenta": 70, "ochenta": 80, "noventa": 90, "cien": 100,
    "vingt": 20, "trente": 30, "quarante": 40, "cinquante": 50, "soixante": 60, "cent": 100,
    "vinte": 20, "trinta": 30, "quarenta": 40, "cinquenta": 50, "sessenta": 60, "oitenta": 80, "cem": 100,
}  # fmt: skip
_ENGLISH_SCALES = {"hundred": 100, "thousand": 1e3, "million": 1e6, "billion": 1e9, "dozen": 12}
_SCALES = {
    "k": 1e3, "bn": 1e9, "mn": 1e6, "mio": 1e6,
    "milhões": 1e6, "thousand": 1e3, "tausend": 1e3, "mil": 1e3, "mille": 1e3, "billion": 1e9,
    "hundred": 100, "万": 1e4, "千": 1e3, "亿": 1e8, "百": 100,
}  # fmt: skip
# Words that are articles, months' neighbours or plain verbs far more often than numbers.
_TOO_COMMON = {"un", "um", "uno", "null", "six", "once", "mil", "cent", "sept"}
_CHINESE_DIGITS = {digit: value for value, digit in enumerate("零一二三四五六七八九")} | {"两": 2, "〇": 0}
_CHINESE_UNITS = {"十": 10, "百": 100, "千": 1000, "万": 10000}

_DIGITS = r"\d{1,3}(?:[,'’\u00a0\u202f ]\d{3})+(?:\.\d+)?(?!\d)|\d+(?:[.,]\d+)?"
_SCALE = r"k|bn|mn|mio|milli(?:ons?|onen|ones)|milhões|thousand|tausend|mil|hundred|万|千|亿"
_NUMBER = re.compile(rf"(?P<digits>{_DIGITS})(?:\s?(?P<scale>{_SCALE})(?![a-zäöüß]))?", re.IGNORECASE)


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
    table |= _LATER_TENS
    table |= dict(_german())
    for word in _TOO_COMMON:
        table.pop(word, None)
    return table | dict(_english())


_WORDS = _words()
_WORD_NUMBER = re.compile(
    r"\b(?<!\bthe )(?<!\bno )(?P<first>" + "|".join(sorted(_WORDS, key=len, reverse=True)) + r")\b"
    r"(?P<scales>(?:[\s-](?:hundred|thousand|million|billion|dozen)\b)*)(?:\s+and\s+(?P<half>a\s+half)\b)?",
    re.IGNORECASE,
)
_CHINESE = re.compile("[零一二两三四五六七八九十百千万〇]+")


_REWRITES: tuple[tuple[str, str], ...] = (
    (r"\bthree[\s-]quarters of an?\b", "0.75"),
    (r"\ba\s+quarter\s+of\s+an?\b", "0.25"),
    (r"\ba\s+third\s+of\s+an?\b", "0.333"),
    (r"\bhalf\s+(?:of\s+)?an?\b|\beine\s+halbe\b|\bmedia\b(?=\s+hora)", "0.5"),
    (r"\b(?:an?|one)\s+(\w+)\s+and\s+a\s+half\b", r"1.5 \1"),
    (r"\banderthalb\b|\beineinhalb\b", "1.5"),
    (
        r"\b(?:an?|eine[rn]?|una|une|uma)\s+(?=(?:hour|minute|day|week|month|year|stunde|woche|hora|semana|heure)\b)",
        "1 ",
    ),
    (r"\b(?:an?)\s+(?=(?:hundred|thousand|million|dozen)\b)", "one "),
    (r"\b(?:minus|menos)\s+(?=\w)|零下", "-"),
)


def spelled_out(text: str) -> str:
    """Rewrite every number of a text in plain digits, so that one pattern for units can read them all."""
    for pattern, plain in _REWRITES:
        text = re.sub(pattern, plain, text, flags=re.IGNORECASE)
    text = _NUMBER.sub(_digits_match, text)
    text = _WORD_NUMBER.sub(_word_match, text)
    return _CHINESE.sub(lambda match: _plain(_chinese_value(match[0])), text)


def _plain(value: float) -> str:
    return f"{value:.6f}".rstrip("0").rstrip(".")


def _digits_match(match: re.Match[str]) -> str:
    """Take thousands' separators out and scales in; a lone comma or point may be a decimal and stays."""
    digits, scale = re.sub(r"['’\u00a0\u202f ]", "", match["digits"]), match["scale"]
    grouped = re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", digits) is not None
    bare = digits.replace(",", "" if grouped else ".")
    if scale:
        factor = 1e6 if scale.lower().startswith("milli") else _SCALES[scale.lower()]
        return _plain(float(bare) * factor) + " "
    return bare if grouped else digits


def _word_match(match: re.Match[str]) -> str:
    value = _WORDS[match["first"].lower()]
    for scale in re.findall(r"[a-z]+", match["scales"].lower()):
        value *= _ENGLISH_SCALES[scale]
    return _plain(value + (0.5 if match["half"] else 0))


def _chinese_value(text: str) -> float:
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
