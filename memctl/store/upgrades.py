"""Numbered upgrades of the record. A store of format N is brought to N + 1 by the upgrade named N.

The index needs none of this: it is derived, and one of another schema is built anew.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from memctl.errors import DamagedStore
from memctl.store.guard import crash_point
from memctl.store.home import FORMAT, Home, Meta, write_meta
from memctl.store.record import Record

Upgrade = Callable[[Record], None]

# Each upgrade must be safe to repeat: a process killed in the middle leaves the old number, and it runs again.
UPGRADES: Mapping[int, Upgrade] = {}


def outdated(meta: Meta, newest: int = FORMAT) -> bool:
    """Tell whether a store must be upgraded before this release can use it."""
    return meta.format < newest


def upgrade(
    home: Home, record: Record, meta: Meta, *, upgrades: Mapping[int, Upgrade] = UPGRADES, newest: int = FORMAT
) -> Meta:
    """Run the upgrades that a store needs, in order, noting each; for the holder of the writer lock."""
    while meta.format < newest:
        step = upgrades.get(meta.format)
        if step is None:
            raise DamagedStore(path=home.root, reason=f"nothing upgrades format {meta.format}")
        step(record)
        crash_point("upgraded")
        meta = replace(meta, format=meta.format + 1)
        write_meta(home, meta)
    return meta
