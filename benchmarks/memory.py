"""Peak memory of an ingest: that of whole processes, which must not grow with the number of messages."""

from collections.abc import Iterator
from pathlib import Path

from benchmarks.chats import write_folder
from benchmarks.clock import PYTHON, environment, memctl, peak_megabytes
from benchmarks.context import Context
from benchmarks.figures import Figure, at_most

AGENT = "bench"


def measure(context: Context) -> Iterator[Figure]:
    """Take the peak memory of whole processes at growing sizes, with the models and with stand-ins for them."""
    for kind, sizes in (("models", context.size.memory_messages), ("stand-ins", context.size.stand_in_messages)):
        peaks = {}
        for messages in sizes:
            folder = context.folder(f"memory-{kind}-{messages}")
            write_folder(folder / "chats", messages, max(1, messages // 20), seed=messages)
            peaks[messages] = _peak(kind, folder)
            context.say(f"{messages} messages with {kind}: {peaks[messages]:.0f} MB")
            yield Figure(f"peak memory, {messages} messages, {kind}", peaks[messages], "MB")
        if len(sizes) > 1:
            growth = peaks[sizes[-1]] / peaks[sizes[0]]
            yield Figure(f"peak memory, {sizes[-1]} : {sizes[0]} messages, {kind}", growth, "×", at_most(1.5))


def _peak(kind: str, folder: Path) -> float:
    home, chats = folder / "home", folder / "chats"
    if kind == "models":
        return peak_megabytes(memctl("ingest", chats, "--agent", AGENT), environment(home))
    return peak_megabytes((PYTHON, "-m", "benchmarks.memory", str(chats)), environment(home))


def _ingest_with_stand_ins(folder: str) -> None:
    from benchmarks.models import stand_ins
    from memctl.cli import app

    with stand_ins():
        app(["ingest", folder, "--agent", AGENT])


if __name__ == "__main__":
    import sys

    _ingest_with_stand_ins(sys.argv[1])
