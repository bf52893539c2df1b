"""``ChromaDBVectorMemory`` of autogen-ext, as an AgentChat agent would use it."""

import asyncio
from pathlib import Path

from autogen_core.memory import MemoryContent, MemoryMimeType
from autogen_ext.memory.chromadb import (
    ChromaDBVectorMemory,
    PersistentChromaDBVectorMemoryConfig,
    SentenceTransformerEmbeddingFunctionConfig,
)


class Opened:
    """An open memory."""

    def __init__(self, folder: Path, weights: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._memory = ChromaDBVectorMemory(
            PersistentChromaDBVectorMemoryConfig(
                collection_name="bench",
                persistence_path=str(folder),
                k=5,
                embedding_function_config=SentenceTransformerEmbeddingFunctionConfig(model_name=weights),
            )
        )

    def add(self, texts: list[str]) -> None:
        for text in texts:
            self._loop.run_until_complete(self._memory.add(MemoryContent(content=text, mime_type=MemoryMimeType.TEXT)))

    def ask(self, question: str, limit: int) -> list[str]:
        found = self._loop.run_until_complete(self._memory.query(question))
        return [str(result.content) for result in found.results][:limit]

    def count(self) -> int:
        self._memory._ensure_initialized()
        collection = self._memory._collection
        assert collection is not None
        return int(collection.count())


def open_memory(folder: Path, weights: str) -> Opened:
    """Open the memory in a folder."""
    return Opened(folder, weights)
