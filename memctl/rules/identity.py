"""Who is who: the id of a fact and the key of a place where something was said."""

import hashlib
import re
import unicodedata

from memctl.model import Source

_SPACE = re.compile(r"\s+")
_ID_LENGTH = 16
_CLOSING = " .!?;:,…。！？；，、"


def normalised(text: str) -> str:
    """Reduce a sentence to what makes it the same sentence: no case, width, spacing or closing punctuation."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return _SPACE.sub(" ", folded).strip().rstrip(_CLOSING)


def fact_id(agent: str, text: str) -> str:
    """Name a fact by its scope and its normalised text, so that the same sentence is always the same fact."""
    return hashlib.sha256(f"{agent}\0{normalised(text)}".encode()).hexdigest()[:_ID_LENGTH]


def place(source: Source, text: str) -> tuple[str, ...]:
    """Name one utterance: re-reading a transcript gives the same place, saying it again elsewhere does not.

    A source without a message number was typed by hand; then only the time tells two utterances apart.
    """
    where = str(source.message) if source.message is not None else f"at {source.at}"
    return (source.transcript, where, normalised(text))
