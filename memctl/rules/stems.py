"""Light stemming by suffix tables: enough that the forms of a word meet, small enough to load at once.

Stems are never shown. Two words with one stem are treated as one word by full-text search, beside the
match of the words themselves, so a stem that is too short does less harm than one that is missing.
"""

import re
from functools import lru_cache

Rules = tuple[tuple[str, str, int], ...]  # suffix, what takes its place, letters that must be left before it


def _rules(table: str) -> Rules:
    """Read lines of ``suffix>replacement:letters``; the longest suffix is tried first."""
    read = (re.fullmatch(r"(\w+)>(\w*):(\d)", entry) for entry in table.split())
    found = [(match[1], match[2], int(match[3])) for match in read if match]
    return tuple(sorted(found, key=lambda rule: -len(rule[0])))


_ENGLISH_PLURAL = _rules("sses>ss:2 ies>y:2 ches>ch:2 shes>sh:2 xes>x:2 zzes>zz:2 ss>ss:1 us>us:1 is>is:1 s>:3")
_ENGLISH_DERIVED = _rules(
    "ational>at:2 ization>iz:2 isation>iz:2 ation>at:3 ator>at:3 fulness>:3 ousness>ous:3 iveness>iv:3 ility>il:3 "
    "ments>:4 ment>:4 ness>:3 ably>:4 ibly>:4 able>:4 ible>:4 ical>ic:3 ally>:4 fully>:3 ful>:3 less>:3 ily>y:3 ly>:3 "
    "ance>:4 ence>:4 ity>:4 ive>:4 ize>iz:3 ise>iz:3 ous>:4 ism>:4 ist>:4 tion>t:3 sion>s:3 er>:4 or>:4 al>:4"
)
_GERMAN = _rules(
    "ungen>:4 ung>:4 heiten>:3 heit>:3 keiten>:3 keit>:3 lichen>:3 licher>:3 liches>:3 liche>:3 lich>:3 ischen>:3 "
    "ische>:3 isch>:3 innen>:4 ern>:3 em>:3 en>:3 er>:3 es>:3 est>:3 e>:3 n>:4 s>:4 st>:4 t>:4"
)
_ROMANCE = _rules(
    "aciones>:3 acion>:3 iciones>:3 icion>:3 uciones>u:3 ciones>c:3 cion>c:3 acoes>:3 acao>:3 coes>c:3 cao>c:3 "
    "ations>:3 ation>:3 ements>:4 ement>:4 imientos>:3 imiento>:3 amientos>:3 amiento>:3 mentos>:4 mento>:4 mente>:4 "
    "idades>:4 idad>:4 idade>:4 ites>:4 ite>:4 adores>:3 ador>:3 adora>:3 ateur>:3 eurs>:4 eur>:4 "
    "ando>:3 iendo>:3 endo>:3 indo>:3 ados>:3 adas>:3 ado>:3 ada>:3 idos>:3 idas>:3 ido>:3 ida>:3 "
    "amos>:3 emos>:3 imos>:3 aron>:3 ieron>:3 aban>:3 aba>:3 aient>:3 ons>:4 ent>:4 ant>:4 ees>:3 ee>:3 "
    "ar>:3 er>:3 ir>:3 ez>:3 an>:4 en>:4 os>:3 as>:3 es>:3 is>:4 o>:3 a>:3 e>:3 i>:4 s>:3"
)
STEMMED_LANGUAGES = ("en", "de", "es")  # one of each family of rules
_VOWEL = re.compile(r"[aeiouy]")


@lru_cache(maxsize=50_000)
def stem(word: str, language: str = "en") -> str:
    """Cut a folded word to what its forms share; short words and those with digits stay as they are."""
    if len(word) < 4 or not word.isascii() or not word.isalpha():
        return word
    if language == "de":
        return _strip(word, _GERMAN)
    if language in ("es", "fr", "pt"):
        return _strip(word, _ROMANCE)
    return _english(word)


def _strip(word: str, rules: Rules) -> str:
    for suffix, replacement, letters in rules:
        if word.endswith(suffix) and len(word) - len(suffix) >= letters:
            return word[: len(word) - len(suffix)] + replacement
    return word


def _english(word: str) -> str:
    """Take off plural, tense and derivation, then the final vowel that forms disagree about."""
    word = _tense(_strip(word, _ENGLISH_PLURAL))
    word = _strip(word, _ENGLISH_DERIVED)
    if len(word) > 3 and word[-1] in "ey":
        word = word[:-1] if word[-1] == "e" else word[:-1] + "i"
    return word


def _tense(word: str) -> str:
    if word.endswith("ied") and len(word) > 4:
        return word[:-3] + "y"
    for suffix in ("ing", "ed"):
        left = word[: -len(suffix)]
        if word.endswith(suffix) and len(left) > 2 and _VOWEL.search(left):
            doubled = left[-1] == left[-2] and left[-1] not in "lsz"
            return left[:-1] if doubled else left
    return word
