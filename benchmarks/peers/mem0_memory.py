"""mem0's open-source ``Memory`` with ``infer=False``: no LLM, its own vector store on disk."""

import os
from pathlib import Path

os.environ.update(MEM0_TELEMETRY="False", OPENAI_API_KEY="unused")

from mem0 import Memory  # after the variables above, which it reads when it is imported

_USER = "bench"


class Opened:
    """An open memory."""

    def __init__(self, folder: Path, weights: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        store = {"path": str(folder / "qdrant"), "on_disk": True, "embedding_model_dims": 384}
        self._memory = Memory.from_config(
            {
                "vector_store": {"provider": "qdrant", "config": store},
                "embedder": {"provider": "huggingface", "config": {"model": weights, "embedding_dims": 384}},
                "history_db_path": str(folder / "history.db"),
            }
        )

    def add(self, texts: list[str]) -> None:
        for text in texts:
            self._memory.add(text, user_id=_USER, infer=False)

    def ask(self, question: str, limit: int) -> list[str]:
        found = self._memory.search(question, filters={"user_id": _USER}, top_k=limit)
        return [result["memory"] for result in found["results"]]

    def count(self) -> int:
        return len(self._memory.get_all(filters={"user_id": _USER}, top_k=10_000)["results"])


def open_memory(folder: Path, weights: str) -> Opened:
    """Open the memory in a folder."""
    return Opened(folder, weights)
