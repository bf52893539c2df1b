"""The ledger of transcripts: whether a file has been read, under this name or another, and how far."""

import hashlib
import unicodedata
from collections.abc import Callable, Sequence

from memctl.model import Message
from memctl.store.filters import both, literal, one_of
from memctl.store.record import Record
from memctl.store.rows import ledger_of
from memctl.store.types import LedgerEntry, Prefix

_PROBES = 32


def chains(messages: Sequence[Message]) -> list[str]:
    """For each message the digest of the chat up to and with it: equal chains mean equal beginnings."""
    digests, previous = [], ""
    for message in messages:
        text = " ".join(unicodedata.normalize("NFC", message.text).split())
        parts = "\0".join((previous, message.speaker, text))
        previous = hashlib.sha256(parts.encode("utf-8", "replace")).hexdigest()[:32]
        digests.append(previous)
    return digests


def entries(
    record: Record, *, agent: str | None = None, path: str | None = None, digest: str | None = None
) -> list[LedgerEntry]:
    """Give the ledger entries of an agent, a path, the digest of a file's bytes, or any of these together."""
    given = {"agent": agent, "path": path, "digest": digest}
    where = both(*(f"{column} = {literal(value)}" for column, value in given.items() if value is not None))
    found = [ledger_of(row) for row in record.rows("transcripts", where=where)]
    return sorted(found, key=lambda entry: (entry.recorded_at, entry.path, entry.part))


def known_prefix(record: Record, agent: str, keys: Sequence[str]) -> Prefix:
    """How many messages at the beginning of this chat (given by its chains) are in the record already."""
    found: dict[str, Prefix] = {}

    def look(probes: Sequence[str]) -> set[str]:
        where = both(f"agent = {literal(agent)}", one_of("chain", probes))
        rows = record.rows("messages", columns=["chain", "transcript_id", "path"], where=where)
        found.update({row["chain"]: Prefix(0, row["transcript_id"], row["path"]) for row in rows})
        return {row["chain"] for row in rows}

    length = longest_prefix(keys, look)
    if not length:
        return Prefix()
    last = found[keys[length - 1]]
    return Prefix(length, last.transcript_id, last.path)


def longest_prefix(keys: Sequence[str], look: Callable[[Sequence[str]], set[str]]) -> int:
    """How many keys at the beginning are known, given that a known key's predecessors are known too.

    Asks about a few dozen places at once and narrows down, so a hundred thousand messages take four looks.
    """
    low, high = 0, len(keys)
    while low < high:
        step = max(1, (high - low) // _PROBES)
        places = sorted({*range(low + step, high, step), high})
        known = look([keys[place - 1] for place in places])
        reached = [place for place in places if keys[place - 1] in known]
        missed = [place for place in places if keys[place - 1] not in known]
        low = max([low, *reached])
        high = min([high, *(place - 1 for place in missed if place > low)])
    return low
