"""The writer lock of a store on an object store: a lease by conditional put.

The lease is one object. Taking, renewing and releasing it are puts that succeed only where nobody else wrote in
between, so two machines never hold it both. A holder renews it in the background; one that dies stops, and after
the lease has run out the next writer takes over, finishing the dead one's journal. ``fence`` counts the holders.
"""

import json
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from typing import Any

from memctl.errors import MemctlError, StoreBusy
from memctl.store.guard import crash_point
from memctl.store.home import Home
from memctl.store.lock import Holder, TurnTaking
from memctl.store.objects import Changed, ObjectFiles, Tag, Tagged

LEASE_FILE = "lease.json"
SECONDS_VARIABLE = "MEMCTL_LEASE_SECONDS"
_POLL = 0.25


class Lease(TurnTaking):
    """The right to write to a store that several machines share."""

    def __init__(self, home: Home) -> None:
        """Lease the store at ``home``."""
        super().__init__()
        self.root = home.root
        self.files = ObjectFiles(home.root)
        self.seconds = float(os.environ.get(SECONDS_VARIABLE, "20"))
        self._tag: Tag | None = None
        self._body: dict[str, Any] = {}
        self._renewed = 0.0
        self._renewing = threading.Lock()

    def confirm(self) -> None:
        """Make sure that the lease is still ours; StoreBusy where it ran out and somebody else took it.

        One that is fresh is only looked at: object stores let one object be written about once a second.
        """
        with self._renewing:
            if self._tag is None:
                raise StoreBusy(path=self.root, holder="another machine, since the lease was lost")
            try:
                if time.monotonic() - self._renewed < self.seconds / 4:
                    self._look(self._tag)
                else:
                    self._put(self._tag, self._body)
            except Changed as error:
                self._tag = None
                raise StoreBusy(path=self.root, holder=self._holder_name()) from error

    def holder(self) -> Holder | None:
        """Give the holder of a lease that has not run out."""
        found = self.files.read_tagged(LEASE_FILE)
        body = json.loads(found.data) if found else {}
        return Holder(**body["holder"]) if _held(body) else None

    def _holder_name(self) -> str:
        return str(self.holder() or "another machine")

    def _busy(self) -> StoreBusy:
        return StoreBusy(path=self.root, holder=self._holder_name())

    @contextmanager
    def _locked(self, command: str, wait: float) -> Iterator[None]:
        self._take(command, time.monotonic() + max(wait, 0))
        stop = threading.Event()
        renewal = threading.Thread(target=self._renew_until, args=(stop,), daemon=True)
        renewal.start()
        try:
            crash_point("after-lock")
            yield
        finally:
            stop.set()
            renewal.join()
            self._release()

    def _take(self, command: str, until: float) -> None:
        while True:
            found = self.files.read_tagged(LEASE_FILE)
            if self._try(command, found):
                return
            if time.monotonic() >= until:
                raise self._busy()
            time.sleep(_POLL)

    def _try(self, command: str, found: Tagged | None) -> bool:
        body = json.loads(found.data) if found else {"fence": 0}
        if _held(body):
            return False
        self._body = {"holder": asdict(Holder.here(command)), "fence": int(body["fence"]) + 1}
        try:
            self._put(found.tag if found else None, self._body)
        except Changed:
            return False
        return True

    def _look(self, ours: Tag) -> None:
        found = self.files.read_tagged(LEASE_FILE)
        if found is None or not found.tag.same(ours):
            raise Changed(LEASE_FILE)

    def _put(self, previous: Tag | None, body: dict[str, Any]) -> None:
        begun = time.monotonic()
        data = json.dumps(body | {"until": time.time() + self.seconds}).encode()
        self._tag = self.files.write_tagged(LEASE_FILE, data, previous)
        self._renewed = begun

    def _renew_until(self, stop: threading.Event) -> None:
        while not stop.wait(self.seconds / 4):
            # A failure here is seen by the writer itself, when it confirms before its next commit.
            with suppress(MemctlError):
                self.confirm()

    def _release(self) -> None:
        with self._renewing, suppress(Changed, MemctlError):
            if self._tag is not None:
                released = json.dumps({"fence": self._body["fence"], "until": 0}).encode()
                self.files.write_tagged(LEASE_FILE, released, self._tag)
            self._tag = None


def _held(body: dict[str, Any]) -> bool:
    return "holder" in body and float(body["until"]) > time.time()
