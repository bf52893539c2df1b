"""Everything in extraction that is not a model: cleaning, cutting, reading the answers, composing, telling expiry."""

import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from benchmarks.chats import START, Writer, lengths
from benchmarks.context import Context
from benchmarks.figures import Figure, at_least
from benchmarks.models import answers
from memctl.extraction.clean import clean
from memctl.extraction.local import LABELS, LocalExtractor
from memctl.extraction.windows import SLOTS
from memctl.model import Message, Role, Transcript

_ROLES = {"user": Role.USER, "assistant": Role.AGENT, "tool": Role.TOOL}
_MESSAGES_PER_CHAT = 20


def measure(context: Context) -> Iterator[Figure]:
    """Measure messages a second of one core, with a classifier that answers at once."""
    import numpy as np

    drawn = np.random.default_rng(1)
    extractor = LocalExtractor(lambda inputs: [answers(drawn, len(inputs), (SLOTS, len(LABELS)))])
    warming, *chats = _chats(context.size.extraction_messages)
    _extract(extractor, [warming])
    began, claims = time.process_time(), 0
    for chat in chats:
        claims += _extract(extractor, [chat])
    seconds = time.process_time() - began
    messages = sum(len(chat.messages) for chat in chats)
    note = f"{messages} messages, {claims} claims, {seconds:.1f} s of one processor"
    yield Figure("messages without a model", messages / seconds, "/s", at_least(2000), note)


def _extract(extractor: Any, chats: list[Transcript]) -> int:
    cleaned = [clean(chat).transcript for chat in chats]
    return sum(len(each.claims) for each in extractor.extract(cleaned, "bench"))


def _chats(messages: int) -> list[Transcript]:
    writer = Writer(3)
    return [
        Transcript(
            f"chat-{number}",
            "made up",
            tuple(
                Message(place, said.speaker, _ROLES[said.role], said.text, START + timedelta(minutes=place))
                for place, said in enumerate(writer.chat(length))
            ),
        )
        for number, length in enumerate(lengths(messages, max(2, messages // _MESSAGES_PER_CHAT)))
    ]
