"""Working state: small JSON values per scope, shared between processes, last write wins, never mixed with facts."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memctl.errors import NotFound, UsageProblem
from memctl.memory import OpenMemory
from memctl.model import Result
from memctl.store.types import Changes, RunInfo, StateEntry
from memctl.times import parse_duration

_LONGEST_KEY = 256
_LARGEST_VALUE = 64 * 1024
_DEEPEST_VALUE = 100


@dataclass(frozen=True, slots=True)
class Stored:
    """One value with its key and lifetime."""

    agent: str
    key: str
    value: Any
    updated_at: datetime
    expires_at: datetime | None = None


def set_value(
    memory: OpenMemory, key: str, value: Any, *, agent: str | None = None, ttl: str | None = None
) -> Result[Stored]:
    """Keep a JSON value under a key; it replaces the one before."""
    _check(key, value)
    now = memory.now()
    entry = StateEntry(memory.scope(agent), key, value, now, now + parse_duration(ttl) if ttl else None)
    info = RunInfo("state set", f"{entry.agent}: {key}", now)
    memory.created.apply(Changes(state=[entry]), info, wait=memory.wait)
    return Result("state", _stored(entry))


def get_value(memory: OpenMemory, key: str, *, agent: str | None = None) -> Result[Stored]:
    """Read a value; one whose time has ended is gone."""
    scope = memory.scope(agent)
    entry = memory.store.state_get(scope, key, at=memory.now())
    if entry is None:
        raise NotFound(what="state", name=f"{scope}: {key}", remedy="List the keys with memctl state list.")
    return Result("state", _stored(entry))


def list_values(memory: OpenMemory, *, agent: str | None = None, prefix: str = "") -> Result[tuple[Stored, ...]]:
    """List the values of a scope by key."""
    entries = memory.store.state_list(memory.scope(agent), at=memory.now())
    return Result("state", tuple(_stored(entry) for entry in entries if entry.key.startswith(prefix)))


def delete_value(memory: OpenMemory, key: str, *, agent: str | None = None) -> Result[dict[str, Any]]:
    """Remove a value; removing one that is not there is no error, and says so."""
    scope = memory.scope(agent)
    there = memory.store.state_get(scope, key, at=memory.now()) is not None
    if there:
        info = RunInfo("state delete", f"{scope}: {key}", memory.now())
        memory.store.apply(Changes(drop_state=[(scope, key)]), info, wait=memory.wait)
    return Result("state", {"agent": scope, "key": key, "deleted": there})


def _check(key: str, value: Any) -> None:
    if not key or len(key) > _LONGEST_KEY or any(ord(char) < 32 for char in key):
        raise UsageProblem(reason=f"a key has 1 to {_LONGEST_KEY} printable characters")
    if _too_deep(value):
        raise UsageProblem(
            reason=f"a value has lists and objects at most {_DEEPEST_VALUE} deep", remedy="Keep it flatter."
        )
    try:
        size = len(json.dumps(value, ensure_ascii=False, allow_nan=False).encode())
    except (TypeError, ValueError) as error:
        raise UsageProblem(reason=f"the value is not JSON: {error}") from error
    if size > _LARGEST_VALUE:
        raise UsageProblem(
            reason=f"a value has at most {_LARGEST_VALUE} bytes, this has {size}",
            remedy="Keep large things in files and their path here.",
        )


def _too_deep(value: Any) -> bool:
    """Tell whether a value is nested deeper than what reads and writes it can follow; no recursion here."""
    level = [value]
    for _ in range(_DEEPEST_VALUE + 1):
        level = [part for whole in level for part in _parts(whole)]
        if not level:
            return False
    return True


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list | tuple) else ()


def _stored(entry: StateEntry) -> Stored:
    return Stored(entry.agent, entry.key, entry.value, entry.updated_at, entry.expires_at)
