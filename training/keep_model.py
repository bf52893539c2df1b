"""The keep model: MiniLM reads a message in its context and judges each unit of it.

Training only; the package runs the exported graph. Everything is seeded.
"""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import nn
from torch.nn import functional

from memctl.extraction.windows import MARKER, SLOTS
from training.graphs import encoder, tokenizer
from training.keep_data import IGNORED, LABELS, TYPE_ONLY, Example

MAX_TOKENS = 256
_STEP = 32  # lengths are rounded up to this: few shapes, so that the kernels made for one serve many batches


@dataclass(frozen=True)
class Recipe:
    """How to train; chosen by cross-validation."""

    epochs: int = 5
    rate: float = 1.5e-4
    head_rate: float = 1e-3
    batch: int = 16
    warmup: float = 0.1
    decay: float = 0.01
    dropout: float = 0.1
    smoothing: float = 0.05
    drop_weight: float = 0.8
    note_weight: float = 1.0
    average_from: float = 0.5  # the weights are averaged over the last part of training
    frozen_layers: int = 3  # these stay as pretrained: less to overfit, and their states are computed once


def reading() -> Tokenizer:
    """Open the tokenizer as this model reads: a window that is too long loses context, never units."""
    return tokenizer(MAX_TOKENS, "only_first")


class KeepModel(nn.Module):
    """MiniLM over (context, units); the mean of each unit's states, seen beside the whole window, decides."""

    def __init__(self, dropout: float = 0.1) -> None:
        super().__init__()
        self.encoder = encoder()
        width = self.encoder.config.hidden_size
        self.marker = tokenizer(MAX_TOKENS).token_to_id(MARKER)
        self.dropout = nn.Dropout(dropout)
        self.output = nn.Linear(2 * width, len(LABELS))

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor, token_type_ids: torch.Tensor
    ) -> torch.Tensor:
        """Give the logits over LABELS: window by slot by label; slots without a unit are meaningless."""
        states = self.lower(input_ids, attention_mask, token_type_ids, 0)
        return self.upper(states, input_ids, attention_mask, token_type_ids, 0)

    def lower(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor, token_type_ids: torch.Tensor, layers: int
    ) -> torch.Tensor:
        """Embed and run the first ``layers`` layers: what stays as it was pretrained."""
        states = self.encoder.embeddings(input_ids=input_ids, token_type_ids=token_type_ids)
        return self._layers(states, attention_mask, 0, layers)

    def upper(
        self,
        states: torch.Tensor,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor,
        token_type_ids: torch.Tensor,
        layers: int,
    ) -> torch.Tensor:
        """Run the layers from ``layers`` on, and the head."""
        states = self._layers(states, attention_mask, layers, len(self.encoder.encoder.layer))
        mine = (token_type_ids * attention_mask).to(states.dtype)
        marks = (input_ids == self.marker).to(states.dtype) * mine
        slots = torch.arange(1, SLOTS + 1, device=states.device, dtype=states.dtype)
        inside = (torch.cumsum(marks, dim=1).unsqueeze(-1) == slots).to(states.dtype) * mine.unsqueeze(-1)
        pooled = torch.matmul(inside.transpose(1, 2), states) / inside.sum(1).clamp(min=1.0).unsqueeze(-1)
        marked = torch.matmul((inside * marks.unsqueeze(-1)).transpose(1, 2), states)
        return self.output(self.dropout(torch.cat([pooled, marked], dim=-1)))

    def _layers(self, states: torch.Tensor, attention_mask: torch.Tensor, first: int, last: int) -> torch.Tensor:
        shut = (1.0 - attention_mask[:, None, None, :].to(states.dtype)) * -1e4
        for layer in self.encoder.encoder.layer[first:last]:
            states = layer(states, shut)
        return states


@dataclass(frozen=True)
class Ready:
    """An example as tensors: tokens, the states of the frozen layers, and what it teaches."""

    tokens: torch.Tensor  # three rows: ids, mask, types
    states: torch.Tensor
    labels: tuple[int, ...]
    weights: tuple[float, ...]


@torch.no_grad()
def prepare(model: KeepModel, made: Sequence[Example], layers: int) -> list[Ready]:
    """Tokenise, and run the frozen layers once for all epochs (and all folds: they are the same)."""
    reader, ready = reading(), {}
    order = sorted(range(len(made)), key=lambda i: sum(map(len, made[i].window.text)))
    model.eval()
    for start in range(0, len(order), 32):
        group = order[start : start + 32]
        coded = reader.encode_batch([made[i].window.text for i in group])
        tokens = torch.tensor([[c.ids, c.attention_mask, c.type_ids] for c in coded])
        with torch.autocast("cpu", dtype=torch.bfloat16):
            states = model.lower(tokens[:, 0], tokens[:, 1], tokens[:, 2], layers).to(torch.bfloat16)
        for row, i in enumerate(group):
            size = int(tokens[row, 1].sum())
            ready[i] = Ready(tokens[row, :, :size], states[row, :size].clone(), made[i].labels, made[i].weights)
    return [ready[i] for i in range(len(made))]


