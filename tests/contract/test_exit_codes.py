"""Exit codes are a contract: one test a code, through the real command line."""

import json
import signal
import subprocess
import sys
import time

import pytest

from memctl.errors import ExitCode, MemctlError


def every_error(base=MemctlError):
    for error in base.__subclasses__():
        yield error
        yield from every_error(error)


@pytest.mark.parametrize(
    "error", sorted(every_error(), key=lambda error: error.__name__), ids=lambda error: error.__name__
)
def test_every_error_has_a_sentence_a_code_and_an_exit_code(error):
    assert error.__doc__
    assert error.code != "error"
    assert error.exit_code in set(ExitCode) - {ExitCode.DONE}


def test_0_done(memctl):
    assert memctl("remember", "The API is written in Go").code == 0


def test_0_and_an_empty_block_when_nothing_is_remembered(memctl):
    done = memctl("recall", "anything at all")

    assert (done.code, done.out) == (0, "")


def test_1_done_with_problems(memctl, tmp_path):
    (tmp_path / "a.json").write_text('[{"name": "user", "role": "user", "content": "We use Fly."}]')
    (tmp_path / "b.json").write_bytes(b"\x00\xff\xfe binary")

    assert memctl("ingest", tmp_path).code == 1


@pytest.mark.parametrize(
    "arguments", [("nosuch",), ("recall",), ("show", "ffffffff"), ("remember", " "), ("list", "--type", "nosuch")]
)
def test_2_usage(memctl, arguments):
    memctl("remember", "The API is written in Go")

    assert memctl(*arguments).code == 2


@pytest.mark.parametrize("content", [b"", b"\x00\x01\x02", b"[{", b'{"nothing": "here"}'])
def test_3_input_unreadable(memctl, tmp_path, content):
    (tmp_path / "chat.json").write_bytes(content)

    done = memctl("ingest", tmp_path / "chat.json")

    assert done.code == 3
    assert "Traceback" not in done.err
    assert len(done.err.strip().splitlines()) == 1
    assert "chat.json" in done.err


def test_3_missing_file(memctl, tmp_path):
    assert memctl("ingest", tmp_path / "missing.json").code == 3


def test_4_no_store(memctl):
    assert memctl("list").code == 4
    assert memctl("recall", "anything", "--strict").code == 4


def test_4_a_store_of_a_newer_format(memctl, home):
    memctl("remember", "The API is written in Go")
    meta = home / "memctl.json"
    later = {**json.loads(meta.read_text()), "format": 999, "release": "9.4.0"}
    meta.write_text(json.dumps(later))

    done = memctl("list")

    assert done.code == 4
    assert "Install memctl 9.4.0 or later." in done.err


def test_5_store_busy_names_the_holder(memctl, home):
    memctl("remember", "The API is written in Go")
    program = (
        "from memctl.store.lock import FileLock; from pathlib import Path; import sys, time\n"
        "with FileLock(Path(sys.argv[1]) / 'lock').held('long work', 5): print('held', flush=True); time.sleep(60)"
    )
    holder = subprocess.Popen([sys.executable, "-c", program, str(home)], stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        done = memctl("remember", "We use Fly", "--wait", "0.2")
    finally:
        holder.kill()
        holder.wait()

    assert done.code == 5
    assert "long work" in done.err
    assert str(holder.pid) in done.err


def test_6_store_damaged(memctl, home):
    memctl("remember", "The API is written in Go")
    (home / "memctl.json").write_text("not json")

    assert memctl("list").code == 6


def test_7_model_unavailable(memctl):
    done = memctl("remember", "We use Fly", MEMCTL_EMBEDDING_MODEL="no/such/folder", HF_HUB_OFFLINE="1")

    assert done.code == 7


def test_130_interrupted(memctl):
    process = subprocess.Popen(
        [sys.executable, "-m", "memctl", "ingest", "-"],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=memctl.env(),
        text=True,
    )
    time.sleep(3)
    for _ in range(30):  # a library that is being imported may swallow the first one; people press the keys again
        process.send_signal(signal.SIGINT)
        try:
            process.wait(timeout=2)
            break
        except subprocess.TimeoutExpired:
            continue

    assert process.returncode == 130
