"""What callers may send: one closed model an operation, with types, bounds and defaults.

REST checks requests against these and publishes them in its OpenAPI document; MCP gives them to models as tool
schemas. An unknown field is refused, so that a typing error is never taken for silence.
"""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, model_validator

from memctl.errors import UsageProblem
from memctl.times import parse_instant

_SOMETHING = r"[^\s\x00-\x1f\x7f-\x9f]"
_NO_CONTROL = r"^[^\x00-\x1f\x7f]+$"
_DURATION = r"^([0-9]{1,4}[smhdw]|[0-9]{1,2}y|([0-9]{1,3}[smhdw]){2,3})$"
LONGEST_TEXT = 4000


def _instant(value: Any) -> Any:
    # Left to itself, pydantic reads numbers as seconds since 1970, which nobody means by "as_of": 5.
    if isinstance(value, datetime):
        return value
    if not isinstance(value, str):
        raise ValueError("not a text with a date or time")  # noqa: TRY004  pydantic turns ValueError into its report
    try:
        return parse_instant(value)
    except UsageProblem as error:
        raise ValueError("not an ISO date or time") from error


def whole(value: Any) -> Any:
    """Take 5.0 for 5, as JSON does."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _visible(value: str) -> str:
    if not any(char.isprintable() and not char.isspace() for char in value):
        raise ValueError("there is nothing to read in it")
    return value


Scope = Annotated[
    str,
    StringConstraints(min_length=1, max_length=200, pattern=_NO_CONTROL),
    Field(description="Whose memory: a team, or one agent's part of it (team/coder).", examples=["payments-team"]),
]
FactId = Annotated[
    str,
    StringConstraints(min_length=1, max_length=64, pattern=r"^[0-9A-Za-z_-]+$"),
    Field(description="Id of a fact, or a unique beginning of it."),
]
RunId = Annotated[str, StringConstraints(min_length=1, max_length=64, pattern=r"^[0-9A-Za-z-]+$")]
Instant = Annotated[
    datetime,
    BeforeValidator(_instant),
    Field(description="ISO 8601; without a zone it is UTC.", examples=["2026-05-04T09:00:00Z"]),
]
Duration = Annotated[str, StringConstraints(pattern=_DURATION), Field(description="Like 7d, 12h or 1h30m.")]
TypeName = Literal["decision", "preference", "fact", "failure", "context", "temporary"]
StateName = Literal["active", "superseded", "contested", "expired", "quarantined", "forgotten"]
SortName = Literal["said", "last_said", "oldest", "recorded", "expires", "used", "text", "agent", "type", "id"]
Tag = Annotated[str, StringConstraints(min_length=1, max_length=100, pattern=_NO_CONTROL)]
Query = Annotated[
    str, StringConstraints(min_length=1, max_length=8000), Field(description="What the agent is about to do.")
]
Text = Annotated[
    str, StringConstraints(min_length=1, max_length=LONGEST_TEXT, pattern=_SOMETHING), AfterValidator(_visible)
]
StateKey = Annotated[str, StringConstraints(min_length=1, max_length=256, pattern=_NO_CONTROL)]
Limit = Annotated[int, Field(ge=1, le=1000), BeforeValidator(whole)]
# In the query of a URL everything is text.
UrlLimit = Annotated[int, Field(ge=1, le=1000, strict=False)]
UrlFlag = Annotated[bool, Field(strict=False)]
Tokens = Annotated[
    int, Field(ge=16, le=100_000, description="The block is never longer than this."), BeforeValidator(whole)
]


class Arguments(BaseModel):
    """Arguments of an operation; nothing but the named fields is taken, and a "no" is no False."""

    model_config = ConfigDict(extra="forbid", strict=True)


class InScope(Arguments):
    """Arguments of an operation on one scope."""

    agent: Scope | None = None


class ChatMessage(Arguments):
    """One message of a chat, as OpenAI-style clients and AutoGen keep them."""

    content: Annotated[str, StringConstraints(max_length=200_000)]
    role: Annotated[str, StringConstraints(max_length=100)] = "user"
    name: Annotated[str, StringConstraints(max_length=200)] | None = None


Conversation = Annotated[str, StringConstraints(min_length=1, max_length=1_000_000)]
Messages = Annotated[list[ChatMessage], Field(min_length=1, max_length=2000)]


def one_way(*ways: str) -> dict[str, Any]:
    """Say in a schema that exactly one of these fields is given."""
    return {"oneOf": [{"required": [way]} for way in ways]}


def some_of(*fields: str) -> dict[str, Any]:
    """Say in a schema that at least one of these fields has a value."""
    return {"anyOf": [{"required": [name], "properties": {name: {"not": {"type": "null"}}}} for name in fields]}


class Ingest(InScope):
    """A conversation to learn from: its text, or its messages."""

    model_config = ConfigDict(json_schema_extra=one_way("content", "messages"))

    content: Conversation = Field(default="", description="As text, in any format that memctl ingest reads.")
    messages: Messages = Field(default_factory=list)
    at: Instant | None = Field(default=None, description="Dates messages that carry no time of their own.")
    dry_run: bool = False

    @model_validator(mode="after")
    def _sent_once(self) -> "Ingest":
        if bool(self.content) == bool(self.messages):
            raise ValueError("send either content or messages")
        return self


class Remember(InScope):
    """A fact told by hand."""

    text: Text
    type: TypeName | None = Field(default=None, description="Left out, memctl tells by the words.")
    ttl: Duration | None = None
    tags: Annotated[list[Tag], Field(max_length=50)] = []
    at: Instant | None = Field(default=None, description="When it was said; now, if left out.")
    speaker: Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=_NO_CONTROL)] = "user"
    dry_run: bool = False


class Recall(InScope):
    """A question to the memory."""

    query: Query
    limit: Limit | None = None
    max_tokens: Tokens | None = None
    types: Annotated[list[TypeName], Field(max_length=6)] = []
    tags: Annotated[list[Tag], Field(max_length=50)] = []
    as_of: Instant | None = None
    deep: bool = Field(default=False, description="Add the transcript messages themselves.")
    explain: bool = Field(default=False, description="Show the parts of each score.")


class List(InScope):
    """Which facts to list; without a state, the ones that hold."""

    types: Annotated[list[TypeName], Field(max_length=6)] = []
    states: Annotated[list[StateName], Field(max_length=6)] = []
    tags: Annotated[list[Tag], Field(max_length=50)] = []
    speaker: Annotated[str, StringConstraints(min_length=1, max_length=200)] | None = None
    text: Annotated[str, StringConstraints(max_length=1000)] = Field(
        default="", description="A piece of the text, any case."
    )
    since: Instant | None = None
    until: Instant | None = None
    as_of: Instant | None = None
    sort: SortName = "said"
    limit: UrlLimit = 50


class OneFact(Arguments):
    """A fact."""

    id: FactId


class Why(OneFact):
    """A fact, and how many turns around its sources to show."""

    around: Annotated[int, Field(ge=0, le=20, strict=False)] = 1


class Facts(Arguments):
    """Several facts."""

    ids: Annotated[list[FactId], Field(min_length=1, max_length=1000)]
    dry_run: bool = False


class Forget(Facts):
    """Facts to forget; ``purge`` makes it final."""

    purge: bool = False


class Resolve(OneFact):
    """How a conflict is settled: keep this fact, drop it, or let both stand."""

    way: Literal["keep", "drop", "both"]
    dry_run: bool = False


class Edit(OneFact):
    """New values for a fact, one at least; what is left out stays."""

    model_config = ConfigDict(json_schema_extra=some_of("text", "type", "ttl", "tags"))

    text: Text | None = None
    type: TypeName | None = None
    ttl: Duration | Literal["never"] | None = None
    tags: Annotated[list[Tag], Field(max_length=50)] | None = None
    dry_run: bool = False

    @model_validator(mode="after")
    def _changes_something(self) -> "Edit":
        if self.text is None and self.type is None and self.ttl is None and self.tags is None:
            raise ValueError("send a text, type, ttl or tags")
        return self


class Diff(InScope):
    """Two dates."""

    since: Instant
    until: Instant | None = Field(default=None, description="Now, if left out.")


class Log(Arguments):
    """How many runs to list."""

    limit: UrlLimit = 20


class Undo(Arguments):
    """The run to take back; the latest one, if left out."""

    run: RunId | None = None
    cascade: bool = False
    dry_run: bool = False


class Prune(InScope):
    """What to retire: what has expired, unless something else is asked for."""

    expired: bool | None = Field(default=None, description="Left out: only where nothing else is asked for.")
    superseded: bool = False
    contested: bool = False
    older_than: Duration | None = Field(default=None, description="For superseded and contested; 90d, if left out.")
    dry_run: bool = False


class Export(InScope):
    """Which facts to export: the current ones, or with ``everything`` all states."""

    everything: UrlFlag = False


class Sql(Arguments):
    """A question to the index in SQL."""

    query: Annotated[str, StringConstraints(min_length=1, max_length=20_000)] = Field(
        description="One SELECT over facts, messages, transcripts, state and runs."
    )
    limit: Limit = 1000


class Scrub(Arguments):
    """Whether to redact, or only to tell what would be."""

    dry_run: bool = False


class ChatAt(InScope):
    """A stored chat: its path, its file name or the beginning of its id; the latest, if left out."""

    name: Annotated[str, StringConstraints(max_length=4000)] = ""


class ChatExport(ChatAt):
    """A stored chat and the form to write it in."""

    format: Literal["groupchat", "json", "text"] = "groupchat"


class StateSet(InScope):
    """A small JSON value to keep under a key."""

    key: StateKey
    value: Any
    ttl: Duration | None = None


class StateAt(InScope):
    """A key of the working state."""

    key: StateKey


class StateList(InScope):
    """Keys of the working state that begin so."""

    prefix: Annotated[str, StringConstraints(max_length=256)] = ""


class Nothing(Arguments):
    """No arguments."""
