"""The one table of operations that REST and MCP are generated from.

A row says what an operation is called, what it takes, whether it writes, and how to call it within what the
caller may touch. Faces translate names and shapes; they add nothing of their own.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from memctl.memory import OpenMemory
from memctl.model import Result
from memctl.server import arguments as args
from memctl.server import calls
from memctl.server.access import Access

Call = Callable[[OpenMemory, Any, Access], Result[Any]]


@dataclass(frozen=True, slots=True)
class Operation:
    """One thing that memctl can do for a caller.

    ``writes`` refuses read-only keys, ``everything`` refuses keys that are bound to a scope. ``tool`` offers it
    to models over MCP. ``posted`` sends the arguments as a body although nothing is written.
    """

    name: str
    about: str
    arguments: type[args.Arguments]
    call: Call
    writes: bool = False
    everything: bool = False
    tool: bool = False
    posted: bool = False

    @property
    def method(self) -> str:
        """The HTTP method: GET where nothing is written and the arguments are short."""
        return "POST" if self.writes or self.posted else "GET"

    def perform(self, memory: OpenMemory, given: args.Arguments, access: Access) -> Result[Any]:
        """Call the operation, after the checks that need no look at the memory."""
        if self.writes:
            access.require_write()
        if self.everything:
            access.require_everything()
        return self.call(memory, given, access)


CATALOG: tuple[Operation, ...] = (
    Operation(
        "recall",
        "What the memory holds about a task, as a block for a prompt and as facts.",
        args.Recall,
        calls.recall,
        tool=True,
        posted=True,
    ),
    Operation(
        "remember",
        "Store one fact; memctl decides whether it is new, a repetition or a correction.",
        args.Remember,
        calls.remember,
        writes=True,
        tool=True,
    ),
    Operation("ingest", "Learn from a conversation and wait for it.", args.Ingest, calls.ingest, writes=True),
    Operation("list", "List facts.", args.List, calls.list_facts, tool=True),
    Operation("show", "Show one fact whole.", args.OneFact, calls.show),
    Operation(
        "why",
        "Tell where a fact was said, in whose words, and why it stands as it does.",
        args.Why,
        calls.why,
        tool=True,
    ),
    Operation("history", "Follow a fact through everything that replaced it.", args.OneFact, calls.history),
    Operation("diff", "Tell what was learned, changed and dropped between two dates.", args.Diff, calls.diff),
    Operation("conflicts", "List contradictions that wait for a decision.", args.InScope, calls.conflicts),
    Operation("resolve", "Settle a contradiction.", args.Resolve, calls.resolve, writes=True),
    Operation("edit", "Change a fact by hand.", args.Edit, calls.edit, writes=True),
    Operation("pin", "Protect facts from being retired by rules.", args.Facts, calls.pin, writes=True),
    Operation("unpin", "Take the protection away.", args.Facts, calls.unpin, writes=True),
    Operation(
        "forget",
        "Forget facts: undoable, or with purge for good.",
        args.Forget,
        calls.forget,
        writes=True,
        tool=True,
    ),
    Operation("restore", "Bring facts back that were forgotten or retired.", args.Facts, calls.restore, writes=True),
    Operation("log", "List the latest runs.", args.Log, calls.log, everything=True),
    Operation("undo", "Take back a run exactly.", args.Undo, calls.undo, writes=True, everything=True),
    Operation("prune", "Retire what has outlived its time.", args.Prune, calls.prune, writes=True),
    Operation("stats", "Count facts by scope, type, state and month.", args.InScope, calls.stats),
    Operation("check", "Compare record and index and look for damage.", args.Nothing, calls.check, everything=True),
    Operation(
        "audit", "Measure rot: duplicates, loops, secrets, stale and unsourced facts.", args.InScope, calls.audit
    ),
    Operation("sql", "Ask the index, read-only.", args.Sql, calls.sql, everything=True, posted=True),
    Operation("compact", "Merge files, drop old versions.", args.Nothing, calls.compact, writes=True, everything=True),
    Operation("scrub", "Redact what is stored already.", args.Scrub, calls.scrub, writes=True, everything=True),
    Operation("transcript/list", "List the stored chats.", args.InScope, calls.transcript_list),
    Operation("transcript/show", "Show the messages of a stored chat.", args.ChatAt, calls.transcript_show),
    Operation("transcript/export", "Write a stored chat to resume it.", args.ChatExport, calls.transcript_export),
    Operation("export", "Export facts as JSON lines.", args.Export, calls.export),
    Operation("state/set", "Keep a small JSON value.", args.StateSet, calls.state_set, writes=True, tool=True),
    Operation("state/get", "Read a value of the working state.", args.StateAt, calls.state_get, tool=True),
    Operation("state/list", "List the working state.", args.StateList, calls.state_list),
    Operation("state/delete", "Remove a value of the working state.", args.StateAt, calls.state_delete, writes=True),
)
BY_NAME = {operation.name: operation for operation in CATALOG}
