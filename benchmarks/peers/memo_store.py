"""Teachability's ``MemoStore`` of AG2, with the shared weights in the place of Chroma's default function."""

from pathlib import Path

from autogen.agentchat.contrib.capabilities.teachability import MemoStore
from chromadb.utils.embedding_functions import SentenceTransformerEmbeddingFunction


class Opened:
    """An open memory."""

    def __init__(self, folder: Path, weights: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._store = MemoStore(reset=False, path_to_db_dir=str(folder))
        function = SentenceTransformerEmbeddingFunction(model_name=weights)
        self._store.vec_db = self._store.db_client.get_or_create_collection("bench", embedding_function=function)

    def add(self, texts: list[str]) -> None:
        for text in texts:
            self._store.add_input_output_pair(text, text)
        self._store._save_memos()

    def ask(self, question: str, limit: int) -> list[str]:
        return [memo[0] for memo in self._store.get_related_memos(question, n_results=limit, threshold=10)]

    def count(self) -> int:
        return int(self._store.vec_db.count())


def open_memory(folder: Path, weights: str) -> Opened:
    """Open the memory in a folder."""
    return Opened(folder, weights)
