"""Credentials that are recognised by the word in front of them: assignments, headings and plain sentences.

"password: x", ``DB_PASS=x``, "the password for staging is x", "Passwort lautet x", "contraseña: x", "密码是x".
The word alone proves nothing ("rotate the token every 30 days"), so the value is always judged too.
"""

import re
from collections.abc import Iterator

from memctl.extraction.secret_values import (
    is_ordinary,
    is_placeholder,
    looks_like_assigned,
    looks_like_password,
    looks_random,
)

Span = tuple[int, int, str]

_LONG_NAMES = "|".join(
    r"""passwor[dt] passwd passphrase passcode kennwort contraseñ?a contrasena mot\s+de\s+passe senha palavra-passe
    wachtwoord lösenord passord adgangskode salasana hasło haslo heslo jelszó пароль пароля parola şifre
    zugangscode access\s+code código\s+de\s+acceso code\s+d['’]accès (?:recovery|backup)\s+codes?
    密码 密碼 口令 パスワード 暗証番号 비밀번호""".split()  # noqa: SIM905
)
_SHORT_NAMES = r"(?-i:(?<![a-z]))(?:pass|pwd|pw|mdp|clave)(?-i:(?![a-z]))"
_KEY_NAMES = "|".join(
    r"""(?:api|access|secret|signing|encryption|master|private|auth|license|account)[\s_-]?key api[\s_-]?token
    client[\s_-]?secret credentials? secret token
    api-schlüssel zugangsschlüssel schlüssel geheimnis zugangsdaten
    clave\s+(?:de\s+)?(?:la\s+)?api clave\s+secreta credencial(?:es)?
    clé\s+(?:d['’])?\s?(?:api|secrète) jeton identifiants chave segredo chiave
    密钥 密鑰 令牌 秘钥 アクセスキー トークン 토큰 ключ токен""".split()  # noqa: SIM905
)
_TRIGGERS = """
    zugangscode access\\scode de\\sacceso d.accès ry\\scode up\\scode \\blogin \\bcred anmelde \\bssh\\b 账号 账户 登录
    pass pwd pw\\b \\bpin\\b mdp clave kennwort contrase senha wachtwoord lösenord adgangskode salasana hasł haslo
    heslo jelsz
    парол parola şifre 密 口令 パスワード 暗証番号 비밀번호 key secret token credential schlüssel geheimnis zugangsdaten
    credencial clé jeton identifiants chave segredo chiave 令牌 秘钥 キー トークン 토큰 ключ токен
"""
_TRIGGER = re.compile("|".join(_TRIGGERS.split()))
# What may be glued to the word: DB_PASSWORD_PROD, token_used, "sasl.password". Names of other things are no secrets.
_SUFFIX = (
    r"(?![\w.-]*(?:id|name|count|limit|type|url|uri|path|file|env|var|ttl|expiry|expires(?:_\w+)?|age|size|length|len|budget|policy|"
    r"min|max|format|field|version|rotation|arn|ref|prefix|manager|usage|per\w*|hash|hint|ids|names)\b[\"'`]?\s*[:=])(?:[_-]\w+)*"
)
_BARE = r"(?P<w>(?:(?!,(?:\s|$|\w+=|[\"'`])|\[redacted:)[^\s\"'`;&|<>\\，。；、）」】]){1,400})"
_QUOTED = r"\\{0,3}(?P<q>[\"'`“„«])(?P<v>[^\n\"'`”“»]{4,200}?)\\{0,3}[\"'`”“»]"
_VALUE = rf"(?:{_QUOTED}|{_BARE})"
_ANY_NAME = rf"(?P<p>{_LONG_NAMES}|{_SHORT_NAMES})|(?P<s>{_KEY_NAMES})"
_JOIN = r"(?:\s*(?P<strong>:=|=>|==?)\s*|\s*(?P<weak>[:：])\s*)"

