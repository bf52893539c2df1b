"""Access keys: random tokens of which only a digest is kept, each bound to a scope.

The file is private and replaced whole, so that a server that is running sees a new or revoked key with the next
request and never half a file.
"""

import hashlib
import hmac
import json
import os
import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from memctl.errors import ClosedStore, ExitCode, MemctlError, NotFound, ReadOnlyStore, UsageProblem
from memctl.server.access import Access
from memctl.settings import config_path, is_remote

KEYS_NAME = "keys.json"
PREFIX = "mctl_"
_TOKEN_BYTES = 32


class KeysUnreadable(MemctlError):
    """The key file {path} cannot be read: {reason}."""

    code = "keys_unreadable"
    exit_code = ExitCode.DAMAGED
    remedy = "Mend it, or delete it and make new keys."


@dataclass(frozen=True, slots=True)
class Key:
    """A key as it is kept: ``digest`` is the SHA-256 of the token, ``agent`` None stands for every scope."""

    id: str
    name: str
    agent: str | None
    read_only: bool
    created_at: str
    digest: str

    def access(self) -> Access:
        """Tell what the key opens."""
        return Access(self.agent, self.read_only)


def keys_path(location: str) -> Path:
    """Name the key file: inside a local store, beside the settings for one on an object store."""
    if is_remote(location):
        return config_path(location).with_name(KEYS_NAME)
    return Path(location) / KEYS_NAME


class KeyFile:
    """The keys of one memory."""

    def __init__(self, path: Path) -> None:
        """Name the file; it need not exist."""
        self.path = path
        self._seen: tuple[int, int, int] | None = None
        self._keys: tuple[Key, ...] = ()
        self._had_keys = False

    def all(self) -> tuple[Key, ...]:
        """Give the keys as the file has them now; it is read again only when it has changed."""
        try:
            found = self.path.stat()
        except (FileNotFoundError, NotADirectoryError):
            self._seen, self._keys = None, ()
            return ()
        except PermissionError as error:
            raise ClosedStore(path=self.path.parent, reason=f"no permission to read {self.path.name}") from error
        mark = (found.st_mtime_ns, found.st_size, found.st_ino)
        if mark != self._seen:
            self._keys, self._seen = _read(self.path), mark
            self._had_keys = self._had_keys or bool(self._keys)
        return self._keys

    @property
    def needed(self) -> bool:
        """Whether callers need a key: where there are any, and where there were any since this was opened.

        Revoking the last key must shut the door of a running server, not open it to everybody.
        """
        return bool(self.all()) or self._had_keys

    def match(self, token: str) -> Key | None:
        """Find the key of a token. Every key is compared, each in constant time, so that timing tells nothing."""
        presented = digest_of(token)
        found: Key | None = None
        for key in self.all():
            if hmac.compare_digest(key.digest, presented):
                found = key
        return found

    def create(self, agent: str | None, *, name: str, read_only: bool, now: str) -> tuple[Key, str]:
        """Make a key; returns it with its token, which is kept nowhere."""
        token = PREFIX + secrets.token_urlsafe(_TOKEN_BYTES)
        key = Key(secrets.token_hex(4), name, agent, read_only, now, digest_of(token))
        self._write((*self.all(), key))
        return key, token

    def revoke(self, name: str) -> Key:
        """Remove the key with this id or name."""
        matching = [key for key in self.all() if name in (key.id, key.name)]
        if not matching:
            raise NotFound(what="key", name=name, remedy="List them with memctl key list.")
        if len(matching) > 1:
            raise UsageProblem(reason=f"{len(matching)} keys have the name {name!r}", remedy="Give the key's id.")
        self._write([key for key in self.all() if key != matching[0]])
        return matching[0]

    def _write(self, keys: Sequence[Key]) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            temporary = self.path.with_name(f".{self.path.name}.{os.getpid()}.tmp")
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump({"keys": [asdict(key) for key in keys]}, file, indent=1)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(self.path)
        except OSError as error:
            raise ReadOnlyStore(path=self.path.parent, reason=(error.strerror or str(error)).lower()) from error


def digest_of(token: str) -> str:
    """Give what is kept of a token. Tokens are 256 random bits, so one round of SHA-256 cannot be guessed back."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def _read(path: Path) -> tuple[Key, ...]:
    try:
        raw: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return tuple(Key(**entry) for entry in raw["keys"])
    except PermissionError as error:
        raise ClosedStore(path=path.parent, reason=f"no permission to read {path.name}") from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        # A key file that cannot be read must shut the door, not open it.
        raise KeysUnreadable(path=path, reason=str(error)) from error
