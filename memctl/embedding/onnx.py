"""Running exported models with onnxruntime and tokenizers: no torch, a third of a second to start.

The same runner serves the sentence embedder and the classifiers, which differ only in their weights
and in what their graphs put out.
"""

import json
import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memctl.embedding.sessions import open_session
from memctl.errors import ModelUnavailable

if TYPE_CHECKING:
    import numpy as np

Input = str | tuple[str, str]

# Measured: what the layers of a batch of this many tokens pass on to each other stays in a core's own cache; four
# times as many take a fifth longer a token, and a quarter as many save next to nothing.
_TOKENS_PER_BATCH = 512
_THREADS_VARIABLE = "MEMCTL_THREADS"


class OnnxEncoder:
    """A transformer that was exported to ONNX, with its tokenizer."""

    def __init__(self, model: Path, tokenizer: Path, max_tokens: int = 256, words: "np.ndarray | None" = None) -> None:
        """Load both files; raises ModelUnavailable where one is missing or broken.

        ``words`` is the table of word vectors for a graph that takes them as an input.
        """
        self._session = open_session(model)
        self._tokenizer = open_tokenizer(tokenizer)
        self._tokenizer.enable_truncation(max_tokens)
        self._words = words

    def run(self, inputs: Sequence[Input]) -> "list[np.ndarray]":
        """Run the graph over texts or pairs of texts: one array a graph output, rows in the order given.

        Each distinct input is run once, and its answer does not depend on the others.
        """
        import numpy as np

        if not inputs:
            return [np.zeros((0, *_trailing(item.shape)), np.float32) for item in self._session.get_outputs()]
        places = {text: place for place, text in enumerate(dict.fromkeys(inputs))}
        batches = _batches(self._tokenizer.encode_batch(list(places)))
        answers = self._answers([encodings for _, encodings in batches])
        order = np.argsort(np.concatenate([positions for positions, _ in batches]))
        rows = order[[places[text] for text in inputs]]
        return [np.concatenate(column)[rows] for column in zip(*answers, strict=True)]

    def token_counts(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text as this model sees them, special ones included."""
        return [len(encoding.ids) for encoding in self._tokenizer.encode_batch(list(texts))]

    def rarities(self, word: str) -> list[float]:
        """Cut a word in small letters into this model's pieces and say how rare each is, from 0 to 1."""
        return rarities(self._tokenizer, word)

    def _answers(self, batches: Sequence[Sequence[Any]]) -> list[Any]:
        """Run batches side by side on all cores, or here where there is only one."""
        workers = min(_threads(), len(batches))
        if workers == 1:
            return [self._answer(batch) for batch in batches]
        pool = ThreadPoolExecutor(workers, thread_name_prefix="memctl-model")
        try:
            return list(_spread(pool, self._answer, batches))
        finally:  # interrupted, nobody waits for the batches that have not begun
            pool.shutdown(cancel_futures=True)

    def _answer(self, encodings: Sequence[Any]) -> Any:
        return self._session.run(None, self._feed(encodings))

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

    @cached_property
    def _wanted(self) -> set[str]:
        return {item.name for item in self._session.get_inputs()}


def _batches(encodings: Sequence[Any]) -> list[tuple[list[int], list[Any]]]:
    """Group inputs of like length, so that little of a batch is padding: places and encodings, the longest first.

    The longest come first so that no core is left with a long batch when the others have ended.
    """
    by_length = sorted(range(len(encodings)), key=lambda place: -len(encodings[place].ids))
    grouped: list[list[int]] = []
    room = 0
    for place in by_length:
        if room <= 0:
            grouped.append([])
            room = max(1, _TOKENS_PER_BATCH // max(1, len(encodings[place].ids)))
        grouped[-1].append(place)
        room -= 1
    return [(places, [encodings[place] for place in places]) for places in grouped]


def _spread(pool: ThreadPoolExecutor, work: Any, batches: Sequence[Any]) -> Iterable[Any]:
    """Hand batches to the pool's threads; a program that is ending may start none, so then here, one by one."""
    try:
        return pool.map(work, batches)
    except RuntimeError:
        return map(work, batches)


def _threads() -> int:
    """Tell how many batches to run at a time: the setting, else the cores that this process may use."""
    given = int(os.environ.get(_THREADS_VARIABLE, "0") or 0)
    if given > 0:
        return given
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def rarities(tokenizer: Any, word: str) -> list[float]:
    """Say how rare each piece of a word is: a vocabulary of words begins with the most frequent."""
    size = tokenizer.get_vocab_size()
    return [piece.id / size for piece in tokenizer.model.tokenize(word)]


def open_tokenizer(path: Path) -> Any:
    """Load a tokenizer that neither pads nor cuts; raises ModelUnavailable where its file is missing or broken."""
    from tokenizers import Tokenizer

    try:
        text = path.read_text(encoding="utf-8")
        json.loads(text)  # tokenizers raises a bare Exception for broken files, json one that can be named
        tokenizer = Tokenizer.from_str(text)
    except (OSError, ValueError) as error:
        raise ModelUnavailable(name=path.name, reason=str(error), where=str(path)) from error
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def _trailing(shape: Sequence[Any]) -> tuple[int, ...]:
    return tuple(size if isinstance(size, int) else 0 for size in shape[1:])
