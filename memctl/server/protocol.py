"""HTTP for clients that dawdle: uvicorn's protocol with a time for headers, for leftovers and for reading answers."""

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from memctl.server.failures import encoded, shape


class PatientProtocol(H11Protocol):  # type: ignore[misc]  # uvicorn is not followed
    """Closes a connection whose request never becomes whole, or whose answer is never taken."""

    header_seconds = 10.0
    write_seconds = 30.0

    def connection_made(self, transport: Any) -> None:
        """Start the clock for the first request."""
        super().connection_made(transport)
        self._reading: asyncio.TimerHandle | None = None
        self._writing: asyncio.TimerHandle | None = None
        self._expect()

    def data_received(self, data: bytes) -> None:
        """Stop the clock while a request is worked on, and keep it running while one is incomplete."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._relax()
        elif self._reading is None:
            self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop all clocks."""
        self._relax()
        self.resume_writing()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Give a reader that does not read a last chance."""
        super().pause_writing()
        if self._writing is None:
            self._writing = self.loop.call_later(self.write_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """It reads again."""
        super().resume_writing()
        if self._writing is not None:
            self._writing.cancel()
            self._writing = None

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002  the signature of the base class
        """Say in the one error shape that this is no HTTP."""
        self._say(b"400 Bad Request", shape("bad_request", "It is no valid HTTP request.", ""))

    def _expect(self) -> None:
        self._reading = self.loop.call_later(self.header_seconds, self._give_up)

    def _relax(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            self._reading = None

    def _give_up(self) -> None:
        if self.cycle is None and not self.transport.is_closing():
            body = shape("too_slow", "The request did not arrive in time.", "Send it at once.")
            self._say(b"408 Request Timeout", body)
        else:
            self.transport.close()

    def _say(self, status: bytes, body: dict[str, Any]) -> None:
        data = encoded(body)
        head = b"HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n"
        self.transport.write(head % (status, len(data)) + data)
        self.transport.close()
