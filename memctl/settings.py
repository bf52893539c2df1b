"""Every setting of memctl, where its value came from, and where the memory lives.

A value is looked up in this order: a flag of the command, the environment (``MEMCTL_RECALL_LIMIT``
for ``recall.limit``), ``config.toml``, the default. The origin is kept so that ``memctl config`` can show it.
"""

import json
import os
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

from memctl.errors import ClosedStore, ReadOnlyStore, UnreadableInput, UsageProblem
from memctl.times import parse_duration

HOME_VARIABLE = "MEMCTL_HOME"
CONFIG_NAME = "config.toml"
DEFAULT_MODEL = "all-MiniLM-L6-v2"


@dataclass(frozen=True, slots=True)
class Rule:
    """What a value must be, in words and as a test."""

    says: str
    holds: Callable[[Any], bool]


@dataclass(frozen=True, slots=True)
class Setting:
    """A name, what it is for, the value that holds when nobody chose one, and what a value must be."""

    name: str
    default: Any
    about: str
    rule: Rule | None = None

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        return "MEMCTL_" + self.name.upper().replace(".", "_")


@dataclass(frozen=True, slots=True)
class Chosen:
    """A setting's value and its origin: ``flag``, ``environment``, ``file`` or ``default``."""

    name: str
    value: Any
    origin: str
    about: str = ""


def _is_duration(text: str) -> bool:
    try:
        parse_duration(text)
    except UsageProblem:
        return False
    return True


def _is_expression(text: str) -> bool:
    try:
        re.compile(text)
    except re.error:
        return False
    return True


def _at_least(least: int) -> Rule:
    return Rule(f"a number from {least}", lambda value: value >= least)


_NAME = Rule("a name", lambda value: bool(value.strip()))
_POSITIVE = Rule("a number above 0", lambda value: 0 < value < inf)
_FLOOR = Rule("a number up to 1", lambda value: value <= 1)
_SHARE = Rule("a number from 0 to 1", lambda value: 0 <= value <= 1)
_WAY = Rule("local or llm", lambda value: value in ("local", "llm"))
_DURATION = Rule("a duration like 7d or 12h", _is_duration)
_EXPRESSIONS = Rule("regular expressions", lambda value: all(map(_is_expression, value)))

KNOWN: tuple[Setting, ...] = (
    Setting("agent", "global", "the scope that commands use when --agent is not given", _NAME),
    Setting("embedding.model", DEFAULT_MODEL, "sentence embedding model: the bundled one, a hub name or a folder"),
    Setting("extraction.extractor", "local", "local (no LLM) or llm", _WAY),
    Setting("extraction.judge", "local", "local, or llm to ask the model about unsure pairs", _WAY),
    Setting("ttl.temporary", "7d", "how long a temporary memory lasts when nothing was said", _DURATION),
    Setting("ttl.context", "30d", "how long a context memory lasts when nothing was said", _DURATION),
    Setting("recall.limit", 12, "how many facts a recall block may hold", _at_least(1)),
    Setting("recall.max_tokens", 800, "how long a recall block may be", _at_least(1)),
    Setting("recall.heading", "## What the team remembers", "first line inside a recall block"),
    Setting("recall.floor", -1.0, "least relevance that is shown, 0 to 1; below 0: the calibrated one", _FLOOR),
    Setting("recall.similarity_weight", 0.6, "weight of similarity in the score", _SHARE),
    Setting("recall.recency_weight", 0.2, "weight of recency in the score", _SHARE),
    Setting("recall.frequency_weight", 0.2, "weight of restatement and use in the score", _SHARE),
    Setting("recall.recency_days", 30.0, "age at which recency has fallen to a half", _POSITIVE),
    Setting("redact.emails", False, "redact e-mail addresses too"),
    Setting("redact.phones", False, "redact phone numbers too"),
    Setting("redact.patterns", [], "own regular expressions to redact", _EXPRESSIONS),
    Setting("ingest.max_megabytes", 512, "largest transcript file that is read", _at_least(0)),
    Setting("store.wait_seconds", 10.0, "how long a writer waits for another one", _at_least(0)),
    Setting("undo.keep", "90d", "how long a run can be undone; compact trims older ones from the log", _DURATION),
    Setting("llm.base_url", "", "OpenAI-compatible endpoint for the llm extractor and judge"),
    Setting("llm.model", "", "model name at that endpoint"),
    Setting("llm.api_key_env", "OPENAI_API_KEY", "environment variable that holds the endpoint's key"),
    Setting("llm.context_tokens", 8000, "how much text one request may carry", _at_least(1)),
    Setting("llm.max_calls", 200, "most requests of one run", _at_least(0)),
    Setting("llm.parallel", 4, "requests in flight", _at_least(1)),
    Setting("server.max_body_kilobytes", 1024, "largest request body the server takes", _at_least(1)),
    Setting("server.max_concurrent", 32, "requests the server works on at once", _at_least(1)),
    Setting("server.timeout_seconds", 30.0, "longest time for one request", _POSITIVE),
    Setting("nightly.log_kilobytes", 512, "size at which the nightly log is rotated", _at_least(1)),
)
BY_NAME = {setting.name: setting for setting in KNOWN}


def home_location() -> str:
    """Name the place of the memory: ``MEMCTL_HOME``, a folder or an object-store URI, else the platform's folder."""
    given = os.environ.get(HOME_VARIABLE, "").strip()
    if given:
        return given if is_remote(given) else str(Path(given).expanduser())
    from platformdirs import user_data_dir

    return user_data_dir("memctl", appauthor=False)


