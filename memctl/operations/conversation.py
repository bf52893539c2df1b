"""Conversations that a program holds in its hands, rather than in a file."""

import json
from typing import Any

from memctl.errors import MemctlError, UnknownFormat
from memctl.memory import OpenMemory
from memctl.model import Result
from memctl.operations.ingest import Ingested, ingest


def ingest_conversation(memory: OpenMemory, data: bytes, *, free: bool = False, **options: Any) -> Result[Ingested]:
    """Learn from the bytes of a transcript; ``options`` as for ``ingest``.

    With ``free``, a text in which nobody is marked as speaking is no mistake: somebody said it, so it counts as one
    turn of the user.
    """
    try:
        return ingest(memory, ["-"], stdin=lambda: data, **options)
    except MemctlError as error:
        if error.code != UnknownFormat.code or not free:
            raise
        whole = one_turn(data.decode("utf-8", "replace"))
        return ingest(memory, ["-"], stdin=lambda: whole, **options)


def one_turn(text: str) -> bytes:
    """Write a text as a transcript in which the user says it."""
    return json.dumps([{"role": "user", "name": "user", "content": text}], ensure_ascii=False).encode(
        "utf-8", "replace"
    )
