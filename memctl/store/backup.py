"""Backups: a copy of the record that is consistent while writers run and is verified before it counts.

A backup is a folder (or a ``.tar``/``.tar.gz`` file of one) that is itself a store, without index, spool and lock.
"""

import dataclasses
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memctl.errors import DamagedBackup, DamagedStore, NoStore, ReadOnlyStore, UnwritablePlace, UsageProblem
from memctl.store import journal, sums
from memctl.store.guard import crash_point, file_errors, private_files
from memctl.store.home import FORMAT, META_FILE, Home, locate, newer_store, read_meta, write_meta
from memctl.store.types import TABLES

_PARTS = ("record", META_FILE, sums.SUMS_FILE)
_MARK = "restore.todo"
_ARCHIVES = (".tar", ".tar.gz", ".tgz")


def save(home: Home, target: Path) -> int:
    """Copy the record to ``target``, which must not exist yet, and verify the copy; for the holder of the lock.

    Gives the number of bytes. Killed in the middle it leaves nothing under the target's name.
    """
    with _place_errors(target), private_files():
        if target.exists() and (target.is_file() or any(target.iterdir())):
            raise UsageProblem(reason=f"{target} exists already", remedy="Name a new file or an empty folder.")
        if home.local and target.resolve().is_relative_to(Path(home.record).resolve()):
            raise UsageProblem(reason=f"{target} is inside the record itself", remedy="Name a place outside the store.")
        target.parent.mkdir(parents=True, exist_ok=True)
        with _workplace(target.parent) as folder:
            _copy_out(home, folder)
            _verify(folder, DamagedStore, home.root)
            size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
            _put_in_place(folder, target)
    return size


def load(source: Path, home: Home) -> None:
    """Bring a backup to ``home``, where no store may be yet; verified before it is put in place."""
    if not source.exists():
        raise NoStore(path=source, remedy="Name a backup that memctl backup wrote.")
    if read_meta(home) is not None:
        raise UsageProblem(reason=f"There is a store at {home.root} already", remedy="Move it away first.")
    if not home.local:
        _load_to_objects(source, home)
        return
    place = Path(home.root)
    with file_errors(home.root), private_files():
        place.parent.mkdir(parents=True, exist_ok=True)
        with _workplace(place.parent) as folder:
            _unpack(source, folder)
            _verify_backup(folder, source)
            _rename_store(folder)
            _make_room(place)
            # The description goes last: until it is there, there is no store.
            home.files().write(_MARK, b"")
            for name in sorted(_PARTS, key=lambda part: part == META_FILE):
                (folder / name).rename(place / name)
                crash_point("part-restored")
            home.files().remove(_MARK)


def _make_room(place: Path) -> None:
    """Make the folder private and free of what a restore that died left there; of another store nothing may be left."""
    place.mkdir(mode=0o700, exist_ok=True)
    place.chmod(0o700)
    if (place / _MARK).exists():
        shutil.rmtree(place / "record", ignore_errors=True)
        (place / sums.SUMS_FILE).unlink(missing_ok=True)
    for name in ("record", journal.FOLDER):
        if (place / name).exists() and any((place / name).iterdir()):
            raise UsageProblem(reason=f"{place / name} is left of another store", remedy="Move it away first.")


@contextmanager
def _place_errors(target: Path) -> Iterator[None]:
    """Say of the target what the system says of it: it is not the store."""
    try:
        with file_errors(str(target)):
            yield
    except ReadOnlyStore as error:
        cause = error.__cause__
        if isinstance(cause, FileExistsError):
            raise UnwritablePlace(path=target, reason=f"{cause.filename} is a file") from error
        raise UnwritablePlace(**error.details) from error


@contextmanager
def _workplace(parent: Path) -> Iterator[Path]:
    """Make a folder beside the target, so that putting in place is a rename; gone afterwards."""
    import tempfile

    with tempfile.TemporaryDirectory(prefix=".memctl-backup-", dir=parent) as name:
        folder = Path(name) / "store"
        folder.mkdir(mode=0o700)
        yield folder


def _copy_out(home: Home, folder: Path) -> None:
    if home.local:
        root = Path(home.root)
        shutil.copytree(root / "record", folder / "record")
        shutil.copy2(root / META_FILE, folder / META_FILE)
    else:
        _copy_objects(home, folder)
    # Digests of what is in the record now; a local record's own digests are kept, so that old damage shows.
    noted = home.files().read(sums.SUMS_FILE)
    if noted is not None:
        (folder / sums.SUMS_FILE).write_bytes(noted)
    else:
        sums.renew(locate(folder))


def _copy_objects(home: Home, folder: Path) -> None:
    from memctl.store.objects import ObjectFiles

    files = ObjectFiles(home.root)
    names = [name for name, _ in files.listing("record")]
    for name in [*names, META_FILE]:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.write_bytes(files.read(name) or b"")


def _load_to_objects(source: Path, home: Home) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "store"
        folder.mkdir(mode=0o700)
        _unpack(source, folder)
        _verify_backup(folder, source)
        _rename_store(folder)
        files = home.files()
        for path in sorted((folder / "record").rglob("*")):
            if path.is_file():
                files.write(path.relative_to(folder).as_posix(), path.read_bytes())
        files.write(META_FILE, (folder / META_FILE).read_bytes())


def _unpack(source: Path, folder: Path) -> None:
    if source.is_dir():
        for name in _PARTS:
            part = source / name
            if part.is_dir():
                shutil.copytree(part, folder / name)
            elif part.exists():
                shutil.copy2(part, folder / name)
        return
    import tarfile
    import zlib
    from gzip import BadGzipFile

    try:
        with tarfile.open(source) as archive:
            archive.extractall(folder, filter="data")
    except (tarfile.TarError, EOFError, BadGzipFile, zlib.error) as error:
        raise DamagedBackup(path=source, reason="it cannot be unpacked") from error


def _verify(folder: Path, damage: type[DamagedStore], origin: str | Path) -> None:
    """Look whether a copy is whole; what is wrong with it was wrong where it came from."""
    copy = locate(folder)
    if read_meta(copy) is None:
        raise damage(path=origin, reason=f"{META_FILE} is missing")
    wrong = sums.verify(copy)
    if wrong:
        name, problem = next(iter(wrong.items()))
        raise damage(path=origin, reason=f"{name} {problem}")


def _verify_backup(folder: Path, source: Path) -> None:
    """Look whether an unpacked backup is whole, and of a kind that this release can open."""
    copy = locate(folder)
    meta = read_meta(copy)
    if meta is not None and meta.format > FORMAT:
        raise newer_store(dataclasses.replace(copy, root=str(source)), meta.format, meta.release)
    _verify(folder, DamagedBackup, source)
    for table in TABLES:
        if not Path(copy.table(table)).is_dir():
            raise DamagedBackup(path=source, reason=f"record/{table}.lance is missing")


def _rename_store(folder: Path) -> None:
    """Give a restored store an id of its own: what machines cached of the one before it is worth nothing."""
    copy = locate(folder)
    meta = read_meta(copy)
    if meta is not None:
        write_meta(copy, dataclasses.replace(meta, id=uuid.uuid4().hex))


def _put_in_place(folder: Path, target: Path) -> None:
    if not target.name.endswith(_ARCHIVES):
        if target.exists():
            target.rmdir()
        folder.rename(target)
        return
    import tarfile

    packed = folder.parent / "packed"
    with tarfile.open(packed, "w" if target.name.endswith(".tar") else "w:gz") as archive:
        for name in _PARTS:
            archive.add(folder / name, arcname=name)
    packed.rename(target)
