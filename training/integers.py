"""Let a written graph multiply in whole numbers: half as fast again, with answers that differ in the third decimal.

The weights are whole numbers of eight bits already (``graphs.rounded``). What they are multiplied with is written as two
digits to the base 128, ``x = high * 128 s + low * s``, so that a product is two products of small whole numbers. The
step ``s`` is fixed for each place in the graph, measured once on sentences of the training data; hence an answer does
not depend on what else is in its batch. Digits of seven bits keep the sums of processors without instructions for such
products exact too (these add pairs of products in sixteen bits).

``python -m training.integers keep judge question reader`` rewrites the package's weights in place; a graph that is rewritten
already is left alone.
"""

import argparse
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx import NodeProto, TensorProto, helper, numpy_helper

from memctl.embedding.models import WEIGHTS, bundled_folder, word_vectors
from training.graphs import encode, tokenizer

BASE = 128
_MARGIN = 1.25  # what goes beyond the measured range by more than this is cut off
_BATCH, _MAX_TOKENS = 16, 256
_FEWEST_OUTPUTS = 64  # a product with fewer outputs costs nothing and decides the answer: it stays as it is

Ranges = Mapping[str, tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Product:
    """A product with rounded weights: the nodes that scale the weights back, and the weights."""

    node: NodeProto
    scaled: NodeProto
    cast: NodeProto
    weights: np.ndarray
    scale: np.ndarray


def products(graph: onnx.GraphProto) -> dict[str, Product]:
    """Find the products with rounded weights by the name of their output."""
    values = {item.name: item for item in graph.initializer}
    makers = {name: node for node in graph.node for name in node.output}
    found = {}
    for node in graph.node:
        scaled = makers.get(node.input[1]) if node.op_type == "MatMul" else None
        cast = makers.get(scaled.input[0]) if scaled is not None and scaled.op_type == "Mul" else None
        if scaled is None or cast is None or cast.op_type != "Cast" or cast.input[0] not in values:
            continue
        weights = numpy_helper.to_array(values[cast.input[0]])
        if weights.shape[1] >= _FEWEST_OUTPUTS:
            scale = numpy_helper.to_array(values[scaled.input[1]]).reshape(-1)
            found[node.output[0]] = Product(node, scaled, cast, weights, scale)
    return found


def measured(model: onnx.ModelProto, feeds: Iterable[Mapping[str, np.ndarray]]) -> Ranges:
    """Run texts through the graph and note between what values the left sides of its products lie."""
    names = list(dict.fromkeys(product.node.input[0] for product in products(model.graph).values()))
    watched = onnx.ModelProto()
    watched.CopyFrom(model)
    watched.graph.output.extend(helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in names)
    session = onnxruntime.InferenceSession(watched.SerializeToString(), providers=["CPUExecutionProvider"])
    ranges = dict.fromkeys(names, (0.0, 0.0))
    for feed in feeds:
        real = feed["attention_mask"].astype(bool)
        for name, values in zip(names, session.run(names, dict(feed)), strict=True):
            said = values[real] if values.shape[:2] == real.shape else values
            low, high = ranges[name]
            ranges[name] = (min(low, float(said.min())), max(high, float(said.max())))
    return ranges


def with_integers(model: onnx.ModelProto, ranges: Ranges) -> onnx.ModelProto:
    """Rewrite the products of a graph; a graph without rounded weights stays as it is."""
    writer = _Writer(model.graph, ranges)
    writer.write()
    if all(item.domain != "com.microsoft" for item in model.opset_import):
        model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    return model


class _Writer:
    """Write the nodes of a graph anew."""

    def __init__(self, graph: onnx.GraphProto, ranges: Ranges) -> None:
        self.graph, self.ranges = graph, ranges
        self.products = products(graph)
        self.constants = {item.name: item for item in graph.initializer}
        self.nodes: list[NodeProto] = []
        self.split: set[str] = set()

    def write(self) -> None:
        """Replace the graph's nodes and values by the new ones."""
        biases = {node.output[0]: node for node in self.graph.node if node.op_type == "Add"}
        taken = {}
        for name in self.products:
            for total, node in biases.items():
                other = [item for item in node.input if item != name]
                if name in node.input and len(other) == 1 and other[0] in self.constants:
                    taken[total] = (name, other[0])
        joined = {name for name, _ in taken.values()}
        for node in self.graph.node:
            total = node.output[0]
            if total in taken:
                name, bias = taken[total]
                self._product(self.products[name], total, [bias])
            elif total in self.products:
                if total not in joined:
                    self._product(self.products[total], total, [])
            else:
                self.nodes.append(node)
        self._replace()

    def _product(self, product: Product, total: str, bias: list[str]) -> None:
        left, name = product.node.input[0], product.cast.input[0]
        self._digits(left)
        weights = self._constant(f"{name}.whole", product.weights)
        scale = self._constant(f"{name}.by", product.scale.astype(np.float32))
        for digit, more in (("high", []), ("low", ["", *bias] if bias else [])):
            inputs = [f"{left}.{digit}", weights, f"{left}.{digit}.step", scale, f"{left}.{digit}.zero", *more]
            self._node("MatMulIntegerToFloat", inputs, f"{total}.{digit}", domain="com.microsoft")
        self._node("Add", [f"{total}.high", f"{total}.low"], total)

    def _digits(self, name: str) -> None:
        """Write a value as two digits; once, however many products it is in."""
        if name in self.split:
            return
        self.split.add(name)
        low, high = (bound * _MARGIN for bound in self.ranges[name])
        step = np.float32((high - low) / (BASE - 2))
        self._constant(f"{name}.high.step", step)
        self._constant(f"{name}.high.zero", np.uint8(np.ceil(-low / step)))
        self._constant(f"{name}.low.step", np.float32(step / BASE))
        self._constant(f"{name}.low.zero", np.uint8(BASE // 2))
        coarse = [f"{name}.high.step", f"{name}.high.zero"]
        self._node("QuantizeLinear", [name, *coarse], f"{name}.high")
        self._node("DequantizeLinear", [f"{name}.high", *coarse], f"{name}.near")
        self._node("Sub", [name, f"{name}.near"], f"{name}.rest")
        self._node("QuantizeLinear", [f"{name}.rest", f"{name}.low.step", f"{name}.low.zero"], f"{name}.low")

    def _node(self, kind: str, inputs: Sequence[str], output: str, **more: Any) -> None:
        self.nodes.append(helper.make_node(kind, list(inputs), [output], **more))

    def _constant(self, name: str, value: Any) -> str:
        self.constants[name] = numpy_helper.from_array(np.asarray(value), name)
        return name

    def _replace(self) -> None:
        wanted = {item.name for item in self.graph.output}
        nodes: list[NodeProto] = []
        for node in reversed(self.nodes):  # backwards: what nothing needs any more is left out
            if wanted.intersection(node.output):
                wanted.update(node.input)
                nodes.insert(0, node)
        del self.graph.node[:], self.graph.initializer[:]
        self.graph.node.extend(nodes)
        self.graph.initializer.extend(item for name, item in self.constants.items() if name in wanted)


def feeds_of(texts: Sequence[Any]) -> Iterator[dict[str, np.ndarray]]:
    """Turn texts into what a graph takes, some at a time."""
    reader = tokenizer(_MAX_TOKENS)
    table = word_vectors(bundled_folder() / "model.safetensors")
    for start in range(0, len(texts), _BATCH):
        feed = {name: tensor.numpy() for name, tensor in encode(reader, texts[start : start + _BATCH]).items()}
        yield {"word_vectors": np.asarray(table[feed["input_ids"]]), **feed}


def sentences() -> list[tuple[str, str]]:
    """Give texts to measure with: sentences of the training data, as they stand in the windows of chats and in pairs."""
    lines = (Path(__file__).parent / "pairs.jsonl").read_text(encoding="utf-8").splitlines()[:240]
    pairs = [(row["old"], row["new"]) for row in map(json.loads, lines)]
    chats = [
        (f"Ann (person): {old} / Bo (agent): {new}", f"Cy (agent): [MASK] {new} [MASK] {old} [MASK] {other}")
        for (old, new), (other, _) in zip(pairs[::2], pairs[1::2], strict=True)
    ]
    return [*pairs[:120], *chats]


def convert(path: Path, target: Path | None = None) -> bool:
    """Rewrite the graph at ``path``, in place unless told where to; False where there is nothing to rewrite."""
    model = onnx.load(str(path))
    if not products(model.graph):
        return False
    onnx.save(with_integers(model, measured(model, feeds_of(sentences()))), str(target or path))
    return True


def main() -> None:
    """Rewrite the weights that are named."""
    parser = argparse.ArgumentParser(prog="python -m training.integers", description=__doc__)
    parser.add_argument("names", nargs="+", choices=["keep", "judge", "question", "reader"])
    parser.add_argument("--to", type=Path, help="write into this folder instead of in place")
    asked = parser.parse_args()
    for name in asked.names:
        done = convert(WEIGHTS / f"{name}.onnx", asked.to / f"{name}.onnx" if asked.to else None)
        print(f"{name}: {'rewritten' if done else 'nothing to rewrite'}")


if __name__ == "__main__":
    main()
