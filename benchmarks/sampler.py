"""A sampling profiler that knows stages: looks at a thread's stack every few milliseconds and asks what it is doing.

Imports nothing heavy, so that a cold start can be looked at from its first line:
``python -m benchmarks.sampler OUT.json recall "a question"``.
"""

import json
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FrameType

# What a stage is called, and the functions that do it: (a piece of the file's path, the function or "" for any).
Stages = Mapping[str, Sequence[tuple[str, str]]]
OTHER = "everything else"
RECALL: Stages = {
    "import of numpy": [("site-packages/numpy/", "<module>")],
    "import of pyarrow": [("site-packages/pyarrow/", "<module>")],
    "import of lance": [("site-packages/lance/", "<module>")],
    "import of onnxruntime": [("site-packages/onnxruntime/", "<module>")],
    "import of tokenizers": [("site-packages/tokenizers/", "<module>")],
    "import of the command line": [("site-packages/typer/", "<module>"), ("site-packages/pydantic", "<module>")],
    "import of memctl itself": [("/memctl/", "<module>")],
    "loading the model": [("embedding/sessions.py", ""), ("embedding/onnx.py", "_open_tokenizer")],
    "embedding the question": [("embedding/onnx.py", "run")],
    "opening the store": [("store/store.py", "open"), ("store/record.py", "_dataset")],
    "search": [("store/search.py", ""), ("store/corpus.py", "")],
    "packing and printing": [("rules/pack.py", ""), ("rules/layout.py", ""), ("rules/tokens.py", ""), ("render/", "")],
    "ranking": [("memctl/rules/", "")],
    "command line": [("memctl/cli/", ""), ("memctl/quick.py", ""), ("site-packages/typer/", "")],
}


@contextmanager
def sampled(stages: Stages, seconds: float = 0.002) -> Iterator[Counter[str]]:
    """Collect the processor seconds, of all threads, that pass while this thread is in each stage.

    Processor time, because a busy machine makes whatever happens to wait look slow.
    """
    spent: Counter[str] = Counter()
    done = threading.Event()
    watched = threading.get_ident()

    def watch() -> None:
        before = time.process_time()
        while not done.wait(seconds):
            stage = stage_of(sys._current_frames().get(watched), stages)
            now = time.process_time()
            spent[stage] += now - before
            before = now

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield spent
    finally:
        done.set()
        watcher.join()


def stage_of(frame: FrameType | None, stages: Stages) -> str:
    """Name the stage of a stack: that of its innermost function that belongs to one."""
    while frame is not None:
        file, function = frame.f_code.co_filename, frame.f_code.co_name
        for name, places in stages.items():
            if any(piece in file and what in ("", function) for piece, what in places):
                return name
        frame = frame.f_back
    return OTHER


def _main(target: str, arguments: list[str]) -> None:
    sys.argv = ["memctl", *arguments]
    started = time.process_time()
    with sampled(RECALL) as spent:
        try:
            from memctl.__main__ import main

            main()
        except SystemExit:
            pass
    spent["start of the interpreter"] = started
    with open(target, "w", encoding="utf-8") as file:  # noqa: PTH123  pathlib would be one more import
        json.dump(spent, file)


if __name__ == "__main__":
    _main(sys.argv[1], sys.argv[2:])
