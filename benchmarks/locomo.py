"""LoCoMo: the share of the turns a question rests on that is among the first ten messages recalled.

    python -m benchmarks.locomo PATH/locomo.json [--limit 10] [--conversations 5]

Every conversation is played into a fresh store through the command line, session by session with its date, then all
its questions of categories 1 to 4 are asked at once with ``recall --deep``. frac@10 is the mean share of a question's
evidence among the first ten messages. Ids that do not exist stay in the count, as the published figures have it.
"""

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

MEMCTL = shlex.split(os.environ.get("MEMCTL", f"{sys.executable} -m memctl"))
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
_EVIDENCE = re.compile(r"D\d+:\d+")


@dataclass(frozen=True)
class Session:
    """One chat: its number, its date and its turns as the data has them."""

    number: int
    date: datetime
    turns: Sequence[dict[str, Any]]

    def messages(self) -> list[dict[str, str]]:
        """Write the turns as a group chat; what a shared photo shows belongs to what was said."""
        return [{"name": turn["speaker"], "role": "user", "content": _said(turn)} for turn in self.turns]


@dataclass(frozen=True)
class Asked:
    """A question and the turns that answer it."""

    text: str
    category: int
    evidence: frozenset[str]


def main(arguments: list[str] | None = None) -> int:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--limit", type=int, default=10)
    parser.add_argument("--conversations", type=int, default=None)
    asked = parser.parse_args(arguments)
    samples = json.loads(asked.data.read_text(encoding="utf-8"))[: asked.conversations]
    shares: dict[str, list[float]] = defaultdict(list)
    for sample in samples:
        for question, share in play(sample, asked.limit):
            for name in ("all", CATEGORIES[question.category], sample.get("sample_id", "?")):
                shares[name].append(share)
    for name, found in shares.items():
        print(f"{name:12} frac@{asked.limit} {sum(found) / len(found):.4f}  questions {len(found)}")
    return 0


def measure(data: Path, limit: int = 10) -> float:
    """Give the mean share over all conversations of a file."""
    samples = json.loads(data.read_text(encoding="utf-8"))
    shares = [share for sample in samples for _, share in play(sample, limit)]
    return sum(shares) / len(shares)


def play(sample: dict[str, Any], limit: int) -> list[tuple[Asked, float]]:
    """Play one conversation and give each question's share of evidence found."""
    questions = list(questions_of(sample))
    with tempfile.TemporaryDirectory(prefix="memctl-locomo-") as folder:
        home, chats = Path(folder) / "home", Path(folder) / "chats"
        chats.mkdir()
        for session in sessions_of(sample["conversation"]):
            path = chats / f"session-{session.number}.json"
            path.write_text(json.dumps(session.messages(), ensure_ascii=False), encoding="utf-8")
            _memctl(home, "ingest", str(path), "--agent", "pair", "--at", session.date.isoformat(), now=session.date)
        lines = "".join(json.dumps({"query": one.text, "agent": "pair"}) + "\n" for one in questions)
        last = max(session.date for session in sessions_of(sample["conversation"]))
        printed = _memctl(
            home, "recall", "--from", "-", "--deep", "--limit", str(limit), "--format", "jsonl", now=last, stdin=lines
        )
    answers = [json.loads(line) for line in printed.splitlines() if line.strip()]
    return [(one, _share(one, answer, limit)) for one, answer in zip(questions, answers, strict=True)]


def sessions_of(conversation: dict[str, Any]) -> Iterator[Session]:
    """Give the sessions in order."""
    numbers = sorted(int(name.split("_")[1]) for name in conversation if re.fullmatch(r"session_\d+", name))
    for number in numbers:
        if turns := conversation[f"session_{number}"]:
            date = datetime.strptime(conversation[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y")
            yield Session(number, date.replace(tzinfo=UTC), turns)


def questions_of(sample: dict[str, Any]) -> Iterator[Asked]:
    """Give the questions that can be answered from the talk."""
    for entry in sample["qa"]:
        evidence = frozenset(_EVIDENCE.findall(" ".join(entry["evidence"])))
        if entry["category"] in CATEGORIES and evidence:
            yield Asked(entry["question"], entry["category"], evidence)


def _said(turn: dict[str, Any]) -> str:
    caption = turn.get("blip_caption")
    return f"{turn.get('text', '')} [shares {caption}]" if caption else turn.get("text", "")


def _share(question: Asked, answer: dict[str, Any], limit: int) -> float:
    found = {_turn_id(message) for message in answer["messages"][:limit]}
    return len(question.evidence & found) / len(question.evidence)


def _turn_id(message: dict[str, Any]) -> str:
    session = re.search(r"session-(\d+)\.json$", message["transcript"])
    return f"D{session[1] if session else '?'}:{message['message'] + 1}"


def _memctl(home: Path, *arguments: str, now: datetime, stdin: str = "") -> str:
    environment = {**os.environ, "MEMCTL_HOME": str(home), "MEMCTL_NOW": now.isoformat()}
    done = subprocess.run([*MEMCTL, *arguments], env=environment, capture_output=True, text=True, input=stdin)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{shlex.join([*MEMCTL, *arguments])} exited {done.returncode}\n{done.stderr[-2000:]}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
