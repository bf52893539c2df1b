"""From a sentence as it was said to a memory that stands on its own.

The words of the speaker are kept as far as possible. What only works inside the chat goes: lead-ins
("OK, and by the way"), asides, "I". Where grammar would have to be guessed, the speaker is named in
front instead.
"""

import re

from memctl.extraction.segment import words
from memctl.extraction.timewords import word_set

MAX_WORDS, MAX_CHARS = 28, 200
_MIN_REST = 3

_OPENERS = (
    r"ok(?:ay)?|yes|yep|yeah|no|right|fine|sure|well|so|and|but|also|oh|ah|hm+|anyway|agreed|good|great|perfect|"
    r"exactly|thanks|"
    r"thank you|understood|got it|noted|correct|true|fair(?: point| enough)?|sorry|actually|hey|hi(?: all| team|"
    r" everyone)?|hello|"
    r"then|now|please note(?: that)?|note(?: that)?|fyi|btw|by the way|one more(?: thing)?|last(?:ly| one|"
    r" thing)?|finally|first(?:ly)?|"
    r"second(?:ly)?|third(?:ly)?|next|for the record|just so you know|to be clear|in short|in other words|"
    r"remember(?: that)?|quick note|heads-?up|"
    r"small(?: correction| thing)?|correction|reminder|update|important|my (?:view|vote)|i think|i'd say|"
    r"ja|nein|gut|genau|also|und|aber|übrigens|noch was|ach|na|okay|klar|einverstanden|danke|hinweis|wichtig|kurz|"
    r"sí|vale|bueno|pues|y|pero|además|por cierto|otra cosa|ah|oye|gracias|nota|importante|"
    r"oui|non|bon|alors|et|mais|au fait|d'accord|merci|"
    r"sim|então|e|mas|aliás|ah|certo|obrigad[oa]|último|outra coisa"
)
_LEAD_IN = re.compile(
    rf"^(?:(?:{_OPENERS})(?:\s*[,:;.!…–—-]+\s+|\s+(?=(?:and|also|by the way|btw|please|y|und|noch)\b)))+", re.IGNORECASE
)
_BARE_OPENER = re.compile(
    r"^(?:(?:and|but|so|also|oh|well|btw|by the way|fyi|und|aber|y|pero|et|mais|e|mas)\s+(?=\S+\s+\S+))+", re.IGNORECASE
)
_CHINESE_OPENER = re.compile(
    r"^(?:好的?|对了|另外|还有|嗯|那么?|所以|行|可以|顺便说一下|补充一下|收到)[，,。！、：:]\s*"
)
_TAIL = re.compile(
    r"(?:[,;–—-]\s*(?:please|pls|ok(?:ay)?|right|thanks|thank you|agreed|bitte|danke|por favor|gracias|"
    r"s'il (?:te|vous) pla[iî]t|by the way|btw|fyi|too|though)|\s+(?:pls|:\)|;\)|lol|haha|"
    r"[\U0001f300-\U0001faff]+))+\s*([.!]*)$",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"\s*\([^()]{8,}\)")

_UNCHANGED = (
    "was had can can't cannot could couldn't should shouldn't must might may won't wouldn't wasn't hadn't didn't did"
)
_CONTRACTIONS = {
    "i'm": "is",
    "i am": "is",
    "i've": "has",
    "i have": "has",
    "i haven't": "hasn't",
    "i'd": "would",
    "i would": "would",
    "i'll": "will",
    "i will": "will",
    "i don't": "doesn't",
    "i do not": "does not",
    "i do": "does",
    **{f"i {verb}": verb for verb in _UNCHANGED.split()},
}
_CONTRACTED = re.compile(
    rf"\b(?:{'|'.join(sorted(map(re.escape, _CONTRACTIONS), key=len, reverse=True))})\b", re.IGNORECASE
)
_PRESENT = word_set(
    "prefer want need like love hate use keep run own lead handle write read take make think believe expect "
    "work live know see find send test check deploy build track own plan review approve sign pay order cook "
    "drive travel speak maintain insist mean hope wish recommend suggest propose vote trust avoid dislike care "
    "mind remember"
)
_PAST = word_set(
    "decided tried moved changed switched updated fixed added removed tested checked asked told said got made "
    "took went found saw sent wrote chose set put ran spoke met agreed booked ordered signed talked called "
    "deleted deployed merged reverted measured counted confirmed promised learned noticed spent paid gave kept "
    "lost broke built bought"
)
_I_VERB = re.compile(
    rf"\bI\s+((?:always|never|also|usually|really|still|already|only|just|strongly|"
    rf"much)\s+)?({'|'.join(sorted(_PRESENT | _PAST))})\b"
)
_I = re.compile(r"\bI\b|\bI'(?:m|d|ll|ve)\b|\b(?:me|myself)\b")
_MY = re.compile(r"\b(my|mine)\b", re.IGNORECASE)
_FOREIGN_I = re.compile(
    r"\b(?:ich|mir|mich|mein(?:e[rnms]?)?|yo|prefiero|quiero|necesito|me gusta|mi|je|j'ai|j'aime|moi|mon|ma|eu|"
    r"prefiro|quero|meu|minha)\b|我(?!们)",
    re.IGNORECASE,
)
_ANONYMOUS = re.compile(r"^(?:user|human|assistant|admin|user_?proxy|chat_?manager|unknown|\?)?$", re.IGNORECASE)
_LEANS_BACK = re.compile(
    r"^(?:it|its|it's|that|that's|this|these|those|they|they're|their|he|she|his|her|there|then|the (?:other|"
    r"second|first|latter|former|same)|"
    r"both|neither|which|same|instead|otherwise|because|since|das|dies|diese[rs]?|er|sie|es|dort|dann|deshalb|"
    r"sonst|weil|eso|esto|ese|esa|"
    r"ella|él|así|porque|allí|ça|cela|c'est|il|elle|ils|isso|isto|ele|ela|assim)\b|^(?:它|这|那|他|她|因为|所以|"
    r"否则)",
    re.IGNORECASE,
)


