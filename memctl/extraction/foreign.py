"""Which parts of a message are not its speaker's own words: quotes, fences, mail, pages, hidden markup."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_HIDDEN = re.compile(
    r"""<!--.*?(?:-->|\Z)
    |<(?P<tag>[a-z][a-z0-9]*)\b[^>]*?(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*[01](?:\.\d+)?(?:px|pt|em|%)?\s*[;"']
      |opacity\s*:\s*0(?:\.0\d*)?\s*[;"']|color\s*:\s*(?:white|transparent|\#fff(?:fff)?)\b|(?:left|top|text-indent)\s*:\s*-\d{3,}
      |aria-hidden\s*=\s*["']?true|\shidden(?=[\s>=]))[^>]*>.*?(?:</(?P=tag)\s*>|\Z)
    |^\[(?://|comment|_)\]:\s*(?:\#|<>)\s*[("'].*?[)"']\s*$""",
    re.DOTALL | re.IGNORECASE | re.VERBOSE | re.MULTILINE,
)
_FENCE = re.compile(r"^[ \t]*(```+|~~~+)[^\n]*\n.*?(?:^[ \t]*\1[^\n]*(?:\n|\Z)|\Z)", re.DOTALL | re.MULTILINE)
_QUOTE = re.compile(r"(?:^[ \t]*>[^\n]*(?:\n|\Z))+", re.MULTILINE)
# From here on somebody else speaks: forwarded mail, what a browser showed, what a page or file says.
_FROM_HERE = re.compile(
    r"""^[ \t]*(?:
      -{2,}\s*(?:original\s+message|forwarded\s+(?:message|by)|ursprüngliche\s+nachricht|weitergeleitete\s+nachricht|mensaje\s+(?:original|reenviado)
        |message\s+(?:d'origine|transféré)|mensagem\s+(?:original|encaminhada))\b
      |begin\s+forwarded\s+message|(?:on|am|el|le|em|il)\s[^\n]{5,80}\s(?:wrote|schrieb[^\n]{0,40}|escribió|a\s+écrit|escreveu|ha\s+scritto)\s*:
      |(?:from|von|de|发件人)\s*[:：][^\n]+\n(?:[^\n]+\n){0,3}(?:subject|betreff|asunto|objet|assunto|主题)\s*[:：]
    )|^[^\n]{0,200}?\b(?:
      (?:the\s+)?following\s+text\s+was\s+detected|automatic\s+ocr
      |(?:web\s?page|page|site|website|article|email|e-mail|mail|readme|file|document|issue|comment|post|ticket|log|output|response|result|search\s+results?)
        \s+(?:says|said|reads|contains|content|contents|text|body|states|shows|is|was)(?:\s+(?:the\s+following|this|as\s+follows))?
      |(?:pasting|pasted|quoting|copied|here(?:'s|\s+is)|this\s+is)\s+(?:the\s+|its\s+|their\s+|his\s+|her\s+)?(?:\w+\s+){0,3}?
        (?:text|content|contents|article|page|mail|email|e-mail|readme|output|log|response|message)(?:\s+(?:of|from|by)\s[^\n:]{1,80})?
      |tool\s+output|stdout|stderr
      |(?:die\s+)?(?:seite|mail|datei|ausgabe)\s+(?:sagt|lautet|enthält|schreibt)|(?:la\s+)?(?:página|web|correo)\s+dice|la\s+page\s+(?:dit|indique)
    )\s*[:：.]\s*$|^[^\n]{0,60}(?:页面|网页|邮件|文件)(?:内容|上写|显示|如下)[^\n]{0,10}[:：]\s*$""",
    re.IGNORECASE | re.VERBOSE | re.MULTILINE,
)
_MARKUP_LINE = re.compile(
    r"^[^\n]*</?(?:html|head|body|div|span|p|h[1-6]|title|meta|table|tr|td|li|ul|a|script|style|section|article)\b[^>\n]*>[^\n]*\n?",
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Region:
    """A part of a message: ``foreign`` if it is not the speaker's own words, ``hidden`` if readers do not see it."""

    text: str
    foreign: bool = False
    hidden: bool = False


def regions(text: str, *, trusted: bool) -> Iterator[Region]:
    """Cut a message into regions; joined together they are the message again."""
    position = 0
    for match in _HIDDEN.finditer(text):
        yield from _visible(text[position : match.start()], trusted)
        yield Region(match[0], foreign=True, hidden=True)
        position = match.end()
    yield from _visible(text[position:], trusted)


def _visible(text: str, trusted: bool) -> Iterator[Region]:
    if not trusted:
        yield Region(text, foreign=True)
        return
    position = 0
    for start, end in _foreign_spans(text):
        yield Region(text[position:start])
        yield Region(text[start:end], foreign=True)
        position = end
    yield Region(text[position:])


def _foreign_spans(text: str) -> list[tuple[int, int]]:
    spans = [match.span() for pattern in (_FENCE, _QUOTE, _MARKUP_LINE) for match in pattern.finditer(text)]
    spans += [
        (match.start() if _is_mail(match[0]) else match.end(), _end_of_quote(text, match.end()))
        for match in _FROM_HERE.finditer(text)
    ]
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        elif end > start:
            merged.append((start, end))
    return merged


def _is_mail(lead: str) -> bool:
    return bool(re.search(r"\b(?:subject|betreff|asunto|objet|assunto)\b|主题", lead, re.IGNORECASE))


def _end_of_quote(text: str, position: int) -> int:
    """A pasted text ends at its second rule line, else with the message."""
    opening = re.compile(r"\s*^(-{3,}|={3,}|\*{3,}|_{3,})\s*$", re.MULTILINE).match(text, position)
    if not opening:
        return len(text)
    closing = re.compile(rf"^{re.escape(opening[1])}\s*$", re.MULTILINE).search(text, opening.end())
    return closing.end() if closing else len(text)
