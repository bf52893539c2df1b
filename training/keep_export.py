"""Write the trained keep model as an ONNX graph with weights of eight bits, and the card beside it."""

import hashlib
import json
from dataclasses import asdict
from pathlib import Path

from memctl.extraction.compose import Bar
from training.graphs import encode
from training.graphs import export as export_graph
from training.keep_data import LABELS
from training.keep_model import MAX_TOKENS, KeepModel, reading

_SAMPLE = [
    ("start / end", "Ann (person): [MASK] We use X."),
    ("Bo (person): hi / end", "Ann (person): [MASK] Yes. [MASK] We use Y."),
]


def export(model: KeepModel, path: Path) -> None:
    """Export the model; its output is windows by slots by labels, probabilities."""
    export_graph(model, path, encode(reading(), _SAMPLE), "probabilities", chances=True)


def write_card(path: Path, bar: Bar, lean: dict[str, float], sources: list[Path]) -> None:
    """Describe the weights: classes, bars, which types to lean to, and a digest of what they were trained on."""
    digest = hashlib.sha256()
    for source in sorted(sources):
        digest.update(source.read_bytes())
    card = {
        "labels": list(LABELS),
        "bar": asdict(bar),
        "lean": lean,
        "max_tokens": MAX_TOKENS,
        "trained_on": digest.hexdigest(),
    }
    path.write_text(json.dumps(card, indent=2) + "\n")
