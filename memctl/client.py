"""The thin way to a running server: forwards a command line over a socket before anything heavy is imported.

A server is found by ``MEMCTL_SERVER`` (``http://host:port`` or the path of a socket) or by the store's own socket.
Only commands whose output is plain data go through it; the others run here, on the memory that the server serves.
Whatever goes wrong on the way, the command is run here instead: a server is a short cut, never a dependency.
"""

# ruff: noqa: PTH110, PTH111, PTH118
# pathlib alone would take a tenth of the time that the whole command has
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket as _socket

SERVER_VARIABLE = "MEMCTL_SERVER"
KEY_VARIABLE = "MEMCTL_KEY"
HOME_VARIABLE = "MEMCTL_HOME"
STORE_SOCKET = "serve.sock"

FORWARDED = frozenset(
    {"recall", "remember", "list", "show", "why", "stats", "history", "diff", "conflicts", "log", "state"}
)
# About this machine or this process, not about what is remembered.
_OWN = frozenset({"serve", "mcp", "key", "doctor", "schedule", "config"})
_NOT_SENT = frozenset({SERVER_VARIABLE, KEY_VARIABLE, HOME_VARIABLE, "MEMCTL_CACHE"})
_CONNECT_SECONDS = 1.0
_ANSWER_SECONDS = 60.0
_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0}


class NoAnswer(Exception):
    """The server could not be reached, or answered something else than expected."""


class Address:
    """Where a server listens: a socket file, or a host and port."""

    def __init__(self, text: str, *, chosen: bool) -> None:
        """Read an address as users write it; ``chosen`` by the user, or found beside the store."""
        self.text = text
        self.chosen = chosen
        self.path = ""
        self.host = ""
        self.port = 0
        if text.startswith("http://"):
            self.host, _, port = text[7:].rstrip("/").rpartition(":")
            self.host, self.port = (self.host.strip("[]"), int(port)) if port.isdigit() else (port, 80)
        elif "://" not in text:
            self.path = os.path.expanduser(text.removeprefix("unix:"))

    @property
    def here(self) -> bool:
        """Whether the server runs on this machine, and so on files that this process sees too."""
        return bool(self.path) or self.host in ("localhost", "::1") or self.host.startswith("127.")


def try_server(argv: list[str]) -> int | None:
    """Run the command on a server and print what it says; None where it is to be run here."""
    address = _find() if _concerns_memory(argv) else None
    if address is None:
        return None
    words, seconds = _without_timeout(argv)
    if forwards(words) and not (address.here and os.isatty(1)):
        return _forward(address, words, seconds)
    if not address.here:
        return _say(f"{argv[0]} works on files of this machine and cannot use {address.text}.", 2)
    if address.chosen:
        _move_to(address)
    return None


def forwards(argv: list[str]) -> bool:
    """Tell whether a command line may be run by another process: known, without files or a time limit of its own."""
    if not argv or argv[0] not in FORWARDED or "MEMCTL_CONFIG" in os.environ:
        return False
    return all(source == "-" for _, source in _given(argv, "--from")) and not _given(argv, "--timeout")


def _concerns_memory(argv: list[str]) -> bool:
    asks = {"-h", "--help", "--version", "--install-completion", "--show-completion"}
    return bool(argv) and argv[0] not in _OWN and not asks.intersection(argv) and "_MEMCTL_COMPLETE" not in os.environ


def _find() -> Address | None:
    chosen = os.environ.get(SERVER_VARIABLE, "").strip()
    if chosen:
        return Address(chosen, chosen=True)
    own = os.path.join(home_folder(), STORE_SOCKET)
    return Address(own, chosen=False) if os.path.exists(own) else None


def home_folder() -> str:
    """Name the folder of the memory as ``memctl.settings`` does, without importing what it imports."""
    given = os.environ.get(HOME_VARIABLE, "").strip()
    if given:
        return os.path.expanduser(given)
    if sys.platform == "darwin":
        return os.path.expanduser("~/Library/Application Support/memctl")
    data = os.environ.get("XDG_DATA_HOME", "").strip() or os.path.expanduser("~/.local/share")
    return os.path.join(data, "memctl")


def _given(argv: list[str], option: str) -> list[tuple[int, str]]:
    """Find an option: its places and values, written with a space or an equals sign."""
    found = []
    for place, word in enumerate(argv):
        if word == option:
            found.append((place, argv[place + 1] if place + 1 < len(argv) else ""))
        elif word.startswith(option + "="):
            found.append((place, word[len(option) + 1 :]))
    return found


def _without_timeout(argv: list[str]) -> tuple[list[str], float | None]:
    """Take ``--timeout 2s`` out of the command line: waiting is this side's business. Left in where it is not plain."""
    found = _given(argv, "--timeout")
    if len(found) != 1:
        return argv, None
    place, value = found[0]
    number, unit = value[:-1], _SECONDS.get(value[-1:])
    if unit is None or not number.replace(".", "", 1).isdecimal():
        return argv, None
    return argv[:place] + argv[place + (1 if "=" in argv[place] else 2) :], float(number) * unit


