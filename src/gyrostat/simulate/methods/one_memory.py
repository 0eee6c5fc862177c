"""The vectors and matrices of a method in one array: made at once, whose places drivers find in its words.

Twenty small arrays take twenty times as long to make, to find and to copy as one."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gyrostat.simulate.plant.machine import address

Array = np.ndarray
EIGHT = 8
"""Every part begins at a multiple of so many numbers: 64 bytes, a line of a cache."""


class OneMemory:
    """Parts of one array by their words. Whole numbers take as much room as others."""

    def __init__(self, sizes: Mapping[int, int]):
        room = np.array([-(-max(1, size) // EIGHT) * EIGHT for size in sizes.values()], dtype=np.int64)
        first = np.cumsum(room) - room
        self.total = int(room.sum())
        self.words, self.bytes = np.array(list(sizes), dtype=np.int64), 8 * first
        self.parts = {
            word: slice(int(at), int(at) + size) for (word, size), at in zip(sizes.items(), first, strict=True)
        }

    def new(self, words: Array) -> Array:
        """An array of zeros, whose parts the words point to."""
        memory = np.zeros(self.total)
        words[self.words] = address(memory) + self.bytes
        return memory
