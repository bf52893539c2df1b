"""How far a long run is, told to whoever watches."""

from collections.abc import Sequence
from typing import Protocol

from memctl.model import Problem
from memctl.operations.reading import Prepared, Step


class Progress(Protocol):
    """Told how far a long run is; the faces decide whether to draw it."""

    def expect(self, files: int) -> None:
        """So many files will be read."""

    def done(self, path: str) -> None:
        """One of them was, and what it taught is stored."""


class Unseen:
    """Progress that nobody watches."""

    def expect(self, files: int) -> None:
        """Take note of nothing."""

    def done(self, path: str) -> None:
        """Take note of nothing."""


def tell(progress: Progress, batch: Sequence[Step]) -> None:
    """Count the files that end in this batch; a file may hold chats of several batches."""
    for step in batch:
        if not isinstance(step, Prepared):
            progress.done(step.where if isinstance(step, Problem) else step.path)
        elif step.last:
            progress.done(step.transcript.path)
