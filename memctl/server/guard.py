"""The door of the server: who comes in, how much they may carry and how long they may take, before any route is run.

The body is read here, whole and within bounds, so that a slow or endless sender never holds a place among the
requests that are worked on.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, MutableMapping
from ipaddress import ip_address
from typing import Any

from memctl.errors import MemctlError
from memctl.server.access import Access
from memctl.server.failures import RETRY_AFTER, RequestRefused, encoded, shape_of, status_of
from memctl.server.service import Service

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

# What these say is in the source code for everybody to read; probes and people come without a key.
OPEN_PATHS = frozenset({"/healthz", "/docs", "/openapi.json"})
_COMMAND_PATH = "/v1/command"
_COMMAND_BYTES = 64 * 1024 * 1024
_WITH_BODY = frozenset({"POST", "PUT", "PATCH"})


class ClientGone(Exception):
    """The client hung up before its request was whole."""


class Guard:
    """ASGI middleware around everything."""

    def __init__(self, app: App, service: Service) -> None:
        """Stand before ``app``."""
        self.app = app
        self.service = service

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Let a request in, or answer it here."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = time.perf_counter()
        watched = _Watched(send)
        try:
            scope.setdefault("state", {})["access"] = self._access(scope)
            body = await self._body(scope, receive)
            await self.app(scope, _replay(body, receive), watched)
        except ClientGone:
            watched.status = 499
        except MemctlError as error:
            await refuse(error, watched)
        finally:
            route = getattr(scope.get("route"), "path", "unmatched")
            self.service.metrics.record(route, scope["method"], watched.status, time.perf_counter() - started)

    def _access(self, scope: Message) -> Access:
        """Tell what the caller may touch. A socket file is guarded by its permissions, everything else by keys."""
        if over_socket(scope) or scope["path"] in OPEN_PATHS:
            return Access()
        headers = dict(scope["headers"])
        if not self.service.keys.needed:
            _require_own_host(headers.get(b"host", b""))
            return Access()
        key = self.service.keys.match(_token(headers))
        if key is None:
            raise RequestRefused("unauthorized", "a valid key is needed", "Send it as Authorization: Bearer.")
        return key.access()

    async def _body(self, scope: Message, receive: Receive) -> bytes:
        headers = dict(scope["headers"])
        most = _COMMAND_BYTES if scope["path"] == _COMMAND_PATH else self.service.limits.body_bytes
        declared = headers.get(b"content-length", b"0")
        if declared.isdigit() and int(declared) > most:
            raise _too_large(most)
        try:
            async with asyncio.timeout(self.service.limits.seconds):
                body = await _read(receive, most)
        except TimeoutError as error:
            raise RequestRefused("too_slow", "the request did not arrive in time", "Send it at once.") from error
        kind = headers.get(b"content-type", b"").split(b";")[0].strip().lower()
        if body and scope["method"] in _WITH_BODY and kind != b"application/json":
            raise RequestRefused("media_type", "only application/json is taken", "Set Content-Type: application/json.")
        return body


class _Watched:
    """Remembers the status of the answer that goes through."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status = 500

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
        await self._send(message)


async def refuse(error: MemctlError, send: Send) -> None:
    """Answer with a foreseen error."""
    body = encoded(shape_of(error))
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if error.code in RETRY_AFTER:
        headers.append((b"retry-after", RETRY_AFTER[error.code].encode()))
    if error.code == "unauthorized":
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status_of(error), "headers": headers})
    await send({"type": "http.response.body", "body": body})


def over_socket(scope: Message) -> bool:
    """Whether a request came through a socket file of this machine."""
    server = scope.get("server") or ("", 0)
    return server[1] is None


def is_loopback(host: str) -> bool:
    """Whether a host name or address can only mean this machine."""
    name = host.strip("[]").lower()
    if name == "localhost":
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


def _require_own_host(header: bytes) -> None:
    """Refuse a request that a browser was tricked into by a foreign name that points to this machine."""
    text = header.decode("latin-1")
    name = text.rsplit(":", 1)[0] if not text.endswith("]") and ":" in text else text
    if text and not is_loopback(name):
        raise RequestRefused("misdirected", "that is not a name of this server", "Use 127.0.0.1 or localhost.")


def _token(headers: dict[bytes, bytes]) -> str:
    scheme, _, token = headers.get(b"authorization", b"").partition(b" ")
    given = token.strip() if scheme.lower() == b"bearer" else headers.get(b"x-api-key", b"")
    return given.decode("latin-1")


async def _read(receive: Receive, most: int) -> bytes:
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > most:
            raise _too_large(most)
        if not message.get("more_body", False):
            return b"".join(parts)


def _replay(body: bytes, receive: Receive) -> Receive:
    """Give the body that was read, then whatever comes from the client."""
    left = [body]

    async def again() -> Message:
        if left:
            return {"type": "http.request", "body": left.pop(), "more_body": False}
        return await receive()

    return again


def _too_large(most: int) -> RequestRefused:
    return RequestRefused("too_large", f"a request has at most {most} bytes", "Send less at a time.")
