"""Every setting of memctl, where its value came from, and where the memory lives.

A value is looked up in this order: a flag of the command, the environment (``MEMCTL_RECALL_LIMIT``
for ``recall.limit``), ``config.toml``, the default. The origin is kept so that ``memctl config`` can show it.
"""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memctl.errors import ClosedStore, UnreadableInput, UsageProblem

HOME_VARIABLE = "MEMCTL_HOME"
CONFIG_NAME = "config.toml"
DEFAULT_MODEL = "all-MiniLM-L6-v2"


@dataclass(frozen=True, slots=True)
class Setting:
    """A name, what it is for, and the value that holds when nobody chose one."""

    name: str
    default: Any
    about: str


@dataclass(frozen=True, slots=True)
class Chosen:
    """A setting's value and its origin: ``flag``, ``environment``, ``file`` or ``default``."""

    name: str
    value: Any
    origin: str
    about: str = ""


KNOWN: tuple[Setting, ...] = (
    Setting("agent", "global", "the scope that commands use when --agent is not given"),
    Setting("embedding.model", DEFAULT_MODEL, "sentence embedding model: the bundled one, a hub name or a folder"),
    Setting("extraction.extractor", "local", "local (no LLM) or llm"),
    Setting("extraction.judge", "local", "local, or llm to ask the model about unsure pairs"),
    Setting("ttl.temporary", "7d", "how long a temporary memory lasts when nothing was said"),
    Setting("ttl.context", "30d", "how long a context memory lasts when nothing was said"),
    Setting("recall.limit", 12, "how many facts a recall block may hold"),
    Setting("recall.max_tokens", 800, "how long a recall block may be"),
    Setting("recall.heading", "## What the team remembers", "first line inside a recall block"),
    Setting("recall.floor", -1.0, "least relevance that is shown, 0 to 1; below 0: the calibrated one"),
    Setting("recall.similarity_weight", 0.6, "weight of similarity in the score"),
    Setting("recall.recency_weight", 0.2, "weight of recency in the score"),
    Setting("recall.frequency_weight", 0.2, "weight of restatement and use in the score"),
    Setting("recall.recency_days", 30.0, "age at which recency has fallen to a half"),
    Setting("redact.emails", False, "redact e-mail addresses too"),
    Setting("redact.phones", False, "redact phone numbers too"),
    Setting("redact.patterns", [], "own regular expressions to redact"),
    Setting("ingest.max_megabytes", 512, "largest transcript file that is read"),
    Setting("store.wait_seconds", 10.0, "how long a writer waits for another one"),
    Setting("undo.keep", "90d", "how long a run can be undone; compact trims older ones from the log"),
    Setting("llm.base_url", "", "OpenAI-compatible endpoint for the llm extractor and judge"),
    Setting("llm.model", "", "model name at that endpoint"),
    Setting("llm.api_key_env", "OPENAI_API_KEY", "environment variable that holds the endpoint's key"),
    Setting("llm.context_tokens", 8000, "how much text one request may carry"),
    Setting("llm.max_calls", 200, "most requests of one run"),
    Setting("llm.parallel", 4, "requests in flight"),
    Setting("server.max_body_kilobytes", 1024, "largest request body the server takes"),
    Setting("server.max_concurrent", 32, "requests the server works on at once"),
    Setting("server.timeout_seconds", 30.0, "longest time for one request"),
    Setting("nightly.log_kilobytes", 512, "size at which the nightly log is rotated"),
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
        changed = {name: Chosen(name, value, "flag", BY_NAME[name].about) for name, value in given.items()}
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
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    replacement = path.with_suffix(".toml.new")
    replacement.write_text(lines, encoding="utf-8")
    replacement.chmod(0o600)
    replacement.replace(path)
    return value


def convert(setting: Setting, text: str) -> Any:
    """Read a value as the type of the setting's default."""
    kind = type(setting.default)
    try:
        if kind is bool:
            return {
                "true": True,
                "yes": True,
                "on": True,
                "1": True,
                "false": False,
                "no": False,
                "off": False,
                "0": False,
            }[text.strip().lower()]
        if kind is list:
            return [part.strip() for part in text.split(",") if part.strip()]
        return kind(text)
    except (KeyError, ValueError) as error:
        raise UsageProblem(reason=f"{setting.name} cannot be {text!r}; it is of type {kind.__name__}") from error


def _known(name: str) -> Setting:
    if name not in BY_NAME:
        raise UsageProblem(reason=f"there is no setting {name!r}", remedy="List them with memctl config.")
    return BY_NAME[name]


def _choose(setting: Setting, written: Mapping[str, Any], environ: Mapping[str, str]) -> Chosen:
    variable = "MEMCTL_" + setting.name.upper().replace(".", "_")
    if environ.get(variable):
        return Chosen(setting.name, convert(setting, environ[variable]), "environment", setting.about)
    if setting.name in written:
        value = written[setting.name]
        value = value if isinstance(setting.default, list) else convert(setting, str(value))
        return Chosen(setting.name, value, "file", setting.about)
    return Chosen(setting.name, setting.default, "default", setting.about)


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
        import json

        # a JSON string is a TOML basic string as long as nothing outside ASCII is left unescaped by surrogate pairs
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)
