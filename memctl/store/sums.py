"""Digests of the record's files, so that a check can tell every changed byte.

LanceDB never changes a file once it is written, but it keeps no checksums of its own: most flipped bytes would
be read as if they were data. The writer notes the digest of each new file; on an object store the provider does.
"""

import hashlib
import json
import os
from collections.abc import Container, Iterator
from contextlib import contextmanager
from pathlib import Path

from memctl.store.home import Home

SUMS_FILE = "sums.json"
_MARK = "sums.todo"
# LanceDB's hint where the newest version is: rewritten in place, and worthless without the versions themselves.
_REWRITTEN = {"latest_version_hint.json"}


def refresh(home: Home) -> None:
    """Note the digests of files that are new since the last time, and forget those that are gone."""
    if not home.local:
        return
    known = load(home) or {}
    present = _files(home)
    current = {name: known[name] if name in known else _digest(path) for name, path in present.items()}
    if current != known:
        home.files().write(SUMS_FILE, json.dumps(current, indent=0).encode())


@contextmanager
def changing(home: Home) -> Iterator[None]:
    """Note the digests behind a block in which files go; one that dies in it leaves a mark, for ``finish``.

    Without the mark the files that it removed would be taken for lost.
    """
    if home.local:
        home.files().write(_MARK, b"")
    yield
    refresh(home)
    if home.local:
        home.files().remove(_MARK)


def finish(home: Home) -> None:
    """Note the digests where a writer died while files went."""
    if home.local and home.files().read(_MARK) is not None:
        refresh(home)
        home.files().remove(_MARK)


def renew(home: Home) -> None:
    """Take all files as they are: after a repair."""
    home.files().remove(SUMS_FILE)
    refresh(home)


def load(home: Home) -> dict[str, str] | None:
    """Give the noted digests by path below the home; None where the note is missing or unreadable."""
    try:
        noted = json.loads(home.files().read(SUMS_FILE) or b"")
    except ValueError:
        return None
    return {str(name): str(digest) for name, digest in noted.items()} if isinstance(noted, dict) else None


def verify(home: Home, names: Container[str] | None = None) -> dict[str, str]:
    """Compare the files, or those named, with their digests: what is wrong with each damaged one, by path."""
    if not home.local:
        return {}
    noted = load(home)
    if noted is None:
        return {SUMS_FILE: "is missing or cannot be read"}
    wrong = {
        name: problem
        for name, digest in noted.items()
        if (names is None or name in names) and (problem := _problem(Path(home.root) / name, digest))
    }
    # A writer may have replaced files meanwhile; only what it still lists is damaged.
    again = load(home) or {} if wrong else {}
    return {name: problem for name, problem in wrong.items() if again.get(name) == noted[name]}


def _problem(path: Path, digest: str) -> str:
    try:
        return "" if _digest(path) == digest else "has changed bytes"
    except FileNotFoundError:
        return "is missing"
    except OSError as error:
        return f"cannot be read ({error.strerror})"


def _files(home: Home) -> dict[str, Path]:
    root = Path(home.root)
    found = (
        Path(folder, name) for folder, _, names in os.walk(root / "record") for name in names if name not in _REWRITTEN
    )
    return {path.relative_to(root).as_posix(): path for path in found}


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