_FRAGMENT_WORDS = 8
_VERBS = word_set("""
    is are was were be been am has have had do does did will would can could may might must should shall won't
    don't isn't aren't can't it's that's we're they're i'm we'll use uses used keep keeps stay stays go goes
    went gone come move moves moved run runs ran need needs want wants take takes took make makes get gets got
    cost costs hold holds say says said put set send write read add added drop dropped switch switched change
    changed raise raised lower lowered start starts stop stops give gives let leave leaves left open opens close
    closes ship ships deploy deployed build avoid prefer prefers prefiero quiero usamos usa uso es son está
    están fue era hay tiene tienen pasa queda va van ser ist sind war wird werden hat haben bleibt nutzen nimmt
    nehmen soll muss kann geht kommt läuft est sont était sera a ont avait passe reste va vont utilise doit peut
    faut é são foi será tem têm fica vai vão usa deve pode
""")
_IDLE_LEADS = word_set("""
    summary recap status update updates notes note context background quick today now agenda wrapping up for the of so
    far options to in short tl;dr reminder overview points key list first hello hi all everyone team
    resumen contexto rápido rápida estado notas hoy hola a todos resumo estado notas hoje contexte résumé notes
    zusammenfassung stand kontext notizen heute kurz
""")
_NO_SPACES = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_PIECE = re.compile(r"[\w';’]+")
_SENTENCE_END = re.compile(r"[.!?。！？]\s+")


def is_fragment(text: str) -> bool:
    """Say whether a text is a short piece of a sentence without a verb: "45 seconds then", "ES256 for all of them"."""
    said = trim(text).casefold()
    if _NO_SPACES.search(said):  # where words are not set apart, verbs cannot be looked up
        return False
    return words(said) <= _FRAGMENT_WORDS and not _VERBS & set(_PIECE.findall(said))


def telling_lead(lead: str) -> str:
    """Give what a list's heading tells about its items: its last sentence, nothing where that is a mere "Summary"."""
    last = _SENTENCE_END.split(lead.strip())[-1].strip()
    return "" if set(_PIECE.findall(last.casefold())) <= _IDLE_LEADS else last


def name_of(speaker: str) -> str:
    """Write a speaker as a memory names one: "Tom_QA" is Tom QA, "user" is the user."""
    if _ANONYMOUS.match(speaker):
        return "the user"
    return re.sub(r"\s*\(.*\)$", "", speaker).replace("_", " ").strip() or speaker


def leans_back(text: str) -> bool:
    """Say whether a sentence needs the one before it to be understood."""
    return bool(_LEANS_BACK.match(trim(text)))


def trim(text: str) -> str:
    """Cut the lead-in and the closing courtesy of a sentence, as long as a sentence remains."""
    for pattern in (_LEAD_IN, _BARE_OPENER, _CHINESE_OPENER):
        rest = pattern.sub("", text, count=1)
        if words(rest) >= _MIN_REST:
            text = rest
    rest = _TAIL.sub(r"\1", text)
    text = (rest if words(rest) >= _MIN_REST else text).strip(" ,;–—")
    return text.rstrip(":：") if words(text) > _MIN_REST else text


def shorten(text: str) -> str:
    """Take asides in brackets out of a text that is too long to be a memory."""
    while not fits(text) and _ASIDE.search(text):
        text = _ASIDE.sub("", text, count=1)
    return text


def fits(text: str) -> bool:
    """Say whether a text is no longer than a memory may be."""
    return words(text) <= MAX_WORDS and len(text.split()) <= MAX_WORDS and len(text) <= MAX_CHARS


def standalone(text: str, speaker: str) -> str:
    """Write what ``speaker`` said so that it is understood outside the chat."""
    return _capital(shorten(_named(trim(text), name_of(speaker))))


def _named(text: str, name: str) -> str:
    """Replace "I" and "my" by the name; where that needs grammar unknown here, say who speaks."""
    text = text.replace("’", "'")
    said = _CONTRACTED.sub(
        lambda m: f"{name} {_CONTRACTIONS[m.group().lower().replace('’', chr(39))]}", text.replace("’", "'")
    )
    said = _I_VERB.sub(lambda m: f"{name} {m[1] or ''}{_third(m[2])}", said)
    said = _MY.sub(f"{name}'s", said) if said != text or not _I.search(said) else said
    if _I.search(said) or (said == text and _FOREIGN_I.search(text)):
        return f"{name}: {text}"
    return said


def _third(verb: str) -> str:
    if verb in _PAST:
        return verb
    return verb + ("es" if verb.endswith(("s", "sh", "ch", "x", "o")) else "s")


def _capital(text: str) -> str:
    """Begin with a capital, unless the first word is a name that is written small (a path, a command)."""
    first = text.split(" ", 1)[0]
    return text[:1].upper() + text[1:] if first.isalpha() and first.islower() else text
