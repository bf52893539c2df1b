"""How each row of the catalog calls its operation, inside the scope that the caller may touch.

A fact that a caller may not see does not exist for it: the answer is the one for an unknown id.
"""

import json
from collections.abc import Callable
from typing import Any

from memctl.errors import NotFound
from memctl.memory import OpenMemory
from memctl.model import Fact, RecallBlock, Result
from memctl.server import arguments as args
from memctl.server.access import Access, Forbidden
from memctl.times import iso, parse_duration

_ABOUT_THE_WHOLE_STORE = ("runs", "bytes", "files")


def recall(memory: OpenMemory, given: args.Recall, access: Access) -> Result[RecallBlock]:
    """Answer a question within the scope and those above it."""
    from memctl.operations.recall import recall as operation

    return operation(
        memory,
        given.query,
        agent=access.to_read(given.agent),
        limit=given.limit,
        max_tokens=given.max_tokens,
        types=tuple(given.types),
        tags=tuple(given.tags),
        as_of=given.as_of,
        deep=given.deep,
        explain=given.explain,
    )


def remember(memory: OpenMemory, given: args.Remember, access: Access) -> Result[Any]:
    """Store a fact told by hand."""
    from memctl.operations.remember import Entry
    from memctl.operations.remember import remember as operation

    entry = Entry(
        given.text,
        agent=access.to_write(given.agent),
        type=given.type,
        at=iso(given.at),
        ttl=given.ttl,
        tags=tuple(given.tags),
        speaker=given.speaker,
    )
    return operation(memory, [entry], dry_run=given.dry_run)


def ingest(
    memory: OpenMemory, given: args.Ingest, access: Access, deadline: Callable[[], bool] = lambda: False
) -> Result[Any]:
    """Learn from a conversation that was sent as text or as messages; ``deadline`` True ends it between batches."""
    from memctl.operations.conversation import ingest_conversation

    return ingest_conversation(
        memory,
        transcript_bytes(given),
        free=not given.messages,
        agent=access.to_write(given.agent),
        at=given.at or memory.now(),
        dry_run=given.dry_run,
        explain=True,
        deadline=deadline,
    )


def transcript_bytes(given: args.Ingest) -> bytes:
    """Give what was sent as the bytes of a transcript file."""
    if given.content:
        return given.content.encode("utf-8", "replace")
    messages = [message.model_dump(exclude_none=True) for message in given.messages]
    return json.dumps(messages, ensure_ascii=False).encode("utf-8", "replace")


def list_facts(memory: OpenMemory, given: args.List, access: Access) -> Result[Any]:
    """List facts of one scope, or of all for a caller that may see all."""
    from memctl.operations.looking import Wanted
    from memctl.operations.looking import list_facts as operation

    wanted = Wanted(
        agent=access.to_read(given.agent),
        types=given.types,
        states=given.states,
        tags=given.tags,
        speaker=given.speaker,
        since=given.since,
        until=given.until,
        text=given.text,
    )
    return operation(memory, wanted, sort=given.sort, limit=given.limit, as_of=given.as_of)


def show(memory: OpenMemory, given: args.OneFact, access: Access) -> Result[Any]:
    """Show one fact."""
    from memctl.operations.looking import show as operation

    return operation(memory, _seen(memory, given.id, access).id)


def why(memory: OpenMemory, given: args.Why, access: Access) -> Result[Any]:
    """Explain one fact."""
    from memctl.operations.looking import why as operation

    return operation(memory, _seen(memory, given.id, access).id, around=given.around)


def history(memory: OpenMemory, given: args.OneFact, access: Access) -> Result[Any]:
    """Follow one fact through time."""
    from memctl.operations.timeline import history as operation

    return operation(memory, _seen(memory, given.id, access).id)


def diff(memory: OpenMemory, given: args.Diff, access: Access) -> Result[Any]:
    """Compare the memory at two dates."""
    from memctl.operations.timeline import diff as operation

    return operation(memory, given.since, given.until or memory.now(), agent=access.to_read(given.agent))


