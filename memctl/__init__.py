"""Memory for AutoGen and AG2 group chats.

``from memctl import Memory`` is the way in for Python programs; the import is deferred so that the
command line starts without it.
"""

from typing import Any

__version__ = "0.1.0"
__all__ = ["Memory", "__version__"]


def __getattr__(name: str) -> Any:
    if name == "Memory":
        from memctl.adapters.python import Memory

        return Memory
    raise AttributeError(f"module 'memctl' has no attribute {name!r}")
