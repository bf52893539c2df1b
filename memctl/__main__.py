"""The process entry: hand over to a running server where there is one, else run the command here."""

import sys


def main() -> None:
    """Run ``memctl`` with the arguments of the process."""
    from memctl import client

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


if __name__ == "__main__":
    main()
