"""Slow, greedy and vanishing clients: each is bounded, and the others are served meanwhile."""

import asyncio
import json
import shutil
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from memctl.server.failures import RequestRefused, status_of
from memctl.server.listening import listen_tcp
from memctl.server.protocol import PatientProtocol
from memctl.server.running import GracefulServer, configured
from memctl.server.service import Limits, Service
from tests.server.conftest import Served, short_folder, until


class Hasty(PatientProtocol):
    """The same protocol with less patience."""

    header_seconds = 0.3
    write_seconds = 0.3


@contextmanager
def running(service: Service) -> Iterator[GracefulServer]:
    """Serve in a thread of this process."""
    listener = listen_tcp("127.0.0.1", 0)
    server = GracefulServer(configured(service, Hasty))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        until(lambda: server.started)
        yield server
    finally:
        server.should_exit = True
        thread.join()
        service.close(1)


@pytest.fixture
def service() -> Iterator[Service]:
    folder = short_folder()
    yield Service(str(folder / "home"), Limits(body_bytes=1000, concurrent=2, seconds=0.6))
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def server(service: Service) -> Iterator[GracefulServer]:
    with running(service) as started:
        yield started


@pytest.fixture
def url(server: GracefulServer) -> str:
    host, port = server.servers[0].sockets[0].getsockname()
    return f"http://{host}:{port}"


def connected(url: str) -> socket.socket:
    host, _, port = url.removeprefix("http://").partition(":")
    return socket.create_connection((host, int(port)), 10)


def everything_from(link: socket.socket) -> bytes:
    parts = []
    while part := link.recv(65536):
        parts.append(part)
    return b"".join(parts)


def test_headers_that_never_end_are_given_up(url: str) -> None:
    with connected(url) as link:
        link.sendall(b"GET /healthz HTTP/1.1\r\nHost: local")
        answer = everything_from(link)
    assert b" 408 " in answer.splitlines()[0]
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"]["code"] == "too_slow"


def test_a_connection_that_says_nothing_is_closed(url: str) -> None:
    with connected(url) as link:
        assert b" 408 " in everything_from(link)


def test_a_connection_is_kept_longer_than_clients_keep_it(serve: Callable[..., Served], own_home: Path) -> None:
    """The other way round, a request that is on its way when the server closes is lost."""
    question = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with connected(serve(own_home).url) as link:
        for pause in (6, 0):  # httpx keeps connections for five seconds
            link.sendall(question)
            answer = b""
            while not answer.endswith(b"}") and (more := link.recv(65536)):  # head and body may come one by one
                answer += more
            assert b" 200 " in answer.splitlines()[0]
            time.sleep(pause)


def test_a_body_that_trickles_is_given_up_while_others_are_served(url: str) -> None:
    with connected(url) as slow:
        head = b"POST /v1/recall HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n"
        slow.sendall(head + b'{"que')
        assert httpx.get(url + "/healthz").status_code == 200
        assert b" 408 " in slow.recv(65536)


def test_a_client_that_vanishes_in_the_middle_harms_nobody(url: str, service: Service) -> None:
    for _ in range(5):
        with connected(url) as link:
            link.sendall(b"POST /v1/recall HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n{")
    assert httpx.get(url + "/healthz").status_code == 200
    until(lambda: 'status="499"' in service.metrics.text({}))
    assert service.busy == 0


def test_an_answer_that_nobody_reads_is_given_up(url: str, server: GracefulServer) -> None:
    with connected(url) as link:
        link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        link.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 200)
        until(lambda: server.server_state.connections)
        until(lambda: not server.server_state.connections)
        assert httpx.get(url + "/healthz").status_code == 200


def test_too_many_at_once_are_told_to_come_back(service: Service) -> None:
    release = threading.Event()

    async def crowd() -> list[object]:
        waiting = [asyncio.create_task(service.in_thread(release.wait)) for _ in range(2)]
        await asyncio.sleep(0.05)
        with pytest.raises(RequestRefused) as refused:
            await service.in_thread(lambda: None)
        release.set()
        await asyncio.gather(*waiting)
        return [refused.value.code, await service.in_thread(lambda: "served")]

    assert asyncio.run(crowd()) == ["overloaded", "served"]


def test_an_overloaded_server_says_when_to_try_again(url: str, service: Service) -> None:
    release = threading.Event()
    for _ in range(2):
        service._submit(release.wait)
    answer = httpx.post(url + "/v1/recall", json={"query": "x"})
    release.set()
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
    assert answer.json()["error"]["code"] == "overloaded"


def test_work_that_takes_too_long_is_answered_with_504(service: Service) -> None:
    release = threading.Event()

    async def impatient() -> int:
        with pytest.raises(RequestRefused) as late:
            await service.in_thread(release.wait)
        return status_of(late.value)

    try:
        assert asyncio.run(impatient()) == 504
        assert service.busy == 1
    finally:
        release.set()
    until(lambda: service.busy == 0)


def test_a_request_that_is_being_worked_on_is_finished_before_the_server_stops(
    serve: Callable[..., Served], own_home: Path
) -> None:
    server = serve(own_home)
    answers: list[int] = []

    def ask() -> None:
        with server.client() as client:
            answers.append(client.post("/v1/recall", json={"query": "bread", "agent": "bakery-team"}).status_code)

    with server.client() as client:
        assert client.get("/healthz").status_code == 200
        asking = threading.Thread(target=ask)
        asking.start()
        until(lambda: answers or "memctl_requests_busy 1" in client.get("/metrics").text)
    assert server.stop() == 0
    asking.join()
    assert answers == [200]
