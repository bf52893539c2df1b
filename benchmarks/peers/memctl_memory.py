"""memctl as the others are used here: facts told one list at a time, questions asked in the same process."""

from pathlib import Path

from memctl.memory import OpenMemory
from memctl.operations.recall import recall
from memctl.operations.remember import Entry, remember
from memctl.store import Filter

_AGENT = "bench"


class Opened:
    """An open memory."""

    def __init__(self, folder: Path) -> None:
        self._memory = OpenMemory.at_home(home=str(folder))

    def add(self, texts: list[str]) -> None:
        remember(self._memory, [Entry(text, agent=_AGENT) for text in texts])

    def ask(self, question: str, limit: int) -> list[str]:
        block = recall(self._memory, question, agent=_AGENT, limit=limit, count=False).data
        return [hit.fact.text for hit in block.hits]

    def count(self) -> int:
        return self._memory.store.count_facts(Filter())


def open_memory(folder: Path, weights: str) -> Opened:  # noqa: ARG001  memctl finds the same weights by itself
    """Open the memory in a folder."""
    return Opened(folder)
