"""A second opinion on pairs of notes that the local judge is unsure about (``--judge llm``).

The model sees two sentences, never an id, and answers with one of four words. Whatever goes wrong is "unsure".
"""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from memctl.errors import EndpointUnavailable
from memctl.extraction.llm import finish
from memctl.extraction.llm_cache import LlmCache, default_folder, key_of
from memctl.extraction.llm_endpoint import ChatModel, Endpoint
from memctl.extraction.llm_prompts import JUDGE, VERDICTS, VERSION, numbered_pairs, verdicts_schema
from memctl.settings import Settings

UNSURE = "unsure"
_BATCH = 8

Texts = tuple[str, str]


class LlmJudge:
    """Asks a chat model how newer notes stand to older ones."""

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        cache: LlmCache,
        max_calls: int = 200,
        on_note: Callable[[str], None] | None = None,
    ) -> None:
        self.endpoint = endpoint
        self.cache = cache
        self.calls_left = max_calls
        self._note = on_note or (lambda _: None)

    @classmethod
    def from_settings(
        cls, settings: Settings, *, on_note: Callable[[str], None] | None = None, cache: Path | None = None
    ) -> "LlmJudge":
        """Open the judge that ``llm.*`` describes; ``cache`` overrides the platform's folder."""
        return cls(
            Endpoint.from_settings(settings),
            cache=LlmCache(cache or default_folder()),
            max_calls=int(settings["llm.max_calls"]),
            on_note=on_note,
        )

    def ask(self, pairs: Sequence[Texts]) -> list[str]:
        """Judge (older, newer) pairs: duplicate, supersedes, compatible or unsure, in the order given."""
        known = {pair: self.cache.get(self._key(pair)) for pair in dict.fromkeys(pairs)}
        open_pairs = [pair for pair, verdict in known.items() if verdict not in VERDICTS]
        batches = [open_pairs[i : i + _BATCH] for i in range(0, len(open_pairs), _BATCH)]
        if batches:
            known.update(finish(self._ask_all(batches)))
        return [verdict if (verdict := known[pair]) in VERDICTS else UNSURE for pair in pairs]

    async def _ask_all(self, batches: list[list[Texts]]) -> dict[Texts, str]:
        model = ChatModel(self.endpoint)
        gate = asyncio.Semaphore(self.endpoint.parallel)
        try:
            answers = await asyncio.gather(*(self._ask_batch(model, gate, batch) for batch in batches))
        finally:
            await model.close()
        return {pair: verdict for answer in answers for pair, verdict in answer.items()}

    async def _ask_batch(self, model: ChatModel, gate: asyncio.Semaphore, batch: list[Texts]) -> dict[Texts, str]:
        if self.calls_left <= 0:
            return {}
        self.calls_left -= 1
        try:
            async with gate:
                answer = await model.ask(JUDGE, numbered_pairs(batch), "verdicts", verdicts_schema(len(batch)))
        except EndpointUnavailable as error:
            self._note(f"{len(batch)} pairs stay unsure: {error}")
            return {}
        verdicts = {pair: word for pair, word in _verdicts(answer, batch).items() if word != UNSURE}
        for pair, word in verdicts.items():
            self.cache.put(self._key(pair), word)
        return verdicts

    def _key(self, pair: Texts) -> str:
        return key_of(self.endpoint.model, VERSION, JUDGE, *pair)


def _verdicts(answer: Any, batch: Sequence[Texts]) -> dict[Texts, str]:
    """Read the verdicts; a pair that is missing, named twice with different words, or of another form is unsure."""
    rows = answer.get("verdicts") if isinstance(answer, dict) else None
    found: dict[int, set[str]] = {}
    for row in rows if isinstance(rows, list) else []:
        if isinstance(row, dict) and isinstance(row.get("pair"), int) and row.get("verdict") in VERDICTS:
            found.setdefault(row["pair"], set()).add(row["verdict"])
    return {pair: next(iter(found[i])) for i, pair in enumerate(batch, 1) if len(found.get(i, ())) == 1}
