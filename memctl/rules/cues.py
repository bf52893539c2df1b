"""Words that show how a statement stands to an earlier one: change, correction, addition, negation, qualifiers."""

import re
from functools import lru_cache

_VERBS_OF_CHANGE = (
    "moved|switched|changed|replaced|renamed|raised|lowered|increased|reduced|cut|extended|shortened|postponed|pushed|"
    "shifted|dropped|scrapped|cancelled|canceled|abolished|retired|removed|lifted|reversed|revoked|migrated|converted|"
    "upgraded|downgraded|fixed|resolved|solved|closed|reopened|delayed|brought forward"
)
_MONTHS_IN_GERMAN = "januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember"
_CHANGE = (
    r"no longer|any ?more|any longer|instead of|rather than|from now on|as of|up from|down from|down to|in favou?r of",
    r"starting (?:with|from|on|in|today|next|this|monday)|effective (?:immediately|from|as of|\d)",
    r"since (?:the|last|this|\d|january|february|march|april|may|june|july|august)|these days|meanwhile|now|currently",
    rf"(?:has|have|had|was|were|been|got|is|are|we|they|it)(?:'ve|'s)? (?:now )?(?:{_VERBS_OF_CHANGE})",
    r"(?:moved|switched|changed|migrated|went|gone|going|go) (?:over |back |away )?(?:to|from|for|with)",
    r"took over|takes over|taken over|replaces|replaced by|supersedes|left us|stepped down|resigned|used to|turns out",
    r"(?:is|are|was|were) (?:gone|off|over|out|history|done|back|dead|obsolete|void)|not .{1,25} but|after all|again",
    r"on reflection|changed (?:my|our|his|her|their|its) mind|has been|will be|update",
    r"new (?:limit|deadline|date|plan|rule|value|target|owner|address|time|default)",
    r"ab sofort|ab jetzt|nicht mehr|kein(?:e|en|er|em)? .{0,20}mehr|statt(?:dessen)?|anstelle|künftig|nunmehr|jetzt",
    rf"ab (?:heute|morgen|nächste[rm]|dem|{_MONTHS_IN_GERMAN})|neuerdings|seit|inzwischen|umgestellt|gewechselt",
    r"umgezogen|verschoben|abgeschafft|ersetzt|geändert|doch|wieder|nur noch",
    r"ya no|a partir de|desde ahora|en vez de|en lugar de|ahora|cambi(?:ó|amos|aron|ado|a)|pasa(?:mos|ron)? a",
    r"dej(?:ó|amos|aron) de|de nuevo|sustituy\w*|reemplaz\w*|já não|não .{0,20}mais|agora|em vez de|mudou|passa a",
    r"ne .{1,25} plus|désormais|à partir (?:de|du)|au lieu|maintenant|remplac\w*",
)
_CORRECTION = (
    r"scratch that|strike that|correction|i meant|i was wrong|my mistake|sorry|actually|to be precise|rather|wait",
    r"no,|not \S+(?: \S+)?$|, not |on second thought",
    r"korrektur|ich meinte|falsch|doch nicht|stimmt nicht|sondern|genauer gesagt",
    r"corrección|perd[oó]n|mejor dicho|quise decir|me equivoqué|en fait|correção|quis dizer",
)
_ADDITION = (
    r"also|as well|additionally|in addition|too|besides|plus|furthermore|another|both|second|on top of|likewise",
    r"auch|zusätzlich|außerdem|ebenfalls|sowie|también|además|igualmente|também|além disso|aussi|également|de plus",
)
_RESTATING = (
    r"remind\w*|remember|once more|one more time|again|as (?:before|always|agreed|usual|said|ever|you know)",
    r"like (?:before|always)|still (?:holds?|stands?|appl(?:y|ies)|true|valid|the case)|stays? (?:as|the same)",
    r"unchanged|same as|of course|repeat\w*|wie (?:immer|gehabt|besprochen|vereinbart|gesagt|bisher)|erinner\w*",
    r"nochmals?|noch einmal|weiterhin|nach wie vor|bleibt|recuerd\w*|recordatorio|como siempre|otra vez|sigue\w*",
    r"como (?:dijimos|acordamos)|comme (?:toujours|convenu|avant)|rappel\w*|lembr\w*|como sempre|continua\w*",
)
_MONTHS = (
    r"jan(?:uary|uar|vier)?|feb(?:ruary|ruar)?|mar(?:ch|s|zo)?|märz|apr(?:il)?|may|mai|june?|juni|juin|july?|juli|aug(?:ust)?",
    r"sept?(?:ember)?|oct(?:ober)?|oktober|nov(?:ember)?|dec(?:ember)?|dezember|enero|febrero|abril|mayo|junio|julio|agosto",
    r"septiembre|octubre|noviembre|diciembre|q[1-4]|h[12]",
)
_NEGATION = (
    r"no|not|never|none|nobody|nothing|without|cannot|neither|nor|\w+n't|refus\w*|reject\w*|forbid\w*|banned|avoid",
    r"stop|out|off|nicht|kein\w*|nie|niemals|ohne|verboten|nunca|sin|ningun\w*|jamás|não|sem|nem|jamais|sans|ne|pas",
)
_HYPOTHETICAL = (
    r"if|would|could|might|maybe|perhaps|suggest\w*|propos\w*|consider\w*|thinking about|idea|asked whether|wonder\w*",
    r"what if|should we|planned|vielleicht|könnte\w*|würde\w*|vorgeschlagen|überlegt|quizás|podría\w*|propus\w*",
    r"propon\w*|sugiri\w*|talvez|poderia|peut-être",
)
# Chinese puts no space between words, so its cues are looked for anywhere.
_CHINESE = {
    "change": "不再|改为|改成|改用|改到|从现在|换成|取消|已经|而不是|调整为|推迟|提前|升级|迁移到|搬到|换到|以后",
    "correction": "更正|说错|应该是|不对|而不是",
    "addition": "还|也|另外|此外|同时",
    "negation": "不|没|无|禁止|别|未",
    "hypothetical": "如果|也许|可能|建议",
    "restating": "提醒|再次|再说一遍|照旧|仍然|还是|一如既往|记得",
}
_ENVIRONMENTS = {
    "staging": r"staging|stage|preprod|pre-prod|uat",
    "production": r"production|prod|live|produktion|produktiv\w*|producción|produção",
    "development": r"dev|development|local|localhost|entwicklung|desarrollo",
    "test": r"test|testing|qa|testumgebung|pruebas",
    "sandbox": r"sandbox",
    "backup": r"backup|replica|standby|secondary|disaster-recovery|dr",
}


