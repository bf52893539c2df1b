"""Conversations that a program holds in its hands, rather than in a file."""

import json
from typing import Any

from memctl.errors import MemctlError, UnknownFormat
from memctl.memory import OpenMemory
from memctl.model import Result
from memctl.operations.ingest import Ingested, ingest
from memctl.transcripts.plain import opens_with_a_side


def ingest_conversation(memory: OpenMemory, data: bytes, *, free: bool = False, **options: Any) -> Result[Ingested]:
    """Learn from the bytes of a transcript; ``options`` as for ``ingest``.

    With ``free``, a text that is no chat of several is no mistake: somebody said it. It is read as the turns of the
    side that it names, or where nobody is marked as speaking as one turn of the user.
    """
    try:
        return ingest(memory, ["-"], stdin=lambda: data, **options)
    except MemctlError as error:
        if error.code != UnknownFormat.code or not free:
            raise
    text = data.decode("utf-8", "replace")
    if opens_with_a_side(text):
        return ingest(memory, ["-"], stdin=lambda: data, format="plain", **options)
    return ingest(memory, ["-"], stdin=lambda: _one_turn(text), **options)


def _one_turn(text: str) -> bytes:
    """Write a text as a transcript in which the user says it."""
    return json.dumps([{"role": "user", "name": "user", "content": text}], ensure_ascii=False).encode(
        "utf-8", "replace"
    )
