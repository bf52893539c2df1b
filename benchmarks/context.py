"""How large a run is and where it works."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.figures import Figure


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured.

    ``tiny`` proves that the benchmarks work, ``small`` takes some minutes, ``full`` an hour once its stores are
    made, which takes ten minutes.
    """

    name: str
    messages: int
    slices: int
    memory_messages: tuple[int, ...]
    stand_in_messages: tuple[int, ...]
    facts: tuple[int, ...]
    scope: int
    repetitions: int
    questions: int
    nightly_messages: int
    small_runs: int
    extraction_messages: int
    peer_facts: int


TINY = Size("tiny", 24, 2, (), (50, 100), (40, 80), 20, 1, 6, 5, 4, 60, 20)
SMALL = Size("small", 1_000, 5, (500, 2_000), (1_000, 10_000), (1_000, 10_000), 1_000, 9, 100, 100, 60, 2_000, 500)
FULL = Size(
    "full",
    5_000,
    10,
    (500, 1_000),
    (1_000, 100_000),
    (1_000, 10_000, 100_000, 1_000_000),
    1_000,
    15,
    200,
    100,
    200,
    10_000,
    2_000,
)
SIZES = {size.name: size for size in (TINY, SMALL, FULL)}


@dataclass(frozen=True, slots=True)
class Context:
    """What every measurement is given: its size, a folder of its own, where large stores are kept, and outside data."""

    size: Size
    work: Path
    cache: Path
    data: Path | None = None
    say: Callable[[str], None] = field(default=lambda _: None)

    def folder(self, name: str) -> Path:
        """Make a new folder below the work folder."""
        path = self.work / name
        path.mkdir(parents=True)
        return path


Measurement = Callable[[Context], Iterator[Figure]]
