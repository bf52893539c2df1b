"""A memory as the reader sees it: the model that reads a question and a memory together and tells whether it answers.

What was said just before is read too: many a memory answers a question only together with what it was a reply to.
"""

from memctl.languages import in_english
from memctl.model import MemoryType

_BEFORE_CHARS = 90


def asked(question: str) -> str:
    """Write a question for the reader."""
    return in_english(question)


def passage(kind: MemoryType, text: str, before: str = "") -> str:
    """Write a memory for the reader, with the end of the message ``before`` the one that it was made of."""
    tail = " ".join(before.split())[-_BEFORE_CHARS:]
    told = f"{kind}: {in_english(text)}"
    return f"{told} | {in_english(tail)}" if tail else told
