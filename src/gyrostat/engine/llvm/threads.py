"""Threads that share the rows of a batch, without Python's lock."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import TypeVar

T = TypeVar("T")
MAX_THREADS = 256
SHARES = 4
"""Pieces of a batch for each thread: one that is disturbed then does fewer."""


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=MAX_THREADS, thread_name_prefix="gyrostat")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # a child has none of its parent's threads


def shares(count: int, lanes: int, threads: int) -> list[tuple[int, int]]:
    """(first, end) of stretches of ``count`` rows, in whole blocks of W lanes, several for each thread."""
    blocks = -(-count // lanes)
    pieces = min(blocks, SHARES * threads) if threads > 1 else 1
    return list(pairwise(min(count, lanes * (blocks * k // pieces)) for k in range(pieces + 1)))


def in_threads(
    work: Callable[[Iterator[tuple[int, int]]], T], pieces: list[tuple[int, int]], threads: int
) -> Iterator[T]:
    """What ``work(supply)`` returns in each thread; all take their next piece from one supply."""
    supply = iter(pieces)
    return _pool().map(work, [supply] * threads)
