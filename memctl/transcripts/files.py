"""Transcripts on disk: which files a user means, and their bytes. The readers themselves open nothing."""

import errno
import glob
import os
import re
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from memctl.errors import UnreadableInput
from memctl.model import Problem
from memctl.transcripts.document import Companions

LARGEST_FILE = 2_000_000_000
_LARGEST_COMPANION = 1_000_000
_OTHER_KINDS = re.compile(
    r"\.(?:md|rst|sql|py|ipynb|toml|ya?ml|ini|cfg|lock|html?|css|js|ts|[ct]sv|parquet|arrow|pkl|pickle|np[yz]|pt|onnx"
    r"|safetensors|png|jpe?g|gif|webp|bmp|svg|pdf|zip|tar|tgz|bz2|xz|zst|7z|whl|so|pyc|exe|mp[34]|wav|sh|db-\w+|tmp|swp)",
    re.IGNORECASE,
)
_OTHER_NAMES = re.compile(
    r"(?:licen[cs]e|notice|readme|changelog|makefile|dockerfile)(?:\.txt)?"
    r"|(?:passport|rule|resume|inbox\.cursors|by_capability)\.json|audit\.jsonl",
    re.IGNORECASE,
)
_REASONS = {
    errno.ENOENT: "there is no such file",
    errno.EACCES: "no permission to read it",
    errno.EPERM: "no permission to read it",
    errno.EISDIR: "it is a folder",
    errno.ELOOP: "its symbolic links go round in a circle",
    errno.ENAMETOOLONG: "the name is too long",
}


def find(paths: Iterable[str]) -> tuple[list[Path], list[Problem]]:
    """Expand files, folders (recursively, sorted) and globs to the transcripts that are meant.

    A file that is named is always taken; in folders, hidden files and what is plainly no transcript are
    passed over. A file that is met twice is taken once. What cannot be looked at becomes a problem.
    """
    found: dict[tuple[int, int], Path] = {}
    problems: list[Problem] = []
    for given in paths:
        for path in _expanded(given, problems):
            if status := _status(path, problems):
                found.setdefault((status.st_dev, status.st_ino), path)
    return list(found.values()), problems


def load(path: str | os.PathLike[str], *, largest: int = LARGEST_FILE) -> bytes:
    """Read the bytes of a file; UnreadableInput where it is missing, closed to us, too large or no file."""
    name = os.fspath(path)
    try:
        status = Path(name).stat()
        if not stat.S_ISREG(status.st_mode):
            raise UnreadableInput(path=name, reason=_kind(status.st_mode), remedy=_folder_remedy(status.st_mode))
        if status.st_size > largest:
            reason = f"it has {status.st_size} bytes, more than the {largest} that are allowed"
            raise UnreadableInput(path=name, reason=reason, remedy="Split the file.")
        return Path(name).read_bytes()
    except (OSError, ValueError) as error:
        raise UnreadableInput(path=name, reason=_reason(error), remedy="Check the path and its permissions.") from error


def companions_of(path: str | os.PathLike[str]) -> Companions:
    """Give access to the files around a transcript, by path relative to its folder."""
    folder = Path(path).parent

    def fetch(relative: str) -> bytes | None:
        neighbour = folder / relative
        try:
            if not neighbour.is_file() or neighbour.stat().st_size > _LARGEST_COMPANION:
                return None
            return neighbour.read_bytes()
        except (OSError, ValueError):
            return None

    return fetch


def _expanded(given: str, problems: list[Problem]) -> Iterator[Path]:
    path = Path(given)
    if _is_folder(path):
        yield from _in_folder(path, problems)
    elif glob.has_magic(given) and not os.path.lexists(given):
        yield from _matching(given, problems)
    else:
        yield path


def _matching(pattern: str, problems: list[Problem]) -> Iterator[Path]:
    matches = sorted(glob.glob(pattern, recursive=True))  # noqa: PTH207 - the pattern may be absolute
    if not matches:
        problems.append(_problem(pattern, "nothing matches the pattern"))
    for match in matches:
        path = Path(match)
        if not _is_folder(path):
            yield path


def _in_folder(folder: Path, problems: list[Problem]) -> Iterator[Path]:
    """Walk a folder; links are followed, but no folder is entered twice."""
    entered: set[tuple[int, int]] = set()
    waiting = [folder]
    while waiting:
        current = waiting.pop()
        try:
            status = current.stat()
            entries = sorted(current.iterdir()) if (status.st_dev, status.st_ino) not in entered else []
        except OSError as error:
            problems.append(_problem(str(current), _reason(error)))
            continue
        entered.add((status.st_dev, status.st_ino))
        waiting.extend(reversed([entry for entry in entries if not _is_hidden(entry) and _is_folder(entry)]))
        yield from (entry for entry in entries if _may_be_transcript(entry) and not _is_folder(entry))


def _may_be_transcript(path: Path) -> bool:
    if _is_hidden(path) or _OTHER_NAMES.fullmatch(path.name) or _OTHER_KINDS.fullmatch(path.suffix):
        return False
    return not (path.name == "metadata.json" and (path.parent / "wal.jsonl").exists())


def _is_hidden(path: Path) -> bool:
    return path.name.startswith(".")


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def _status(path: Path, problems: list[Problem]) -> os.stat_result | None:
    """Look at a file; what is no readable file becomes a problem."""
    try:
        status = path.stat()
    except (OSError, ValueError) as error:
        problems.append(_problem(str(path), _reason(error)))
        return None
    if not stat.S_ISREG(status.st_mode):
        problems.append(_problem(str(path), _kind(status.st_mode)))
        return None
    return status


def _kind(mode: int) -> str:
    if stat.S_ISDIR(mode):
        return "it is a folder"
    return "it is a pipe, a socket or a device, not a file"


def _folder_remedy(mode: int) -> str:
    return "Name the files in it, or give the folder to memctl ingest." if stat.S_ISDIR(mode) else ""


def _reason(error: OSError | ValueError) -> str:
    if isinstance(error, OSError):
        return _REASONS.get(error.errno or 0, (error.strerror or str(error)).lower())
    return "the name is not a file name"


def _problem(path: str, reason: str) -> Problem:
    error = UnreadableInput(path=path, reason=reason)
    return Problem(error.code, str(error), path, "Check the path and its permissions.")
