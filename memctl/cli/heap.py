"""How the C library of Linux keeps memory, set for processes that write for long."""

from contextlib import suppress

_MMAP_THRESHOLD, _ARENA_MAX = -3, -8  # the names that glibc's ``mallopt`` has for them
_LARGE_BLOCK = 2**20
_HEAPS = 2


def give_memory_back() -> None:
    """Have freed memory go back to the system instead of to the heap of the thread that asked for it.

    Left alone, glibc gives each of LanceDB's threads a heap of its own and keeps there whatever a merge of large files
    took: a long run would hold what its largest step needed, once a thread. Elsewhere than with glibc nothing happens.
    """
    import ctypes

    with suppress(OSError, AttributeError, TypeError):
        library = ctypes.CDLL(None)
        library.mallopt(_MMAP_THRESHOLD, _LARGE_BLOCK)
        library.mallopt(_ARENA_MAX, _HEAPS)
