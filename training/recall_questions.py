"""Fine-tune the question encoder: ``python -m training.recall_questions``.

A question and its answer are put differently. The encoder of questions learns to lie near the memories that answer
them, among all memories of its team (softmax over the list); memories keep the vectors of the bundled model, so a store
never depends on it. One fold of teams and lists is left out, on which ``recall_fit`` fits the ranking.
"""

import argparse
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from memctl.languages import in_english
from training.folds import HELD_OUT
from training.graphs import encode, encoder, export, tokenizer
from training.recall_asked import Asked, asked_of_groups, asked_of_teams
from training.recall_data import HERE, embedded_texts, teams

WEIGHTS = HERE.parent / "memctl" / "weights"
MAX_TOKENS = 64


@dataclass(frozen=True)
class Recipe:
    """How to train; chosen by cross-validation."""

    epochs: int = 4
    rate: float = 5e-5
    batch: int = 32
    warmup: float = 0.1
    decay: float = 0.01
    temperature: float = 0.05
    anchor: float = 1.0  # how strongly the vector is held to the untrained one
    others: int = 96  # memories of other teams that a question is told apart from


class QuestionModel(nn.Module):
    """MiniLM with the mean of its states as a unit vector."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = encoder()

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor, token_type_ids: torch.Tensor
    ) -> torch.Tensor:
        states = self.encoder(input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids)[0]
        mask = attention_mask.unsqueeze(-1).to(states.dtype)
        return functional.normalize((states * mask).sum(1) / mask.sum(1).clamp(min=1.0), dim=-1)


def train(asked: Sequence[Asked], vectors: dict[str, np.ndarray], recipe: Recipe, seed: int = 0) -> QuestionModel:
    """Fine-tune on questions that have an answer."""
    torch.manual_seed(seed)
    random = np.random.default_rng(seed)
    asked = [one for one in asked if one.right.any()]
    everything = torch.tensor(np.array([vectors[text] for text in sorted({t for one in asked for t in one.memories})]))
    model, reader = QuestionModel(), tokenizer(MAX_TOKENS)
    free = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimiser = torch.optim.AdamW(free, lr=recipe.rate, weight_decay=recipe.decay)
    steps = recipe.epochs * math.ceil(len(asked) / recipe.batch)
    warm = max(1, int(recipe.warmup * steps))
    plan = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min(1.0, (step + 1) / warm) * max(0.0, 1 - step / steps)
    )
    model.train()
    for _ in range(recipe.epochs):
        order = random.permutation(len(asked))
        for start in range(0, len(order), recipe.batch):
            batch = [asked[place] for place in order[start : start + recipe.batch]]
            with torch.autocast("cpu", dtype=torch.bfloat16):
                found = model(**encode(reader, [in_english(one.question) for one in batch]))
            strangers = everything[torch.tensor(random.integers(0, len(everything), recipe.others))]
            loss = _loss(found.float(), batch, vectors, strangers, recipe)
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(free, 1.0)
            optimiser.step()
            plan.step()
    return model.eval()


def _loss(
    found: torch.Tensor, batch: Sequence[Asked], vectors: dict[str, np.ndarray], strangers: torch.Tensor, recipe: Recipe
) -> torch.Tensor:
    total = torch.zeros(())
    for vector, one in zip(found, batch, strict=True):
        memories = torch.tensor(np.array([vectors[text] for text in one.memories]))
        odds = torch.cat([memories, strangers]) @ vector / recipe.temperature
        right = odds[: len(memories)][torch.tensor(one.right)]
        # the mean over the answers, not their sum: each of them should be found
        total = total + torch.logsumexp(odds, 0) - right.mean()
        total = total + recipe.anchor * (1 - torch.tensor(vectors[one.question]) @ vector)
    return total / len(batch)


def main(arguments: list[str] | None = None) -> None:
    """Train without one fold, and write the model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, default=HERE / ".work" / "recall_vectors.npz")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    asked = [one for one in asked_of_teams(teams()) + asked_of_groups() if one.fold != HELD_OUT]
    vectors = embedded_texts({text for one in asked for text in (one.question, *one.memories)}, options.cache)
    model = train(asked, vectors, Recipe())
    sample = encode(tokenizer(MAX_TOKENS), ["one", "and another question"])
    export(model, WEIGHTS / "question.onnx", sample, "vector")
    about = json.dumps({"max_tokens": MAX_TOKENS, "recipe": asdict(Recipe())}, indent=1)
    (WEIGHTS / "question.json").write_text(about + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
