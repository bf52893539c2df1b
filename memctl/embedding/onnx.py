"""Running exported models with onnxruntime and tokenizers: no torch, a third of a second to start.

The same runner serves the sentence embedder and the classifiers, which differ only in their weights
and in what their graphs put out.
"""

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memctl.errors import ModelUnavailable

if TYPE_CHECKING:
    import numpy as np

Input = str | tuple[str, str]

# Short texts are padded to the longest of their batch: a cap on tokens keeps a batch of long ones from
# growing past the processor's caches, a cap on rows keeps latency even.
_TOKENS_PER_BATCH = 4096
_ROWS_PER_BATCH = 64
_THREADS_VARIABLE = "MEMCTL_THREADS"


class OnnxEncoder:
    """A transformer that was exported to ONNX, with its tokenizer."""

    def __init__(self, model: Path, tokenizer: Path, max_tokens: int = 256, words: "np.ndarray | None" = None) -> None:
        """Load both files; raises ModelUnavailable where one is missing or broken.

        ``words`` is the table of word vectors for a graph that takes them as an input.
        """
        self._session = _open_session(model)
        self._tokenizer = _open_tokenizer(tokenizer, max_tokens)
        self._wanted = {item.name for item in self._session.get_inputs()}
        self._words = words

    def run(self, inputs: Sequence[Input]) -> "list[np.ndarray]":
        """Run the graph over texts or pairs of texts: one array a graph output, rows in the order given."""
        import numpy as np

        outputs: list[list[Any]] = []
        order: list[int] = []
        for positions, encodings in self._batches(inputs):
            outputs.append(self._session.run(None, self._feed(encodings)))
            order.extend(positions)
        if not outputs:
            return [np.zeros((0, *_trailing(item.shape)), np.float32) for item in self._session.get_outputs()]
        places = np.argsort(np.array(order))
        return [np.concatenate(column)[places] for column in zip(*outputs, strict=True)]

    def token_counts(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text as this model sees them, special ones included."""
        return [len(encoding.ids) for encoding in self._tokenizer.encode_batch(list(texts))]

    def _batches(self, inputs: Sequence[Input]) -> Iterator[tuple[list[int], list[Any]]]:
        """Group inputs of like length, so that little of a batch is padding."""
        encodings = self._tokenizer.encode_batch(list(inputs))
        by_length = sorted(range(len(encodings)), key=lambda place: len(encodings[place].ids))
        batch: list[int] = []
        for place in by_length:
            longest = len(encodings[place].ids)
            if batch and (len(batch) >= _ROWS_PER_BATCH or (len(batch) + 1) * longest > _TOKENS_PER_BATCH):
                yield batch, [encodings[item] for item in batch]
                batch = []
            batch.append(place)
        if batch:
            yield batch, [encodings[item] for item in batch]

    def _feed(self, encodings: Sequence[Any]) -> "dict[str, np.ndarray]":
        import numpy as np

        longest = max(len(encoding.ids) for encoding in encodings)
        shape = (len(encodings), longest)
        feed = {name: np.zeros(shape, np.int64) for name in ("input_ids", "attention_mask", "token_type_ids")}
        for row, encoding in enumerate(encodings):
            size = len(encoding.ids)
            feed["input_ids"][row, :size] = encoding.ids
            feed["attention_mask"][row, :size] = 1
            feed["token_type_ids"][row, :size] = encoding.type_ids
        if self._words is not None:
            feed["word_vectors"] = self._words[feed["input_ids"]]
        return {name: array for name, array in feed.items() if name in self._wanted}


def _open_session(path: Path) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = int(os.environ.get(_THREADS_VARIABLE, "0") or 0)
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except _runtime_errors() as error:
        raise ModelUnavailable(name=path.name, reason=str(error).splitlines()[0], where=str(path)) from error


def _runtime_errors() -> tuple[type[Exception], ...]:
    """Collect onnxruntime's error classes: they are made at run time and have no common base of their own."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    classes = (value for value in vars(state).values() if isinstance(value, type) and issubclass(value, Exception))
    return (*classes, OSError, ValueError)


def _open_tokenizer(path: Path, max_tokens: int) -> Any:
    from tokenizers import Tokenizer

    try:
        text = path.read_text(encoding="utf-8")
        json.loads(text)  # tokenizers raises a bare Exception for broken files, json one that can be named
        tokenizer = Tokenizer.from_str(text)
    except (OSError, ValueError) as error:
        raise ModelUnavailable(name=path.name, reason=str(error), where=str(path)) from error
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_tokens)
    return tokenizer


def _trailing(shape: Sequence[Any]) -> tuple[int, ...]:
    return tuple(size if isinstance(size, int) else 0 for size in shape[1:])
