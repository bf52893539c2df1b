"""Words that show how a statement stands to an earlier one: change, correction, addition, negation, qualifiers."""

import re
from functools import lru_cache

_CHANGE = (
    # English
    r"no longer|any ?more|any longer|instead of|rather than|from now on|as of|starting (?:with|from|on|in|today|next|this|monday)",
    r"effective (?:immediately|from|as of|\d)|since (?:the|last|this|\d|january|february|march|april|may|june|july|august)",
    r"(?:has|have|had|was|were|been|got|is|are|we|they|it)(?:'ve|'s)? (?:now )?(?:moved|switched|changed|replaced|renamed|raised|lowered|increased|reduced|cut|extended|shortened|postponed|pushed|shifted|dropped|scrapped|cancelled|canceled|abolished|retired|removed|lifted|reversed|revoked|migrated|converted|upgraded|downgraded|fixed|resolved|solved|closed|reopened|delayed|brought forward)",
    r"(?:moved|switched|changed|migrated|went|gone|going|go) (?:over |back |away )?(?:to|from|for|with)|took over|takes over|taken over|replaces|replaced by|supersedes",
    r"(?:is|are|was|were) (?:gone|off|over|out|history|done|back|dead|obsolete|void)|used to|not .{1,25} but|turns out|after all|on reflection|changed (?:my|our|his|her|their|its) mind",
    r"again|new (?:limit|deadline|date|plan|rule|value|target|owner|address|time|default)|up from|down from|down to|up to|left us|stepped down|resigned|in favou?r of|now|currently|these days|meanwhile|update|has been|will be",
    # German
    r"ab sofort|ab jetzt|ab (?:heute|morgen|nächste[rm]|januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember|dem)|nicht mehr|kein(?:e|en|er|em)? .{0,20}mehr|statt(?:dessen)?|anstelle|künftig|nunmehr|jetzt|neuerdings|seit|inzwischen|umgestellt|gewechselt|umgezogen|verschoben|abgeschafft|ersetzt|geändert|doch|wieder|nur noch",
    # Spanish, Portuguese, French
    r"ya no|a partir de|desde ahora|en vez de|en lugar de|ahora|cambi(?:ó|amos|aron|ado|a)|pasa(?:mos|ron)? a|sustituy|reemplaz|dej(?:ó|amos|aron) de|de nuevo|já não|não .{0,20}mais|agora|em vez de|mudou|passa a|ne .{1,25} plus|désormais|à partir (?:de|du)|au lieu|maintenant|remplac",
    # Chinese
    r"不再|改为|改成|改用|从现在|换成|取消|已经|现在|而不是|调整为|推迟|提前|升级|迁移到|换到|以后",
)
_CORRECTION = (
    r"scratch that|correction|i meant|i was wrong|my mistake|sorry|actually|to be precise|rather|wait|no,|not \S+(?: \S+)?$|, not |strike that|on second thought",
    r"korrektur|ich meinte|falsch|doch nicht|stimmt nicht|sondern|genauer gesagt|corrección|perd[oó]n|mejor dicho|quise decir|me equivoqué|correction|en fait|更正|说错|应该是|不对|而不是",
)
_ADDITION = (
    r"also|as well|additionally|in addition|too|besides|plus|furthermore|another|both|second|on top of|likewise",
    r"auch|zusätzlich|außerdem|ebenfalls|sowie|también|además|igualmente|também|além disso|aussi|également|de plus|还|也|另外|此外|同时",
)
_NEGATION = (
    r"no|not|never|none|nobody|nothing|without|cannot|neither|nor|n't|don't|doesn't|isn't|aren't|won't|can't|mustn't|shouldn't|wasn't|weren't|didn't|refus\w*|reject\w*|forbid\w*|forbidden|banned|avoid|stop|out|off",
    r"nicht|kein\w*|nie|niemals|ohne|verboten|nunca|sin|ningun\w*|jamás|não|sem|nem|jamais|sans|ne|pas|不|没|无|禁止|别|未",
)
_HYPOTHETICAL = (
    r"if|would|could|might|maybe|perhaps|suggest\w*|propos\w*|consider\w*|thinking about|idea|asked whether|what if|should we|planned|considering|wonder\w*",
    r"vielleicht|könnte\w*|würde\w*|vorgeschlagen|überlegt|quizás|podría\w*|propus\w*|propon\w*|sugiri\w*|talvez|poderia|peut-être|如果|也许|可能|建议",
)

