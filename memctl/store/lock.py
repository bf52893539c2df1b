"""The writer lock of a folder: one writer at a time, whose name the others are told. It dies with its process."""

import json
import os
import socket
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from memctl.errors import ReadOnlyStore, StoreBusy
from memctl.store.guard import crash_point, file_errors, plain_reason


@dataclass(frozen=True, slots=True)
class Holder:
    """Who writes: the command, its process and machine, and since when."""

    command: str
    pid: int
    host: str
    since: str

    @classmethod
    def here(cls, command: str) -> "Holder":
        """Describe this process."""
        return cls(command, os.getpid(), socket.gethostname(), datetime.now(UTC).isoformat(timespec="seconds"))

    def __str__(self) -> str:
        return f"memctl {self.command}, process {self.pid} on {self.host}, since {self.since}"


class Lock(Protocol):
    """Exclusive right to write."""

    def held(self, command: str, wait: float) -> AbstractContextManager[bool]:
        """Hold the lock for a block; raise StoreBusy, naming the holder, after ``wait`` seconds.

        The block is told whether it took the lock itself (True) or an outer block of this thread holds it.
        """

    def confirm(self) -> None:
        """Raise StoreBusy if the right was lost meanwhile (a lease that ran out)."""

    def holder(self) -> Holder | None:
        """Who holds the lock now, as far as can be told."""


class TurnTaking(ABC):
    """The part of a lock inside one process: threads take turns, and a thread that holds it may take it again."""

    def __init__(self) -> None:
        """Start with nobody inside."""
        self._turn = threading.RLock()
        self._depth = 0

    @contextmanager
    def held(self, command: str, wait: float) -> Iterator[bool]:
        """Hold the lock for a block; see ``Lock.held``."""
        if not self._turn.acquire(timeout=max(wait, 0)):
            raise self._busy()
        try:
            if self._depth:
                yield False
            else:
                with self._locked(command, wait):
                    self._depth = 1
                    try:
                        yield True
                    finally:
                        self._depth = 0
        finally:
            self._turn.release()

    @abstractmethod
    def _locked(self, command: str, wait: float) -> AbstractContextManager[None]:
        """Keep other processes out for a block."""

    @abstractmethod
    def _busy(self) -> StoreBusy:
        """Make the error that names the holder."""


class FileLock(TurnTaking):
    """A lock on a file of the store's folder."""

    def __init__(self, path: Path) -> None:
        """Lock ``path``; the holder's name is written beside it."""
        super().__init__()
        self.path = path

    def confirm(self) -> None:
        """Give a file lock is never lost while its process lives."""

    def holder(self) -> Holder | None:
        """Give the writer that the holder file names; only while the lock is in fact taken."""
        return read_holder(self._holder_path) if self._taken() else None

    @property
    def _holder_path(self) -> Path:
        return self.path.with_name(f"{self.path.name}.holder")

    @contextmanager
    def _locked(self, command: str, wait: float) -> Iterator[None]:
        import filelock

        lock = filelock.FileLock(self.path, mode=0o600, thread_local=False)
        self._acquire(lock, wait)
        try:
            self._name_holder(command)
            crash_point("after-lock")
            yield
        finally:
            self._holder_path.unlink(missing_ok=True)
            lock.release()

    def _busy(self) -> StoreBusy:
        return StoreBusy(path=self.path.parent, holder=str(read_holder(self._holder_path) or "another process"))

    def _acquire(self, lock: "object", wait: float) -> None:
        import filelock

        try:
            lock.acquire(timeout=max(wait, 0), poll_interval=0.02)  # type: ignore[attr-defined]
        except filelock.Timeout as error:
            raise self._busy() from error
        except OSError as error:
            raise ReadOnlyStore(path=self.path.parent, reason=plain_reason(error)) from error

    def _name_holder(self, command: str) -> None:
        with file_errors(str(self.path.parent)):
            descriptor = os.open(self._holder_path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump(asdict(Holder.here(command)), file)

    def _taken(self) -> bool:
        import filelock

        if self._depth:
            return True
        if not self.path.exists():
            return False
        probe = filelock.FileLock(self.path, mode=0o600, thread_local=False)
        try:
            probe.acquire(timeout=0)
        except (filelock.Timeout, OSError):
            return True
        probe.release()
        return False


def read_holder(path: Path) -> Holder | None:
    """Give the holder that a holder file names, or None where it names none (yet)."""
    try:
        return Holder(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
