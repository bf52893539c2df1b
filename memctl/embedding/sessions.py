"""Opening ONNX graphs: one thread a session, and the work of optimising a graph done once a machine.

onnxruntime rewrites a graph whenever it is loaded, which takes longer than the rest of loading. The rewritten graph is
kept in the cache folder, under a name that changes with the weights, with onnxruntime and with the processor. The
cache is never needed: where it cannot be read or written, the graph is loaded as it was shipped.
"""

import contextlib
import hashlib
import os
import platform
import tempfile
from pathlib import Path
from typing import Any

from memctl.embedding.cache import cache_folder
from memctl.errors import ModelUnavailable

_SAMPLE_BYTES = 65_536
_PROCESSOR = Path("/proc/cpuinfo")


def open_session(path: Path) -> Any:
    """Load a graph; raises ModelUnavailable where it is missing or broken."""
    try:
        return _open_prepared(path) or _open(path)
    except runtime_errors() as error:
        raise ModelUnavailable(name=path.name, reason=str(error).splitlines()[0], where=str(path)) from error


def runtime_errors() -> tuple[type[Exception], ...]:
    """Collect onnxruntime's error classes: they are made at run time and have no common base of their own."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    classes = (value for value in vars(state).values() if isinstance(value, type) and issubclass(value, Exception))
    return (*classes, OSError, ValueError)


def prepared_path(path: Path) -> Path:
    """Name the place of the prepared form of a graph on this machine; raises OSError where there is no such graph."""
    import onnxruntime

    about = "\0".join((_identity(path), onnxruntime.__version__, _processor()))
    return cache_folder() / "graphs" / f"{_label(path)}{hashlib.sha256(about.encode()).hexdigest()[:16]}.onnx"


def _open_prepared(path: Path) -> Any | None:
    """Load the prepared form of a graph, made first where it is missing; None where the cache is of no use."""
    prepared = prepared_path(path)
    if prepared.exists():
        try:
            return _open(prepared, optimised=True)
        except runtime_errors():  # cut short or damaged: made anew
            with contextlib.suppress(OSError):
                prepared.unlink()
    return _prepare(path, prepared)


def _prepare(path: Path, prepared: Path) -> Any | None:
    """Load the graph as it was shipped and keep what onnxruntime made of it, in one step for all who look."""
    try:
        prepared.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, name = tempfile.mkstemp(prefix=".", suffix=".onnx", dir=prepared.parent)
        os.close(handle)
    except OSError:
        return None
    made = Path(name)
    try:
        session = _open(path, save_to=name)
        made.replace(prepared)
    except runtime_errors():  # a full disk, or a broken graph: loading it plainly tells which
        return None
    finally:
        with contextlib.suppress(OSError):
            made.unlink(missing_ok=True)
    _forget_others(path, prepared)
    return session


def _forget_others(path: Path, prepared: Path) -> None:
    """Remove the forms that earlier weights or versions of the same graph left behind."""
    for other in prepared.parent.glob(f"{_label(path)}*.onnx"):
        if other != prepared:
            with contextlib.suppress(OSError):
                other.unlink()


def _open(path: Path, *, optimised: bool = False, save_to: str = "") -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    # One thread: batches are run side by side instead, which keeps all cores busy without threads that wait for each
    # other, and an answer is the same on any number of cores.
    options.intra_op_num_threads = 1
    options.log_severity_level = 4 if save_to else 3  # it warns that what it saves is for this machine only
    if optimised:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    if save_to:
        options.optimized_model_filepath = save_to
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def _label(path: Path) -> str:
    """Tell graphs of different places apart: two installations do not clear away each other's."""
    return f"{path.stem}-{hashlib.sha256(os.fsencode(path.absolute())).hexdigest()[:8]}-"


def _identity(path: Path) -> str:
    """Tell weights apart without reading them all: by size, time, and a stretch from their middle and their end."""
    found = path.stat()
    digest = hashlib.sha256()
    with path.open("rb") as file:
        for start in (found.st_size // 2, max(0, found.st_size - _SAMPLE_BYTES)):
            file.seek(start)
            digest.update(file.read(_SAMPLE_BYTES))
    return f"{found.st_size} {found.st_mtime_ns} {digest.hexdigest()}"


def _processor() -> str:
    """Describe the processor by what it can do; the first core stands for all."""
    try:
        with _PROCESSOR.open(encoding="utf-8", errors="replace") as file:
            told = [
                line for line in file.read(8192).splitlines() if line.startswith(("model name", "flags", "Features"))
            ]
        return f"{platform.machine()} {' '.join(dict.fromkeys(told))}"
    except OSError:
        return f"{platform.machine()} {platform.processor()}"