def conflicts(memory: OpenMemory, given: args.InScope, access: Access) -> Result[Any]:
    """List open contradictions."""
    from memctl.operations.curate import conflicts as operation

    return operation(memory, access.to_read(given.agent))


def resolve(memory: OpenMemory, given: args.Resolve, access: Access) -> Result[Any]:
    """Settle a contradiction."""
    from memctl.operations.curate import resolve as operation

    return operation(memory, _owned(memory, given.id, access).id, given.way, dry_run=given.dry_run)


def edit(memory: OpenMemory, given: args.Edit, access: Access) -> Result[Any]:
    """Change a fact."""
    from memctl.operations.curate import Edit
    from memctl.operations.curate import edit as operation

    change = Edit(text=given.text, type=given.type, ttl=given.ttl, tags=given.tags)
    return operation(memory, _owned(memory, given.id, access).id, change, dry_run=given.dry_run)


def pin(memory: OpenMemory, given: args.Facts, access: Access) -> Result[Any]:
    """Protect facts."""
    return _pin(memory, given, access, pinned=True)


def unpin(memory: OpenMemory, given: args.Facts, access: Access) -> Result[Any]:
    """Take the protection away."""
    return _pin(memory, given, access, pinned=False)


def _pin(memory: OpenMemory, given: args.Facts, access: Access, *, pinned: bool) -> Result[Any]:
    from memctl.operations.curate import pin as operation

    ids = [fact.id for fact in _all_owned(memory, given.ids, access)]
    return operation(memory, ids, pinned=pinned, dry_run=given.dry_run)


def forget(memory: OpenMemory, given: args.Forget, access: Access) -> Result[Any]:
    """Forget facts."""
    from memctl.operations.curate import forget as operation

    facts = _all_owned(memory, given.ids, access)
    return operation(memory, facts, purge=given.purge, dry_run=given.dry_run)


def restore(memory: OpenMemory, given: args.Facts, access: Access) -> Result[Any]:
    """Bring facts back."""
    from memctl.operations.curate import restore as operation

    return operation(memory, [fact.id for fact in _all_owned(memory, given.ids, access)], dry_run=given.dry_run)


def log(memory: OpenMemory, given: args.Log, access: Access) -> Result[Any]:  # noqa: ARG001  checked by the catalog
    """List runs."""
    from memctl.operations.timeline import log as operation

    return operation(memory, limit=given.limit)


def undo(memory: OpenMemory, given: args.Undo, access: Access) -> Result[Any]:  # noqa: ARG001
    """Take back a run."""
    from memctl.operations.timeline import undo as operation

    return operation(memory, given.run, cascade=given.cascade, dry_run=given.dry_run)


def prune(memory: OpenMemory, given: args.Prune, access: Access) -> Result[Any]:
    """Retire what has outlived its time, in one scope or for a caller that may change all, everywhere."""
    from memctl.operations.upkeep import PRUNED_AFTER
    from memctl.operations.upkeep import prune as operation

    return operation(
        memory,
        expired=given.expired,
        superseded=given.superseded,
        contested=given.contested,
        older_than=parse_duration(given.older_than) if given.older_than else PRUNED_AFTER,
        agent=access.to_write(given.agent),
        dry_run=given.dry_run,
    )


def stats(memory: OpenMemory, given: args.InScope, access: Access) -> Result[dict[str, Any]]:
    """Count; a caller that is bound to a scope is not told the numbers of the whole store."""
    from memctl.operations.looking import stats as operation

    result = operation(memory, access.to_read(given.agent))
    if access.scope is None:
        return result
    data = {name: value for name, value in result.data.items() if name not in _ABOUT_THE_WHOLE_STORE}
    return Result(result.command, data, result.problems)


def check(memory: OpenMemory, given: args.Nothing, access: Access) -> Result[Any]:  # noqa: ARG001
    """Look for damage."""
    from memctl.operations.upkeep import check as operation

    return operation(memory)


