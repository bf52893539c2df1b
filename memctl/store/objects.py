"""Small whole files on an object store (S3, Google Cloud Storage, Azure): also the ground that leases stand on."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from memctl.errors import ReadOnlyStore
from memctl.store.guard import crash_point, plain_reason, unreachable
from memctl.store.home import object_store_options


@dataclass(frozen=True, slots=True)
class Tag:
    """By what a conditional put recognises a version: S3 and Azure by the tag, Google Cloud Storage by the number."""

    e_tag: str | None
    version: str | None

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> "Tag":
        """Take it from what the object store told about a put or a get."""
        return cls(told["e_tag"], told["version"])

    def told(self) -> dict[str, str]:
        """Give what a put is told; a store that has no numbers must not be told of one."""
        return {name: value for name, value in (("e_tag", self.e_tag), ("version", self.version)) if value}

    def same(self, other: "Tag") -> bool:
        """Tell whether both name one version."""
        if self.version and other.version:
            return self.version == other.version
        return self.e_tag == other.e_tag


@dataclass(frozen=True, slots=True)
class Tagged:
    """The bytes of an object, and its version."""

    data: bytes
    tag: Tag


class Changed(Exception):
    """Somebody else wrote the object first."""


class ObjectFiles:
    """Files below a prefix. A put is atomic by nature, so there is nothing to sweep up."""

    def __init__(self, root: str) -> None:
        """Keep files below ``root``, such as ``s3://bucket/team``."""
        self.root = root
        self._opened: Any = None

    def read(self, name: str) -> bytes | None:
        """Give the bytes, or None where there is no such object."""
        found = self.read_tagged(name)
        return None if found is None else found.data

    def write(self, name: str, data: bytes) -> None:
        """Put the object in place, replacing an earlier one."""
        import obstore

        with self._errors():
            crash_point("journal-temp")
            obstore.put(self._store(), name, data)

    def remove(self, name: str) -> None:
        """Remove the object; it may be gone already."""
        import obstore
        from obstore.exceptions import NotFoundError

        with self._errors():
            try:
                obstore.delete(self._store(), name)
            except (NotFoundError, FileNotFoundError):
                return

    def names(self, folder: str) -> list[str]:
        """Give the names below a folder, sorted, each with the folder in front."""
        return sorted(name for name, _ in self.listing(folder))

    def sweep(self, folder: str) -> None:
        """Do nothing: an object is there whole or not at all."""

    def listing(self, folder: str = "") -> list[tuple[str, int]]:
        """Give the names and sizes of all objects below a folder."""
        import obstore

        with self._errors():
            found = obstore.list(self._store(), prefix=folder or None).collect()
            return [(str(entry["path"]), int(entry["size"])) for entry in found]

    def read_tagged(self, name: str) -> Tagged | None:
        """Give the bytes with the tag of this version, or None where there is no such object."""
        import obstore
        from obstore.exceptions import NotFoundError

        with self._errors():
            try:
                answer = obstore.get(self._store(), name)
                return Tagged(bytes(answer.bytes()), Tag.of(answer.meta))
            except (NotFoundError, FileNotFoundError):
                return None

    def write_tagged(self, name: str, data: bytes, previous: Tag | None) -> Tag:
        """Put the object only where it is still the ``previous`` version (None: where there is none); its new tag.

        Raises Changed where somebody else was first.
        """
        import obstore
        from obstore.exceptions import AlreadyExistsError, NotFoundError, PreconditionError

        mode: Any = "create" if previous is None else previous.told()
        with self._errors():
            try:
                return Tag.of(obstore.put(self._store(), name, data, mode=mode))
            except (AlreadyExistsError, PreconditionError, NotFoundError, FileNotFoundError, FileExistsError) as error:
                raise Changed(name) from error

    def _store(self) -> Any:
        if self._opened is None:
            from obstore.store import from_url

            options: dict[str, Any] = dict(object_store_options(self.root, os.environ))
            http = {"allow_http": options.pop("allow_http", "false") == "true"}
            self._opened = from_url(self.root, client_options=http, **options)
        return self._opened

    @contextmanager
    def _errors(self) -> Iterator[None]:
        from obstore.exceptions import BaseError, PermissionDeniedError, UnauthenticatedError

        try:
            yield
        except (PermissionDeniedError, UnauthenticatedError) as error:
            raise ReadOnlyStore(path=self.root, reason=plain_reason(error)) from error
        except BaseError as error:
            raise unreachable(error, self.root) from error