ENVIRONMENTS = {
    "staging": "staging|stage|preprod|pre-prod|uat",
    "production": "production|prod|live|produktion|produktiv\\w*|producción|produção|生产",
    "development": "dev|development|local|localhost|entwicklung|desarrollo|开发",
    "test": "test|testing|qa|测试",
    "sandbox": "sandbox",
    "backup": "backup|replica|standby|secondary|disaster-recovery|dr",
}


def _compiled(groups: tuple[str, ...]) -> re.Pattern[str]:
    """Match any alternative as whole words; Chinese has no word borders, so none are asked for there."""
    return re.compile(r"(?<![a-zà-ÿ0-9])(?:" + "|".join(groups) + r")(?![a-zà-ÿ0-9])", re.IGNORECASE)


_PATTERNS = {
    "change": _compiled(_CHANGE),
    "correction": _compiled(_CORRECTION),
    "addition": _compiled(_ADDITION),
    "negation": _compiled(_NEGATION),
    "hypothetical": _compiled(_HYPOTHETICAL),
}
_ENVIRONMENT_PATTERNS = {name: _compiled((spelled,)) for name, spelled in ENVIRONMENTS.items()}
_CHINESE_CUES = re.compile("不再|改为|改成|改用|从现在|换成|取消|已经|而不是|调整为|推迟|迁移到")
_IDENTIFIER = re.compile(
    r"[A-Za-z]*\d+[A-Za-z][\w-]*|[A-Za-z]+[-_]\w*\d\w*|\b\w+_\w+\b|\b\w+(?:-\w+)*\d[\w.-]*|[A-Z][a-z]+[A-Z]\w+|#[\w-]+|`[^`]+`"
)
_WORD = re.compile(r"[a-zà-ÿ0-9]+(?:['’][a-z]+)?|[一-鿿]", re.IGNORECASE)


def has(cue: str, text: str) -> bool:
    """Tell whether a statement carries a cue: change, correction, addition, negation or hypothetical."""
    return bool(_PATTERNS[cue].search(text)) or (cue == "change" and bool(_CHINESE_CUES.search(text)))


def corrects(text: str) -> bool:
    """Tell whether a statement takes back what was said just before it."""
    return has("correction", text)


def environments(text: str) -> frozenset[str]:
    """Name the environments that a statement is about."""
    return frozenset(name for name, pattern in _ENVIRONMENT_PATTERNS.items() if pattern.search(text))


@lru_cache(maxsize=8192)
def identifiers(text: str) -> frozenset[str]:
    """Find names that only one thing bears: ``pg-main``, ``B6-417``, ``MAX_TTL``, ``FastAPI``."""
    return frozenset(match.strip("`.").casefold() for match in _IDENTIFIER.findall(text))


@lru_cache(maxsize=8192)
def words(text: str) -> tuple[str, ...]:
    """Split a statement into lower-case words; a Chinese sign is a word."""
    return tuple(match.casefold() for match in _WORD.findall(text))


@lru_cache(maxsize=8192)
def names(text: str) -> frozenset[str]:
    """Find proper names: capitalised words that do not merely open a sentence."""
    found = set()
    for match in re.finditer(r"(?<![.!?:;'\"\w]\s)(?<!^)(?<!\w)([A-ZÄÖÜÁÉÍÓÚ][\wÀ-ÿ-]+)", text):
        found.add(match[1].casefold().removesuffix("'s"))
    return frozenset(found)
