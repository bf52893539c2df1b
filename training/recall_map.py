"""Learn the map of ``memctl.rules.aim``: ``python -m training.recall_map --out FILE.npz [--write]``.

A question's vector q becomes q + (q A) B, and the memories that answer it are to be the likeliest among all of its team
(softmax over the list, both in the annotator's and in the chat's words). ``--out`` gets the vectors of questions of
teams that the map has not seen, which ``recall_fit --questions`` calibrates on.
"""

import argparse
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from training.recall_data import Team, alive, embedded, teams

WEIGHTS = Path(__file__).parents[1] / "memctl" / "weights" / "aim.npz"
FOLDS, RANK, EPOCHS, RATE, DECAY, TEMPERATURE, BATCH = 6, 32, 4, 2e-3, 0.01, 0.05, 32


@dataclass
class Example:
    """A question's vector and those of its team's memories, with the ones that answer it marked."""

    question: np.ndarray
    memories: np.ndarray
    right: np.ndarray


def examples(team: Team) -> list[Example]:
    """Put every answerable question to both wordings of the team's memory at once."""
    items = [*team.memory(in_chat_words=False), *team.memory(in_chat_words=True)]
    made = []
    for ask in (ask for ask in team.questions() if ask.expect):
        present = alive(items, ask.at)
        right = np.array([team.answers(item, ask) for item in present], dtype=bool)
        if right.any():
            memories = np.array([team.vectors[item.text] for item in present])
            made.append(Example(team.vectors[ask.text], memories, right))
    return made


def train(made: list[Example]) -> tuple[np.ndarray, np.ndarray]:
    """Learn A and B; the same examples give the same map."""
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(0)
    chance, size = random.Random(0), len(made[0].question)
    narrow = (torch.randn(size, RANK) * 0.05).requires_grad_()
    wide = torch.zeros(RANK, size, requires_grad=True)
    optimizer = torch.optim.AdamW([narrow, wide], lr=RATE, weight_decay=DECAY)
    steps = EPOCHS * -(-len(made) // BATCH)
    made, step = list(made), 0
    for _ in range(EPOCHS):
        chance.shuffle(made)
        for start in range(0, len(made), BATCH):
            step += 1
            optimizer.param_groups[0]["lr"] = RATE * (1 - step / (steps + 1))
            loss = torch.stack([_loss(one, narrow, wide) for one in made[start : start + BATCH]]).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return narrow.detach().numpy(), wide.detach().numpy()


def _loss(one: Example, narrow: Any, wide: Any) -> Any:
    import torch

    question = torch.tensor(one.question)
    moved = torch.nn.functional.normalize(question + (question @ narrow) @ wide, dim=0)
    odds = torch.tensor(one.memories) @ moved / TEMPERATURE
    return torch.logsumexp(odds, 0) - torch.logsumexp(odds[torch.tensor(one.right)], 0)


def moved(vectors: np.ndarray, learned: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Move questions as ``memctl.rules.aim`` does."""
    result = vectors + (vectors @ learned[0]) @ learned[1]
    unit: np.ndarray = result / np.linalg.norm(result, axis=1, keepdims=True)
    return unit


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--check", type=Path, help="other teams whose questions are moved by the map of all teams")
    parser.add_argument("--cache", type=Path, default=Path("training/.recall_vectors.npz"))
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args(arguments)
    training, other = teams(), teams(asked.check) if asked.check else []
    embedded([*training, *other], asked.cache)
    made = {team.name: examples(team) for team in training}
    held: dict[str, np.ndarray] = {}
    for fold in range(FOLDS):
        seen = [one for place, team in enumerate(training) if place % FOLDS != fold for one in made[team.name]]
        held |= _questions([team for place, team in enumerate(training) if place % FOLDS == fold], train(seen))
    learned = train([one for team in training for one in made[team.name]])
    held |= _questions(other, learned)
    np.savez(asked.out, texts=np.array(list(held)), vectors=np.array(list(held.values()), dtype=np.float32))
    if asked.write:
        np.savez(WEIGHTS, narrow=learned[0].astype(np.float16), wide=learned[1].astype(np.float16))


def _questions(chosen: Sequence[Team], learned: tuple[np.ndarray, np.ndarray]) -> dict[str, np.ndarray]:
    found: dict[str, np.ndarray] = {}
    for team in chosen:
        texts = [ask.text for ask in team.questions()]
        found |= dict(zip(texts, moved(np.array([team.vectors[text] for text in texts]), learned), strict=True))
    return found


if __name__ == "__main__":
    main()
