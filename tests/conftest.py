"""What every test may use: a home of its own, a fixed clock, the real command line in this or another process."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).parents[1]
SAMPLES = REPOSITORY / "sample_transcripts"
NOW = "2026-05-04T09:00:00Z"


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines() if line.strip()]


class CommandLine:
    """The real ``memctl`` in a process of its own, on one home."""

    def __init__(self, home: Path | str, **environment: str) -> None:
        self.home = str(home)
        self.environment = environment

    def __call__(
        self, *arguments: object, stdin: str | bytes | None = None, cwd: Path | None = None, **environment: str
    ) -> Done:
        data = stdin.encode() if isinstance(stdin, str) else stdin
        done = subprocess.run(
            [sys.executable, "-m", "memctl", *map(str, arguments)],
            input=data if data is not None else b"",
            capture_output=True,
            cwd=cwd,
            env=self.env(**environment),
            timeout=300,
        )
        return Done(done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"))

    def env(self, **environment: str) -> dict[str, str]:
        inherited = {
            name: value for name, value in os.environ.items() if name not in ("MEMCTL_SERVER", "MEMCTL_CONFIG")
        }
        return {**inherited, "MEMCTL_HOME": self.home, "MEMCTL_NOW": NOW, **self.environment, **environment}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home that belongs to this test alone, named by the environment."""
    monkeypatch.setenv("MEMCTL_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("MEMCTL_NOW", NOW)
    monkeypatch.delenv("MEMCTL_SERVER", raising=False)
    return tmp_path / "home"


@pytest.fixture
def memctl(home: Path) -> CommandLine:
    """The command line on this test's home."""
    return CommandLine(home)
