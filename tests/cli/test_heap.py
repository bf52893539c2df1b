"""Processes that write for long give freed memory back."""

import ctypes
import subprocess
import sys

import pytest

from memctl.cli.heap import give_memory_back

# Frees a large block, asks for one again, and tells how many blocks then come straight from the system.
PROGRAM = """
import ctypes, sys
from memctl.cli.heap import give_memory_back
library = ctypes.CDLL(None)
library.malloc.restype, library.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
class Kept(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in "arena ordblks smblks hblks hblkhd a b c d e".split()]
library.mallinfo2.restype = Kept
if sys.argv[1] == "given back":
    give_memory_back()
library.free(library.malloc(8 * 2**20))
before = library.mallinfo2().hblks
library.malloc(8 * 2**20)
print(library.mallinfo2().hblks - before)
"""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallinfo2"), reason="not this C library")
@pytest.mark.parametrize(("how", "blocks"), [("as it is", "0"), ("given back", "1")])
def test_a_large_block_goes_back_to_the_system_when_it_is_freed(how, blocks):
    done = subprocess.run([sys.executable, "-c", PROGRAM, how], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == blocks


def test_another_c_library_is_left_alone(monkeypatch):
    monkeypatch.setattr(ctypes, "CDLL", lambda _: object())

    give_memory_back()
