"""Credentials that are recognised by their own shape, whatever stands around them.

Each row has a kind, words of which one must occur (lower case, so that most texts are passed over by a
substring search) and a pattern; where the pattern has a group ``v``, only that part is the secret.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Shape:
    """A kind of credential and how it looks. ``mixed`` asks for a digit, to spare plain words."""

    kind: str
    triggers: tuple[str, ...]
    pattern: re.Pattern[str]
    mixed: bool = False


def _shape(kind: str, triggers: str, pattern: str, *, mixed: bool = False, flags: int = 0) -> Shape:
    return Shape(kind, tuple(triggers.split()), re.compile(pattern, flags), mixed)


_END = r"(?![A-Za-z0-9])"
_START = r"(?<![A-Za-z0-9])"
_BODY = r"(?:[A-Za-z0-9+/=\s:,.\-]|\\[nr])"

SHAPES: tuple[Shape, ...] = (
    _shape(
        "private-key",
        "-----begin",
        r"-----BEGIN (?P<label>[A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?)-----(?:.*?-----END (?P=label)-----|" + _BODY + r"*)",
        flags=re.DOTALL,
    ),
    _shape("private-key", "private-lines:", r"Private-Lines:\s*\d+\s+(?P<v>[A-Za-z0-9+/=\s]{40,})"),
    _shape("private-key", "age-secret-key-", r"AGE-SECRET-KEY-1[A-Z0-9]{20,}"),
    _shape("jwt", "eyj", r"(?<![A-Za-z0-9_-])(?:[A-Za-z0-9_-]+\.)?eyJ[A-Za-z0-9_-]{3,}(?:\.[A-Za-z0-9_-]{2,}){1,4}\.?"),
    _shape(
        "aws-key",
        "akia asia abia acca aida aroa agpa anpa anva aipa",
        r"(?<![A-Za-z0-9])(?:AKIA|ASIA|ABIA|ACCA|AIDA|AROA|AGPA|ANPA|ANVA|AIPA)[A-Z0-9]{12,28}(?![A-Za-z0-9])",
        mixed=True,
    ),
    _shape("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", _START + r"gh[pousr]_[A-Za-z0-9_]{16,}"),
    _shape("github-token", "github_pat_", r"github_pat_[A-Za-z0-9_]{20,}"),
    _shape(
        "gitlab-token",
        "glpat- gldt- glrt- glptt- glcbt- glsoat- glft- glimt- glagent- gr1348941",
        r"(?:gl(?:pat|dt|rt|ptt|cbt|soat|ft|imt|agent)-|GR1348941)[A-Za-z0-9_.\-]{12,}",
    ),
    _shape("slack-token", "xox", r"xox[abcdeoprs](?:\.xox[bp])?-[A-Za-z0-9-]{10,}"),
    _shape("slack-token", "xapp-", r"xapp-\d-[A-Za-z0-9-]{10,}"),
    _shape(
        "slack-webhook",
        "hooks.slack.com",
        r"hooks\.slack\.com/\w{6,12}/(?P<v>[A-Za-z0-9_/]{20,})",
    ),
    _shape(
        "webhook",
        "discord.com/api/webhooks discordapp.com/api/webhooks",
        r"discord(?:app)?\.com/api/webhooks/(?P<v>\d+/[\w-]{20,})",
    ),
    _shape("webhook", "webhook.office.com outlook.office.com/webhook", r"office\.com/webhook\w*/(?P<v>[\w@\-/]{30,})"),
    _shape("webhook", "chat.googleapis.com", r"chat\.googleapis\.com/v1/spaces/[\w-]+/messages\?(?P<v>key=[^\s\"']+)"),
    _shape("stripe-key", "_live_ _test_ whsec_", _START + r"(?:(?:sk|rk|pk)_(?:live|test)_|whsec_)[A-Za-z0-9]{8,}"),
    _shape(
        "token",
        "_live_ _test_ _prod_ _pat_ _secret_ _sk_ _api_ _token_ _key_",
        _START
        + r"[a-z][a-z0-9]{1,11}_(?:live|test|prod|pat|secret|sk|api|token|key)_(?:[A-Za-z0-9]+_){0,2}[A-Za-z0-9]{10,}"
        + _END,
        mixed=True,
    ),
    _shape("api-key", "sk-", _START + r"sk-(?:[a-z0-9]+-){0,3}[A-Za-z0-9_-]{12,}", mixed=True),
    _shape("google-key", "aiza", r"AIza[A-Za-z0-9_-]{30,}"),
    _shape("google-token", "ya29.", r"ya29\.[A-Za-z0-9_-]{20,}"),
    _shape("google-secret", "gocspx-", r"GOCSPX-[A-Za-z0-9_-]{16,}"),
    _shape("hugging-face-token", "hf_", _START + r"(?:hf|api_org)_[A-Za-z0-9]{20,}"),
    _shape("npm-token", "npm_", _START + r"npm_[A-Za-z0-9]{20,}"),
    _shape("npm-token", "_authtoken", r"_authToken\s*=\s*[\"']?(?P<v>[A-Za-z0-9_\-+/=]{16,})"),
    _shape("pypi-token", "pypi-", r"pypi-[A-Za-z0-9_-]{16,}", mixed=True),
    _shape("sendgrid-key", "sg.", _START + r"SG\.[A-Za-z0-9_-]{12,}\.[A-Za-z0-9_-]{12,}"),
    _shape("mailgun-key", "key-", _START + r"key-[0-9a-z]{32}" + _END, mixed=True),
    _shape("databricks-token", "dapi", _START + r"dapi[0-9a-f]{28,}(?:-\d)?"),
    _shape("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", r"do[por]_v1_[0-9a-f]{32,}"),
    _shape("shopify-token", "shpat_ shpss_ shpca_ shppa_", r"shp(?:at|ss|ca|pa)_[A-Fa-f0-9]{24,}"),
    _shape("vault-token", "hvs. hvb. hvr.", _START + r"hv[sbr]\.[A-Za-z0-9_-]{20,}"),
    _shape("linear-key", "lin_api_", r"lin_api_[A-Za-z0-9]{20,}"),
    _shape("notion-key", "secret_ ntn_", _START + r"(?:secret|ntn)_[A-Za-z0-9]{32,}", mixed=True),
    _shape("grafana-token", "glsa_ glc_", _START + r"gl(?:sa|c)_[A-Za-z0-9_+/=]{24,}"),
    _shape("new-relic-key", "nrak-", r"NRAK-[A-Z0-9]{20,}"),
    _shape("sentry-token", "sntrys_ sntryu_", r"sntry[su]_[A-Za-z0-9+/=_-]{20,}"),
    _shape("brevo-key", "xkeysib- xsmtpsib-", r"x(?:key|smtp)sib-[A-Za-z0-9-]{16,}"),
    _shape("telegram-token", ":aa", _START + r"\d{8,10}:AA[A-Za-z0-9_-]{30,}"),
    _shape("azure-key", "accountkey= sharedaccesskey=", r"(?i:AccountKey|SharedAccessKey)=(?P<v>[A-Za-z0-9+/=%]{16,})"),
    _shape(
        "signature", "sig= signature=", r"[?&](?:X-Amz-|X-Goog-)?(?:[Ss]ig|[Ss]ignature)=(?P<v>[A-Za-z0-9%+/=_-]{20,})"
    ),
    _shape(
        "bearer-token",
        "bearer authorization",
        r"""(?i:\bbearer)(?:\s*[:=]\s*|\s+)["'`]?(?P<v>(?=[^\s"'`]*[\d._~+/=-])[A-Za-z0-9_\-.~+/=]{10,})""",
        mixed=True,
    ),
    _shape(
        "basic-auth",
        "basic ",
        r"""(?i:authorization)["']?\s*[:=]\s*["']?(?i:basic)\s+(?P<v>[A-Za-z0-9+/=]{8,})""",
    ),
    _shape(
        "token",
        "authorization",
        r"""(?i:authorization)["']?\s*[:=]\s*["']?(?i:token|apikey|key|digest|negotiate)\s+(?P<v>[^\s"'`,;]{8,})""",
    ),
    _shape("basic-auth", "basic ", r"(?i:\bbasic)\s+(?P<v>[A-Za-z0-9+/]{10,}={1,2})"),
    _shape("cookie", "cookie", r"(?i:cookie)\b[^\n=]{0,40}=(?P<v>[A-Za-z0-9%._-]{16,})", mixed=True),
    _shape("token", "://", r"://(?P<v>[A-Za-z0-9]{16,})@(?=\w)", mixed=True),
    _shape("password", "://", r"://[^\s/:@\"'`<>]*:(?P<v>[^\s/@\"'`<>]+)@(?=[\w\[])"),
    _shape(
        "password",
        "sql:// sql+ mongodb redis amqp snowflake kafka mssql oracle ftp ldap smtp clickhouse jdbc",
        r"(?<![a-z])(?!https?:)[a-z][a-z0-9+.]*://[^\s/:@\"'`<>]*:"
        r"(?P<v>(?:(?!://)[^\s\"'`<>])+)@(?=[\w.\-]+(?::\d+)?(?:[/?,\s\"'`)]|$))",
    ),
    _shape(
        "password",
        "curl wget http",
        r"\b(?:curl|wget|http)\b[^\n]{0,200}?\s(?:-u|--user)[ =]?[\"']?[^\s:\"']+:(?P<v>[^\s\"']+)",
    ),
    _shape("password", "mysql mariadb", r"\b(?:mysql|mariadb)\w*\b[^\n]{0,200}?\s-p(?P<v>[^\s\"'-][^\s\"']*)"),
    _shape(
        "password", "sshpass redis-cli", r"\b(?:sshpass\s+-p|redis-cli\b[^\n]{0,200}?\s-a)\s*[\"']?(?P<v>[^\s\"']+)"
    ),
)

EMAIL = _shape("email", "@", r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
PHONE = _shape(
    "phone",
    "",
    r"(?<![\w.:/-])(?:\+\d{1,3}[\s./-]?(?:\(0?\d{1,5}\)[\s./-]?)?\d{1,5}(?:[\s./-]?\d{2,5}){1,4}"
    r"|\(0?\d{2,5}\)[\s./-]?\d{2,5}(?:[\s./-]?\d{2,5}){1,3}|0\d{2,4}[\s/-]\d{3,}(?:[\s-]?\d{2,}){0,3}|\d{3}[-.]\d{3}[-.]\d{4})(?![\w-])",
)
