"""The gate in front of extraction: what passes is free of credentials, recall blocks and injected instructions.

Every text of a transcript goes through it: what was said, what tools were asked and what they answered.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from memctl.extraction.characters import strip_invisible
from memctl.extraction.echoes import cut_echoes
from memctl.extraction.quarantine import INVISIBLE, Injected, Injections, sift, sift_repeats
from memctl.extraction.redact import RedactionRules, redact, repeated
from memctl.model import Message, Role, ToolCall, ToolResult, Transcript


@dataclass(frozen=True, slots=True)
class CleaningRules:
    """How a transcript is cleaned."""

    redaction: RedactionRules = field(default_factory=RedactionRules)
    quarantine: bool = True


@dataclass(frozen=True, slots=True)
class Suspect:
    """An injected instruction: where it stood, who carried it, its text (redacted) and the reason."""

    message: int
    speaker: str
    role: Role
    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Cleaned:
    """A transcript fit for extraction, and what was taken out of it.

    ``redactions`` counts credentials by kind, ``used`` are ids of our facts that recall blocks and citations
    showed, ``echoes`` is the number of recall blocks.
    """

    transcript: Transcript
    redactions: dict[str, int]
    used: tuple[str, ...]
    quarantined: tuple[Suspect, ...]
    echoes: int = 0


DEFAULT_RULES = CleaningRules()
# Agents that mostly show what they fetched or ran: what they say is not their own.
_CARRIER = re.compile(
    r"surfer|fetch|browser|scrap|crawl|execut|terminal|shell|runner|tool(?:box)?s?(?:$|[_\s-])", re.IGNORECASE
)


def clean(transcript: Transcript, rules: CleaningRules = DEFAULT_RULES) -> Cleaned:
    """Clean every text of a transcript. Messages keep their number and place; an emptied one stays, empty."""
    run = _Run(rules)
    messages = [run.clean(message) for message in transcript.messages]
    messages = run.clean_again(messages)
    return Cleaned(
        replace(transcript, messages=tuple(messages)),
        dict(run.redactions),
        tuple(run.used),
        tuple(run.suspects),
        run.echoes,
    )


class _Run:
    """What is learned while one transcript is cleaned: secrets and injected words that may come again."""

    def __init__(self, rules: CleaningRules) -> None:
        self.rules = rules
        self.redactions: Counter[str] = Counter()
        self.values: set[str] = set()
        self.used: dict[str, None] = {}
        self.suspects: list[Suspect] = []
        self.echoes = 0

    def clean(self, message: Message) -> Message:
        """Clean one message with its tool calls and results."""
        # System prompts are never extracted from; what they order is legitimate.
        trusted = message.role is not Role.TOOL and not _CARRIER.search(message.speaker)
        sifting = self.rules.quarantine and message.role is not Role.SYSTEM
        text = self._text(message, message.text, trusted=trusted, sifting=sifting)
        calls = tuple(replace(call, arguments=self._safe(call.arguments)[0]) for call in message.tool_calls)
        results = tuple(
            replace(result, content=self._text(message, result.content, trusted=False, sifting=sifting))
            for result in message.tool_results
        )
        return _changed(message, text, calls, results)

    def clean_again(self, messages: list[Message]) -> list[Message]:
        """Take out what one message gave away and another repeats: bare secrets, injected words."""
        secrets = repeated(self.values)
        known = Injections.of(suspect.text for suspect in self.suspects)
        if secrets is None and not known.texts:
            return messages
        return [self._without_repeats(message, secrets, known) for message in messages]

    def _without_repeats(self, message: Message, secrets: re.Pattern[str] | None, known: Injections) -> Message:
        def again(text: str) -> str:
            hidden = self._hide(text, secrets)
            if message.role is Role.SYSTEM:
                return hidden
            sifted = sift_repeats(hidden, known)
            self._suspect(message, sifted.injected)
            return sifted.text

        calls = tuple(replace(call, arguments=self._hide(call.arguments, secrets)) for call in message.tool_calls)
        results = tuple(replace(result, content=again(result.content)) for result in message.tool_results)
        return _changed(message, again(message.text), calls, results)

    def _hide(self, text: str, secrets: re.Pattern[str] | None) -> str:
        if secrets is None:
            return text
        text, count = secrets.subn("[redacted: repeated]", text)
        if count:
            self.redactions["repeated"] += count
        return text

    def _text(self, message: Message, text: str, *, trusted: bool, sifting: bool) -> str:
        text, hidden = self._safe(text)
        unechoed = cut_echoes(text)
        self.used.update(dict.fromkeys(unechoed.used))
        self.echoes += unechoed.blocks
        self._suspect(message, [Injected(redact(piece).text, INVISIBLE) for piece in hidden])
        if not sifting:
            return unechoed.text
        sifted = sift(unechoed.text, trusted=trusted)
        self._suspect(message, sifted.injected)
        return sifted.text

    def _safe(self, text: str) -> tuple[str, tuple[str, ...]]:
        """Strip what people do not see and redact; return also what was hidden."""
        visible, hidden = strip_invisible(text)
        redacted = redact(visible, self.rules.redaction)
        self.redactions.update(redacted.found)
        self.values |= redacted.values
        return redacted.text, hidden

    def _suspect(self, message: Message, injected: Iterable[Injected]) -> None:
        new = [Suspect(message.index, message.speaker, message.role, piece.text, piece.reason) for piece in injected]
        self.suspects += [suspect for suspect in new if suspect not in self.suspects]


def _changed(message: Message, text: str, calls: tuple[ToolCall, ...], results: tuple[ToolResult, ...]) -> Message:
    """Copy a message only if something in it changed."""
    if text == message.text and calls == message.tool_calls and results == message.tool_results:
        return message
    return replace(message, text=text, tool_calls=calls, tool_results=results)
