"""The process entry: hand over to a running server where there is one, else run the command here."""

import os
import sys


def main() -> None:
    """Run ``memctl`` with the arguments of the process."""
    from memctl import client

    _prepare_streams()

    code = client.try_server(sys.argv[1:])
    if code is not None:
        sys.exit(code)
    if sys.argv[1:2] == ["recall"]:
        from memctl.quick import try_recall

        code = try_recall(sys.argv[1:])
        if code is not None:
            sys.exit(code)
    from memctl.cli import app

    app(prog_name="memctl")


def _prepare_streams() -> None:
    """Write UTF-8 into files and pipes; no terminal, however old, and no closed stream is a reason to fail."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by whoever started us
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123  open to the end
        elif stream.isatty() or "PYTHONIOENCODING" in os.environ:
            stream.reconfigure(errors="replace")
        else:
            stream.reconfigure(encoding="utf-8", errors="replace")
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115, PTH123


if __name__ == "__main__":
    main()
