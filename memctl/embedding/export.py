"""Exporting a sentence-transformers model to ONNX. The only module that imports torch."""

import inspect
import json
import os
import warnings
from pathlib import Path
from typing import Any

from memctl.errors import ModelUnavailable


def export_model(source: str, folder: Path) -> None:
    """Write ``model.onnx``, ``tokenizer.json`` and ``model.json`` of the model at ``source`` into ``folder``."""
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = _load(source)
        graph = _sentence_graph(model, source)
        tokenizer = _fast_tokenizer(model, source)
        tokenizer.backend_tokenizer.save(str(folder / "tokenizer.json"))
        _write_graph(graph, folder / "model.onnx")
    about = {
        "source": Path(source).name,
        "dimension": model.get_embedding_dimension(),
        "max_tokens": model.max_seq_length,
    }
    (folder / "model.json").write_text(json.dumps(about), encoding="utf-8")


def _load(source: str) -> Any:
    import logging

    logging.getLogger("sentence_transformers").setLevel(logging.ERROR)
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging as transformers_logging

    transformers_logging.disable_progress_bar()
    try:
        return SentenceTransformer(source, device="cpu", model_kwargs={"attn_implementation": "eager"})
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ModelUnavailable(name=source, reason=reason) from error


def _fast_tokenizer(model: Any, source: str) -> Any:
    tokenizer = model.tokenizer
    if not hasattr(tokenizer, "backend_tokenizer"):
        raise ModelUnavailable(name=source, reason="it has no fast tokenizer")
    return tokenizer


def _sentence_graph(model: Any, source: str) -> Any:
    """Wrap transformer, pooling and normalisation as one module, so that the graph puts out unit vectors."""
    import torch

    pooling = model[1].get_config_dict() if len(model) > 1 else {}
    use_cls = bool(pooling.get("pooling_mode_cls_token") or pooling.get("pooling_mode") == "cls")
    if not use_cls and not (pooling.get("pooling_mode_mean_tokens") or pooling.get("pooling_mode") == "mean"):
        raise ModelUnavailable(name=source, reason="memctl exports models with mean or CLS pooling only")
    transformer = model[0].auto_model.eval()

    class SentenceGraph(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.transformer = transformer

        def forward(self, input_ids: Any, attention_mask: Any, token_type_ids: Any = None) -> Any:
            segments = {} if token_type_ids is None else {"token_type_ids": token_type_ids}
            hidden = self.transformer(input_ids=input_ids, attention_mask=attention_mask, **segments).last_hidden_state
            mask = attention_mask.unsqueeze(-1).to(hidden.dtype)
            pooled = hidden[:, 0] if use_cls else (hidden * mask).sum(1) / mask.sum(1).clamp(min=1e-9)
            return torch.nn.functional.normalize(pooled, p=2, dim=1)

    return SentenceGraph().eval()


def _write_graph(graph: Any, path: Path) -> None:
    import torch

    sample = torch.ones((2, 8), dtype=torch.int64)
    names = ["input_ids", "attention_mask"]
    inputs: tuple[Any, ...] = (sample, sample)
    if "token_type_ids" in inspect.signature(graph.transformer.forward).parameters:
        names.append("token_type_ids")
        inputs = (sample, sample, torch.zeros_like(sample))
    axes = {name: {0: "batch", 1: "tokens"} for name in names}
    with torch.no_grad():
        torch.onnx.export(
            graph,
            inputs,
            str(path),
            input_names=names,
            output_names=["sentence_embedding"],
            dynamic_axes={**axes, "sentence_embedding": {0: "batch"}},
            opset_version=17,
            dynamo=False,
        )
