"""Collections of the ``llm`` command, embedded by its sentence-transformers plugin."""

from pathlib import Path

import llm
import sqlite_utils
from llm_sentence_transformers import SentenceTransformerModel


class Opened:
    """An open memory."""

    def __init__(self, folder: Path, weights: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        model = SentenceTransformerModel("bench", weights, trust_remote_code=False)
        self._collection = llm.Collection("bench", sqlite_utils.Database(folder / "llm.db"), model=model)

    def add(self, texts: list[str]) -> None:
        start = self._collection.count()
        entries = ((str(start + place), text) for place, text in enumerate(texts))
        self._collection.embed_multi(entries, store=True)

    def ask(self, question: str, limit: int) -> list[str]:
        return [str(entry.content) for entry in self._collection.similar(question, number=limit)]

    def count(self) -> int:
        return int(self._collection.count())


def open_memory(folder: Path, weights: str) -> Opened:
    """Open the memory in a folder."""
    return Opened(folder, weights)
