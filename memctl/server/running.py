"""A server from start to end: listen, take up old jobs, serve, finish what was begun, tidy up."""

import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import uvicorn

from memctl.server.listening import LONGEST_SOCKET_PATH, STORE_SOCKET, listen_tcp, listen_unix, require_keys
from memctl.server.protocol import PatientProtocol
from memctl.server.rest import create_app
from memctl.server.service import Service

_HEADER_BYTES = 32 * 1024
_HEATING_SECONDS = 5.0
# Longer than clients keep a connection themselves (httpx 5 s, browsers and proxies about 60 s): whoever closes first
# should be the one who knows that no request is on its way. Closed here, a request may be lost on the way.
_IDLE_SECONDS = 75


@dataclass(slots=True)
class Listening:
    """The open sockets of a server, and the socket files to remove in the end."""

    sockets: list[socket.socket] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)
    url: str = ""

    def close(self) -> None:
        """Close everything and remove the socket files."""
        for listener in self.sockets:
            listener.close()
        for path in self.files:
            with suppress(OSError):
                path.unlink()

    def __str__(self) -> str:
        return " and ".join([self.url, *map(str, self.files)])


def listen(service: Service, host: str, port: int, path: str | None) -> Listening:
    """Open all addresses of a server: a port, the store's own socket, and another socket where one is named."""
    require_keys(host, has_keys=bool(service.keys.all()))
    opened = Listening()
    with _closing_on_failure(opened):
        tcp = listen_tcp(host, port)
        opened.sockets.append(tcp)
        shown = f"[{host}]" if ":" in host else host
        opened.url = f"http://{shown}:{tcp.getsockname()[1]}"
        for place in _socket_paths(service, path):
            opened.sockets.append(listen_unix(place))
            opened.files.append(place)
    return opened


def serve(service: Service, listening: Listening, on_ready: Callable[[], None]) -> bool:
    """Serve until SIGTERM or SIGINT; requests that are being worked on are finished first.

    False where work was still going on when the time for that was over; what is left of it is safe on the disk.
    """
    heating = threading.Thread(target=service.warm.heat, name="memctl-heat", daemon=True)
    try:
        server = GracefulServer(configured(service))
        server.obey()
        service.jobs.resume()
        heating.start()
        on_ready()
        server.run(sockets=listening.sockets)
    finally:
        listening.close()
        finished = service.close(service.limits.seconds)
        # An interpreter that ends under a thread in native code is aborted by it.
        heating.join(_HEATING_SECONDS)
    return finished and not heating.is_alive()


def configured(service: Service, protocol: type[PatientProtocol] = PatientProtocol) -> uvicorn.Config:
    """Tell uvicorn how to serve: one protocol, nothing on standard output, and no word about itself."""
    return uvicorn.Config(
        create_app(service),
        http=protocol,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        h11_max_incomplete_event_size=_HEADER_BYTES,
        timeout_keep_alive=_IDLE_SECONDS,
        timeout_graceful_shutdown=max(1, int(service.limits.seconds)),
    )


class GracefulServer(uvicorn.Server):  # type: ignore[misc]  # uvicorn is not followed
    """Ends with a return instead of a second signal, so that what comes after it can tidy up."""

    def obey(self) -> None:
        """Take signals from now on: one that comes before the first request must not leave socket files behind."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self.handle_exit)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Take SIGTERM and SIGINT as a wish to stop."""
        with super().capture_signals():
            try:
                yield
            finally:
                self._captured_signals.clear()


def _socket_paths(service: Service, path: str | None) -> list[Path]:
    """Name the socket files: the store's own where its path is short enough, and the one that was asked for."""
    own = service.near / STORE_SOCKET
    wanted = [own] if len(str(own).encode()) <= LONGEST_SOCKET_PATH else []
    return wanted + ([Path(path).absolute()] if path else [])


@contextmanager
def _closing_on_failure(opened: Listening) -> Iterator[None]:
    done = False
    try:
        yield
        done = True
    finally:
        if not done:
            opened.close()
