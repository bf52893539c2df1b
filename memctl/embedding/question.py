"""Questions to vectors.

For the bundled model there is an encoder of its own, trained so that a question lands near the memories that answer
it. Memories keep the bundled model's vectors, so a store never depends on it.
"""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from memctl.embedding.models import WEIGHTS, open_classifier
from memctl.settings import DEFAULT_MODEL

if TYPE_CHECKING:
    import numpy as np

    from memctl.embedding.onnx import OnnxEncoder

NAME = "query"


def understands(model: str) -> bool:
    """Tell whether the question encoder fits vectors of this embedding model."""
    return model == DEFAULT_MODEL and (WEIGHTS / f"{NAME}.json").exists()


def embed_questions(texts: Sequence[str]) -> "np.ndarray":
    """Give one unit vector a question, each computed alone: the same whatever else is asked."""
    import numpy as np

    encoder = _encoder()
    return np.concatenate([encoder.run([text])[0] for text in texts])


@cache
def _encoder() -> "OnnxEncoder":
    return open_classifier(NAME)[0]