def export(memory: OpenMemory, given: args.Export, access: Access) -> Result[tuple[Fact, ...]]:
    """Give all facts of a scope."""
    from memctl.operations.exchange import export as operation

    return Result("export", tuple(operation(memory, agent=access.to_read(given.agent), everything=given.everything)))


def audit(memory: OpenMemory, given: args.InScope, access: Access) -> Result[Any]:
    """Measure rot."""
    from memctl.operations.auditing import audit as operation

    return operation(memory, access.to_read(given.agent))


def sql(memory: OpenMemory, given: args.Sql, access: Access) -> Result[Any]:  # noqa: ARG001
    """Answer a question in SQL."""
    from memctl.operations.looking import sql as operation

    return operation(memory, given.query, limit=given.limit)


def compact(memory: OpenMemory, given: args.Nothing, access: Access) -> Result[Any]:  # noqa: ARG001
    """Merge files and drop old versions."""
    from memctl.operations.upkeep import compact as operation

    return operation(memory)


def scrub(memory: OpenMemory, given: args.Scrub, access: Access) -> Result[Any]:  # noqa: ARG001
    """Redact what is stored already."""
    from memctl.operations.upkeep import scrub as operation

    return operation(memory, dry_run=given.dry_run)


def transcript_list(memory: OpenMemory, given: args.InScope, access: Access) -> Result[Any]:
    """List the chats of one scope, or of all for a caller that may see all."""
    from memctl.operations.transcripts import list_transcripts

    return list_transcripts(memory, agent=access.to_read(given.agent))


def transcript_show(memory: OpenMemory, given: args.ChatAt, access: Access) -> Result[Any]:
    """Show the messages of a chat."""
    from memctl.operations.transcripts import show_transcript

    return show_transcript(memory, given.name, agent=access.to_read(given.agent))


def transcript_export(memory: OpenMemory, given: args.ChatExport, access: Access) -> Result[Any]:
    """Write a chat so that it can be resumed."""
    from memctl.operations.transcripts import export_transcript

    return export_transcript(memory, given.name, agent=access.to_read(given.agent), format=given.format)


def state_set(memory: OpenMemory, given: args.StateSet, access: Access) -> Result[Any]:
    """Keep a value."""
    from memctl.operations.state import set_value

    return set_value(memory, given.key, given.value, agent=access.to_write(given.agent), ttl=given.ttl)


def state_get(memory: OpenMemory, given: args.StateAt, access: Access) -> Result[Any]:
    """Read a value."""
    from memctl.operations.state import get_value

    return get_value(memory, given.key, agent=access.to_read(given.agent))


def state_list(memory: OpenMemory, given: args.StateList, access: Access) -> Result[Any]:
    """List values."""
    from memctl.operations.state import list_values

    return list_values(memory, agent=access.to_read(given.agent), prefix=given.prefix)


def state_delete(memory: OpenMemory, given: args.StateAt, access: Access) -> Result[Any]:
    """Remove a value."""
    from memctl.operations.state import delete_value

    return delete_value(memory, given.key, agent=access.to_write(given.agent))


def _seen(memory: OpenMemory, prefix: str, access: Access) -> Fact:
    """Find a fact that the caller may see."""
    if access.scope is None:
        return memory.store.fact(prefix)
    try:
        fact = memory.store.fact(prefix)
    except NotFound as error:
        # How many facts of other scopes begin so is nobody's business here.
        raise NotFound(what="fact", name=prefix) from error
    if not access.sees(fact.agent):
        raise NotFound(what="fact", name=prefix)
    return fact


def _owned(memory: OpenMemory, prefix: str, access: Access) -> Fact:
    """Find a fact that the caller may change."""
    fact = _seen(memory, prefix, access)
    if not access.owns(fact.agent):
        raise Forbidden(reason="may not change a fact of that scope")
    return fact


def _all_owned(memory: OpenMemory, prefixes: list[str], access: Access) -> list[Fact]:
    """Find facts that the caller may change, each once."""
    found = {fact.id: fact for fact in (_owned(memory, prefix, access) for prefix in prefixes)}
    return list(found.values())