_ASSIGNED = re.compile(
    rf"(?:{_ANY_NAME}){_SUFFIX}\\{{0,3}}[\"'`\]*]{{0,3}}{_JOIN}{_VALUE}",
    re.IGNORECASE,
)
_COPULA = (
    r"(?:\s+(?:is|was|are|ist|war|lautet|es|era|est|était|é|è|är|er|to|=|remains|being|now|jetzt|ahora|maintenant)(?!\w)|"
    r"\s*(?:是|为|為|は|:|：|->|→))+"
)
_SAID = re.compile(
    rf"(?:{_ANY_NAME})s?\*{{0,2}}(?P<gap>(?:\s+[^\s.:=!?\n]{{1,24}}){{0,7}}?(?:[\w'-]+)??){_COPULA}\s*\*{{0,2}}"
    rf"{_VALUE}",
    re.IGNORECASE,
)
_BESIDE = re.compile(rf"(?:{_ANY_NAME})(?:\s+|\s*[(—–]\s*)\(?{_VALUE}", re.IGNORECASE)
_OPTION = re.compile(rf"(?<!\S)--?(?:[\w-]*-)?(?:{_ANY_NAME})(?:\s+|=){_VALUE}", re.IGNORECASE)
_BEFORE = re.compile(
    rf"[\"'`]?(?P<w>[^\s\"'`,;()]{{6,80}})[\"'`]?\s+(?:is|as|ist|als|es|como|est|comme)\s+"
    rf"(?:(?:the|a|an|our|my|das|ein|unser|la|una|nuestra|le|un|notre|its|new|temporary|\w+)\s+){{0,3}}(?P<p>{_LONG_NAMES})",
    re.IGNORECASE,
)
# "creds: admin / x", "login admin:x": a name and a secret side by side.
_LOGIN = re.compile(
    r"(?:\b(?:log-?ins?|creds?|credentials|accounts?|ssh|zugangsdaten|anmeldedaten|credenciales|identifiants)\b|账号|账户|登录)"
    r"(?:\s+(?:are|is|sind|son|sont|for\s+[^\s:]{1,30}))?\s*[:：]?\s*(?P<p>[\w.@-]{2,40})(?:\s*/\s+|\s+/\s*|:)"
    rf"{_BARE}",
    re.IGNORECASE,
)
_PIN = re.compile(r"\b(?P<p>PIN)(?:\s+(?:is|ist|lautet|es)\s+|\s*[:=]\s*)(?P<w>\d{4,8})\b")
_WORD = re.compile(rf"{_ANY_NAME}|(?P<k>\bkeys?\b)", re.IGNORECASE)
_TOKEN = re.compile(r"(?<![A-Za-z0-9_\-+/])[A-Za-z0-9][A-Za-z0-9_\-.+/~$!]{15,}={0,2}")
_KINDS = {
    "api-key": ("key", "schlüssel", "clave", "clé", "chave", "chiave", "密", "秘钥", "キー", "ключ"),
    "token": ("token", "jeton", "令牌", "トークン", "토큰", "токен"),
}
_LONG_HEX = re.compile(r"[0-9a-fA-F]{32,}$")
_TRAILING = ".,;:!?)]}*_。，"
_REACH = 120
# A value stands near its word: at most this far before and behind it, and at most two lines further down.
_BEFORE_WORD, _BEHIND_WORD, _LINES_BEHIND = 120, 300, 3


def named_secrets(text: str, lower: str) -> Iterator[Span]:
    """Find the values that a password or key word introduces, as (start, end, kind).

    ``lower`` is the text in lower case: it is at hand, and makes the search for the words cheap.
    """
    for start, end in _windows(text, lower):
        yield from _assigned(text, start, end)
        for pattern, judge in _JUDGED:
            for match in pattern.finditer(text, start, end):
                span = _span(match)
                if span and judge(text[span[0] : span[1]], match):
                    yield span
        yield from _random_beside_word(text, start, end)


def _windows(text: str, lower: str) -> list[tuple[int, int]]:
    """Cut out the surroundings of the words that matter, so that the patterns need not read the whole text."""
    if len(lower) != len(text):  # lower case of some letters is longer: places would not agree
        return [(0, len(text))] if _TRIGGER.search(lower) else []
    windows: list[tuple[int, int]] = []
    for match in _TRIGGER.finditer(lower):
        start = max(match.start() - _BEFORE_WORD, text.rfind("\n", 0, match.start()) + 1)
        end = _window_end(text, match.end())
        if windows and start <= windows[-1][1]:
            windows[-1] = (windows[-1][0], max(end, windows[-1][1]))
        else:
            windows.append((start, end))
    return windows


def _window_end(text: str, position: int) -> int:
    limit = min(len(text), position + _BEHIND_WORD)
    for _ in range(_LINES_BEHIND):
        position = text.find("\n", position + 1, limit)
        if position < 0:
            return _token_end(text, limit)
    return position


