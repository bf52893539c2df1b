"""Write the trained pair model as an ONNX graph with weights of eight bits.

Only the weights are rounded (one scale a row or column); the graph multiplies them back when it is loaded and computes
in full floats. So a pair gets the same logits whatever else is in its batch, on every run.
"""

from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper

from training.judge_model import PairModel, encode, tokenizer

_SMALLEST = 4096  # smaller weights are left as they are: they weigh nothing


def export(model: PairModel, path: Path) -> None:
    """Export the model and round its weights."""
    reader = tokenizer()
    sample = encode(reader, [("The limit is 30.", "The limit is 45 now."), ("One.", "Two, and a longer one.")])
    axes = {name: {0: "pairs", 1: "tokens"} for name in sample}
    torch.onnx.export(
        model.eval(),
        tuple(sample.values()),
        str(path),
        input_names=list(sample),
        output_names=["logits"],
        dynamic_axes={**axes, "logits": {0: "pairs"}},
        opset_version=17,
        dynamo=False,
    )
    onnx.save(rounded(onnx.load(str(path))), str(path))


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
