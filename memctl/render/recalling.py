"""Recall blocks on stdout, in the format that was asked for."""

import json
import sys
from collections.abc import Callable, Sequence
from typing import Any

from memctl.model import RecallBlock, Result
from memctl.shapes import block_shape


def write_blocks(blocks: Sequence[RecallBlock], format_name: str, *, explain: bool = False) -> None:
    """Print answers; an empty block prints nothing, except in the formats that are JSON."""
    for block in blocks:
        text = as_text(block, format_name)
        if text:
            print(text)
        if explain and format_name not in ("json", "jsonl"):
            _explain(block)


def as_text(block: RecallBlock, format_name: str) -> str:
    """Write one answer."""
    if format_name in ("json", "jsonl"):
        return json.dumps(block_shape(block), ensure_ascii=False, indent=2 if format_name == "json" else None)
    if format_name == "messages":
        messages = [{"role": "system", "content": block.text}] if block.text else []
        return json.dumps(messages, ensure_ascii=False)
    return block.text


def _explain(block: RecallBlock) -> None:
    """Show the parts of each score on stderr: they are not part of the block."""
    for hit in block.hits:
        parts = "  ".join(f"{name} {value:.3f}" for name, value in hit.parts.items())
        print(f"{hit.score:.3f}  {hit.fact.id[:8]}  {hit.fact.text[:60]}\n       {parts}", file=sys.stderr)


def recalled(result: Result[RecallBlock], **_: Any) -> None:
    """The block as a prompt would hold it."""
    write_blocks((result.data,), "markdown")


RENDERERS: dict[str, Callable[..., None]] = {"recall": recalled}