def _token_end(text: str, position: int) -> int:
    """Move to the next blank, so that no value is cut in two."""
    blank = re.compile(r"\s").search(text, position)
    return blank.start() if blank else len(text)


def _assigned(text: str, start: int, limit: int) -> Iterator[Span]:
    position = start
    while match := _ASSIGNED.search(text, position, limit):
        span = _span(match)
        if span and _is_assigned(text, span, match):
            yield span
        # Values may hold the next name ("key: api_key: x"), so go on right behind the name.
        position = max(match.end("p"), match.end("s"), match.start() + 1)


def _is_assigned(text: str, span: Span, match: re.Match[str]) -> bool:
    value = text[span[0] : span[1]]
    if is_placeholder(value):
        return False
    if match["s"]:
        return looks_like_assigned(value) or looks_random(value)
    quoted, tight = bool(_group(match, "q")), bool(match["strong"])
    # "pass" alone may count tests and "clave" mean a clue; DB_PASS does not.
    short_name = (match["p"] or "").lower() in ("pass", "pw", "clave") and text[
        match.start() - 1 : match.start()
    ] != "_"
    if looks_like_password(value):
        return True
    if is_ordinary(value) and not (value.isdigit() and len(value) >= 4 and not short_name):
        return False
    alone = quoted or not text[span[1] : span[1] + 40].split("\n")[0].strip(" .,;:!?)]}*_`\"'。，")
    return len(value) >= 4 and not short_name and (tight or (alone and " " not in value))


def _is_said(value: str, match: re.Match[str]) -> bool:
    if "//" in value:
        return False
    if match["s"]:
        return looks_random(value) or (bool(_group(match, "q")) and len(value) >= 12 and looks_like_assigned(value))
    if _group(match, "q") and " " not in value:
        return not is_placeholder(value) and not is_ordinary(value)
    return looks_like_password(value) and " " not in value


def _is_beside(value: str, match: re.Match[str]) -> bool:
    if match.groupdict().get("s"):
        return looks_random(value) or bool(_LONG_HEX.match(value))
    return looks_like_password(value) and " " not in value and "://" not in value and not value.startswith("/")


def _is_option(value: str, match: re.Match[str]) -> bool:
    if is_placeholder(value) or is_ordinary(value) or value.startswith("-"):
        return False
    return looks_like_assigned(value) if match["s"] else len(value) >= 4 and not value.isdigit()


def _is_login(value: str, match: re.Match[str]) -> bool:
    """Beside a name, hosts and regions look like passwords too; they have no capitals."""
    return value != value.lower() and _is_beside(value, match)


def _is_pin(value: str, _match: re.Match[str]) -> bool:
    return value.isdigit()


_JUDGED = (
    (_SAID, _is_said),
    (_BESIDE, _is_beside),
    (_OPTION, _is_option),
    (_BEFORE, _is_beside),
    (_LOGIN, _is_login),
    (_PIN, _is_pin),
)


def _random_beside_word(text: str, start: int, limit: int) -> Iterator[Span]:
    """Find tokens too random to be names on the same line behind a key word ("Agent token for the cluster: …")."""
    for match in _WORD.finditer(text, start, limit):
        end = text.find("\n", match.end())
        reach = min(match.end() + _REACH, len(text) if end < 0 else end)
        for token in _TOKEN.finditer(text, match.end(), reach):
            whole = _TOKEN.match(text, token.start())
            if whole and looks_random(whole[0]) and not _in_address(text, token.start()):
                yield whole.start(), whole.end(), "password" if match["p"] else "token"


def _in_address(text: str, position: int) -> bool:
    """Whether the place lies in a URL: its ids are not secrets."""
    before = text[max(0, position - 80) : position].split()
    return bool(before) and not text[position - 1].isspace() and "://" in before[-1]


def _span(match: re.Match[str]) -> Span | None:
    groups = match.groupdict()
    name = "v" if groups.get("v") is not None else "w"
    start, end = match.span(name)
    value = match[name] or ""
    stripped = value.rstrip(_TRAILING) if name == "w" else value
    if not stripped:
        return None
    return start, end - (len(value) - len(stripped)), _kind(match)


def _kind(match: re.Match[str]) -> str:
    if match["p"]:
        return "password"
    word = (match.groupdict().get("s") or "").lower()
    return next((kind for kind, parts in _KINDS.items() if any(part in word for part in parts)), "secret")


def _group(match: re.Match[str], name: str) -> str | None:
    return match.groupdict().get(name)
