"""Addresses: taken, stale, forbidden or open to the world, each ends in one clear line and the right exit code."""

import os
import shutil
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memctl.errors import UsageProblem
from memctl.server.listening import AddressForbidden, AddressTaken, is_alive, listen_tcp, listen_unix
from tests.conftest import CommandLine
from tests.server.conftest import Served, short_folder


@pytest.fixture
def folder() -> Iterator[Path]:
    made = short_folder()
    yield made
    shutil.rmtree(made, ignore_errors=True)


def leave_stale(path: Path) -> None:
    """Leave a socket file as a server does that was killed."""
    code = "import socket,sys,os; s=socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(); os._exit(9)"
    subprocess.run([sys.executable, "-c", code, str(path)], check=False)


def test_a_socket_file_is_private(folder: Path) -> None:
    with listen_unix(folder / "s"):
        assert stat.S_IMODE((folder / "s").stat().st_mode) == 0o600
        assert is_alive(folder / "s")
        assert [entry.name for entry in folder.iterdir()] == ["s"]


def test_a_stale_socket_file_is_replaced(folder: Path) -> None:
    leave_stale(folder / "s")
    assert (folder / "s").exists()
    with listen_unix(folder / "s"):
        assert is_alive(folder / "s")


def test_the_socket_of_a_living_server_is_left_alone(folder: Path) -> None:
    with listen_unix(folder / "s"):
        with pytest.raises(AddressTaken):
            listen_unix(folder / "s")
        assert is_alive(folder / "s")


def test_a_file_that_is_no_socket_is_left_alone(folder: Path) -> None:
    (folder / "s").write_text("precious")
    with pytest.raises(AddressForbidden):
        listen_unix(folder / "s")
    assert (folder / "s").read_text() == "precious"


def test_a_socket_path_that_is_too_long_is_refused(folder: Path) -> None:
    with pytest.raises(UsageProblem):
        listen_unix(folder / ("x" * 120))


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can become somebody else")
def test_a_folder_of_somebody_else_is_forbidden(folder: Path) -> None:
    folder.chmod(0o700)
    os.seteuid(65534)
    try:
        with pytest.raises(AddressForbidden):
            listen_unix(folder / "s")
    finally:
        os.seteuid(0)


def test_an_address_of_another_machine_is_refused() -> None:
    with pytest.raises(UsageProblem):
        listen_tcp("203.0.113.1", 0)
    with pytest.raises(UsageProblem):
        listen_tcp("no such host", 0)


def test_a_port_in_use_ends_in_one_line_and_exit_code_5(memctl: CommandLine) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = memctl("serve", "--port", taken.getsockname()[1])
    assert done.code == 5
    assert done.out == ""
    assert len(done.err.splitlines()) == 1
    assert "Another program is listening" in done.err


def test_a_second_server_on_one_memory_is_refused(serve: Callable[..., Served], folder: Path) -> None:
    first = serve(folder / "home")
    second = CommandLine(folder / "home")("serve", "--port", "0")
    assert second.code == 5
    assert len(second.err.splitlines()) == 1
    assert is_alive(first.socket)


def test_without_keys_no_other_machine_is_served(memctl: CommandLine) -> None:
    done = memctl("serve", "--host", "0.0.0.0", "--port", "0")
    assert done.code == 2
    assert len(done.err.splitlines()) == 1
    assert "memctl key create" in done.err


def test_with_a_key_other_machines_are_served_and_without_the_last_one_nobody(
    serve: Callable[..., Served], folder: Path
) -> None:
    memctl = CommandLine(folder / "home")
    memctl("key", "create", "--agent", "bakery-team", "--name", "only")
    server = serve(folder / "home", "--host", "0.0.0.0")
    assert "http://0.0.0.0:" in server.said

    assert memctl("key", "revoke", "only").code == 0

    with server.client() as client:
        assert client.get("/v1/log", headers={"host": "localhost"}).status_code == 401


def test_a_server_takes_its_socket_files_away_when_it_stops(serve: Callable[..., Served], folder: Path) -> None:
    server = serve(folder / "home", "--socket", str(folder / "extra.sock"))
    assert is_alive(server.socket)
    assert is_alive(folder / "extra.sock")
    assert server.stop() == 0
    assert not server.socket.exists()
    assert not (folder / "extra.sock").exists()


def test_a_server_that_was_killed_leaves_nothing_that_stops_the_next_one(
    serve: Callable[..., Served], folder: Path
) -> None:
    serve(folder / "home").stop(9)
    assert (folder / "home" / "serve.sock").exists()
    assert "serving" in serve(folder / "home").said