def _forward(address: Address, argv: list[str], seconds: float | None) -> int | None:
    stdin = sys.stdin.buffer.read() if "-" in argv or "--from=-" in argv else b""
    try:
        answer = _ask(address, argv, stdin, seconds)
    except TimeoutError:
        _give_back(stdin)
        return _say(f"no answer within {seconds:g} s", _with_no_time_left(argv))
    except NoAnswer as reason:
        _give_back(stdin)
        return _say(f"{address.text} {reason}; using the memory of this machine", None) if address.chosen else None
    if "run_locally" in answer:
        _give_back(stdin)
        _use(address, answer)
        return None
    return _print(answer)


def _with_no_time_left(argv: list[str]) -> int | None:
    """Say nothing; where JSON was asked for, let the command that runs here write the empty answer."""
    wants_json = "--json" in argv or any(
        value in ("json", "jsonl", "messages") for _, value in _given(argv, "--format")
    )
    if wants_json:
        sys.argv[1:] = [*argv, "--timeout", "0s"]
    return None if wants_json else 0


def _move_to(address: Address) -> None:
    """Run a command here, but on the memory of the server that the user chose."""
    try:
        _use(address, _ask(address, [], b"", None))
    except NoAnswer as reason:
        _say(f"{address.text} {reason}; using the memory of this machine", None)


def _use(address: Address, answer: "dict[str, object]") -> None:
    if address.chosen and address.here:
        os.environ[HOME_VARIABLE] = str(answer["run_locally"])


def _give_back(stdin: bytes) -> None:
    """Let the command that runs here read what was read already."""
    if stdin:
        import io

        sys.stdin = io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")


def _ask(address: Address, argv: list[str], stdin: bytes, seconds: float | None) -> "dict[str, object]":
    """Send a command and wait for its outcome; NoAnswer says what went wrong, TimeoutError that time is over."""
    import json

    from memctl import __version__

    env = {name: value for name, value in os.environ.items() if name.startswith("MEMCTL_") and name not in _NOT_SENT}
    asked = {"version": __version__, "argv": argv, "stdin": stdin.decode("utf-8", "surrogateescape"), "env": env}
    head, body = _exchange(address, json.dumps(asked).encode("ascii"), seconds)
    try:
        answer = json.loads(body)
    except ValueError as error:
        raise NoAnswer("does not speak memctl") from error
    if not isinstance(answer, dict) or head.split(b" ", 2)[1:2] != [b"200"]:
        refusal = answer.get("error", {}) if isinstance(answer, dict) else {}
        raise NoAnswer(f"refused: {refusal.get('message', 'no reason given')}".rstrip("."))
    return answer


def _exchange(address: Address, body: bytes, seconds: float | None) -> tuple[bytes, bytes]:
    """Post a command as HTTP; head and body of the answer."""
    key = os.environ.get(KEY_VARIABLE, "")
    headers = [
        "POST /v1/command HTTP/1.1",
        f"Host: {address.host or 'localhost'}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        "Connection: close",
        *([f"Authorization: Bearer {key}"] if key else []),
    ]
    try:
        with _connect(address, seconds) as link:
            link.sendall("\r\n".join([*headers, "", ""]).encode() + body)
            parts = []
            while part := link.recv(65536):
                parts.append(part)
    except OSError as error:
        if isinstance(error, TimeoutError) and seconds is not None:
            raise
        raise NoAnswer("does not answer") from error
    head, _, rest = b"".join(parts).partition(b"\r\n\r\n")
    return head, rest


def _connect(address: Address, seconds: float | None) -> "_socket.socket":
    import socket

    if address.path:
        link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        link.settimeout(_CONNECT_SECONDS)
        link.connect(address.path)
    elif address.host:
        link = socket.create_connection((address.host, address.port), _CONNECT_SECONDS)
    else:
        raise NoAnswer("is neither http:// nor a socket")
    link.settimeout(_ANSWER_SECONDS if seconds is None else max(seconds, 0.001))
    return link


def _print(answer: "dict[str, object]") -> int:
    """Give out what the command said there, byte for byte."""
    try:
        for stream, name in ((sys.stderr, "stderr"), (sys.stdout, "stdout")):
            stream.buffer.write(str(answer[name]).encode("utf-8", "surrogateescape"))
            stream.flush()
    except BrokenPipeError:
        # Whoever read our output went away: nothing to say, and nothing more to flush.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return int(str(answer["exit_code"]))


def _say(text: str, code: int | None) -> int | None:
    print(f"memctl: {text}", file=sys.stderr)
    return code
