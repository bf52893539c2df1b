"""Answers of a model, kept by what was asked: asking the same again costs no call."""

import contextlib
import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any


def default_folder() -> Path:
    """Name the folder in the platform's cache."""
    from platformdirs import user_cache_dir

    return Path(user_cache_dir("memctl", appauthor=False)) / "llm"


def key_of(*parts: str) -> str:
    """Digest of everything that the answer depends on; parts cannot run into each other."""
    return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode()).hexdigest()


class LlmCache:
    """A folder of JSON files, one an answer. Several processes may use it at once; a damaged file is a miss."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, key: str) -> Any | None:
        """Return the answer, or None if it is not known."""
        try:
            return json.loads(self._path(key).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None

    def put(self, key: str, answer: Any) -> None:
        """Keep an answer. A cache that cannot be written is no reason to fail: the next run asks again."""
        with contextlib.suppress(OSError):
            path = self._path(key)
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            handle, name = tempfile.mkstemp(dir=path.parent, suffix=".new")
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(answer, file, ensure_ascii=False)
            Path(name).replace(path)

    def clear(self) -> int:
        """Forget every answer and say how many there were."""
        files = list(self.folder.glob("*/*.json"))
        for file in files:
            file.unlink(missing_ok=True)
        return len(files)

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.json"
