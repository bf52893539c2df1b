"""Where a store lives and what lies where in it: a folder, or a prefix on an object store."""

import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from memctl import __version__
from memctl.errors import DamagedStore, NewerStore
from memctl.store.files import Files, LocalFiles
from memctl.store.types import Model
from memctl.times import iso, parse_instant

CACHE_VARIABLE = "MEMCTL_CACHE"
META_FILE = "memctl.json"
FORMAT = 1

_URI = re.compile(r"^(s3|gs|az)://", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Home:
    """The address of a store. ``root`` holds the record, ``near`` what each machine keeps for itself."""

    root: str
    near: Path

    @property
    def local(self) -> bool:
        """Whether the record is in a folder of this machine."""
        return not is_uri(self.root)

    @property
    def record(self) -> str:
        """The LanceDB database."""
        return f"{self.root}/record"

    @property
    def damaged(self) -> Path:
        """Where a repair keeps the damaged tables of a folder until the next compaction."""
        return Path(self.root, "damaged")

    @property
    def repaired(self) -> Path:
        """Where a repair makes the tables that replace them."""
        return Path(self.root, "repaired")

    @property
    def index(self) -> Path:
        """The DuckDB file."""
        return self.near / "index.duckdb"

    @property
    def lock(self) -> Path:
        """The file that the one writer locks."""
        return self.near / "lock"

    @property
    def spool(self) -> Path:
        """The folder of recall counts that no writer has taken in yet."""
        return self.near / "spool"

    def table(self, name: str) -> str:
        """Give the address of one table of the record."""
        return f"{self.record}/{name}.lance"

    def files(self) -> Files:
        """Give the small files of the store: description and journals."""
        if self.local:
            return LocalFiles(Path(self.root))
        from memctl.store.objects import ObjectFiles

        return ObjectFiles(self.root)

    def storage_options(self) -> dict[str, str] | None:
        """Tell what LanceDB must be told to reach the object store; None for a folder."""
        return None if self.local else object_store_options(self.root, os.environ)


@dataclass(frozen=True, slots=True)
class Meta:
    """The description of a store: format number, embedding model, time of creation.

    ``id`` tells this store from others that are or were at the same place, whose caches must not be trusted.
    ``release`` is the memctl that wrote the description, which one that is too old for it tells people to install.
    """

    format: int
    model: Model
    created: datetime
    id: str = ""
    release: str = __version__

    def dump(self) -> bytes:
        """Give the description as the bytes of ``memctl.json``."""
        model = {"name": self.model.name, "digest": self.model.digest, "dimension": self.model.dimension}
        about = {"format": self.format, "model": model, "created": iso(self.created), "id": self.id}
        return json.dumps({**about, "release": __version__}, indent=1).encode()


def is_uri(text: str) -> bool:
    """Whether a home is on an object store."""
    return bool(_URI.match(text))


def locate(home: str | os.PathLike[str]) -> Home:
    """Read a home as users write it. For an object store the index and the spool go to this machine's cache."""
    text = os.fspath(home)
    if not is_uri(text):
        folder = Path(text).expanduser().absolute()
        return Home(str(folder), folder)
    root = text.rstrip("/")
    return Home(root, _cache_folder() / hashlib.sha256(root.encode()).hexdigest()[:20])


def _cache_folder() -> Path:
    given = os.environ.get(CACHE_VARIABLE)
    if given:
        return Path(given).expanduser().absolute()
    from platformdirs import user_cache_path

    return user_cache_path("memctl")


def object_store_options(root: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Say to the libraries what the usual variables of the cloud's tools say about a home.

    Credentials they find by themselves, but not every name that the tools know, nor that plain HTTP, as emulators
    speak it, is meant.
    """
    options = {"s3": _s3_options, "gs": _gs_options, "az": _az_options}[root.lower()[:2]](environment)
    if root.lower().startswith("az:") and "@" in root:  # the address names the account
        options.pop("azure_storage_account_name", None)
    return options


def _gs_options(environment: Mapping[str, str]) -> dict[str, str]:
    emulator = environment.get("STORAGE_EMULATOR_HOST", "")
    if emulator:
        address = emulator if "://" in emulator else f"http://{emulator}"
        plain = str(address.startswith("http://")).lower()
        return {"google_base_url": address.rstrip("/"), "google_bearer_token": "emulator", "allow_http": plain}
    return {"allow_http": "true"} if environment.get("GOOGLE_BASE_URL", "").startswith("http://") else {}


def _az_options(environment: Mapping[str, str]) -> dict[str, str]:
    options: dict[str, str] = {}
    account = environment.get("AZURE_STORAGE_ACCOUNT_NAME") or environment.get("AZURE_STORAGE_ACCOUNT")
    if not account and environment.get("AZURE_STORAGE_USE_EMULATOR", "").lower() in ("true", "1"):
        account = _EMULATED_ACCOUNT
    if account:
        options["azure_storage_account_name"] = account
    if environment.get("AZURE_STORAGE_KEY") and not any(environment.get(name) for name in _AZURE_KEYS):
        options["azure_storage_account_key"] = environment["AZURE_STORAGE_KEY"]
    endpoint = environment.get("AZURE_STORAGE_ENDPOINT") or environment.get("AZURE_ENDPOINT") or ""
    if endpoint.startswith("http://"):
        options["allow_http"] = "true"
    return options


_EMULATED_ACCOUNT = "devstoreaccount1"
_AZURE_KEYS = ("AZURE_STORAGE_ACCOUNT_KEY", "AZURE_STORAGE_ACCESS_KEY", "AZURE_STORAGE_MASTER_KEY")


def _s3_options(environment: Mapping[str, str]) -> dict[str, str]:
    options: dict[str, str] = {}
    endpoint = environment.get("AWS_ENDPOINT_URL_S3") or environment.get("AWS_ENDPOINT_URL")
    endpoint = endpoint or environment.get("AWS_ENDPOINT")
    if endpoint:
        options["endpoint"] = endpoint
        options["allow_http"] = str(endpoint.startswith("http://")).lower()
    region = environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION")
    if region:
        options["region"] = region
    return options


def read_meta(home: Home) -> Meta | None:
    """Give the store's description, or None where there is no store."""
    data = home.files().read(META_FILE)
    if data is None:
        return None
    raw: Any = None
    try:
        raw = json.loads(data)
        return _parse_meta(raw)
    except (ValueError, KeyError, TypeError) as error:
        if isinstance(raw, dict) and isinstance(raw.get("format"), int) and raw["format"] > FORMAT:
            raise newer_store(home, raw["format"], str(raw.get("release", ""))) from error
        raise DamagedStore(path=home.root, reason=f"{META_FILE} cannot be read ({error})") from error


def _parse_meta(raw: dict[str, Any]) -> Meta:
    model = raw["model"]
    return Meta(
        format=int(raw["format"]),
        model=Model(str(model["name"]), str(model["digest"]), int(model["dimension"])),
        created=parse_instant(raw["created"]),
        id=str(raw.get("id", "")),
        release=str(raw.get("release", "")),
    )


def newer_store(home: Home, found: int, release: str) -> NewerStore:
    """Make the error for a store that only a later release can read, and name the release."""
    remedy = f"Install memctl {release} or later." if release else None
    return NewerStore(path=home.root, found=found, supported=FORMAT, remedy=remedy)


def write_meta(home: Home, meta: Meta) -> None:
    """Put the store's description in place."""
    home.files().write(META_FILE, meta.dump())
