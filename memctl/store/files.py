"""Small whole files of a store (its description, journals): in a folder or on an object store, same four verbs."""

import os
from pathlib import Path
from typing import Protocol

from memctl.errors import ClosedStore
from memctl.store.guard import crash_point, file_errors


class Files(Protocol):
    """Whole small files by name; a write is all or nothing."""

    def read(self, name: str) -> bytes | None:
        """Give the bytes, or None where there is no such file."""

    def write(self, name: str, data: bytes) -> None:
        """Put the whole file in place at once, replacing an earlier one."""

    def remove(self, name: str) -> None:
        """Remove the file; it may be gone already."""

    def names(self, folder: str) -> list[str]:
        """Give the names in a folder, sorted, each with the folder in front; empty where there is none."""

    def sweep(self, folder: str) -> None:
        """Remove what writers that died in the middle of a write left there; only the one writer may call this."""


class LocalFiles:
    """Files below a folder, written by rename so that no reader ever sees half of one."""

    def __init__(self, root: Path) -> None:
        """Keep files below ``root``."""
        self.root = root

    def read(self, name: str) -> bytes | None:
        """Give the bytes, or None where there is no such file."""
        try:
            return (self.root / name).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except PermissionError as error:
            raise ClosedStore(path=self.root, reason=f"no permission to read {name}") from error

    def write(self, name: str, data: bytes) -> None:
        """Write beside, sync, rename, sync the folder: after a crash there is the old file or the new one."""
        target = self.root / name
        temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
        with file_errors(str(self.root)):
            target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            try:
                self._write_synced(temporary, data)
                crash_point("journal-temp")
                temporary.replace(target)
            except OSError:
                temporary.unlink(missing_ok=True)
                raise
            self._sync_folder(target.parent)

    def remove(self, name: str) -> None:
        """Remove the file; it may be gone already."""
        with file_errors(str(self.root)):
            (self.root / name).unlink(missing_ok=True)

    def names(self, folder: str) -> list[str]:
        """Give the files in a folder, without the unfinished ones."""
        place = self.root / folder
        if not place.is_dir():
            return []
        return sorted(f"{folder}/{entry.name}" for entry in place.iterdir() if not entry.name.startswith("."))

    def sweep(self, folder: str) -> None:
        """Remove unfinished files."""
        with file_errors(str(self.root)):
            for path in (self.root / folder).glob(".*.tmp"):
                path.unlink(missing_ok=True)

    @staticmethod
    def _write_synced(path: Path, data: bytes) -> None:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())

    @staticmethod
    def _sync_folder(folder: Path) -> None:
        if os.name != "posix":
            return
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