def is_remote(location: str) -> bool:
    """Tell an object-store URI from a folder."""
    return "://" in location


def config_path(location: str) -> Path:
    """Name the settings file: inside a local store, else in the platform's configuration folder."""
    given = os.environ.get("MEMCTL_CONFIG")
    if given:
        return Path(given)
    if not is_remote(location):
        return Path(location) / CONFIG_NAME
    from platformdirs import user_config_dir

    return Path(user_config_dir("memctl", appauthor=False)) / CONFIG_NAME


class Settings:
    """The settings in force, by name: ``settings["recall.limit"]``."""

    def __init__(self, chosen: Mapping[str, Chosen]) -> None:
        self._chosen = dict(chosen)

    def __getitem__(self, name: str) -> Any:
        return self._chosen[name].value

    def all(self) -> list[Chosen]:
        """List every setting with its value and origin."""
        return [self._chosen[setting.name] for setting in KNOWN]

    def override(self, **flags: Any) -> "Settings":
        """Put flags above everything else; a flag that is None was not given. ``_`` stands for the first dot."""
        given = {name.replace("_", ".", 1): value for name, value in flags.items() if value is not None}
        changed = {
            name: Chosen(name, checked(BY_NAME[name], value), "flag", BY_NAME[name].about)
            for name, value in given.items()
        }
        return Settings({**self._chosen, **changed})


def load(location: str | None = None, environ: Mapping[str, str] | None = None) -> Settings:
    """Read the settings in force for the memory at ``location``."""
    environ = os.environ if environ is None else environ
    written = read_file(config_path(location or home_location()))
    return Settings({setting.name: _choose(setting, written, environ) for setting in KNOWN})


def read_file(path: Path) -> dict[str, Any]:
    """Read ``config.toml`` as flat dotted names; a missing file is empty."""
    try:
        nested = tomllib.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except PermissionError as error:
        raise ClosedStore(path=path.parent, reason=f"no permission to read {path.name}") from error
    except (OSError, ValueError) as error:
        raise UnreadableInput(path=path, reason=str(error), remedy="Mend the file or delete it.") from error
    return _flatten(nested)


def write_setting(path: Path, name: str, text: str | None) -> Any:
    """Set ``name`` in the file to the value that ``text`` spells, or remove it with None; returns the value."""
    setting = _known(name)
    values = read_file(path)
    value = None if text is None else convert(setting, text)
    values.pop(name, None)
    if value is not None:
        values[name] = value
    lines = "".join(f"{key} = {_toml(values[key])}\n" for key in sorted(values))
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        replacement = path.with_suffix(".toml.new")
        replacement.write_text(lines, encoding="utf-8")
        replacement.chmod(0o600)
        replacement.replace(path)
    except OSError as error:
        raise ReadOnlyStore(path=path.parent, reason=(error.strerror or str(error)).lower()) from error
    return value


def convert(setting: Setting, text: str, *, remedy: str = "") -> Any:
    """Read a value as the type of the setting's default; raises UsageProblem where it is none, or breaks its rule."""
    kind = type(setting.default)
    try:
        if kind is bool:
            value: Any = _TRUTH[text.strip().lower()]
        elif kind is list:
            value = _listed(text)
        else:
            value = kind(text)
    except (KeyError, ValueError) as error:
        reason = f"{setting.name} cannot be {text!r}; it must be {_KINDS[kind]}"
        raise UsageProblem(reason=reason, remedy=remedy) from error
    return checked(setting, value, remedy=remedy)


def checked(setting: Setting, value: Any, *, remedy: str = "") -> Any:
    """Give the value back where it keeps the setting's rule; raises UsageProblem that says the rule where not."""
    if setting.rule is not None and not setting.rule.holds(value):
        reason = f"{setting.name} cannot be {value!r}; it must be {setting.rule.says}"
        raise UsageProblem(reason=reason, remedy=remedy)
    return value


_TRUTH = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
_KINDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text", list: "a list"}


def _known(name: str) -> Setting:
    if name not in BY_NAME:
        raise UsageProblem(reason=f"there is no setting {name!r}", remedy="List them with memctl config.")
    return BY_NAME[name]


def _choose(setting: Setting, written: Mapping[str, Any], environ: Mapping[str, str]) -> Chosen:
    if environ.get(setting.variable):
        value = convert(setting, environ[setting.variable], remedy=f"Change {setting.variable}.")
        return Chosen(setting.name, value, "environment", setting.about)
    if setting.name in written:
        return Chosen(setting.name, _written(setting, written[setting.name]), "file", setting.about)
    return Chosen(setting.name, setting.default, "default", setting.about)


def _listed(text: str) -> list[str]:
    """Read words between commas, or a JSON list where a word has a comma in it."""
    try:
        parts = json.loads(text)
    except ValueError:
        parts = None
    words = parts if isinstance(parts, list) else text.split(",")
    return [str(word).strip() for word in words if str(word).strip()]


def _written(setting: Setting, value: Any) -> Any:
    """Take a value of the settings file, where a list is a list and everything else may be written as a text."""
    remedy = f"Go back to the default with memctl config unset {setting.name}."
    if not isinstance(setting.default, list):
        return convert(setting, str(value), remedy=remedy)
    listed = [str(part) for part in value] if isinstance(value, list) else [str(value)]
    return checked(setting, listed, remedy=remedy)


def _flatten(nested: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in nested.items():
        flat.update(_flatten(value, f"{prefix}{key}.") if isinstance(value, dict) else {prefix + key: value})
    return flat


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    if isinstance(value, str):
        # a JSON string is a TOML basic string as long as nothing outside ASCII is left unescaped by surrogate pairs
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)