def _compiled(*alternatives: str) -> re.Pattern[str]:
    """Match any alternative as whole words."""
    return re.compile(r"(?<![a-zà-ÿ0-9])(?:" + "|".join(alternatives) + r")(?![a-zà-ÿ0-9])", re.IGNORECASE)


_PATTERNS = {
    "change": _compiled(*_CHANGE),
    "correction": _compiled(*_CORRECTION),
    "addition": _compiled(*_ADDITION),
    "negation": _compiled(*_NEGATION),
    "hypothetical": _compiled(*_HYPOTHETICAL),
    "restating": _compiled(*_RESTATING),
}
_CHINESE_PATTERNS = {cue: re.compile(signs) for cue, signs in _CHINESE.items()}
_ENVIRONMENT_PATTERNS = {name: _compiled(spelled) for name, spelled in _ENVIRONMENTS.items()}
_MONTH_PATTERN = _compiled(*_MONTHS)
_IDENTIFIER = re.compile(
    r"\b[A-Za-z]+\d+[\w-]*|\b[A-Za-z]+-\w*\d[\w.-]*|\b\w+_\w+\b|\b[A-Z][a-z]+[A-Z]\w+|#[\w-]+|`[^`]+`"
)
_WORD = re.compile(r"[a-zà-ÿ0-9]+(?:['’][a-z]+)?|[一-鿿]", re.IGNORECASE)
_NAME = re.compile(r"(?<![.!?:;]\s)(?<!^)(?<!\w)([A-ZÄÖÜÁÉÍÓÚ][\wÀ-ÿ-]+)")


@lru_cache(maxsize=16384)
def has(cue: str, text: str) -> bool:
    """Tell whether a statement carries a cue: change, correction, addition, negation, hypothetical or restating."""
    return bool(_PATTERNS[cue].search(text) or _CHINESE_PATTERNS[cue].search(text))


def corrects(text: str) -> bool:
    """Tell whether a statement takes back what was said just before it."""
    return has("correction", text)


@lru_cache(maxsize=16384)
def environments(text: str) -> frozenset[str]:
    """Name the environments that a statement is about."""
    return frozenset(name for name, pattern in _ENVIRONMENT_PATTERNS.items() if pattern.search(text))


@lru_cache(maxsize=16384)
def months(text: str) -> frozenset[str]:
    """Find the months and quarters that a statement names, by their first letters."""
    return frozenset(match.casefold()[:3] for match in _MONTH_PATTERN.findall(text))


_NUMBERED = re.compile(
    r"\b(number|no\.|nr\.?|job|ticket|issue|room|article|chapter|episode|ep|invoice|order|case)\s*#?(\d+)\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=16384)
def numbered(text: str) -> dict[str, str]:
    """Find things that are told apart by a number: "ticket 118", "job number 7"."""
    return {kind.casefold(): number for kind, number in _NUMBERED.findall(text)}


@lru_cache(maxsize=16384)
def identifiers(text: str) -> frozenset[str]:
    """Find names that only one thing bears: ``pg14-main``, ``B6-417``, ``MAX_TTL``, ``FastAPI``."""
    return frozenset(match.strip("`.").casefold() for match in _IDENTIFIER.findall(text))


@lru_cache(maxsize=16384)
def words(text: str) -> tuple[str, ...]:
    """Split a statement into lower-case words; a Chinese sign is a word."""
    return tuple(match.casefold() for match in _WORD.findall(text))


@lru_cache(maxsize=16384)
def names(text: str) -> frozenset[str]:
    """Find proper names: capitalised words that do not merely open a sentence."""
    return frozenset(match[1].casefold().removesuffix("'s") for match in _NAME.finditer(text))
