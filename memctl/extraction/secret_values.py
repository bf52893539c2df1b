"""Is this value a credential, or an ordinary word, number, name or placeholder? Pure judgements on one token."""

import re
from itertools import pairwise

# Values that stand for a secret without being one, and what an earlier redaction left.
_PLACEHOLDER = re.compile(
    r"""^(?:[<\[{(%$*#…@&+~]|\.{2,}|x{3,}|-{2,}|_{2,}|your[_\-\s]?|my[_-]|an?[_-]|some[_-]|the[_-]|example|sample|dummy[_-]?|
    change[_-]?(?:me|it)|placeholder|redacted|replace|insert|todo|tbd|env[:.(]|vault[:.]|secrets?[.:/]|ref\+|arn:|op://|file:)""",
    re.IGNORECASE | re.VERBOSE,
)
# Code that fetches the secret: a call, a lookup, an attribute of something.
_REFERENCE = re.compile(
    r"^(?:[a-z_]\w*\.)+[a-z_]\w*(?:[(\[].*)?$|^[A-Za-z_][\w.]*\(|^[A-Z][A-Z]*(?:_[A-Z]+)+$|\$\{|\{\{|process\.env|environ|getenv",
)
_ORDINARY_WORDS = frozenset(
    """
    required optional none null nil undefined true false yes no ok okay string str int integer bytes boolean text
    hidden missing wrong invalid incorrect valid correct expired rotated revoked changed reset stored hashed
    encrypted unknown unset empty blank never always must should needs minimum maximum strong weak same different
    default disabled enabled masked secret password token value field input prompt stdin here below above see via
    with from plain plaintext vault keychain authentication authorization auth login user username admin basic
    bearer header headers limit limits budget count usage policy manager rotation reuse leaked shared private
    public local remote file env environment variable n/a falsch richtig abgelaufen erforderlich geändert
    gespeichert unbekannt keine kein ja nein obligatorio obligatoria ninguna caducada incorrecta requis requise
    obligatoire expiré oublié aucun obrigatória nenhuma
    """.split()  # noqa: SIM905
)
_TECHNICAL = re.compile(
    r"""^(?:sha-?\d+\S*|md5|argon2\w*|bcrypt\d*|s?crypt\d*|pbkdf2\S*|[hrep]s\d{3}|oauth-?2(?:\.\d)?|base(?:16|32|58|62|64)\w*
    |utf-?\d+|aes-?\d+\S*|ed25519|x\.?509\w*|rfc\s?\d+|http/?\d\S*|ipv[46]|tls\S*|ssl\S*|2fa|mfa|otp|totp\d*|pkcs\S*|p-?\d+
    |rsa-?\d+|ec\d+|wpa\d\S*|saml2?|v\d[\w.]*|k8s\S*|i18n|l10n|e2e\S*|[a-z]+[-_]?v\d+|q[1-4]|h[1-6]|s3|ec2|int(?:8|16|32|64)
    |gpt-\S+|claude-\S+|o\d(?:-\w+)?|llama\S*|mixtral\S*|qwen\S*|gemini-\S+)$""",
    re.IGNORECASE | re.VERBOSE,
)
_MEASURE = re.compile(r"^[~<>=≥≤±]*\d[\d.,:/+-]*\s?[a-zµ%°]{0,7}$", re.IGNORECASE)
_FILE_NAME = re.compile(r"^[\w.\-/\\]*\.(?:[a-z]{1,4}|json|yaml|toml|lock|html|ipynb|jsonl)\d?$", re.IGNORECASE)
_UUID = re.compile(r"^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$", re.IGNORECASE)
_HEX = re.compile(r"^(?:0x)?[0-9a-f]+$", re.IGNORECASE)
_INSTANT = re.compile(r"^\d{4}-?\d\d-?\d\d(?:[T_ -]?\d\d[:\-]?\d\d\S*)?$")
_PIECES = re.compile(r"[-_.:/+=~]+")
_SHORTEST_PASSWORD = 6
_RANDOM_PIECE = 12


def is_placeholder(value: str) -> bool:
    """Whether the value only stands for a secret: ``<token>``, ``$PASS``, ``***``, a lookup."""
    return bool(_PLACEHOLDER.match(value) or _REFERENCE.search(value) or value.endswith(("...", "…", "***")))


def is_ordinary(value: str) -> bool:
    """Whether the value is a word, measure, version, algorithm, date or file name rather than a secret."""
    return (
        value.lower() in _ORDINARY_WORDS
        or bool(_TECHNICAL.match(value))
        or bool(_MEASURE.match(value))
        or bool(_INSTANT.match(value))
        or bool(_FILE_NAME.match(value))
    )


def mixes(value: str) -> bool:
    """Whether letters and digits stand together."""
    return any(c.isdigit() for c in value) and any(c.isalpha() for c in value)


def looks_like_password(value: str) -> bool:
    """Whether a word that follows "password" in prose is one: letters with digits, and no technical term."""
    if len(value) < _SHORTEST_PASSWORD or is_placeholder(value) or is_ordinary(value):
        return False
    return mixes(value) or _is_passphrase(value) or _has_inner_symbol(value)


def looks_like_assigned(value: str) -> bool:
    """Whether a value that was assigned to a key or token is a secret: long enough, mixed, no identifier."""
    if len(value) < 8 or is_placeholder(value) or is_ordinary(value):
        return False
    return mixes(value) or (len(value) >= 20 and _transitions(value) >= 0.3)


def looks_random(value: str) -> bool:
    """Whether a token is too irregular to be a name: one long piece that mixes cases and digits throughout.

    Digests, commit ids and UUIDs are regular by this measure: they are hexadecimal.
    """
    if len(value) < 16 or _UUID.match(value) or is_placeholder(value):
        return False
    return any(_is_random_piece(piece) for piece in _PIECES.split(value))


def _is_random_piece(piece: str) -> bool:
    if (
        len(piece) < _RANDOM_PIECE
        or _HEX.match(piece)
        or sum(c.isdigit() for c in piece) < (1 if len(piece) >= 30 else 2)
    ):
        return False
    return not piece.isdigit() and mixes(piece) and _transitions(piece) >= 0.3


def _transitions(value: str) -> float:
    """Share of neighbours of different class: about .6 in random text, .2 in CamelCase names."""
    classes = ["d" if c.isdigit() else "u" if c.isupper() else "l" if c.isalpha() else "s" for c in value]
    return sum(a != b for a, b in pairwise(classes)) / max(len(value) - 1, 1)


def _is_passphrase(value: str) -> bool:
    words = re.split(r"[-_.]", value)
    return len(words) >= 4 and all(word.isalpha() for word in words)


def _has_inner_symbol(value: str) -> bool:
    return bool(re.search(r"[^\W\d_][!$%&*+=?@#^~][^\W\d_]", value)) and "://" not in value
