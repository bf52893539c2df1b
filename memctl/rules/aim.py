"""Aiming a question: its vector moved to where the memories that answer such questions lie.

A question and its answer are put differently, and the embedding model knows nothing of that. A small map, learned by
``training/recall_map.py`` for the bundled model, moves the question; memories keep their vectors, so a store never
depends on it. For any other embedding model there is no map.
"""

from functools import lru_cache
from importlib.resources import as_file, files
from typing import TYPE_CHECKING

from memctl.settings import DEFAULT_MODEL

if TYPE_CHECKING:
    import numpy as np


def has_aim(model: str) -> bool:
    """Tell whether there is a map for vectors of this embedding model."""
    return model == DEFAULT_MODEL


def aim(vector: "np.ndarray") -> "np.ndarray":
    """Move a question's unit vector; the result has unit length again."""
    import numpy as np

    narrow, wide = _map()
    moved = vector + (vector @ narrow) @ wide
    aimed: np.ndarray = (moved / np.linalg.norm(moved)).astype(np.float32)
    return aimed


@lru_cache(maxsize=1)
def _map() -> "tuple[np.ndarray, np.ndarray]":
    import numpy as np

    with as_file(files("memctl") / "weights" / "aim.npz") as path, np.load(path) as stored:
        return stored["narrow"].astype(np.float32), stored["wide"].astype(np.float32)
