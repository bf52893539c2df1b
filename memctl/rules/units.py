"""Units of measure and names of days and months, as people write them in six languages."""

_MINUTE, _HOUR, _DAY = 60.0, 3600.0, 86400.0
UNITS: dict[str, tuple[str, float, str]] = {
    # name: (dimension, size in the base unit, alternatives as they are written)
    "ms": ("time", 0.001, "ms|msec|milliseconds?|millisekunden?|milisegundos?|毫秒"),
    "s": ("time", 1.0, "s|secs?|seconds?|sekunden?|segundos?|secondes?|秒钟?"),
    "min": ("time", _MINUTE, "mins?|minutes?|minuten?|minutos?|分钟"),
    "h": ("time", _HOUR, "h|hrs?|hours?|stunden?|std|horas?|heures?|小时"),
    "d": ("time", _DAY, "d|days?|tage?n?|días?|dias?|jours?|天"),
    "w": ("time", 7 * _DAY, "weeks?|wochen?|semanas?|semaines?|周|星期"),
    "mo": ("time", 30 * _DAY, "months?|monate?n?|mes(?:es)?|mois|个月"),
    "y": ("time", 365 * _DAY, "years?|yrs?|jahre?n?|años?|anos?|ans|années?|年"),
    "b": ("size", 1.0, "bytes?"),
    "kb": ("size", 1e3, "kb|kib|kilobytes?"),
    "mb": ("size", 1e6, "mb|mib|megabytes?"),
    "gb": ("size", 1e9, "gb|gib|gigabytes?|gigas?"),
    "tb": ("size", 1e12, "tb|tib|terabytes?"),
    "%": ("percent", 1.0, "%|percent|per cent|prozent|por ciento|por cento|pour cent"),
    "mm": ("length", 0.001, "mm|millimet(?:er|re)s?"),
    "cm": ("length", 0.01, "cm|centimet(?:er|re)s?"),
    "m": ("length", 1.0, "m|met(?:er|re)s?|metros?|mètres?|米"),
    "km": ("length", 1e3, "km|kilomet(?:er|re)s?|kilómetros?|公里"),
    "mg": ("mass", 0.001, "mg|milligrams?"),
    "g": ("mass", 1.0, "g|grams?|gramm|gramos?|克"),
    "kg": ("mass", 1e3, "kg|kilos?|kilograms?|kilogramm|公斤|千克"),
    "t": ("mass", 1e6, "t|tonnes?|tons?|tonnen?|toneladas?|吨"),
    "ml": ("volume", 0.001, "ml|millilit(?:er|re)s?"),
    "l": ("volume", 1.0, "l|lit(?:er|re)s?|litros?|升"),
    "°c": ("temperature", 1.0, "°\\s?c|degrees?(?:\\s+celsius)?|grad|grados?|度"),
    "eur": ("money eur", 1.0, "€|eur|euros?|欧元"),
    "keur": ("money eur", 1e3, "keur|k€|t€|teur"),
    "usd": ("money usd", 1.0, "\\$|usd|dollars?|us\\$|美元"),
    "gbp": ("money gbp", 1.0, "£|gbp|pounds?"),
    "chf": ("money chf", 1.0, "chf|francs?|franken"),
    "brl": ("money brl", 1.0, "r\\$|brl|reais"),
    "cny": ("money cny", 1.0, "¥|cny|rmb|yuan|元"),
    "px": ("pixels", 1.0, "px|pixels?"),
    "kwh": ("energy", 1.0, "kwh"),
    "mwh": ("energy", 1e3, "mwh"),
    "w·": ("power", 1.0, "w|watts?"),
    "kw": ("power", 1e3, "kw|kilowatts?"),
}

# What a sign before the number stands for.
SIGNS = {
    "r$": "brl", "us$": "usd", "keur": "keur", "k€": "keur", "€": "eur", "$": "usd", "£": "gbp", "¥": "cny",
    "eur": "eur", "usd": "usd", "gbp": "gbp", "chf": "chf",
}  # fmt: skip

MONTHS = (
    "jan(?:uary|uar)?|enero|janvier|janeiro",
    "feb(?:ruary|ruar)?|febrero|février|fevereiro",
    "mar(?:ch)?|märz|marzo|mars|março",
    "apr(?:il)?|abril|avril",
    "may|mai|mayo|maio",
    "june?|juni|junio|juin|junho",
    "july?|juli|julio|juillet|julho",
    "aug(?:ust)?|agosto|août",
    "sept?(?:ember)?|septiembre|septembre|setembro",
    "oct(?:ober)?|oktober|octubre|octobre|outubro",
    "nov(?:ember)?|noviembre|novembre|novembro",
    "dec(?:ember)?|dezember|diciembre|décembre|dezembro",
)

# Chinese numerals are digits by the time this is read. Short forms such as "sun" and "sat" are words of their own, so
# they are left out.
DAYS = (
    "mondays?|montags?|lunes|lundis?|segundas?-feiras?|(?:周|星期|礼拜)1",
    "tues|tuesdays?|dienstags?|martes|mardis?|terças?-feiras?|(?:周|星期|礼拜)2",
    "weds?|wednesdays?|mittwochs?|miércoles|mercredis?|quartas?-feiras?|(?:周|星期|礼拜)3",
    "thurs?|thursdays?|donnerstags?|jueves|jeudis?|quintas?-feiras?|(?:周|星期|礼拜)4",
    "fri|fridays?|freitags?|viernes|vendredis?|sextas?(?:-feiras?)?|(?:周|星期|礼拜)5",
    "saturdays?|samstags?|sábados?|samedis?|(?:周|星期|礼拜)6",
    "sundays?|sonntags?|domingos?|dimanches?|(?:周|星期|礼拜)[日天]",
)
