"""Which statements are worth comparing: near in meaning, or naming the same thing. Near never decides."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memctl.rules.cues import identifiers

if TYPE_CHECKING:
    import numpy as np

_NAMED_AT_MOST = 6


def near(row: "np.ndarray", floor: float, nearest: int) -> list[int]:
    """Give the columns of a row of cosines that reach the floor, the nearest first; equal ones in their order."""
    import numpy as np

    chosen = np.flatnonzero(row >= floor)
    ranked = chosen[np.argsort(-row[chosen], kind="stable")]
    return [int(column) for column in ranked[:nearest]]


def naming(text: str, others: Sequence[str]) -> list[int]:
    """Give the statements that name a thing which this one names too, such as ``MAX_TTL`` or ``B6-417``."""
    wanted = identifiers(text)
    if not wanted:
        return []
    return [place for place, other in enumerate(others) if wanted & identifiers(other)][:_NAMED_AT_MOST]
