"""AgentChat (autogen-core 0.7): a Memory for agents, and learning from the runs of teams.

``MemctlMemory`` puts what bears on the last turns into an agent's context and takes it out again when it is
replaced, so that memories never pile up. AgentChat itself stores nothing: ``record`` and ``remember_result``
learn from a run when it ends. The only module of memctl that imports AutoGen.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from typing import Any, Self

from autogen_core import CancellationToken, Component
from autogen_core.memory import Memory, MemoryContent, MemoryMimeType, MemoryQueryResult, UpdateContextResult
from autogen_core.model_context import ChatCompletionContext
from autogen_core.models import AssistantMessage, LLMMessage, UserMessage
from pydantic import BaseModel, Field

from memctl.adapters.guard import harmless, log
from memctl.adapters.placing import SPEAKER
from memctl.adapters.python import Memory as PythonMemory
from memctl.adapters.questions import question
from memctl.errors import UsageProblem
from memctl.model import Hit, RecallBlock
from memctl.operations.ingest import Ingested
from memctl.rules.tame import FENCE, attribute
from memctl.shapes import hit_shape

_LONG = 2000
_TOLD = ("type", "ttl", "ttl_days", "tags", "at", "speaker")


class MemctlMemoryConfig(BaseModel):
    """What makes a MemctlMemory: the scope, the place (else ``MEMCTL_HOME``) and what it recalls."""

    agent: str
    home: str | None = None
    limit: int | None = Field(default=None, ge=1)
    max_tokens: int | None = Field(default=None, ge=1)
    types: list[str] = Field(default_factory=list)
    tags: list[str] = Field(default_factory=list)
    deep: bool = False
    strict: bool = False


class MemctlMemory(Memory, Component[MemctlMemoryConfig]):
    """The memory of a scope, for ``AssistantAgent(memory=[MemctlMemory("payments-team")])``.

    Trouble with the store is logged and never ends a turn; ``strict`` raises it instead.
    """

    component_type = "memory"
    component_config_schema = MemctlMemoryConfig
    component_provider_override = "memctl.adapters.agentchat.MemctlMemory"

    def __init__(self, agent: str, **options: Any) -> None:
        """Name the scope; ``options`` are the other fields of MemctlMemoryConfig."""
        self._config = MemctlMemoryConfig(agent=agent, **options)
        self._memory = PythonMemory(agent, home=self._config.home)

    @property
    def name(self) -> str:
        """The scope."""
        return self._config.agent

    async def update_context(self, model_context: ChatCompletionContext) -> UpdateContextResult:
        """Put what bears on the last turns into the context, in the place of what an earlier turn put there."""
        asked = question(_turns(await model_context.get_messages()))
        block = await self._recall(asked, count=False)  # shown unasked at every turn: no sign of use
        with harmless("updating the context"):
            await _replace(model_context, block.text, self._memory.agent)
            return UpdateContextResult(memories=MemoryQueryResult(results=_contents(block)))
        return UpdateContextResult(memories=MemoryQueryResult(results=[]))

    async def query(
        self,
        query: str | MemoryContent,
        cancellation_token: CancellationToken | None = None,
        **kwargs: Any,
    ) -> MemoryQueryResult:
        """Give the memories that bear on ``query``, best first; ``kwargs`` override limit, types, tags, as_of, deep."""
        text = _text(query) if isinstance(query, MemoryContent) else query
        found = asyncio.ensure_future(self._recall(text, **kwargs))
        if cancellation_token is not None:
            cancellation_token.link_future(found)
        return MemoryQueryResult(results=_contents(await found))

    async def add(
        self,
        content: MemoryContent,
        cancellation_token: CancellationToken | None = None,  # noqa: ARG002  a write is done or not begun
    ) -> None:
        """Remember a text; its metadata may say ``type``, ``ttl`` or ``ttl_days``, ``tags``, ``at`` and ``speaker``.

        A text that is too long for one memory is read like a conversation.
        """
        if self._config.strict:
            await self._add(content)
            return
        with harmless("remembering"):
            await self._add(content)

    async def _add(self, content: MemoryContent) -> None:
        text = _text(content)
        told = {name: value for name, value in (content.metadata or {}).items() if name in _TOLD}
        if not text.strip():
            log.warning("memctl: content of type %s has no text to remember", content.mime_type)
        elif len(text) > _LONG:
            await self._memory.aadd(text, at=told.get("at"))
        else:
            await self._memory.aremember(text, **told)

    async def clear(self) -> None:
        """Forget every fact of this very scope; ``memctl undo`` brings them back."""
        if self._config.strict:
            await self._memory.aclear()
            return
        with harmless("clearing"):
            await self._memory.aclear()

    async def close(self) -> None:
        """Let go of the store; nothing is lost, and the memory may be used again."""
        self._memory.close()

    def _to_config(self) -> MemctlMemoryConfig:
        return self._config

    @classmethod
    def _from_config(cls, config: MemctlMemoryConfig) -> Self:
        return cls(**config.model_dump())

    async def _recall(self, query: str, **overrides: Any) -> RecallBlock:
        if not query.strip():
            return RecallBlock(query, self.name, "", 0)
        wanted = self._config.model_dump(include={"limit", "max_tokens", "types", "tags", "deep"})
        return await self._memory.arecall(query, safe=not self._config.strict, **{**wanted, **overrides})


async def record(
    source: Any,
    *,
    agent: str,
    task: Any = None,
    home: str | None = None,
    name: str | None = None,
    strict: bool = False,
) -> AsyncGenerator[Any, None]:
    """Pass on every item of a run, and learn from it when it ends, also when it is broken off or fails.

    ``source`` is a stream (``team.run_stream(task=…)``), or a team or agent that is given the ``task``. With
    ``strict``, trouble with the store is raised at the end instead of logged.
    """
    stream: AsyncIterator[Any] = source.run_stream(task=task) if hasattr(source, "run_stream") else source
    seen: list[Any] = []
    try:
        async for item in stream:
            seen.append(item)
            yield item
    finally:
        if hasattr(stream, "aclose"):
            await stream.aclose()
        result = next((item for item in reversed(seen) if hasattr(item, "stop_reason")), None)
        run = result if result is not None else [item for item in seen if hasattr(item, "source")]
        await remember_result(run, agent=agent, home=home, name=name, strict=strict)


async def remember_result(
    result: Any, *, agent: str, home: str | None = None, name: str | None = None, strict: bool = False
) -> Ingested | None:
    """Learn from a ``TaskResult``, a ``Response`` or a list of messages; None where there was nothing, or trouble.

    ``name`` is what the facts of the run will cite; without one, the time of the run.
    """
    messages = _messages(result)
    if not messages:
        return None
    memory = PythonMemory(agent, home=home)
    called = name or f"{agent} run {_begun(messages)}"
    if strict:
        return await memory.aadd(messages, name=called)
    with harmless("learning from the run"):
        return await memory.aadd(messages, name=called)
    return None


def _messages(result: Any) -> list[Any]:
    """Find the messages of a run."""
    if isinstance(result, Sequence) and not isinstance(result, str | bytes):
        return list(result)
    if hasattr(result, "messages"):
        return list(result.messages)
    if hasattr(result, "chat_message"):
        return [*(result.inner_messages or ()), result.chat_message]
    kind = type(result).__name__
    raise UsageProblem(reason=f"a {kind} is not the result of a run", remedy="Give a TaskResult or its messages.")


def _begun(messages: Sequence[Any]) -> str:
    """Tell when a run began, in a form that is fit for a name."""
    at = next((message.created_at for message in messages if getattr(message, "created_at", None)), None)
    return f"{at:%Y-%m-%dT%H:%M:%SZ}" if at else "of unknown time"


def _turns(messages: Sequence[LLMMessage]) -> list[str]:
    """Give what users and agents said, latest first; not our own blocks, instructions, or what tools answered."""
    return [
        _spoken(message.content)
        for message in reversed(messages)
        if isinstance(message, UserMessage | AssistantMessage) and not _is_ours(message.content)
    ]


def _spoken(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part for part in content if isinstance(part, str))


def _is_ours(content: Any, agent: str | None = None) -> bool:
    """Whether a message is a recall block: of any scope, or of the one that is named."""
    opening = f"<{FENCE}" if agent is None else f'<{FENCE} agent="{attribute(agent)}"'
    return isinstance(content, str) and content.lstrip().startswith(opening)


async def _replace(context: ChatCompletionContext, block: str, agent: str) -> None:
    """Leave exactly one block of a scope in the context, or none where there is nothing to say.

    An agent may have several memories: the blocks of other scopes are theirs to replace.

    A context may show less than it holds (the last messages, those within a token limit), so it is edited in
    its whole saved state and not by what it shows. A block that still holds stays where it is, which keeps the
    model's cache of the prompt warm.
    """
    state = await context.save_state()
    messages = state.get("messages") or []
    ours = [message for message in messages if _is_ours(message.get("content"), agent)]
    if not ours and not block:
        return
    if block and len(ours) == 1 and ours[0]["content"] == block and await _shows(context, block):
        return
    kept = [message for message in messages if not _is_ours(message.get("content"), agent)]
    if block:
        kept.insert(_place(kept), UserMessage(content=block, source=SPEAKER).model_dump())
    await context.load_state({**state, "messages": kept})


def _place(messages: Sequence[Mapping[str, Any]]) -> int:
    """Find the place for a block: before the last turn of a user, so never between a tool call and its answer."""
    asked = [number for number, message in enumerate(messages) if message.get("type") == "UserMessage"]
    return asked[-1] if asked else len(messages)


async def _shows(context: ChatCompletionContext, block: str) -> bool:
    return any(message.content == block for message in await context.get_messages())


def _contents(block: RecallBlock) -> list[MemoryContent]:
    return [_content(hit) for hit in block.hits] + [
        MemoryContent(
            content=f"{found.speaker}: {found.text}",
            mime_type=MemoryMimeType.TEXT,
            metadata={"transcript": found.transcript, "message": found.message, "score": found.score},
        )
        for found in block.messages
    ]


def _content(hit: Hit) -> MemoryContent:
    """Write a recalled fact as AutoGen's content, with all that recall knows of it as metadata."""
    shape: Mapping[str, Any] = hit_shape(hit)
    metadata = {name: value for name, value in shape.items() if name != "text"}
    return MemoryContent(content=hit.fact.text, mime_type=MemoryMimeType.TEXT, metadata=metadata)


def _text(content: MemoryContent) -> str:
    """Give the text of a content; bytes are read as UTF-8, objects as JSON, pictures have none."""
    inside = content.content
    if isinstance(inside, str):
        return inside
    if isinstance(inside, bytes):
        return inside.decode("utf-8", "replace") if "octet" not in str(content.mime_type) else ""
    return json.dumps(inside, ensure_ascii=False) if isinstance(inside, dict) else ""