def batches(made: Sequence[Ready], size: int, seed: int | None) -> list[list[int]]:
    """Group examples of like lengths, shuffled where a seed is given."""
    order = sorted(range(len(made)), key=lambda i: made[i].tokens.shape[1])
    chance = random.Random(seed)
    if seed is not None:
        order = [i for _, i in sorted((place + chance.uniform(0, len(made) / 10), i) for place, i in enumerate(order))]
    groups = [order[i : i + size] for i in range(0, len(order), size)]
    if seed is not None:
        chance.shuffle(groups)
    return groups


def stack(group: Sequence[Ready]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Pad a batch: tokens, states, labels, weights."""
    longest = -(-max(each.tokens.shape[1] for each in group) // _STEP) * _STEP
    tokens = torch.zeros((len(group), 3, longest), dtype=torch.long)
    states = torch.zeros((len(group), longest, group[0].states.shape[1]))
    labels, weights = torch.full((len(group), SLOTS), IGNORED), torch.zeros((len(group), SLOTS))
    for row, each in enumerate(group):
        size = each.tokens.shape[1]
        tokens[row, :, :size] = each.tokens
        states[row, :size] = each.states.float()
        labels[row, : len(each.labels)] = torch.tensor(each.labels)
        weights[row, : len(each.weights)] = torch.tensor(each.weights)
    return tokens, states, labels, weights


def _loss(logits: torch.Tensor, labels: torch.Tensor, weights: torch.Tensor, recipe: Recipe) -> torch.Tensor:
    """Weigh the cross-entropy of every unit; notes teach their type alone."""
    flat, wanted = logits.reshape(-1, len(LABELS)), labels.reshape(-1)
    note = wanted >= TYPE_ONLY
    options = {"ignore_index": IGNORED, "reduction": "none", "label_smoothing": recipe.smoothing}
    whole = functional.cross_entropy(flat, torch.where(note, IGNORED, wanted), **options)
    typed = functional.cross_entropy(flat[:, 1:], torch.where(note, wanted - TYPE_ONLY - 1, IGNORED), **options)
    weight = weights.reshape(-1) * torch.where(wanted == 0, recipe.drop_weight, 1.0) * (wanted != IGNORED)
    return ((whole + recipe.note_weight * typed) * weight).sum() / weight.sum().clamp(min=1.0)


def _groups(model: KeepModel, recipe: Recipe) -> list[dict]:
    """Choose what learns: the upper layers at one rate, the head at another."""
    for parameter in model.encoder.parameters():
        parameter.requires_grad_(False)
    body = [p for layer in model.encoder.encoder.layer[recipe.frozen_layers :] for p in layer.parameters()]
    for parameter in body:
        parameter.requires_grad_(True)
    return [
        {"params": body, "lr": recipe.rate, "weight_decay": recipe.decay},
        {"params": list(model.output.parameters()), "lr": recipe.head_rate, "weight_decay": 0.0},
    ]


def train(ready: Sequence[Ready], recipe: Recipe, seed: int) -> KeepModel:
    """Fine-tune the upper layers; returns the average of the weights over the last part of training."""
    torch.manual_seed(seed)
    model = KeepModel(recipe.dropout)
    optimiser = torch.optim.AdamW(_groups(model, recipe))
    steps = recipe.epochs * math.ceil(len(ready) / recipe.batch)
    warm = max(1, int(recipe.warmup * steps))
    plan = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min(1.0, (step + 1) / warm) * max(0.05, 1 - step / steps)
    )
    average, counted, step = {}, 0, 0
    model.train()
    for epoch in range(recipe.epochs):
        for group in batches(ready, recipe.batch, seed * 100 + epoch):
            tokens, states, labels, weights = stack([ready[i] for i in group])
            with torch.autocast("cpu", dtype=torch.bfloat16):
                logits = model.upper(states, tokens[:, 0], tokens[:, 1], tokens[:, 2], recipe.frozen_layers)
            loss = _loss(logits.float(), labels, weights, recipe)
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_([p for p in model.parameters() if p.requires_grad], 1.0)
            optimiser.step()
            plan.step()
            step += 1
            if step >= recipe.average_from * steps and step % 10 == 0:
                counted += 1
                _fold(average, model, counted)
    if counted:
        model.load_state_dict({**model.state_dict(), **average})
    return model.eval()


def _fold(average: dict[str, torch.Tensor], model: KeepModel, counted: int) -> None:
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            value = parameter.detach()
            average[name] = value.clone() if counted == 1 else average[name] + (value - average[name]) / counted


def average(models: Sequence[KeepModel]) -> KeepModel:
    """Average the weights of models that began alike: steadier on new teams than any one of them."""
    made = KeepModel()
    states = [model.state_dict() for model in models]
    made.load_state_dict(
        {
            name: sum(state[name] for state in states) / len(states) if value.is_floating_point() else value
            for name, value in states[0].items()
        }
    )
    return made.eval()


@torch.no_grad()
def predict(model: KeepModel, ready: Sequence[Ready], layers: int) -> list[np.ndarray]:
    """Give each window's probabilities, a row a unit."""
    answers = [np.empty(0)] * len(ready)
    for group in batches(ready, 32, None):
        tokens, states, _, _ = stack([ready[i] for i in group])
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = model.upper(states, tokens[:, 0], tokens[:, 1], tokens[:, 2], layers)
        probabilities = torch.softmax(logits.float(), -1)
        for row, place in enumerate(group):
            answers[place] = probabilities[row, : len(ready[place].labels)].numpy()
    return answers
