"""Write the trained keep model as an ONNX graph with weights of eight bits, and the card beside it."""

import hashlib
import json
from dataclasses import asdict
from pathlib import Path

import onnx
import torch
from torch import nn

from memctl.extraction.compose import Bar
from training.judge_export import rounded
from training.keep_data import LABELS
from training.keep_model import MAX_TOKENS, KeepModel, tokenizer

_SAMPLE = [
    ("start / end", "Ann (person): [MASK] We use X."),
    ("Bo (person): hi / end", "Ann (person): [MASK] Yes. [MASK] We use Y."),
]


class _Probabilities(nn.Module):
    def __init__(self, model: KeepModel) -> None:
        super().__init__()
        self.model = model

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor, token_type_ids: torch.Tensor
    ) -> torch.Tensor:
        return torch.softmax(self.model(input_ids, attention_mask, token_type_ids), dim=-1)


def export(model: KeepModel, path: Path) -> None:
    """Export the model; its output is windows by slots by labels, probabilities."""
    coded = tokenizer().encode_batch(_SAMPLE)
    names = ("input_ids", "attention_mask", "token_type_ids")
    sample = tuple(
        torch.tensor(rows)
        for rows in ([c.ids for c in coded], [c.attention_mask for c in coded], [c.type_ids for c in coded])
    )
    torch.onnx.export(
        _Probabilities(model).eval(),
        sample,
        str(path),
        input_names=list(names),
        output_names=["probabilities"],
        dynamic_axes={**{name: {0: "windows", 1: "tokens"} for name in names}, "probabilities": {0: "windows"}},
        opset_version=17,
        dynamo=False,
    )
    onnx.save(rounded(onnx.load(str(path))), str(path))


def write_card(path: Path, bar: Bar, sources: list[Path]) -> None:
    """Describe the weights: classes, bars, and a digest of what they were trained on."""
    digest = hashlib.sha256()
    for source in sorted(sources):
        digest.update(source.read_bytes())
    card = {"labels": list(LABELS), "bar": asdict(bar), "max_tokens": MAX_TOKENS, "trained_on": digest.hexdigest()}
    path.write_text(json.dumps(card, indent=2) + "\n")
