"""A real memory in a temporary folder: real store, real models; only the clock is fixed."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from memctl.memory import OpenMemory


@pytest.fixture
def memory(home: Path) -> Iterator[OpenMemory]:
    opened = OpenMemory.at_home()
    yield opened
    opened.close()


class Chats:
    """Writes small group chats to files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, name: str, *turns: tuple[str, str]) -> str:
        path = self.folder / name
        messages = [{"name": speaker, "role": "user", "content": text} for speaker, text in turns]
        path.write_text(json.dumps(messages, ensure_ascii=False), encoding="utf-8")
        return str(path)


@pytest.fixture
def chats(tmp_path: Path) -> Chats:
    folder = tmp_path / "chats"
    folder.mkdir()
    return Chats(folder)
