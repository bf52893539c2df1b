"""Messages that a file holds twice: a resumed chat begins with a copy of the chat before it."""

from collections.abc import Sequence

from memctl.model import Message
from memctl.transcripts.document import counted

MANAGER = "chat_manager"
_SELECTORS = frozenset({"checking_agent", "speaker_selection_agent"})  # inside, a manager asks a model who is next
_FEWEST = 3


def without_repeats(messages: Sequence[Message], starts: Sequence[int] = ()) -> tuple[list[Message], tuple[str, ...]]:
    """Leave out the copies of earlier turns.

    A copy is everything from the beginning of the file, at least three different messages, said again word
    for word. ``starts`` are the indexes at which lists in the file begin; there one message is enough.
    """
    fresh = frozenset(starts[1:])
    kept: list[Message] = []
    texts: set[str] = set()
    place = 0
    while place < len(messages):
        least = 1 if messages[place].index in fresh else _FEWEST
        if len(texts) >= least and _says_again(messages, place, kept):
            place += len(kept)
        else:
            kept.append(messages[place])
            texts.add(messages[place].text)
            place += 1
    dropped = len(messages) - len(kept)
    return kept, ((f"left out {counted(dropped, 'repeated message')} of a resumed chat",) if dropped else ())


def _says_again(messages: Sequence[Message], place: int, before: Sequence[Message]) -> bool:
    """Tell whether the messages from ``place`` on repeat all of ``before``; the first difference ends it."""
    if place + len(before) > len(messages):
        return False
    return all(_same(messages[place + n], message) for n, message in enumerate(before))


def _same(one: Message, other: Message) -> bool:
    return one.text == other.text and one.speaker == other.speaker and one.tool_calls == other.tool_calls


def without_relays(messages: Sequence[Message]) -> list[Message]:
    """Leave out what the manager of a group chat merely passes on, and its talk about who speaks next."""
    heard: set[str] = set()
    fresh = []
    for message in messages:
        if message.speaker not in _SELECTORS and (message.speaker != MANAGER or message.text not in heard):
            fresh.append(message)
        heard.add(message.text)
    return fresh
