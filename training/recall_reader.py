"""Fine-tune the reader: ``python -m training.recall_reader``.

MiniLM reads a question and a memory together and tells whether the memory answers it. It learns from lists: the
memories that answer a question among those that lie nearest to it. One fold of teams and lists is left out, on which
``recall_fit`` fits what is made of its answers.
"""

import argparse
import json
import math
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from memctl.model import MemoryType
from memctl.rules.passages import asked as asked_text
from memctl.rules.passages import passage
from training.folds import HELD_OUT, fold_of
from training.graphs import encode, export, tokenizer
from training.judge_model import PairModel
from training.recall_data import HERE, Item, Team, alive, embedded, embedded_texts, teams

WEIGHTS = HERE.parent / "memctl" / "weights"
MAX_TOKENS = 80
_RIGHT, _WRONG = 3, 6  # memories of a list that answer, and that do not
_RIGHT_WEIGHT = 3.0


@dataclass(frozen=True)
class Recipe:
    """How to train; chosen on teams that were left out."""

    epochs: int = 2
    rate: float = 1e-4
    head_rate: float = 1e-3
    lists: int = 6  # questions of a batch
    warmup: float = 0.1
    decay: float = 0.01
    dropout: float = 0.1
    frozen_layers: int = 2


@dataclass(frozen=True)
class Listed:
    """A question with memories near it, and which of them answer."""

    group: str
    question: str
    passages: tuple[str, ...]
    right: tuple[bool, ...]


class ReaderModel(PairModel):
    """Reads a question and a memory; its one logit tells how surely the memory answers."""

    def __init__(self, dropout: float = 0.1) -> None:
        super().__init__(dropout, outputs=1)

    def freeze(self, layers: int) -> None:
        """Leave the first layers as they were pretrained."""
        frozen = [self.encoder.embeddings, *self.encoder.encoder.layer[:layers]]
        for parameter in (parameter for part in frozen for parameter in part.parameters()):
            parameter.requires_grad_(False)


def lists_of_teams(chosen: Sequence[Team]) -> list[Listed]:
    """Put the questions of teams to what the extractor made of their chats, or where that has no answer, to the gold."""
    made = []
    for team in chosen:
        for ask in team.questions():
            for in_chat_words in (True, False):
                present = alive(team.memory(in_chat_words=in_chat_words), ask.at)
                right = [team.answers(item, ask) for item in present]
                if any(right) or (not ask.expect and in_chat_words):
                    near = [float(team.vectors[item.text] @ team.vectors[ask.text]) for item in present]
                    told = [passage_of(team, item) for item in present]
                    made.append(_listed(team.name, ask.text, told, right, near))
                    break
    return made


def lists_of_groups(cache: Path) -> list[Listed]:
    """Put the questions of the written lists to what holds at their end."""
    groups = [json.loads(line) for line in (HERE / "groups.jsonl").read_text(encoding="utf-8").splitlines()]
    texts = {fact["text"] for group in groups for fact in group["facts"]}
    vectors = embedded_texts(texts | {query["q"] for group in groups for query in group.get("queries") or ()}, cache)
    made = []
    for group in groups:
        facts = group["facts"]
        gone = {other for fact in facts for other in fact.get("supersedes") or ()}
        kept = [number for number in range(len(facts)) if number not in gone]
        told = [passage(MemoryType(facts[n].get("type", "fact")), facts[n]["text"]) for n in kept]
        for query in group.get("queries") or ():
            right = [number in query["expect"] for number in kept]
            if any(right) or not query["expect"]:
                near = [float(vectors[facts[n]["text"]] @ vectors[query["q"]]) for n in kept]
                made.append(_listed(group["name"], query["q"], told, right, near))
    return made


def passage_of(team: Team, item: Item) -> str:
    """Write a memory of a team as the package does, with the end of the message before."""
    before = ""
    if item.place:
        session, _, _ = team.messages[item.place]
        previous = team.messages[item.place - 1]
        before = previous[2] if previous[0] == session else ""
    return passage(MemoryType(item.type), item.text, before)


