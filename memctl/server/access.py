"""What a caller may see and change. Pure decisions about scopes; keys and sockets are mapped to an Access elsewhere."""

from dataclasses import dataclass

from memctl.errors import ExitCode, MemctlError
from memctl.model import GLOBAL_SCOPE


class Forbidden(MemctlError):
    """The key {reason}."""

    code = "forbidden"
    exit_code = ExitCode.USAGE
    remedy = "Use a key for that scope; memctl key create makes one."


@dataclass(frozen=True, slots=True)
class Access:
    """A scope with everything below it, or with ``scope`` None all of the memory.

    A scope sees itself, the scopes below it, the ones above it and ``global``; it changes only itself and
    what is below.
    """

    scope: str | None = None
    read_only: bool = False

    @property
    def whole(self) -> bool:
        """Whether nothing is out of reach."""
        return self.scope is None and not self.read_only

    def sees(self, agent: str) -> bool:
        """Whether facts of that scope may be read."""
        return self.scope is None or self._below(agent) or agent in above(self.scope)

    def owns(self, agent: str) -> bool:
        """Whether facts of that scope may be changed."""
        return not self.read_only and (self.scope is None or self._below(agent))

    def to_read(self, agent: str | None) -> str | None:
        """Name the scope to read: the one asked for where it may be seen, else the key's own."""
        asked = agent or self.scope
        if asked is not None and not self.sees(asked):
            raise Forbidden(reason="does not see that scope")
        return asked

    def to_write(self, agent: str | None) -> str | None:
        """Name the scope to write to: the one asked for where it may be changed, else the key's own."""
        self.require_write()
        asked = agent or self.scope
        if asked is not None and not self.owns(asked):
            raise Forbidden(reason="may not write to that scope")
        return asked

    def require_write(self) -> None:
        """Refuse a key that may only read."""
        if self.read_only:
            raise Forbidden(reason="may only read", remedy="Use a key that was made without --read-only.")

    def require_everything(self) -> None:
        """Refuse a key that is bound to a scope, for what concerns the whole memory."""
        if self.scope is not None:
            raise Forbidden(
                reason="is bound to one scope, and this concerns all of them",
                remedy="Use a key made with --all-scopes.",
            )

    def _below(self, agent: str) -> bool:
        return agent == self.scope or agent.startswith(f"{self.scope}/")


def above(scope: str) -> set[str]:
    """Name the scopes that a scope inherits from, ``global`` among them."""
    parts = scope.split("/")
    return {"/".join(parts[:length]) for length in range(1, len(parts))} | {GLOBAL_SCOPE}
