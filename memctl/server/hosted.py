"""The requests that users of hosted memory services already send, so that changing the base URL is enough.

0Latency: ``POST /v1/extract``, ``POST /v1/recall``. Kronvex: ``POST /api/v1/agents/{id}/`` and then ``remember``,
``recall`` or ``inject-context``. Memstore: ``POST /v1/memory/remember``, ``GET /v1/memory/recall``. Each is translated
into a row of the catalog.
"""

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from pydantic import BeforeValidator, ConfigDict, Field, StringConstraints, model_validator

from memctl.server import arguments as args
from memctl.server.arguments import (
    Arguments,
    Conversation,
    Duration,
    Instant,
    Limit,
    Messages,
    Query,
    Scope,
    Tag,
    Text,
    Tokens,
    UrlLimit,
    one_way,
    whole,
)

Asked = TypeVar("Asked", bound=Arguments)
Label = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Days = Annotated[int, Field(ge=1, le=36500), BeforeValidator(whole)]
Seconds = Annotated[int, Field(ge=1, le=3_153_600_000), BeforeValidator(whole)]
Metadata = Annotated[dict[str, Any], Field(max_length=50, description="Kept as tags key:value.")]

# What other services call their kinds of memory; None lets memctl tell by the words.
_TYPES: Mapping[str, str | None] = {
    "semantic": "fact",
    "procedural": "decision",
    "episodic": None,
    "identity": "fact",
    "relationship": "fact",
    "correction": "fact",
    "task": "context",
    "session": "temporary",
    "working": "temporary",
    "error": "failure",
    "lesson": "failure",
}
_OWN_TYPES = ("decision", "preference", "fact", "failure", "context", "temporary")


class ExtractRequest(Arguments):
    """A conversation to learn from: its text, its messages, or one exchange. Give exactly one of these."""

    model_config = ConfigDict(
        json_schema_extra={
            **one_way("content", "text", "messages", "human_message"),
            "dependentRequired": {"agent_message": ["human_message"]},
        }
    )

    agent_id: Scope | None = None
    agent: Scope | None = None
    content: Conversation = ""
    text: Conversation = Field(default="", description="Another word for content.")
    messages: Messages = Field(default_factory=list)
    human_message: Conversation = ""
    agent_message: Conversation = ""
    at: Instant | None = None
    wait: bool = Field(default=False, description="Answer when it is done instead of at once.")

    @model_validator(mode="after")
    def _sent_once(self) -> "ExtractRequest":
        ways = (self.content, self.text, self.messages, self.human_message)
        if sum(map(bool, ways)) != 1 or (self.agent_message and not self.human_message):
            raise ValueError("send exactly one of content, text, messages, or human_message with agent_message")
        return self

    def scope(self) -> str | None:
        """Whose memory it is."""
        return self.agent_id or self.agent

    def request(self) -> dict[str, Any]:
        """Give the arguments of ``ingest``, as JSON."""
        dated = {"at": self.at.isoformat()} if self.at else {}
        if self.content or self.text:
            return {"content": self.content or self.text, **dated}
        if self.messages:
            return {"messages": [message.model_dump(exclude_none=True) for message in self.messages], **dated}
        exchange = (("user", self.human_message), ("assistant", self.agent_message))
        return {"messages": [{"role": role, "name": role, "content": said} for role, said in exchange if said], **dated}


class RecallRequest(args.Recall):
    """A question, in memctl's words or in those of 0Latency."""

    model_config = ConfigDict(json_schema_extra=one_way("query", "conversation_context"))

    agent_id: Scope | None = None
    query: Query = ""
    conversation_context: Query = Field(default="", description="Another word for query.")
    budget_tokens: Tokens | None = Field(default=None, description="Another word for max_tokens.")
    dynamic_budget: bool = Field(default=False, description="Not needed: a block is as short as it can be.")

    @model_validator(mode="after")
    def _asked_once(self) -> "RecallRequest":
        return _asked_once(self, self.query, self.conversation_context)

    def to_arguments(self) -> args.Recall:
        """Give the arguments of ``recall``."""
        own = self.model_dump(exclude={"agent_id", "conversation_context", "budget_tokens", "dynamic_budget"})
        own["query"] = self.query or self.conversation_context
        own["agent"] = self.agent_id or self.agent
        own["max_tokens"] = self.max_tokens or self.budget_tokens
        return args.Recall(**own)