def _listed(group: str, question: str, told: Sequence[str], right: Sequence[bool], near: Sequence[float]) -> Listed:
    order = sorted(range(len(told)), key=lambda place: -near[place])
    chosen = [k for k in order if right[k]][:_RIGHT] + [k for k in order if not right[k]][:_WRONG]
    return Listed(group, asked_text(question), tuple(told[k] for k in chosen), tuple(right[k] for k in chosen))


def train(lists: Sequence[Listed], recipe: Recipe, seed: int = 0) -> ReaderModel:
    """Fine-tune on lists; the same seed and lists give the same weights."""
    torch.manual_seed(seed)
    random = np.random.default_rng(seed)
    model, reader = ReaderModel(recipe.dropout), tokenizer(MAX_TOKENS, "only_second")
    model.freeze(recipe.frozen_layers)
    body = [parameter for parameter in model.encoder.parameters() if parameter.requires_grad]
    heads = [*model.hidden.parameters(), *model.output.parameters()]
    groups = [{"params": body, "lr": recipe.rate}, {"params": heads, "lr": recipe.head_rate}]
    optimiser = torch.optim.AdamW(groups, weight_decay=recipe.decay)
    steps = recipe.epochs * math.ceil(len(lists) / recipe.lists)
    warm = max(1, int(recipe.warmup * steps))
    plan = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min(1.0, (step + 1) / warm) * max(0.02, 1 - step / steps)
    )
    model.train()
    started, done = time.time(), 0
    for _ in range(recipe.epochs):
        for batch in _batches(lists, recipe.lists, random):
            pairs = [(one.question, told) for one in batch for told in one.passages]
            with torch.autocast("cpu", dtype=torch.bfloat16):
                logits = model(**encode(reader, pairs))
            loss = _loss(logits.float().squeeze(-1), batch)
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_([*body, *heads], 1.0)
            optimiser.step()
            plan.step()
            done += 1
            if done % 100 == 0:
                print(f"step {done} of {steps}, {time.time() - started:.0f} s", flush=True)
    return model.eval()


def _batches(lists: Sequence[Listed], size: int, random: np.random.Generator) -> list[list[Listed]]:
    """Shuffle, then batch lists of like length together: padding costs time and teaches nothing."""
    order = random.permutation(len(lists))
    batches = []
    for start in range(0, len(order), size * 16):
        pool = sorted(order[start : start + size * 16], key=lambda place: max(map(len, lists[place].passages)))
        batches += [[lists[place] for place in pool[k : k + size]] for k in range(0, len(pool), size)]
    random.shuffle(batches)
    return batches


def _loss(logits: torch.Tensor, batch: Sequence[Listed]) -> torch.Tensor:
    """Answer each pair for itself, so that a logit means the same in every list, and rank each list."""
    wanted = torch.tensor([float(right) for one in batch for right in one.right])
    total = functional.binary_cross_entropy_with_logits(logits, wanted, pos_weight=torch.tensor(_RIGHT_WEIGHT))
    start = 0
    for one in batch:
        row, right = logits[start : start + len(one.right)], torch.tensor(one.right)
        start += len(one.right)
        if right.any():
            total = total + (torch.logsumexp(row, 0) - row[right].mean()) / len(batch)
    return total


def main(arguments: list[str] | None = None) -> None:
    """Train without the questions of one fold, and write the model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, default=HERE / ".work" / "recall_vectors.npz")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args(arguments)
    torch.set_num_threads(options.threads)
    learnt = [team for team in teams() if fold_of(team.name) != HELD_OUT]
    embedded(learnt, options.cache)
    lists = lists_of_teams(learnt) + [one for one in lists_of_groups(options.cache) if fold_of(one.group) != HELD_OUT]
    print(f"{len(lists)} questions, {sum(len(one.passages) for one in lists)} pairs", flush=True)
    model = train(lists, Recipe())
    sample = encode(tokenizer(MAX_TOKENS), [("one", "two"), ("and another question", "a memory")])
    export(model, WEIGHTS / "reader.onnx", sample, "logit")
    about = {"max_tokens": MAX_TOKENS, "recipe": asdict(Recipe())}
    (WEIGHTS / "reader.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
