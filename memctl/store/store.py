"""The store as the rest of memctl sees it: one object to read from, and one way to write."""

import contextlib
import os
import shutil
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from memctl import times
from memctl.errors import DamagedStore, MemctlError, NoStore, OtherModel, ReadOnlyStore, StoreBusy
from memctl.model import Finding
from memctl.store import audit, journal, rounds, spool, sums, trim, upgrades
from memctl.store import backup as backups
from memctl.store import batch as batches
from memctl.store import purge as purging
from memctl.store import undo as undoing
from memctl.store.files import Files
from memctl.store.filters import literal
from memctl.store.guard import crash_point, file_errors
from memctl.store.home import FORMAT, META_FILE, Home, Meta, locate, newer_store, read_meta, write_meta
from memctl.store.index import Index
from memctl.store.journal import Batch
from memctl.store.lock import FileLock, Holder, Lock
from memctl.store.reader import FOLDING, Reader
from memctl.store.record import Record
from memctl.store.rows import (
    Row,
)
from memctl.store.types import (
    TABLES,
    Changes,
    Model,
    Receipt,
    RunInfo,
)
from memctl.store.undo import Undone

DEFAULT_WAIT = 30.0
_TIDY_EVERY = 25
_COMPACT_MARK = "compact.todo"
_ACCEPTED = (
    "The change is accepted and must not be asked for again: mend that, and the next command that writes finishes it."
)


