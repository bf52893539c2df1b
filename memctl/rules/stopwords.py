"""Words that carry no topic, by language, and the language that a text's small words point to.

Words are folded as :mod:`memctl.rules.terms` folds them: lower case, without accents.
"""

from collections.abc import Iterable

_ENGLISH = """
a about after all also am an and any are as at be because been before being but by can could did do does doing don
during each for from further had has have having he her here hers him his how i if in into is it its itself just ll me
more most my no nor not now of off on once only or other our ours out over own re s same shall she should so some such
t than that the their them then there these they this those through to too under until up us ve very was we were what
when where which while who whom whose why will with would you your yours
"""
_GERMAN = """
aber als am an auch auf aus bei beim bin bis da damit das dass dein dem den der des die dies diese diesem diesen dieser
dieses doch dort du durch ein eine einem einen einer eines er es fur haben hat hatte hier ich ihr ihre ihrem ihren im
in ist ja jede jeder kann kein keine konnen man mein mit muss nach nicht noch nun nur ob oder ohne schon sein seine
sich sie sind so soll sollen uber um und uns unser unsere unter vom von vor war waren warum was welche welcher welches
wenn wer werden wie wieder wir wird wo zu zum zur zwischen
"""
_SPANISH = """
a al algo ante antes asi aun con como contra cual cuales cuando de del desde donde dos e el ella ellas ellos en entre
era es esa ese eso esta estan estas este esto estos fue ha hace hacia han hasta hay la las le les lo los mas me mi
mientras muy nada ni no nos nosotros nuestra nuestro o os otra otro para pero por porque que quien se sea ser si sin
sobre son su sus tambien tan te tiene todo todos tu tus un una uno unos y ya yo
"""
_FRENCH = """
a ai ainsi alors apres au aucun aussi autre aux avant avec avoir c ce ceci cela ces cet cette chez comme comment d dans
de depuis des donc dont du elle elles en encore entre est et ete etre eux fait il ils j je l la le les leur leurs lui m
ma mais me mes meme moi mon n ne nos notre nous on ont ou par pas peu peut plus pour pourquoi qu quand que quel quelle
quelles quels qui s sa sans se ses si son sont sous sur ta te tes toi ton tous tout tres tu un une vers vos votre vous y
"""
_PORTUGUESE = """
a ao aos apos as ate com como da das de dela dele deles depois do dos e ela elas ele eles em entre era essa esse esta
este eu foi foram ha isso isto ja lhe mais mas me mesmo meu minha muito na nao nas nem no nos nosso nossa num o os ou
para pela pelo por porque qual quando que quem se sem ser seu sua sao so tambem te tem ter um uma voce
"""
_CJK = "的了是在和与及就也都而着把被吗呢吧啊么这那哪我你他她它们个のはがをにでとへもやかなねよだです"

STOPWORDS: dict[str, frozenset[str]] = {
    "en": frozenset(_ENGLISH.split()),
    "de": frozenset(_GERMAN.split()),
    "es": frozenset(_SPANISH.split()),
    "fr": frozenset(_FRENCH.split()),
    "pt": frozenset(_PORTUGUESE.split()),
}
STOP_CHARACTERS = frozenset(_CJK)


_LANGUAGES: dict[str, list[str]] = {}
for _language, _stops in STOPWORDS.items():
    for _word in _stops:
        _LANGUAGES.setdefault(_word, []).append(_language)


def language_of(words: Iterable[str]) -> str | None:
    """Name the language whose small words occur most; None where none occurs. English wins ties."""
    counts = dict.fromkeys(STOPWORDS, 0)
    for word in words:
        for language in _LANGUAGES.get(word, ()):
            counts[language] += 1
    best = max(counts, key=counts.__getitem__)  # the first of equals, and English is first
    return best if counts[best] else None
