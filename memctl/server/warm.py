"""A memory that stays warm: models and tables are loaded once and shared by all requests of a process.

Settings are read anew for each request and the store is looked at again when its description has changed, so
that a server never serves an old model or a memory that was replaced under it.
"""

import threading
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memctl.errors import MemctlError
from memctl.memory import OpenMemory, silent
from memctl.settings import Settings, is_remote
from memctl.settings import load as load_settings

if TYPE_CHECKING:
    from memctl.embedding.models import Embedder
    from memctl.embedding.onnx import OnnxEncoder
    from memctl.extraction.local import LocalExtractor
    from memctl.rules.relation import Relate
    from memctl.store import Store

_DESCRIPTION = "memctl.json"


class Parts:
    """Loaded things by kind; a kind keeps only the thing of its latest key."""

    def __init__(self) -> None:
        """Hold nothing yet."""
        self._held: dict[str, tuple[Any, Any]] = {}
        self._turn = threading.RLock()

    def once(self, kind: str, key: Any, make: Callable[[], Any]) -> Any:
        """Give the thing of this kind and key, made now where it is not there."""
        known = self._held.get(kind)
        if known is not None and known[0] == key:
            return known[1]
        with self._turn:
            known = self._held.get(kind)
            if known is None or known[0] != key:
                known = self._held[kind] = (key, make())
            return known[1]


class WarmMemory(OpenMemory):
    """An open memory whose heavy parts come from a shared place."""

    def __init__(self, location: str, settings: Settings, on_note: Callable[[str], None], parts: Parts) -> None:
        """Name the place and where the parts are."""
        super().__init__(location, settings, on_note)
        self._parts = parts

    @property
    def store(self) -> "Store":
        """The store that exists, opened once for all requests."""
        if self._store is None:
            from memctl.store import Store

            self._store = self._parts.once("store", self._mark(), lambda: Store.open(self.location))
        return self._store

    @cached_property
    def embedder(self) -> "Embedder":
        """The embedding model that the settings name."""
        return self._shared("embedder", str(self.settings["embedding.model"]))  # type: ignore[no-any-return]

    @cached_property
    def asker(self) -> "OnnxEncoder":
        """The encoder of questions for the bundled model."""
        return self._shared("asker", None)  # type: ignore[no-any-return]

    @cached_property
    def reader(self) -> "OnnxEncoder":
        """The model that reads a question and a memory together."""
        return self._shared("reader", None)  # type: ignore[no-any-return]

    @cached_property
    def local_extractor(self) -> "LocalExtractor":
        """The extractor that needs no LLM."""
        return self._shared("local_extractor", tuple(self.lifetimes().items()))  # type: ignore[no-any-return]

    @cached_property
    def compare(self) -> "Relate":
        """The trained model's view of pairs of sentences."""
        return self._shared("compare", None)  # type: ignore[no-any-return]

    def _shared(self, name: str, key: Any) -> Any:
        load = getattr(OpenMemory, name).func
        return self._parts.once(name, key, lambda: load(self))

    def _mark(self) -> Any:
        """Tell one store at this place from another that replaced it."""
        if is_remote(self.location):
            return None
        try:
            found = (Path(self.location) / _DESCRIPTION).stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_ino


class Warm:
    """Opens the memory at one place, again and again, at the price of reading its settings."""

    def __init__(self, location: str) -> None:
        """Name the place."""
        self.location = location
        self._parts = Parts()

    def open(
        self, *, on_note: Callable[[str], None] = silent, environ: Mapping[str, str] | None = None, **flags: Any
    ) -> WarmMemory:
        """Open the memory with the settings in force for ``environ``, and flags above them."""
        settings = load_settings(self.location, environ).override(**flags)
        return WarmMemory(self.location, settings, on_note, self._parts)

    def heat(self) -> None:
        """Load what the first recall will need; what cannot be loaded will be said by the request that needs it."""
        from contextlib import suppress

        from memctl.rules.relation import Pair

        with suppress(MemctlError):
            memory = self.open()
            memory.ask(["warm"])
            memory.read([("warm", "warm")])
            memory.compare([Pair("warm", "warmer", by_hand=True)])
            if memory.existing is not None:
                from memctl.operations.recall import Asked, recall

                recall(memory, "warm", asked=Asked(count=False))
