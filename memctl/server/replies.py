"""What callers get back, as models for the OpenAPI document. Answers are written by ``memctl.shapes``, not by these."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from memctl.model import Fact, Hit, RecallBlock, Result
from memctl.render import envelope
from memctl.shapes import block_shape
from memctl.times import iso


class ErrorBody(BaseModel):
    """What went wrong, why, and what to do."""

    code: str
    message: str
    remedy: str


class Failure(BaseModel):
    """The one shape of every error."""

    error: ErrorBody


class ProblemReply(BaseModel):
    """Something that went wrong without stopping the operation."""

    code: str
    message: str
    where: str
    remedy: str


class Envelope(BaseModel):
    """What ``memctl --json`` prints for the same operation."""

    memctl: Literal[1]
    command: str
    status: Literal["ok", "partial"]
    data: Any
    problems: list[ProblemReply]


class FactReply(BaseModel):
    """A memory, in the words of hosted memory services."""

    id: str
    content: str
    memory_type: str
    tags: list[str]
    created_at: str
    expires_at: str | None
    pinned: bool
    agent_id: str


class MemoryReply(FactReply):
    """A recalled memory."""

    score: Annotated[float, Field(description="How well it fits, higher is better.")]
    confidence: float


class RecallReply(Envelope):
    """The envelope of ``recall``, and the same in the words of hosted memory services."""

    context_block: Annotated[str, Field(description="The block for a prompt.")]
    context: Annotated[str, Field(description="The same block.")]
    memories: list[MemoryReply]
    memories_used: int
    tokens_used: int


class StoredReply(FactReply):
    """What became of a memory that was sent."""

    action: Annotated[str, Field(description="add, refresh, supersede, contest or skip.")]


class ExtractReply(BaseModel):
    """What an extraction stored; before it is done, only the job is known."""

    job_id: str
    status: Literal["accepted", "done", "failed"]
    memories_stored: int | None = None
    memory_ids: list[str] | None = None
    counts: dict[str, int] | None = None
    run: str | None = None
    error: ErrorBody | None = None


class JobReply(BaseModel):
    """An extraction job."""

    id: str
    agent: str
    status: Literal["accepted", "done", "failed"]
    accepted_at: str
    finished_at: str | None = None
    result: dict[str, Any] | None = None
    error: ErrorBody | None = None


class Health(BaseModel):
    """The server lives."""

    status: Literal["ok"]


def recall_reply(result: Result[RecallBlock]) -> dict[str, Any]:
    """Write an answer for both kinds of callers."""
    block = result.data
    return {
        **envelope(result),
        "data": block_shape(block),
        "context_block": block.text,
        "context": block.text,
        "memories": [memory_reply(hit) for hit in block.hits],
        "memories_used": len(block.hits),
        "tokens_used": block.tokens,
    }


def memory_reply(hit: Hit) -> dict[str, Any]:
    """Write a recalled memory."""
    return {
        **_hosted(hit.fact),
        "score": round(hit.score, 4),
        "confidence": round(hit.fact.confidence, 4),
    }


def stored_reply(result: Result[Any]) -> dict[str, Any]:
    """Write what became of one memory: its own verdict comes first, those on other facts follow."""
    mine = result.data.verdicts[0]
    return {**_hosted(mine.fact), "action": str(mine.action)}


def _hosted(fact: Fact) -> dict[str, Any]:
    """Write a fact in the words of hosted memory services."""
    return {
        "id": fact.id,
        "content": fact.text,
        "memory_type": str(fact.type),
        "tags": list(fact.tags),
        "created_at": iso(fact.said_at),
        "expires_at": iso(fact.expires_at),
        "pinned": fact.pinned,
        "agent_id": fact.agent,
    }
