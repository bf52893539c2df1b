"""The LLM extractor: chunks in, grounded claims out, and the local extractor where the endpoint fails.

Nothing is lost: a transcript whose requests fail, or for which no calls are left, is read by the fallback and the
run says so. Nothing is invented: facts that the chat does not bear out are refused and counted.
"""

import asyncio
import warnings
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from memctl import times
from memctl.errors import EndpointUnavailable
from memctl.extraction.expiry import DEFAULTS, expires
from memctl.extraction.grounding import Proposed, refusal
from memctl.extraction.llm_cache import LlmCache, default_folder, key_of
from memctl.extraction.llm_chunks import Chunk, chunks, estimate_tokens, said
from memctl.extraction.llm_endpoint import ChatModel, Endpoint
from memctl.extraction.llm_prompts import EXTRACT, VERSION, facts_schema
from memctl.extraction.types import Extraction, Extractor, Trace
from memctl.model import Claim, MemoryType, Message, Source, Transcript
from memctl.settings import Settings

_CONFIDENCE = 0.8
_NEIGHBOURS = 4
_ANSWER_TOKENS = 60
# After so many transcripts in a row without an answer, the endpoint is taken to be down for this run.
_GIVE_UP_AFTER = 2

T = TypeVar("T")


class Plan(NamedTuple):
    """What a run would cost: requests, tokens sent and (roughly) received, and chunks whose answer is known."""

    calls: int
    tokens: int
    cached: int


@dataclass(slots=True)
class _Run:
    """The state of one ``extract``: the model, what may still be asked, and whether it still answers."""

    model: ChatModel
    gate: asyncio.Semaphore
    left: int
    silent: int = 0


@dataclass(slots=True)
class _Reading:
    """What one transcript gave so far."""

    claims: list[Claim] = field(default_factory=list)
    trace: list[Trace] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)


