"""Credentials out, before anything is embedded, stored or shown.

Three layers find them: shapes of known credentials, words that announce one, and the plugins of
detect-secrets. All are passed over by a substring search where a text has nothing that could matter.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache

from memctl.errors import UsageProblem
from memctl.extraction.secret_names import Span, named_secrets
from memctl.extraction.secret_patterns import EMAIL, PHONE, SHAPES, Shape
from memctl.extraction.secret_values import is_placeholder, looks_like_password, looks_random, mixes

_MARK = "[redacted: "
_LEFT_BEHIND = re.compile(r"\[redacted: [\w .-]{1,40}\]")
_LONG_TOKEN = re.compile(r"[A-Za-z0-9_\-./+=:]{20,}")
_DIGIT = re.compile(r"\d")
_AWS_SECRET = re.compile(r"(?<![A-Za-z0-9/+])[A-Za-z0-9/+]{36,44}(?![A-Za-z0-9/+=])")
_MAX_PASSES = 4
# Plugins that judge a string by its own shape. Those that judge names or entropy raise false alarms in prose.
_PLUGINS = {
    "artifactory.ArtifactoryDetector": "artifactory-token",
    "aws.AWSKeyDetector": "aws-key",
    "azure_storage_key.AzureStorageKeyDetector": "azure-key",
    "cloudant.CloudantDetector": "cloudant-key",
    "discord.DiscordBotTokenDetector": "discord-token",
    "github_token.GitHubTokenDetector": "github-token",
    "gitlab_token.GitLabTokenDetector": "gitlab-token",
    "ibm_cloud_iam.IbmCloudIamDetector": "ibm-cloud-key",
    "ibm_cos_hmac.IbmCosHmacDetector": "ibm-cloud-key",
    "jwt.JwtTokenDetector": "jwt",
    "mailchimp.MailchimpDetector": "mailchimp-key",
    "npm.NpmDetector": "npm-token",
    "openai.OpenAIDetector": "api-key",
    "pypi_token.PypiTokenDetector": "pypi-token",
    "sendgrid.SendGridDetector": "sendgrid-key",
    "slack.SlackDetector": "slack-token",
    "softlayer.SoftlayerDetector": "softlayer-key",
    "square_oauth.SquareOAuthDetector": "square-secret",
    "stripe.StripeDetector": "stripe-key",
    "telegram_token.TelegramBotTokenDetector": "telegram-token",
    "twilio.TwilioKeyDetector": "twilio-key",
}


@dataclass(frozen=True, slots=True)
class RedactionRules:
    """What is redacted beside credentials: addresses, phone numbers, own (kind, regular expression) pairs."""

    emails: bool = False
    phones: bool = False
    patterns: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Redacted:
    """The text without its credentials, how many of each kind it had, and the values (never to be stored)."""

    text: str
    found: Counter[str] = field(default_factory=Counter)
    values: frozenset[str] = frozenset()


DEFAULT_RULES = RedactionRules()


def redact(text: str, rules: RedactionRules = DEFAULT_RULES) -> Redacted:
    """Replace every credential by ``[redacted: kind]``. Doing it twice changes nothing more."""
    found: Counter[str] = Counter()
    values: set[str] = set()
    for _ in range(_MAX_PASSES):
        # The library sees what ours left: it takes whole addresses where the secret is but a part.
        spans = _disjoint(_spans(text, rules), text) or _disjoint(_library_spans(text), text)
        if not spans:
            break
        found.update(kind for _, _, kind in spans)
        values.update(text[start:end] for start, end, _ in spans)
        text = replace(text, spans)
    return Redacted(text, found, frozenset(values))


def replace(text: str, spans: Iterable[Span]) -> str:
    """Put the mark of its kind in the place of each span; spans are in order and apart from each other."""
    pieces, position = [], 0
    for start, end, kind in spans:
        pieces += [text[position:start], f"{_MARK}{kind}]"]
        position = end
    return "".join([*pieces, text[position:]])


def repeated(values: Iterable[str]) -> re.Pattern[str] | None:
    """Make a pattern for secrets that were seen once and may be repeated bare; None if there are none.

    Values that could be an ordinary word (a default password such as ``postgres``) are left alone.
    """
    telling = sorted((v for v in values if looks_like_password(v) or looks_random(v)), key=len, reverse=True)
    return re.compile("|".join(map(re.escape, telling))) if telling else None


def own_patterns(given: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Read the setting ``redact.patterns``: each is ``kind=expression`` or a bare expression.

    Raises UsageProblem for one that is no regular expression.
    """
    rows = []
    for entry in given:
        named = re.match(r"([a-z][\w-]{0,30})=(.+)", entry, re.DOTALL)
        kind, expression = (named[1], named[2]) if named else ("own-pattern", entry)
        _compiled(expression)
        rows.append((kind, expression))
    return tuple(rows)