class RememberRequest(Arguments):
    """A memory, in the words of Kronvex."""

    content: Text
    memory_type: Label | None = Field(
        default=None, description="memctl's own types; others are translated where they can be."
    )
    ttl_days: Days | None = None
    session_id: Label | None = Field(default=None, description="Kept as the tag session:ID.")
    tags: Annotated[list[Tag], Field(max_length=50, default_factory=list)]
    metadata: Metadata | None = None
    pinned: bool = False

    def to_arguments(self, agent: str) -> args.Remember:
        """Give the arguments of ``remember``."""
        return args.Remember.model_construct(
            text=self.content,
            agent=agent,
            type=own_type(self.memory_type),
            ttl=f"{self.ttl_days}d" if self.ttl_days else None,
            tags=_tags(self.tags, self.session_id, self.metadata),
            at=None,
            speaker="user",
            dry_run=False,
        )


class AgentRecallRequest(Arguments):
    """A question, in the words of Kronvex."""

    model_config = ConfigDict(json_schema_extra=one_way("query", "message"))

    query: Query = ""
    message: Query = Field(default="", description="Another word for query.")
    limit: Limit | None = None
    top_k: Limit | None = Field(default=None, description="Another word for limit.")
    max_tokens: Tokens | None = None
    memory_type: Label | None = None
    session_id: Label | None = None
    threshold: Annotated[float, Field(ge=0, le=1)] | None = Field(
        default=None, description="Least score that is returned."
    )

    @model_validator(mode="after")
    def _asked_once(self) -> "AgentRecallRequest":
        return _asked_once(self, self.query, self.message)

    def to_arguments(self, agent: str) -> args.Recall:
        """Give the arguments of ``recall``."""
        kind = own_type(self.memory_type)
        return args.Recall.model_construct(
            query=self.query or self.message,
            agent=agent,
            limit=self.limit or self.top_k,
            max_tokens=self.max_tokens,
            types=[kind] if kind else [],
            tags=_tags([], self.session_id, None),
            as_of=None,
            deep=False,
            explain=False,
        )


class MemstoreRememberRequest(Arguments):
    """A memory, in the words of Memstore."""

    content: Text
    agent: Scope | None = Field(default=None, description="The key's scope, if left out.")
    tags: Annotated[list[Tag], Field(max_length=50, default_factory=list)]
    session: Label | None = Field(default=None, description="Kept as the tag session:ID.")
    metadata: Metadata | None = None
    ttl: Duration | Seconds | None = Field(default=None, description="7d, or seconds.")

    def to_arguments(self) -> args.Remember:
        """Give the arguments of ``remember``."""
        return args.Remember.model_construct(
            text=self.content,
            agent=self.agent,
            type=None,
            ttl=f"{self.ttl}s" if isinstance(self.ttl, int) else self.ttl,
            tags=_tags(self.tags, self.session, self.metadata),
            at=None,
            speaker="user",
            dry_run=False,
        )


class MemstoreRecallQuery(Arguments):
    """A question, in the words of Memstore."""

    q: Query
    limit: UrlLimit = 5
    top_k: UrlLimit | None = Field(default=None, description="Another word for limit.")
    tags: Annotated[str, StringConstraints(max_length=2000)] = Field(default="", description="Separated by commas.")
    session: Label | None = None
    threshold: Annotated[float, Field(ge=0, le=1, strict=False)] | None = Field(
        default=None, description="Least score that is returned."
    )
    agent: Scope | None = Field(default=None, description="The key's scope, if left out.")

    def to_arguments(self) -> args.Recall:
        """Give the arguments of ``recall``."""
        return args.Recall.model_construct(
            query=self.q,
            agent=self.agent,
            limit=self.top_k or self.limit,
            max_tokens=None,
            types=[],
            tags=_tags([tag.strip() for tag in self.tags.split(",") if tag.strip()], self.session, None),
            as_of=None,
            deep=False,
            explain=False,
        )


def own_type(name: str | None) -> str | None:
    """Translate another service's kind of memory into ours; None where memctl should tell by the words."""
    lowered = (name or "").lower()
    return lowered if lowered in _OWN_TYPES else _TYPES.get(lowered)


def at_least(reply: dict[str, Any], threshold: float | None) -> dict[str, Any]:
    """Leave out memories with a lower score than the caller wants to see."""
    if threshold is None:
        return reply
    kept = [memory for memory in reply["memories"] if memory["score"] >= threshold]
    return {**reply, "memories": kept, "memories_used": len(kept)}


def _asked_once(model: Asked, *questions: str) -> Asked:
    if sum(map(bool, questions)) != 1:
        raise ValueError("send one question")
    return model


def _tags(tags: list[str], session: str | None, metadata: Mapping[str, Any] | None) -> list[str]:
    """Gather tags, the session and simple metadata into one list without repetitions."""
    named = [f"session:{session}"] if session else []
    told = [f"{key}:{value}" for key, value in (metadata or {}).items() if isinstance(value, str | int | float)]
    printable = ["".join(char if char.isprintable() else " " for char in tag) for tag in (*tags, *named, *told)]
    return list(dict.fromkeys(tag[:100].strip() for tag in printable if tag.strip()))
