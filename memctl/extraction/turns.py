"""From a transcript to turns: each message with its speaker's kind and the units that may be kept."""

from collections.abc import Sequence

from memctl.extraction.acts import TOOL, kinds
from memctl.extraction.listings import worth_reading
from memctl.extraction.outputs import error_units, is_fetched, is_output
from memctl.extraction.segment import segment
from memctl.extraction.windows import Turn
from memctl.model import Message, Role

_LONGEST_MESSAGE = 20_000  # beyond this a message is a dump; its beginning says what it is


def turns(messages: Sequence[Message]) -> list[Turn]:
    """Prepare the messages of one chat, a turn each, in order."""
    who = kinds(messages)
    return [_turn(message, who) for message in messages]


def _turn(message: Message, who: dict[str, str]) -> Turn:
    if message.role is Role.SYSTEM:
        return Turn(message.speaker, "system", message.text, ())
    if is_fetched(message):
        return Turn(message.speaker, TOOL, message.text, ())
    kind = TOOL if is_output(message) else who[message.speaker]
    units = error_units(message) if kind == TOOL else worth_reading(segment(message.text[:_LONGEST_MESSAGE]))
    return Turn(message.speaker, kind, message.text, tuple(units))