def _spans(text: str, rules: RedactionRules) -> Iterator[Span]:
    lower = text.lower()
    for kind, expression in rules.patterns:
        yield from ((m.start(), m.end(), kind) for m in _compiled(expression).finditer(text) if m[0])
    for shape in _shapes(rules):
        if not shape.triggers:
            yield from _shaped(shape, text)
        for trigger in shape.triggers:  # a plain loop: nearly all texts have none, so this is where the time goes
            if trigger in lower:
                yield from _shaped(shape, text)
                break
    yield from named_secrets(text, lower)
    yield from _aws_secrets(text)


@cache
def _shapes(rules: RedactionRules) -> tuple[Shape, ...]:
    return SHAPES + ((EMAIL,) if rules.emails else ()) + ((PHONE,) if rules.phones else ())


@cache
def _compiled(expression: str) -> re.Pattern[str]:
    try:
        return re.compile(expression)
    except re.error as error:
        raise UsageProblem(reason=f"redact.patterns: {expression!r} is no regular expression ({error})") from error


def _shaped(shape: Shape, text: str) -> Iterator[Span]:
    group: str | int = "v" if "v" in shape.pattern.groupindex else 0
    for match in shape.pattern.finditer(text):
        value = match[group]
        if (shape.mixed and not mixes(value)) or (group == "v" and is_placeholder(value)):
            continue
        yield match.start(group), match.end(group), shape.kind


def _library_spans(text: str) -> Iterator[Span]:
    """Ask detect-secrets about the lines that hold a long token."""
    if not _has_long_token(text):
        return
    position = 0
    for line in text.splitlines(keepends=True):
        if _has_long_token(line):
            for kind, analyze in _plugins():
                for secret in analyze(line):
                    core = secret.strip(" \t\r\n\"'=:") if secret else ""
                    at = line.find(core) if mixes(core) else -1
                    if at >= 0:
                        yield position + at, position + at + len(core), kind
        position += len(line)


def _has_long_token(text: str) -> bool:
    return any(_DIGIT.search(token[0]) for token in _LONG_TOKEN.finditer(text))


@cache
def _plugins() -> tuple[tuple[str, Callable[[str], Iterable[str]]], ...]:
    from importlib import import_module

    found = []
    for name, kind in _PLUGINS.items():
        module, class_name = name.split(".")
        plugin = getattr(import_module(f"detect_secrets.plugins.{module}"), class_name)()
        found.append((kind, plugin.analyze_string))
    return tuple(found)


def _aws_secrets(text: str) -> Iterator[Span]:
    """Find the nameless secret half beside an access key id."""
    if re.search(r"A(?:KI|SI)A[A-Z0-9]{12,}|\[redacted: aws-key\]", text):
        for match in _AWS_SECRET.finditer(text):
            if looks_random(match[0]) or (mixes(match[0]) and "/" in match[0] and match[0] != match[0].lower()):
                yield match.start(), match.end(), "aws-secret"


def _disjoint(spans: Iterable[Span], text: str) -> list[Span]:
    """Put spans in order and melt those that overlap; the one that was found first names the kind."""
    marks = [m.span() for m in _LEFT_BEHIND.finditer(text)]
    ranked = sorted((start, end, rank, kind) for rank, (start, end, kind) in enumerate(_outside(spans, marks)))
    kept: list[tuple[int, int, int, str]] = []
    for start, end, rank, kind in ranked:
        if kept and start < kept[-1][1]:
            before = kept.pop()
            rank, kind = min((before[2], before[3]), (rank, kind))
            start, end = before[0], max(before[1], end)
        kept.append((start, end, rank, kind))
    return [(start, end, kind) for start, end, _, kind in kept]


def _outside(spans: Iterable[Span], marks: list[tuple[int, int]]) -> Iterator[Span]:
    """Leave out empty spans and those that touch a mark of an earlier redaction."""
    for start, end, kind in spans:
        if end > start and not any(start < mark_end and mark_start < end for mark_start, mark_end in marks):
            yield start, end, kind
