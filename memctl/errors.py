"""The errors memctl foresees: what went wrong, where, what to do, and how the process ends.

An error class carries its sentence in its docstring, a stable ``code`` for scripts, an
``exit_code`` for shells and a ``remedy`` for people. Anything else that is raised is a bug.
"""

from enum import IntEnum
from typing import Any


class ExitCode(IntEnum):
    """How a command ended; scripts rely on the numbers."""

    DONE = 0
    PROBLEMS = 1
    USAGE = 2
    INPUT = 3
    NO_STORE = 4
    BUSY = 5
    DAMAGED = 6
    UNAVAILABLE = 7
    INTERRUPTED = 130


class MemctlError(Exception):
    """Something went wrong: {reason}."""

    code = "error"
    exit_code = ExitCode.PROBLEMS
    remedy = ""

    def __init__(self, *, remedy: str | None = None, where: str | None = None, **details: Any) -> None:
        """Fill the class's sentence with ``details``; ``remedy`` and ``where`` override the defaults."""
        self.details = details
        self.where = where if where is not None else str(details.get("path", ""))
        if remedy is not None:
            self.remedy = remedy
        super().__init__(" ".join((type(self).__doc__ or "").split()).format(**details))


class UsageProblem(MemctlError):
    """{reason}."""

    code = "usage"
    exit_code = ExitCode.USAGE


class UnreadableInput(MemctlError):
    """Cannot read {path}: {reason}."""

    code = "input_unreadable"
    exit_code = ExitCode.INPUT
    remedy = "Check the file, or name its format with --format."


class UnknownFormat(UnreadableInput):
    """{path} is not a transcript that memctl knows: {reason}."""

    code = "format_unknown"


class HollowTranscript(UnreadableInput):
    """{path} holds no message text: {reason}."""

    code = "transcript_hollow"


class NoStore(MemctlError):
    """There is no memory at {path} yet."""

    code = "no_store"
    exit_code = ExitCode.NO_STORE
    remedy = "Ingest a transcript or remember a fact first, or set MEMCTL_HOME."


class NewerStore(MemctlError):
    """The store at {path} has format {found}; this release reads up to {supported}."""

    code = "store_newer"
    exit_code = ExitCode.NO_STORE
    remedy = "Install the memctl release that wrote it, or a later one."


class OtherModel(MemctlError):
    """The store at {path} was built with embedding model {stored}, not {wanted}."""

    code = "model_differs"
    exit_code = ExitCode.NO_STORE
    remedy = "Run memctl reembed to convert it, or set embedding.model back."


class NotFound(MemctlError):
    """No {what} matches {name}."""

    code = "not_found"
    exit_code = ExitCode.USAGE
    remedy = "Look it up with memctl list."


class Ambiguous(NotFound):
    """{count} {what}s match {name}."""

    remedy = "Give more of the id."


class UndoBlocked(MemctlError):
    """Run {run} cannot be undone alone: {later} changed the same rows afterwards."""

    code = "undo_blocked"
    exit_code = ExitCode.USAGE
    remedy = "Undo those first, or all together with --cascade."


class UndoGone(MemctlError):
    """Run {run} can no longer be undone: what it changed on {day} was trimmed from the log."""

    code = "undo_gone"
    exit_code = ExitCode.USAGE
    remedy = "Edit, restore or forget the facts one by one; the setting undo.keep says how long runs can be undone."


class StoreBusy(MemctlError):
    """The store at {path} is being written by {holder}."""

    code = "store_busy"
    exit_code = ExitCode.BUSY
    remedy = "Wait for it to finish, or pass a longer --wait."


class ReadOnlyStore(MemctlError):
    """The store at {path} cannot be written: {reason}."""

    code = "store_read_only"
    exit_code = ExitCode.BUSY
    remedy = "Check the folder's permissions and the free space, then run the command again."


class UnwritablePlace(ReadOnlyStore):
    """Cannot write to {path}: {reason}."""

    code = "place_unwritable"
    remedy = "Name another place."


class ClosedStore(MemctlError):
    """The store at {path} may not be read by this user: {reason}."""

    code = "store_closed"
    exit_code = ExitCode.BUSY
    remedy = "Check who owns the folder, or set MEMCTL_HOME to one of your own."


class DamagedStore(MemctlError):
    """The store at {path} is damaged: {reason}."""

    code = "store_damaged"
    exit_code = ExitCode.DAMAGED
    remedy = "Run memctl check, then memctl check --repair."


class DamagedBackup(DamagedStore):
    """{path} is no whole backup: {reason}."""

    code = "backup_damaged"
    remedy = "Use another backup."


class ModelUnavailable(MemctlError):
    """The model {name} cannot be used: {reason}."""

    code = "model_unavailable"
    exit_code = ExitCode.UNAVAILABLE
    remedy = "Install it, or choose another with memctl config set."


class EndpointUnavailable(MemctlError):
    """{name} did not answer: {reason}."""

    code = "endpoint_unavailable"
    exit_code = ExitCode.UNAVAILABLE
    remedy = "Check the address and that it is running."
