"""Train the encoder of questions: ``python -m training.recall_question [--folds 3] [--write]``.

It starts as the bundled sentence model and learns to put a question near the memories that answer it, among all the
memories of its team (softmax over the list). Only the question's side is trained: vectors of memories stay those of
the bundled model. With ``--folds`` it also writes the vectors of questions of teams it has not seen, which
``recall_fit --questions`` calibrates on.
"""

import argparse
import json
import os
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

os.environ.setdefault("OMP_NUM_THREADS", "1")

from memctl.embedding.models import bundled_folder, open_embedder
from training.recall_data import Team, alive, teams

WEIGHTS = Path(__file__).parents[1] / "memctl" / "weights"
EPOCHS, RATE, TEMPERATURE, BATCH, MAX_TOKENS = 4, 4e-5, 0.05, 16, 64


@dataclass
class Example:
    """A question and the memories of its team, with those that answer it marked."""

    question: str
    memories: np.ndarray
    right: np.ndarray


def examples(chosen: Sequence[Team]) -> list[Example]:
    """Put every answerable question to both wordings of its team's memory at once."""
    made = []
    for team in chosen:
        items = [*team.memory(in_chat_words=False), *team.memory(in_chat_words=True)]
        for ask in team.questions():
            present = alive(items, ask.at)
            right = np.array([team.answers(item, ask) for item in present], dtype=bool)
            if ask.expect and right.any():
                made.append(Example(ask.text, np.array([team.vectors[item.text] for item in present]), right))
    return made


class Encoder:
    """The trainable side."""

    def __init__(self) -> None:
        import torch
        from transformers import AutoModel, AutoTokenizer

        torch.set_num_threads(1)
        torch.manual_seed(0)
        folder = str(bundled_folder())
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.model = AutoModel.from_pretrained(folder, attn_implementation="eager")
        for parameter in self.model.embeddings.parameters():
            parameter.requires_grad = False

    def __call__(self, texts: Sequence[str]) -> Any:
        import torch

        given = self.tokenizer(list(texts), padding=True, truncation=True, max_length=MAX_TOKENS, return_tensors="pt")
        mask = given["attention_mask"].unsqueeze(-1)
        pooled = (self.model(**given).last_hidden_state * mask).sum(1) / mask.sum(1)
        return torch.nn.functional.normalize(pooled, dim=1)

    def vectors(self, texts: Sequence[str]) -> np.ndarray:
        import torch

        self.model.eval()
        with torch.no_grad():
            found: np.ndarray = self(texts).numpy()
        return found


def train(made: list[Example]) -> Encoder:
    """Learn from the examples; the same examples give the same encoder."""
    import torch

    encoder, chance = Encoder(), random.Random(0)
    trained = [parameter for parameter in encoder.model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=RATE, weight_decay=0.01)
    steps, step = EPOCHS * -(-len(made) // BATCH), 0
    encoder.model.train()
    for epoch in range(EPOCHS):
        chance.shuffle(made)
        total = 0.0
        for start in range(0, len(made), BATCH):
            batch = made[start : start + BATCH]
            step += 1
            for group in optimizer.param_groups:
                group["lr"] = RATE * min(1.0, step / 30) * (1 - step / (steps + 1))
            loss = _loss(encoder([one.question for one in batch]), batch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += float(loss) * len(batch)
        print(f"  epoch {epoch} loss {total / len(made):.3f}", flush=True)
    return encoder


def _loss(questions: Any, batch: Sequence[Example]) -> Any:
    import torch

    losses = []
    for question, one in zip(questions, batch, strict=True):
        odds = torch.tensor(one.memories) @ question / TEMPERATURE
        losses.append(torch.logsumexp(odds, 0) - torch.logsumexp(odds[torch.tensor(one.right)], 0))
    return torch.stack(losses).mean()


def export(encoder: Encoder, folder: Path) -> None:
    """Write ``query.onnx``, weights in 8 bits, and ``query.json``."""
    import torch
    from onnxruntime.quantization import QuantType, quantize_dynamic

    class Graph(torch.nn.Module):
        def __init__(self, model: Any) -> None:
            super().__init__()
            self.model = model

        def forward(self, input_ids: Any, attention_mask: Any, token_type_ids: Any) -> Any:
            state = self.model(
                input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids
            ).last_hidden_state
            mask = attention_mask.unsqueeze(-1).to(state.dtype)
            return torch.nn.functional.normalize((state * mask).sum(1) / mask.sum(1), dim=1)

    encoder.model.eval()
    given = encoder.tokenizer(["how do we deploy"], return_tensors="pt")
    names = ["input_ids", "attention_mask", "token_type_ids"]
    plain = folder / "query.float.onnx"
    torch.onnx.export(
        Graph(encoder.model).eval(),
        tuple(given[name] for name in names),
        str(plain),
        input_names=names,
        output_names=["sentence_embedding"],
        dynamic_axes={name: {0: "rows", 1: "tokens"} for name in names} | {"sentence_embedding": {0: "rows"}},
        opset_version=17,
        dynamo=False,
    )
    quantize_dynamic(str(plain), str(folder / "query.onnx"), per_channel=True, weight_type=QuantType.QInt8)
    plain.unlink()
    (folder / "query.json").write_text(json.dumps({"max_tokens": MAX_TOKENS}) + "\n", encoding="utf-8")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folds", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("training/.recall_questions.npz"))
    parser.add_argument("--check", type=Path, help="other teams whose questions get vectors too, by the full model")
    parser.add_argument("--cache", type=Path, default=Path("training/.recall_vectors.npz"))
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args(arguments)
    training = teams()
    _embed(training, asked.cache)
    held: dict[str, np.ndarray] = {}
    for fold in range(asked.folds):
        print(f"fold {fold}", flush=True)
        encoder = train(examples([team for place, team in enumerate(training) if place % asked.folds != fold]))
        for team in (team for place, team in enumerate(training) if place % asked.folds == fold):
            texts = [ask.text for ask in team.questions()]
            held |= dict(zip(texts, encoder.vectors(texts), strict=True))
    if asked.write or asked.check:
        encoder = train(examples(training))
        texts = [ask.text for team in (teams(asked.check) if asked.check else []) for ask in team.questions()]
        held |= dict(zip(texts, encoder.vectors(texts), strict=True)) if texts else {}
        if asked.write:
            export(encoder, WEIGHTS)
    np.savez(asked.out, texts=np.array(list(held)), vectors=np.array(list(held.values()), dtype=np.float32))


def _embed(chosen: Sequence[Team], cache: Path) -> None:
    known = dict(np.load(cache)) if cache.exists() else {}
    stored = dict(zip(known.get("texts", []), known.get("vectors", []), strict=True))
    for team in chosen:
        team.vectors.update(stored)
        team.embed(open_embedder().embed)


if __name__ == "__main__":
    main()
