"""Two machines with one memory on an object store: nights that overlap, and one machine that dies in its night."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import SAMPLES, CommandLine
from tests.s3 import s3_server

pytest.importorskip("moto")
pytest.importorskip("obstore")

AGENT = ("--agent", "quillmark")


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    """A real S3 server process on loopback."""
    with s3_server() as url:
        yield url


@pytest.fixture(scope="module")
def chats(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that both machines read every night."""
    folder = tmp_path_factory.mktemp("chats")
    for name in ("quillmark-1.groupchat.json", "quillmark-3.console.txt"):
        os.utime(shutil.copy(SAMPLES / name, folder), (1_772_442_000, 1_772_442_000))
    return folder


@pytest.fixture(scope="module")
def alone(chats: Path, tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, str]]:
    """What one machine knows after one night on a folder of its own."""
    command = CommandLine(tmp_path_factory.mktemp("alone") / "home")
    assert command("nightly", chats, *AGENT).code == 0
    return known(command)


def known(command: CommandLine) -> list[tuple[str, str]]:
    return sorted((fact["id"], fact["state"]) for fact in command("export", *AGENT, "--all").lines)


def machines(endpoint: str, folder: Path, bucket: str) -> list[CommandLine]:
    """Two machines: each has a cache of its own, and nothing else in common than the bucket."""
    import boto3

    boto3.client(
        "s3", endpoint_url=endpoint, region_name="us-east-1", aws_access_key_id="t", aws_secret_access_key="t"
    ).create_bucket(Bucket=bucket)
    cloud = {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "t",
        "AWS_SECRET_ACCESS_KEY": "t",
        "MEMCTL_LEASE_SECONDS": "5",
    }
    return [CommandLine(f"s3://{bucket}/team", MEMCTL_CACHE=str(folder / name), **cloud) for name in ("one", "two")]


def night(machine: CommandLine, chats: Path, **environment: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "memctl", "nightly", str(chats), *AGENT, "--wait", "200", "--json"],
        env=machine.env(**environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_nights_of_two_machines_that_overlap_double_nothing(endpoint, chats, alone, tmp_path):
    both = machines(endpoint, tmp_path, "overlapping")
    nights = [night(machine, chats) for machine in both]
    for process in nights:
        out, errors = process.communicate(timeout=280)
        assert process.returncode in (0, 5), errors  # the second may find the first at work, and says who
        assert process.returncode == 0 or "process" in out + errors
    assert any(process.returncode == 0 for process in nights)

    assert both[0]("nightly", chats, *AGENT).code == 0
    for machine in both:
        assert known(machine) == alone
        assert machine("check").code == 0


def test_a_machine_that_dies_in_its_night_is_taken_over_by_the_other(endpoint, chats, alone, tmp_path):
    first, second = machines(endpoint, tmp_path, "dying")
    dying = night(first, chats, MEMCTL_CRASH_AT="facts-written")
    dying.communicate(timeout=280)
    assert dying.returncode == -signal.SIGKILL

    done = second("nightly", chats, *AGENT, "--wait", "60", "--json")

    assert done.code == 0, done.err
    assert json.loads(done.out)["status"] == "ok"
    assert known(second) == known(first) == alone
    assert first("check").code == 0
