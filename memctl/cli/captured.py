"""Command lines run inside a server: the very same command, its output caught instead of printed.

Standard streams, the clock and the way to the memory are context variables here, so that commands of several
clients run side by side and none sees another's words.
"""

import io
import sys
from collections.abc import Mapping
from contextvars import ContextVar
from functools import partial
from typing import Any, TextIO

from memctl import __version__, times
from memctl.client import forwards
from memctl.server.warm import Warm

_STREAMS = ("stdin", "stdout", "stderr")


class Switch:
    """Stands for a standard stream: the one of the present command where there is one, else the process's own."""

    def __init__(self, own: TextIO, present: ContextVar[TextIO | None]) -> None:
        """Lead to ``present``, or where nothing is set to ``own``."""
        self._own = own
        self._present = present

    def __getattr__(self, name: str) -> Any:
        return getattr(self._present.get() or self._own, name)


class CommandRunner:
    """Runs command lines for clients, with the warm memory of the server."""

    def __init__(self, warm: Warm) -> None:
        """Put switches in the place of the standard streams."""
        self.warm = warm
        self._present: dict[str, ContextVar[TextIO | None]] = {
            name: ContextVar(name, default=None) for name in _STREAMS
        }
        for name, present in self._present.items():
            setattr(sys, name, Switch(getattr(sys, name), present))

    def __call__(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Run ``{"version", "argv", "stdin", "env"}``; the answer is output and exit code, or where to run it instead.

        Must be called in a context of its own, which is left changed.
        """
        argv = [str(word) for word in asked.get("argv") or ()]
        if asked.get("version") != __version__ or not forwards(argv):
            return {"run_locally": self.warm.location}
        environ = {str(name): str(value) for name, value in dict(asked.get("env") or {}).items()}
        out, err = _stream(), _stream()
        self._enter(environ, _stream(str(asked.get("stdin") or "")), out, err)
        code = _run(argv)
        return {"stdout": _text(out), "stderr": _text(err), "exit_code": code}

    def _enter(self, environ: Mapping[str, str], stdin: TextIO, out: TextIO, err: TextIO) -> None:
        from memctl.cli.options import OPENER

        for name, stream in zip(_STREAMS, (stdin, out, err), strict=True):
            self._present[name].set(stream)
        times.CLOCK.set(environ.get(times.CLOCK_VARIABLE, ""))
        OPENER.set(partial(self.warm.open, environ=environ))


def _run(argv: list[str]) -> int:
    from memctl.cli import app

    try:
        app(argv, prog_name="memctl")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


def _stream(text: str = "") -> TextIO:
    return io.TextIOWrapper(io.BytesIO(text.encode("utf-8", "surrogateescape")), encoding="utf-8", newline="\n")


def _text(stream: TextIO) -> str:
    stream.flush()
    data: bytes = stream.buffer.getvalue()  # type: ignore[attr-defined]
    return data.decode("utf-8", "surrogateescape")
