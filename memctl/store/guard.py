"""The border to the storage libraries: their errors become memctl's, and a test hook can kill the process here."""

import errno
import os
import re
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from memctl.errors import DamagedStore, MemctlError, ReadOnlyStore, StoreBusy

CRASH_VARIABLE = "MEMCTL_CRASH_AT"

_mask_turn = threading.Lock()
_mask_users: list[int] = []
_mask_before: list[int] = []

_RUST_SOURCE = re.compile(r",?\s*(/|[a-z]:\\)\S+\.rs:\d+:\d+.*$", re.IGNORECASE | re.DOTALL)
_ERROR_NUMBER = re.compile(r"\[Errno \d+\] ")
_FULL = ("no space left", "os error 28", "disk quota", "os error 122", "file too large")
_FORBIDDEN = ("permission denied", "os error 13", "read-only file system", "os error 30", "operation not permitted")
_CONFLICT = ("commit conflict", "concurrent", "could not set lock", "conflicting lock", "retryable")
_UNREACHABLE = ("generic s3 error", "generic gcs error", "generic microsoftazure error", "error sending request")
_OUR_BUG = ("error tokenizing", "sql parser", "schema error", "no field named", "received literal")


def crash_point(label: str) -> None:
    """Kill the process when ``MEMCTL_CRASH_AT`` names this label; tests of crash safety set it."""
    if os.environ.get(CRASH_VARIABLE) == label:
        os.kill(os.getpid(), signal.SIGKILL)


def is_missing_file(error: BaseException) -> bool:
    """Whether the library missed a file, as happens to a reader when another process compacts."""
    text = str(error).lower()
    return isinstance(error, FileNotFoundError) or "not found" in text or "no such file" in text


def plain_reason(error: BaseException) -> str:
    """Give the library's message without the place in its own source code, on one line, and the system's in words."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    text = _ERROR_NUMBER.sub("", _RUST_SOURCE.sub("", str(error)))
    return " ".join(text.split())[:300] or type(error).__name__


def translate(error: BaseException, where: str) -> MemctlError | None:
    """Find the foreseen error that a library's error stands for; None for what is a bug of ours."""
    text = str(error).lower()
    if any(mark in text for mark in _FULL):
        return ReadOnlyStore(path=where, reason="the disk is full")
    if isinstance(error, PermissionError) or any(mark in text for mark in _FORBIDDEN):
        return ReadOnlyStore(path=where, reason=plain_reason(error))
    if any(mark in text for mark in _UNREACHABLE):
        return unreachable(error, where)
    if any(mark in text for mark in _CONFLICT):
        return StoreBusy(path=where, holder=f"another process ({plain_reason(error)})")
    if any(mark in text for mark in _OUR_BUG):
        return None
    return DamagedStore(path=where, reason=plain_reason(error))


def unreachable(error: BaseException, where: str) -> StoreBusy:
    """Make the error for an object store that does not answer."""
    remedy = "Check the endpoint, the bucket and the credentials, then try again."
    return StoreBusy(path=where, holder=f"nobody, but it cannot be reached ({plain_reason(error)})", remedy=remedy)


@contextmanager
def lance_errors(where: str) -> Iterator[None]:
    """Turn what lance, lancedb and pyarrow raise into foreseen errors. Panics of the native code are included."""
    try:
        yield
    except (OSError, ValueError, RuntimeError) as error:
        _raise_translated(error, where)
    except BaseException as error:
        if type(error).__name__ == "PanicException":
            raise DamagedStore(path=where, reason=plain_reason(error)) from error
        raise


def _raise_translated(error: Exception, where: str) -> None:
    foreseen = translate(error, where)
    if foreseen is None:
        raise error
    raise foreseen from error


@contextmanager
def file_errors(where: str) -> Iterator[None]:
    """Turn what the operating system raises on writing our own files into foreseen errors."""
    try:
        yield
    except OSError as error:
        raise _file_error(error, where) from error


def _file_error(error: OSError, where: str) -> Exception:
    """Name the foreseen error of a file operation: of what the system refuses, only a failing disk is damage."""
    foreseen = translate(error, where) or error
    if isinstance(foreseen, DamagedStore) and error.errno not in (None, errno.EIO):
        return ReadOnlyStore(path=where, reason=plain_reason(error))
    return foreseen


@contextmanager
def private_files() -> Iterator[None]:
    """Create files that only their owner can read: also those that native code creates.

    The mask belongs to the whole process, so the first thread that comes sets it and the last that goes puts it back.
    """
    with _mask_turn:
        if not _mask_users:
            _mask_before.append(os.umask(0o077))
        _mask_users.append(threading.get_ident())
    try:
        yield
    finally:
        with _mask_turn:
            _mask_users.pop()
            if not _mask_users:
                os.umask(_mask_before.pop())
