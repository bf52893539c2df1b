"""The border between a chat and its memory: trouble with the memory is logged, and the chat goes on."""

import logging
from types import TracebackType

from memctl.errors import MemctlError

log = logging.getLogger("memctl")

# Wider than MemctlError on purpose: a library's slip or a bug of ours must not end somebody's chat. What asks
# the program itself to stop (KeyboardInterrupt, cancellation, exhausted memory) passes.
TROUBLE = (
    MemctlError,
    ArithmeticError,
    AttributeError,
    ImportError,
    LookupError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
)


class harmless:  # noqa: N801  reads as a word: with harmless("recall")
    """Log what goes wrong inside a block, once and with its remedy, and go on behind it."""

    def __init__(self, doing: str) -> None:
        """Name what is being done, for the log."""
        self.doing = doing

    def __enter__(self) -> None:
        """Begin the block."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        """Swallow trouble with the memory; let everything else pass."""
        if isinstance(error, MemctlError):
            log.warning("memctl: %s failed, going on without it: %s %s", self.doing, error, error.remedy)
        elif isinstance(error, TROUBLE):
            log.error("memctl: %s failed, going on without it", self.doing, exc_info=error)
        return isinstance(error, TROUBLE)