class Store(Reader):
    """An open store. Opening reads one small file.

    Reading needs no lock and never waits. Writing is ``apply``, and nothing else; an operation that decides
    by what it read does both inside ``writing``, so that nobody changes the store in between.
    """

    def __init__(self, home: Home, meta: Meta) -> None:
        """Use ``Store.open`` or ``Store.create``."""
        super().__init__(home, meta)
        self.files = home.files()
        self.lock = _lock_for(home)

    # Opening

    @classmethod
    def open(cls, home: str | os.PathLike[str], *, model: Model | None = None) -> "Store":
        """Open an existing store; ``model`` given, it must be the one the store was built with."""
        place = locate(home)
        meta = read_meta(place)
        if meta is None:
            raise _undescribed(place)
        if meta.format > FORMAT:
            raise newer_store(place, meta.format, meta.release)
        if model is not None and (model.name, model.dimension) != (meta.model.name, meta.model.dimension):
            raise OtherModel(path=place.root, stored=meta.model.name, wanted=model.name)
        store = cls(place, meta)
        if upgrades.outdated(meta):
            store._upgrade()
        return store

    def _upgrade(self) -> None:
        with self.lock.held("upgrade", DEFAULT_WAIT):
            self._finish_left()
            newest = read_meta(self.home) or self.meta
            self.meta = upgrades.upgrade(self.home, self.record, newest)
            sums.refresh(self.home)

    @classmethod
    def restore(cls, source: str | os.PathLike[str], home: str | os.PathLike[str]) -> "Store":
        """Bring a backup to a home where no store is yet, and open it."""
        backups.load(Path(source), locate(home))
        return cls.open(home)

    @classmethod
    def create(cls, home: str | os.PathLike[str], model: Model, *, wait: float = DEFAULT_WAIT) -> "Store":
        """Open the store, making it first where there is none. Safe to be interrupted and repeated."""
        place = locate(home)
        if read_meta(place) is None:
            _make_folders(place)
            store = cls(place, Meta(FORMAT, model, times.now(), uuid.uuid4().hex))
            with store.lock.held("create", wait):
                if read_meta(place) is None:
                    stored = store.record.stored_dimension()
                    if stored not in (None, model.dimension):
                        raise OtherModel(path=place.root, stored=f"of {stored} dimensions", wanted=model.name)
                    store.record.create()
                    sums.refresh(place)
                    crash_point("tables-created")
                    write_meta(place, store.meta)
        return cls.open(home, model=model)

    @classmethod
    def describe(cls, home: str | os.PathLike[str], model: Model, *, wait: float = DEFAULT_WAIT) -> "Store":
        """Open a store whose description was lost or cannot be read, writing it anew; ``model`` is trusted."""
        place = locate(home)
        with _lock_for(place).held("repair", wait):
            try:
                read_meta(place)
            except DamagedStore:
                place.files().remove(META_FILE)
        return cls.create(home, model, wait=wait)

    # Writing

    @contextmanager
    def writing(self, command: str, *, wait: float = DEFAULT_WAIT) -> Iterator[None]:
        """Be the one writer for a block; what a dead writer left is finished first. May be nested.

        Raises StoreBusy, naming the holder, after ``wait`` seconds, and ReadOnlyStore where nothing can be written.
        """
        with self.lock.held(command, wait) as outermost:
            if outermost:
                self._finish_left()
            yield

    def apply(self, changes: Changes, run: RunInfo, *, wait: float = DEFAULT_WAIT) -> Receipt:
        """Do all of the changes, or, where it fails before they are accepted, none of them.

        Rows that would stay as they are, are not written; a batch that changes nothing leaves no run.
        ``uses`` and ``last_used_at`` of known facts are the store's own: it keeps the higher ones.
        """
        with self.writing(run.command, wait=wait):
            wanted = batches.plan(self.record, batches.rows_of(changes), batches.drops_of(changes))
            return self._commit(wanted, run)

    def _commit(self, wanted: batches.Plan, run: RunInfo, log: Callable[[str], list[Row]] | None = None) -> Receipt:
        """Accept and perform a plan; ``log`` gives further rows of the run log, told the run's name."""
        if not any(wanted.writes.values()) and not any(wanted.deletes.values()) and log is None:
            return Receipt(run.id or "")
        finished = times.now()
        sequence = self.record.sequence() + 1
        name, part = self._run_name(run, sequence, finished)
        receipt = wanted.receipt(name, part)
        row = batches.run_row(run, name, part, sequence, finished, wanted)
        uses = spool.take(self.home.spool, sequence)
        batches.fold(self.record, wanted, uses)
        batch = batches.assemble(wanted, [row, *(log(name) if log else ())], sequence, uses, self.meta.model.dimension)
        journal.write(self.files, batch)
        try:
            self._perform(batch)
        except (ReadOnlyStore, StoreBusy) as error:
            error.remedy = _ACCEPTED
            raise
        return receipt

    def _run_name(self, run: RunInfo, sequence: int, at: datetime) -> tuple[str, int]:
        if run.id is None:
            return f"{(run.started_at or at):%Y%m%dT%H%M%S}-{sequence:05d}", 0
        parts = self.record.rows("runs", columns=["part_number"], where=f"run = {literal(run.id)}")
        return run.id, max((row["part_number"] for row in parts), default=-1) + 1

    def _perform(self, batch: Batch) -> None:
        """Bring an accepted batch into the record and the index. Doing it twice is doing it once."""
        for table in TABLES:
            self.lock.confirm()
            if table in batch.writes:
                self.record.upsert(table, batch.writes[table])
            if batch.deletes.get(table):
                self.record.delete(table, batch.deletes[table])
            crash_point(f"{table}-written")
        self.tidy(due=batch.sequence % _TIDY_EVERY == 0)
        self.index.catch_up()
        spool.remove(self.home.spool, batch.spool)
        sums.refresh(self.home)
        journal.remove(self.files, batch)

    def _finish_left(self) -> None:
        self.files.sweep(journal.FOLDER)
        if self.record.finish_replacing():  # a new table counts its versions anew: the index must not trust them
            self.index.rebuild()
            sums.refresh(self.home)
        for name in journal.left(self.files):
            batch = journal.read(self.files, name, self.home.root)
            if batch is not None:
                self._perform(batch)
        sums.finish(self.home)
        if self.files.read(_COMPACT_MARK) is not None:
            self._compact()

    def undo(
        self, run: str | None = None, *, cascade: bool = False, dry_run: bool = False, wait: float = DEFAULT_WAIT
    ) -> Undone:
        """Put everything back to how it was before a run (the last one in effect, unless named).

        An undo is a run too, and can itself be undone. UndoBlocked names later runs that changed the same rows;
        with ``cascade`` they are undone first. Recall counts stay. ``dry_run`` only says what it would do.
        """
        if dry_run:
            return undoing.summary(self._plan_undo(run, cascade)[1], Receipt(""))
        with self.writing("undo", wait=wait):
            log, plan = self._plan_undo(run, cascade)
            wanted = batches.plan(self.record, plan.rows, plan.drops)
            info = RunInfo("undo", args=" ".join(plan.runs), undoes=" ".join(plan.runs))
            receipt = self._commit(wanted, info, lambda name: undoing.marked(log, plan.runs, name))
            return undoing.summary(plan, receipt)

    def _plan_undo(self, run: str | None, cascade: bool) -> tuple[list[Row], undoing.Undoing]:
        log = self.record.rows("runs")
        return log, undoing.plan_undo(log, undoing.find_run(log, run), cascade=cascade)

    def purge(self, ids: Sequence[str], *, messages: bool = True, wait: float = DEFAULT_WAIT) -> Receipt:
        """Remove facts for good: the rows, their pictures in the undo log, and their words wherever they are repeated.

        With ``messages`` the transcripts' messages that say them are blanked too. Cannot be undone. Afterwards no
        file of the store holds the texts; killed in the middle, the next writer finishes.
        """
        with self.writing("purge", wait=wait):
            wanted, log = purging.plan(self.record, ids, messages=messages)
            if not wanted.deletes["facts"]:
                return Receipt("")
            self.files.write(_COMPACT_MARK, b"")
            receipt = self._commit(wanted, RunInfo("purge", counts={"facts": len(ids)}), lambda _: log)
            self._compact()
            return receipt

    def rewrite(self, changes: Changes, run: RunInfo, secrets: Sequence[str], *, wait: float = DEFAULT_WAIT) -> Receipt:
        """Replace rows for good: the old ones are in no file afterwards, and ``secrets`` not in the undo log either.

        Cannot be undone; killed in the middle, the next writer finishes.
        """
        with self.writing(run.command, wait=wait):
            wanted = batches.plan(self.record, batches.rows_of(changes), batches.drops_of(changes))
            wanted.before.clear()
            self.files.write(_COMPACT_MARK, b"")
            receipt = self._commit(wanted, run, lambda _: purging.clean_log(self.record, secrets))
            self._compact()
            return receipt

    def backup(self, target: str | os.PathLike[str], *, wait: float = DEFAULT_WAIT) -> int:
        """Copy the record to a new folder or ``.tar[.gz]`` file, verified; writers wait meanwhile. Gives its bytes."""
        with self.writing("backup", wait=wait):
            return backups.save(self.home, Path(target))

    def check(self, *, wait: float = DEFAULT_WAIT) -> list[Finding]:
        """Look for anything wrong, see ``audit.check``; where all is well, nothing is changed and nobody waits."""
        return self._looked_at_again(audit.check, wait)

    def check_new(self, *, wait: float = DEFAULT_WAIT) -> list[Finding]:
        """Look at what was written since the last such look, and at some old files in turn; see ``rounds``."""
        return self._looked_at_again(rounds.go, wait)

    def _looked_at_again(self, look: Callable[[Home, Index, Files], list[Finding]], wait: float) -> list[Finding]:
        """Look; at what is found look again as the one writer, who finishes first what a dead one left."""
        findings = look(self.home, self.index, self.files)
        if not findings:
            return []
        try:
            with self.writing("check", wait=wait):
                return look(self.home, self.index, self.files)
        except StoreBusy:  # what a writer is replacing just now is not found twice
            again = look(self.home, self.index, self.files)
            return [finding for finding in findings if finding in again]
        except (ReadOnlyStore, DamagedStore):  # then the first look must do
            return findings

    def repair(self, *, wait: float = DEFAULT_WAIT) -> list[Finding]:
        """Make the store whole again, keeping all that reads right; the findings say what was done and lost."""
        with self.lock.held("repair", wait):
            findings = audit.repair(self.home, self.index, self.files, self.record)
            self._finish_left()
            self._note_repair(findings)
            return findings

    def _note_repair(self, findings: Sequence[Finding]) -> None:
        """Put the repair in the log, with a number above all that are left: lost runs must not be counted again."""
        if findings:
            sequence, lost = self.record.highest_change() + 1, sum(finding.code == "lost" for finding in findings)
            info, nothing = RunInfo("repair", counts={"lost": lost}), batches.Plan()
            name, part = self._run_name(info, sequence, times.now())
            row = batches.run_row(info, name, part, sequence, times.now(), nothing)
            batch = batches.assemble(nothing, [row], sequence, spool.Uses(), self.meta.model.dimension)
            self._perform(batch)

    def compact(self, *, undoable_since: datetime | None = None, wait: float = DEFAULT_WAIT) -> None:
        """Make deletions final: rewrite the tables, drop old versions, build the index anew.

        Runs that ended before ``undoable_since`` stay in the log, but can no longer be undone.
        """
        with self.writing("compact", wait=wait):
            self._keep_house(undoable_since)
            self._compact()

    def settle(self, *, undoable_since: datetime | None = None, wait: float = DEFAULT_WAIT) -> None:
        """Fold recall counts and small files in: the nightly upkeep, at the cost of what is new.

        What was deleted is no longer read, but only ``compact`` promises that no file holds it.
        """
        with self.writing("compact", wait=wait):
            self._keep_house(undoable_since)
            with sums.changing(self.home):
                self.tidy()
                self.index.catch_up()

    def _keep_house(self, undoable_since: datetime | None) -> None:
        """Trim the log, and count in the recalls since the last write, where no write came along to do it."""
        trimmed = trim.plan_trim(self.record, undoable_since) if undoable_since else []
        if trimmed or spool.pending(self.home.spool):
            self._commit(batches.Plan(), RunInfo(FOLDING), lambda _: trimmed)

    def _compact(self) -> None:
        with sums.changing(self.home):
            for table in TABLES:
                self.lock.confirm()
                self.record.compact(table)
                crash_point(f"{table}-compacted")
            self.index.sweep()
            if not self.index.rebuild():
                self.index.remove()
            self._drop_damaged()
        self.files.remove(_COMPACT_MARK)
        crash_point("compacted")

    def _drop_damaged(self) -> None:
        """Remove what repairs put aside: it may hold texts that were purged since."""
        if self.home.local:
            with file_errors(self.home.root):
                shutil.rmtree(self.home.damaged, ignore_errors=True)
                shutil.rmtree(self.home.repaired, ignore_errors=True)

    def tidy(self, *, due: bool = True) -> None:
        """Keep the number of files and versions small; ``apply`` calls this each time, and it is due now and then."""
        for table in TABLES:
            self.record.tidy(table, due=due)
            crash_point(f"{table}-tidied")

    def holder(self) -> Holder | None:
        """Who is writing now."""
        return self.lock.holder()


def _undescribed(place: Home) -> MemctlError:
    """Tell a folder that is no store from one whose description was lost, as in a half-copied folder."""
    if Record(place, 0).stored_dimension() is None:
        return NoStore(path=place.root)
    return DamagedStore(path=place.root, reason=f"{META_FILE} is missing")


def _lock_for(home: Home) -> Lock:
    if home.local:
        return FileLock(home.lock)
    from memctl.store.lease import Lease

    return Lease(home)


def _make_folders(home: Home) -> None:
    with file_errors(home.root):
        home.near.mkdir(parents=True, exist_ok=True, mode=0o700)
        with contextlib.suppress(PermissionError):
            Path(home.near).chmod(0o700)
