"""The pair model of the judge: MiniLM reads both statements at once and tells their relation.

Training only; the package runs the exported graph. Everything is seeded, one thread, so that a run can be repeated.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import nn

from memctl.rules.hints import hinted
from training.graphs import encode, encoder, tokenizer
from training.graphs import export as export_graph

LABELS = ("compatible", "duplicate", "supersedes")
MAX_TOKENS = 128


@dataclass(frozen=True)
class Example:
    """A pair with the distribution over LABELS that it teaches, and what it counts."""

    old: str
    new: str
    target: tuple[float, float, float]
    weight: float = 1.0
    symmetric: bool = False
    by_hand: bool = True
    often: bool = True


@dataclass(frozen=True)
class Recipe:
    """How to train; chosen by cross-validation."""

    epochs: int = 6
    seldom: int = 3  # what is not to be read often is read once in so many epochs
    rate: float = 1e-4
    head_rate: float = 1e-3
    batch: int = 24
    warmup: float = 0.1
    decay: float = 0.01
    dropout: float = 0.1


class PairModel(nn.Module):
    """MiniLM over two texts at once; the mean of each side and how they differ decide."""

    def __init__(self, dropout: float = 0.1, outputs: int = len(LABELS)) -> None:
        super().__init__()
        self.encoder = encoder()
        width = self.encoder.config.hidden_size
        self.dropout = nn.Dropout(dropout)
        self.hidden = nn.Linear(4 * width, width)
        self.output = nn.Linear(width, outputs)

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor, token_type_ids: torch.Tensor
    ) -> torch.Tensor:
        """Give the logits, a row a pair."""
        states = self.encoder(input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids)[0]
        second = (token_type_ids * attention_mask).unsqueeze(-1).to(states.dtype)
        first = ((1 - token_type_ids) * attention_mask).unsqueeze(-1).to(states.dtype)
        old = (states * first).sum(1) / first.sum(1).clamp(min=1.0)
        new = (states * second).sum(1) / second.sum(1).clamp(min=1.0)
        joined = torch.cat([old, new, old - new, old * new], dim=-1)
        return self.output(self.dropout(torch.tanh(self.hidden(self.dropout(joined)))))


_hinted = lru_cache(maxsize=1 << 16)(hinted)  # every epoch reads the same pairs


def _read(reader: Tokenizer, pairs: Sequence[tuple[str, str, bool]]) -> dict[str, torch.Tensor]:
    return encode(reader, [_hinted(old, new, by_hand=by_hand) for old, new, by_hand in pairs])


def train(examples: Sequence[Example], recipe: Recipe, seed: int) -> PairModel:
    """Fine-tune MiniLM on the examples; the same seed and examples give the same weights."""
    torch.manual_seed(0)  # every model starts alike, so that their weights can be averaged
    model = PairModel(recipe.dropout)
    torch.manual_seed(seed)
    random = np.random.default_rng(seed)
    reader = tokenizer(MAX_TOKENS)
    parts = [_part(examples, epoch, recipe.seldom) for epoch in range(recipe.epochs)]
    steps = sum(-(-len(part) // recipe.batch) for part in parts)
    optimiser, schedule = _optimiser(model, recipe, steps)
    model.train()
    for part in parts:
        for batch in _batches(part, recipe.batch, random):
            loss = _loss(model, reader, batch, random)
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            schedule.step()
    return model.eval()


def _optimiser(
    model: PairModel, recipe: Recipe, steps: int
) -> tuple[torch.optim.Optimizer, torch.optim.lr_scheduler.LambdaLR]:
    heads = [*model.hidden.parameters(), *model.output.parameters()]
    body = [p for p in model.encoder.parameters() if p.requires_grad]
    groups = [{"params": body, "lr": recipe.rate}, {"params": heads, "lr": recipe.head_rate}]
    optimiser = torch.optim.AdamW(groups, weight_decay=recipe.decay)
    warm = max(1, int(steps * recipe.warmup))

    def factor(step: int) -> float:
        return (step + 1) / warm if step < warm else max(0.0, (steps - step) / max(1, steps - warm))

    return optimiser, torch.optim.lr_scheduler.LambdaLR(optimiser, factor)


def _part(examples: Sequence[Example], epoch: int, seldom: int) -> list[Example]:
    """Take what is read in one epoch: the few pairs that were written for this, and a part of all that was derived."""
    rest = [example for example in examples if not example.often]
    return [example for example in examples if example.often] + rest[epoch % seldom :: seldom]


def _batches(examples: Sequence[Example], size: int, random: np.random.Generator) -> list[list[Example]]:
    """Shuffle, then batch pairs of like length together: padding costs time and teaches nothing."""
    order = random.permutation(len(examples))
    pools = [order[start : start + size * 16] for start in range(0, len(order), size * 16)]
    batches = []
    for pool in pools:
        ranked = sorted(pool, key=lambda i: len(examples[i].old) + len(examples[i].new))
        batches += [[examples[i] for i in ranked[start : start + size]] for start in range(0, len(ranked), size)]
    random.shuffle(batches)
    return batches


def _loss(model: PairModel, reader: Tokenizer, batch: list[Example], random: np.random.Generator) -> torch.Tensor:
    turned = [
        (e.new, e.old, e.by_hand) if e.symmetric and random.random() < 0.5 else (e.old, e.new, e.by_hand) for e in batch
    ]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits = model(**_read(reader, turned))
    targets = torch.tensor([e.target for e in batch])
    weights = torch.tensor([e.weight for e in batch])
    losses = -(targets * torch.log_softmax(logits.float(), dim=-1)).sum(-1)
    return (losses * weights).sum() / weights.sum()


def mean_of(models: Sequence[PairModel]) -> PairModel:
    """Average the weights of models that started from the same ones; the mean errs less than any of them."""
    states = [model.state_dict() for model in models]
    mean = {name: torch.stack([state[name].float() for state in states]).mean(0) for name in states[0]}
    models[0].load_state_dict({name: value.to(states[0][name].dtype) for name, value in mean.items()})
    return models[0].eval()


def predict(model: PairModel, pairs: Sequence[tuple[str, str, bool]], size: int = 64) -> np.ndarray:
    """Give the logits of the pairs, in their order."""
    reader = tokenizer(MAX_TOKENS)
    order = sorted(range(len(pairs)), key=lambda i: len(pairs[i][0]) + len(pairs[i][1]))
    logits = np.zeros((len(pairs), len(LABELS)), dtype=np.float32)
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
        for start in range(0, len(order), size):
            chosen = order[start : start + size]
            logits[chosen] = model(**_read(reader, [pairs[i] for i in chosen])).float().numpy()
    return logits


def export(model: PairModel, path: Path) -> None:
    """Write the model as the graph that the package runs."""
    pairs = [("The limit is 30.", "The limit is 45 now.", True), ("One.", "Two, and a longer one.", False)]
    export_graph(model, path, _read(tokenizer(MAX_TOKENS), pairs), "logits")
