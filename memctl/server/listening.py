"""Addresses to listen on. A socket that a dead server left is replaced, a living one is left alone."""

import errno
import os
import socket
import stat
from contextlib import suppress
from pathlib import Path

from memctl.errors import ExitCode, MemctlError, UsageProblem
from memctl.server.guard import is_loopback

STORE_SOCKET = "serve.sock"
_BACKLOG = 256
# sun_path has 108 bytes on Linux and 104 elsewhere, the closing zero among them.
LONGEST_SOCKET_PATH = 100


class AddressTaken(MemctlError):
    """Another program is listening on {address}."""

    code = "address_taken"
    exit_code = ExitCode.BUSY
    remedy = "Stop it, or choose another with --port or --socket."


class AddressForbidden(MemctlError):
    """Not allowed to listen on {address}: {reason}."""

    code = "address_forbidden"
    exit_code = ExitCode.BUSY
    remedy = "Choose a port above 1023, or a folder that is yours."


class KeysNeeded(MemctlError):
    """{address} can be reached from other machines, and there are no keys."""

    code = "keys_needed"
    exit_code = ExitCode.USAGE
    remedy = "Make one with memctl key create, or serve 127.0.0.1."


def require_keys(host: str, *, has_keys: bool) -> None:
    """Refuse to serve other machines without keys."""
    if not has_keys and not is_loopback(host):
        raise KeysNeeded(address=host)


def listen_tcp(host: str, port: int) -> socket.socket:
    """Listen on a port; 0 lets the system choose."""
    address = f"{host}:{port}"
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (OSError, OverflowError, UnicodeError) as error:
        raise UsageProblem(reason=f"{address} is not an address", remedy="Try --host 127.0.0.1.") from error
    listener = socket.socket(family, kind, protocol)
    try:
        if os.name == "posix":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(place)
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise _refused(error, address) from error
    return listener


def listen_unix(path: Path) -> socket.socket:
    """Listen on a socket file that only its owner may open."""
    if len(os.fsencode(path)) > LONGEST_SOCKET_PATH:
        raise UsageProblem(reason=f"the socket path {path} is too long", remedy="Choose a shorter one.")
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    temporary = path.with_name(f".{os.getpid()}.sock")
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        _require_free(path)
        # Bound under another name and renamed: nobody ever meets a socket that nobody listens on yet.
        listener.bind(str(temporary))
        temporary.chmod(0o600)
        listener.listen(_BACKLOG)
        temporary.replace(path)
    except OSError as error:
        listener.close()
        with suppress(OSError):
            temporary.unlink()
        raise _refused(error, str(path)) from error
    except MemctlError:
        listener.close()
        raise
    return listener


def is_alive(path: Path) -> bool:
    """Whether somebody listens on a socket file."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(1.0)
        try:
            probe.connect(str(path))
        except OSError as error:
            # A full queue is a sign of life.
            return error.errno == errno.EAGAIN
    return True


def _require_free(path: Path) -> None:
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(mode):
        raise AddressForbidden(address=path, reason="there is a file of that name that is no socket")
    if is_alive(path):
        raise AddressTaken(address=path)


def _refused(error: OSError, address: str) -> MemctlError:
    if error.errno == errno.EADDRINUSE:
        return AddressTaken(address=address)
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return AddressForbidden(address=address, reason=(error.strerror or "not permitted").lower())
    remedy = "Name a folder that exists." if address.startswith("/") else "Try --host 127.0.0.1."
    return UsageProblem(reason=f"Cannot listen on {address}: {(error.strerror or str(error)).lower()}", remedy=remedy)