class LlmExtractor:
    """Extracts with a chat model; obeys the same interface as the local extractor, which is its fallback."""

    def __init__(
        self,
        endpoint: Endpoint,
        fallback: Extractor,
        *,
        cache: LlmCache,
        context_tokens: int = 8000,
        max_calls: int = 200,
        lifetimes: dict[MemoryType, timedelta] | None = None,
        on_note: Callable[[str], None] | None = None,
    ) -> None:
        self.endpoint = endpoint
        self.fallback = fallback
        self.cache = cache
        self.context_tokens = context_tokens
        self.calls_left = max_calls
        self.lifetimes = lifetimes or dict(DEFAULTS)
        self._note = on_note or (lambda _: None)

    @classmethod
    def from_settings(
        cls,
        settings: Settings,
        *,
        fallback: Extractor,
        on_note: Callable[[str], None] | None = None,
        cache: Path | None = None,
    ) -> "LlmExtractor":
        """Open the extractor that ``llm.*`` and ``ttl.*`` describe; ``cache`` overrides the platform's folder."""
        return cls(
            Endpoint.from_settings(settings),
            fallback,
            cache=LlmCache(cache or default_folder()),
            context_tokens=int(settings["llm.context_tokens"]),
            max_calls=int(settings["llm.max_calls"]),
            lifetimes={
                MemoryType.TEMPORARY: times.parse_duration(str(settings["ttl.temporary"])),
                MemoryType.CONTEXT: times.parse_duration(str(settings["ttl.context"])),
            },
            on_note=on_note,
        )

    def plan(self, transcripts: Sequence[Transcript], since: Sequence[int] | None = None) -> Plan:
        """Tell what extracting would cost, without asking anything."""
        asked = cached = tokens = 0
        for transcript, start in zip(transcripts, _starts(transcripts, since), strict=True):
            for chunk in chunks(transcript, self.context_tokens, start):
                if self.cache.get(self._key(chunk)) is not None:
                    cached += 1
                else:
                    asked += 1
                    tokens += estimate_tokens(EXTRACT + chunk.text) + _ANSWER_TOKENS * len(chunk.positions)
        return Plan(asked, tokens, cached)

    def extract(
        self, transcripts: Sequence[Transcript], agent: str, since: Sequence[int] | None = None
    ) -> list[Extraction]:
        """Read each transcript for the scope ``agent``; one Extraction each, in the same order."""
        starts = _starts(transcripts, since)
        return finish(self._extract_all(transcripts, agent, starts)) if transcripts else []

    async def _extract_all(
        self, transcripts: Sequence[Transcript], agent: str, starts: Sequence[int]
    ) -> list[Extraction]:
        run = _Run(ChatModel(self.endpoint), asyncio.Semaphore(self.endpoint.parallel), self.calls_left)
        try:
            work = [self._extract_one(run, t, agent, s) for t, s in zip(transcripts, starts, strict=True)]
            return list(await asyncio.gather(*work))
        finally:
            self.calls_left = run.left
            await run.model.close()

    async def _extract_one(self, run: _Run, transcript: Transcript, agent: str, start: int) -> Extraction:
        pieces = chunks(transcript, self.context_tokens, start)
        needed = sum(self.cache.get(self._key(chunk)) is None for chunk in pieces)
        if needed > run.left:
            return self._fall_back(transcript, agent, start, f"{needed} calls needed, {run.left} left of --max-calls")
        run.left -= needed
        try:
            answers = await asyncio.gather(*(self._answer(run, chunk) for chunk in pieces))
        except EndpointUnavailable as error:
            return self._fall_back(transcript, agent, start, str(error))
        return self._extraction(transcript, agent, pieces, answers)

    async def _answer(self, run: _Run, chunk: Chunk) -> list[dict[str, Any]]:
        """Return the facts that the model names for a chunk, from the cache if it was asked before."""
        key = self._key(chunk)
        known = self.cache.get(key)
        if known is not None:
            return _facts_in(known, self.endpoint.name)
        async with run.gate:
            if run.silent >= _GIVE_UP_AFTER:
                raise EndpointUnavailable(name=self.endpoint.name, reason="it failed before in this run")
            try:
                answer = await run.model.ask(EXTRACT, chunk.text, "facts", facts_schema(len(chunk.positions)))
                facts = _facts_in(answer, self.endpoint.name)
            except EndpointUnavailable:
                run.silent += 1
                raise
            run.silent = 0
        self.cache.put(key, {"facts": facts})
        return facts

    def _extraction(
        self,
        transcript: Transcript,
        agent: str,
        pieces: Sequence[Chunk],
        answers: Sequence[list[dict[str, Any]]],
    ) -> Extraction:
        reading = _Reading()
        for chunk, facts in zip(pieces, answers, strict=True):
            for fact in facts:
                self._take(reading, transcript, agent, chunk, fact)
        notes = _refusal_note(reading.refused)
        claims = sorted(reading.claims, key=lambda claim: claim.source.message or 0)
        return Extraction(tuple(claims), tuple(sorted(reading.trace, key=lambda t: t.message)), notes)

    def _take(self, reading: _Reading, transcript: Transcript, agent: str, chunk: Chunk, fact: dict[str, Any]) -> None:
        """Keep a fact if the chat bears it out; else count it as refused."""
        number = fact["message"]
        if not 1 <= number <= len(chunk.positions):
            reading.refused["no such message"] += 1
            return
        place = chunk.positions[number - 1]
        message = transcript.messages[place]
        why = self._refusal(transcript, place, fact) or ("said before" if _is_known(reading, fact["text"]) else "")
        reading.trace.append(
            Trace(
                message.index, fact["quote"], not why, why or "noted by the model, and said", fact["type"], _CONFIDENCE
            )
        )
        if why:
            reading.refused[why.split(":")[0]] += 1
        else:
            reading.claims.append(self._claim(transcript, message, agent, fact))

    def _refusal(self, transcript: Transcript, place: int, fact: dict[str, Any]) -> str:
        around = transcript.messages[max(0, place - _NEIGHBOURS) : place + _NEIGHBOURS + 1]
        names = {message.speaker for message in transcript.messages}
        return refusal(
            Proposed(fact["text"], fact["quote"]), said(transcript.messages[place]), [said(m) for m in around], names
        )

    def _claim(self, transcript: Transcript, message: Message, agent: str, fact: dict[str, Any]) -> Claim:
        at = message.at or times.now()
        kind = MemoryType(fact["type"])
        source = Source(transcript.path, message.index, message.speaker, fact["quote"], message.at, message.role.value)
        ends = expires(f"{fact['text']} {fact['quote']}", kind, at, self.lifetimes)
        text = " ".join(fact["text"].split())
        return Claim(text, kind, agent, at, source, expires_at=ends, confidence=_CONFIDENCE, rule="llm")

    def _fall_back(self, transcript: Transcript, agent: str, start: int, reason: str) -> Extraction:
        note = f"{transcript.path}: read by the local extractor ({reason})"
        self._note(note)
        local = self.fallback.extract([transcript], agent, [start])[0]
        return Extraction(local.claims, local.trace, (*local.notes, note))

    def _key(self, chunk: Chunk) -> str:
        return key_of(self.endpoint.model, VERSION, EXTRACT, chunk.text)


def _starts(transcripts: Sequence[Transcript], since: Sequence[int] | None) -> Sequence[int]:
    return since if since is not None else [0] * len(transcripts)


def _is_known(reading: _Reading, text: str) -> bool:
    return any(claim.text.casefold() == " ".join(text.split()).casefold() for claim in reading.claims)


def _facts_in(answer: Any, name: str) -> list[dict[str, Any]]:
    """Check the form of an answer; rows of another form are left out, an answer of another form is a failure."""
    rows = answer.get("facts") if isinstance(answer, dict) else None
    if not isinstance(rows, list):
        raise EndpointUnavailable(name=name, reason="its answer has another form than asked for")
    return [row for row in rows if _is_fact(row)]


def _is_fact(row: Any) -> bool:
    return (
        isinstance(row, dict)
        and isinstance(row.get("message"), int)
        and isinstance(row.get("quote"), str)
        and isinstance(row.get("text"), str)
        and row.get("type") in list(MemoryType)
    )


def _refusal_note(refused: Counter[str]) -> tuple[str, ...]:
    if not refused:
        return ()
    reasons = ", ".join(f"{count} {reason}" for reason, count in refused.most_common())
    return (f"{refused.total()} facts of the model were refused: {reasons}",)


def finish(work: Coroutine[Any, Any, T]) -> T:
    """Run to the end; from inside a running event loop, in a thread of its own."""
    with warnings.catch_warnings():
        # Servers report the file of the model as its name; AutoGen warns about that on every answer.
        warnings.filterwarnings("ignore", message="Resolved model mismatch")
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(work)
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(1) as pool:
            return pool.submit(asyncio.run, work).result()
