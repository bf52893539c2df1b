"""The models while they are measured: a record of all that passes through them, and stand-ins that cost nothing."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from memctl.embedding.onnx import Input, OnnxEncoder

Passes = dict[OnnxEncoder, list[Input]]


@contextmanager
def recorded() -> Iterator[Passes]:
    """Note every text that passes through any model, by model."""
    passes: Passes = {}
    with _running_as(_recording(passes, OnnxEncoder.run)):
        yield passes


@contextmanager
def stand_ins(seed: int = 1) -> Iterator[None]:
    """Let every model answer at once with random answers of the right shape."""
    with _running_as(_answering(seed, OnnxEncoder.run)):
        yield


@contextmanager
def _running_as(run: Any) -> Iterator[None]:
    original = OnnxEncoder.run
    OnnxEncoder.run = run  # type: ignore[method-assign]
    try:
        yield
    finally:
        OnnxEncoder.run = original  # type: ignore[method-assign]


def _recording(passes: Passes, original: Any) -> Any:
    def run(self: OnnxEncoder, inputs: Sequence[Input]) -> Any:
        passes.setdefault(self, []).extend(inputs)
        return original(self, inputs)

    return run


def _answering(seed: int, original: Any) -> Any:
    import numpy as np

    drawn = np.random.default_rng(seed)
    shapes: dict[OnnxEncoder, tuple[int, ...]] = {}

    def run(self: OnnxEncoder, inputs: Sequence[Input]) -> Any:
        if self not in shapes:
            shapes[self] = original(self, [("a", "[MASK] b") if isinstance(inputs[0], tuple) else "a"])[0].shape[1:]
        return [answers(drawn, len(inputs), shapes[self])]

    return run


def answers(drawn: Any, count: int, shape: tuple[int, ...]) -> Any:
    """Draw answers: unit vectors, chances of the types of each unit (one in eight is kept), or logits of a pair."""
    import numpy as np

    if len(shape) == 2:
        chances = drawn.random((count, *shape), dtype=np.float32)
        chances[..., 0] += np.where(drawn.random((count, shape[0])) < 0.125, 0, 99)
        return chances / chances.sum(axis=-1, keepdims=True)
    if shape == (3,):
        return np.tile(np.array([9, 0, 0], np.float32), (count, 1))
    vectors = drawn.normal(size=(count, *shape)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
