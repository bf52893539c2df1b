"""What teaches recall: questions, each with the memories it is put to and the ones that answer it.

From the annotated teams (their questions and those of ``recall_queries.jsonl``, each to the memory in the annotator's
and in the chat's words) and from the written lists of ``groups.jsonl``.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from training.folds import fold_of
from training.recall_data import HERE, Team, alive


@dataclass(frozen=True)
class Asked:
    """A question and the memories that hold when it is asked; ``right`` marks those that answer it."""

    group: str
    fold: int
    question: str
    memories: tuple[str, ...]
    right: np.ndarray


def asked_of_teams(chosen: Sequence[Team]) -> list[Asked]:
    """Put the questions of every team to both wordings of its memory."""
    made = []
    for team in chosen:
        for words in (False, True):
            items = team.memory(in_chat_words=words)
            for ask in team.questions():
                present = alive(items, ask.at)
                right = np.array([team.answers(item, ask) for item in present], dtype=bool)
                if right.any() or not ask.expect:
                    texts = tuple(item.text for item in present)
                    made.append(Asked(team.name, fold_of(team.name), ask.text, texts, right))
    return made


def asked_of_groups(path: Path = HERE / "groups.jsonl") -> list[Asked]:
    """Put the questions of every written list to what holds at its end."""
    made = []
    groups = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for group in groups:
        facts = group["facts"]
        gone = {other for fact in facts for other in fact.get("supersedes") or ()}
        kept = [number for number in range(len(facts)) if number not in gone]
        texts = tuple(facts[number]["text"] for number in kept)
        for query in group.get("queries") or ():
            right = np.array([number in query["expect"] for number in kept], dtype=bool)
            made.append(Asked(group["name"], fold_of(group["name"]), query["q"], texts, right))
    return made
