"""Room for machine code in one piece.

Code reaches its constants by 32-bit distances. LLVM takes memory for each section of an object from the system, which
gives the highest hole that is large enough: in a process with much memory or many threads code and constants can come
to lie more than 2 GiB apart, and LLVM then ends the process. So, while an object is loaded, all smaller holes above a
place where everything has room are taken, and given back afterwards. Linux only; others place differently."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

FEW = 2**29
"""Address space [bytes] in use below which nothing can be far apart."""
MOST = 200_000
"""Blocks taken at most."""
FLAGS = 0x02 | 0x20 | 0x4000  # MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
_one_at_a_time = threading.Lock()


@cache
def _system() -> Any:
    library = ctypes.CDLL(None, use_errno=True)
    size, place = ctypes.c_size_t, ctypes.c_void_p
    library.mmap.restype, library.munmap.restype = place, ctypes.c_int
    library.mmap.argtypes = [place, size, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
    library.munmap.argtypes = [place, size]
    return library


def _taken(size: int) -> int | None:
    """Address of a block that nobody can read or write; None if there is none."""
    address = _system().mmap(None, size, 0, FLAGS, -1, 0)
    return None if address is None or address == ctypes.c_void_p(-1).value else int(address)


def _in_use() -> int:
    """Address space of this process [bytes]."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


@contextmanager
def in_one_piece(size: int) -> Iterator[None]:
    """Within this context the system finds room for sections of ``size`` bytes together in one place."""
    if sys.platform != "linux" or _in_use() < FEW:
        yield
        return
    page = os.sysconf("SC_PAGE_SIZE")
    whole = -(-(2 * size + 2**18) // page) * page
    with _one_at_a_time:
        held: list[tuple[int, int]] = []
        place = _taken(whole)
        try:
            block = whole
            while place is not None and block > page and len(held) < MOST:
                block = max(page, block // 2 // page * page)
                while len(held) < MOST:  # every hole above the place is smaller than the whole: fill it by halves
                    hole = _taken(block)
                    if hole is None:
                        break
                    held.append((hole, block))
                    if hole < place + whole:
                        break
            if place is not None:
                _system().munmap(place, whole)
            yield
        finally:
            for hole, length in held:
                _system().munmap(hole, length)
