"""What every extractor returns: claims, and the trace that ``ingest --explain`` prints."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from memctl.model import Claim, Transcript


@dataclass(frozen=True, slots=True)
class Trace:
    """What became of one sentence: kept or not, and ``why`` in plain words.

    ``message`` is the message's index in its transcript, ``type`` and ``score`` what the extractor
    thought of the sentence (empty and 0 where it did not come that far).
    """

    message: int
    sentence: str
    kept: bool
    why: str
    type: str = ""
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class Extraction:
    """What one transcript gave: the claims in the order of speaking, the trace, and notes for the run's report."""

    claims: tuple[Claim, ...]
    trace: tuple[Trace, ...]
    notes: tuple[str, ...] = ()


class Extractor(Protocol):
    """Turns cleaned transcripts into claims; the local and the LLM extractor both obey it."""

    def extract(
        self, transcripts: Sequence[Transcript], agent: str, since: Sequence[int] | None = None
    ) -> list[Extraction]:
        """Read each transcript for the scope ``agent``; one Extraction each, in the same order.

        Messages at list positions below ``since[i]`` were read by an earlier run: they are context only.
        Every message carries its time; the caller has dated those that had none.
        """
        ...
