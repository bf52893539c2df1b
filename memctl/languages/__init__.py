"""Word-for-word English for texts in other languages: the models were pretrained on English and read nothing else.

Names and numbers mean the same to a model in any language, but "entschieden", "reserva" or "失败" do not. Before a
model reads a text, the words that ``words/*.txt`` lists are put into English. Only its input is changed, never a
memory's text. An entry ``word=english`` stands for the word itself, ``beginning*=english`` for all words that begin
so; the longest beginning wins. Underscores stand for spaces.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

_LEAST_BEGINNING = 3
_TELLTALES = {
    "de": """
        der die das und nicht wir ist für mit auf ein eine den dem auch wird bis bitte noch sich ich im zum
        sind nur wenn oder wie es von zu bei nach aus kein keine haben hat am vom uns
    """,
    "es": """
        el los las una que para con por del está pero hasta más usamos vamos es y mejor sin esta este la de
        en se lo un al como ya muy también nos hay son fue sobre cuando desde entre todo le su
    """,
    "fr": """
        le les des est une pour dans pas nous avec sur qui que du mais jusqu'à c'est aux et au la de en se
        ce un il ne sont était cette ça l'on d'un d'une
    """,
    "pt": """
        os um uma não que para com da em está mas até mais você pra foi é e na só o de se ao pelo também já
        muito são sobre quando desde entre tudo dos das nos
    """,
    "en": """
        the and is to of we for it that with on are be this not in you have will was i a at as by or from if
        no do so but they our all can has had were there their what when one should would must its than then
        also more please an only it's don't i'm
    """,
}
_COMMONEST = {name: frozenset(words.split()) for name, words in _TELLTALES.items()}
_LETTERS = {"de": "äöüß", "es": "ñ¿¡", "fr": "èêàœ", "pt": "ãõ"}
_LEAST_FOUND = 2  # one word alone may be a name
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_IDEOGRAPHS = re.compile(r"[\u3400-\u9fff]+")
_START = 400  # characters that are enough to tell a language


@dataclass(frozen=True, slots=True)
class _Words:
    """The dictionary of one language: whole words, beginnings of words, and the longest of those."""

    whole: dict[str, str]
    beginnings: dict[str, str]
    longest: int

    def english(self, word: str) -> str:
        """Put one word into English; a word that is not listed stays as it is."""
        low = word.lower()
        if low in self.whole:
            return self.whole[low]
        for length in range(min(len(low), self.longest), _LEAST_BEGINNING - 1, -1):
            found = self.beginnings.get(low[:length])
            if found:
                return found
        return word


def language(text: str) -> str:
    """Guess the language of a text from its commonest words; ``en`` where nothing speaks for another."""
    ideographs = _IDEOGRAPHS.findall(text)
    if ideographs and sum(map(len, ideographs)) * 4 >= len(text) - text.count(" "):
        return "zh"
    start = text[:_START].lower()
    found = _WORD.findall(start)
    counts = {name: sum(word in commonest for word in found) for name, commonest in _COMMONEST.items()}
    for name, letters in _LETTERS.items():
        counts[name] += any(letter in start for letter in letters)
    best = max(counts, key=lambda name: (counts[name], name == "en"))
    return best if counts[best] >= _LEAST_FOUND else "en"


def gloss(text: str, tongue: str) -> str:
    """Put the words of a text that are listed for its language into English, word for word."""
    if _IDEOGRAPHS.search(text):
        pattern, table = _chinese()
        text = pattern.sub(lambda match: f" {table[match.group()]} ", text)
    if tongue in _COMMONEST and tongue != "en":
        words = _words(tongue)
        text = _WORD.sub(lambda match: words.english(match.group()), text)
    return text


@lru_cache(maxsize=4096)
def in_english(text: str) -> str:
    """Put a text of any language into English, word for word, as far as its words are listed."""
    return gloss(text, language(text))


def _read(tongue: str) -> dict[str, str]:
    listed = (files("memctl") / "languages" / "words" / f"{tongue}.txt").read_text("utf-8").split()
    pairs = (entry.split("=", 1) for entry in listed)
    return {word.replace("_", " "): english.replace("_", " ") for word, english in pairs}


@lru_cache(maxsize=8)
def _words(tongue: str) -> _Words:
    listed = _read(tongue)
    whole = {word: english for word, english in listed.items() if not word.endswith("*")}
    beginnings = {word[:-1]: english for word, english in listed.items() if word.endswith("*")}
    return _Words(whole, beginnings, max(map(len, beginnings), default=0))


@lru_cache(maxsize=1)
def _chinese() -> tuple[re.Pattern[str], dict[str, str]]:
    """Chinese sets no spaces, so its words are found by looking for the longest that is listed."""
    table = _read("zh")
    longest_first = sorted(table, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, longest_first))), table
