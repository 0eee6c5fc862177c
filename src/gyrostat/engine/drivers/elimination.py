"""The order in which a matrix with a known pattern is eliminated without pivots, as drivers read it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

Array = np.ndarray


@dataclass(frozen=True)
class Elimination:
    """``first`` (n + 1,) and ``runs`` (pairs, 2) of :func:`~gyrostat.engine.drivers.linear_algebra.tree_lu`;
    ``operations``: multiplications of a factorisation."""

    first: Array
    runs: Array
    operations: int

    @classmethod
    def of(cls, pattern: Array) -> Elimination:
        """For a matrix that is zero where ``pattern`` (n, n) is False, from its last row to its first."""
        filled = pattern | pattern.T
        n = len(filled)
        pairs: list[list[tuple[int, int]]] = [[] for _ in range(n)]
        operations = 0
        for k in range(n - 1, -1, -1):
            before = np.flatnonzero(filled[k, :k])
            filled[np.ix_(before, before)] = True
            operations += len(before) * (len(before) + 1)
            cuts = np.flatnonzero(np.diff(before) > 1) + 1
            pairs[k] = [(int(x[0]), int(x[-1]) + 1) for x in np.split(before, cuts) if len(x)]
        first = np.cumsum([0, *(len(x) for x in pairs)])
        runs = np.array([x for row in pairs for x in row] or [(0, 0)], dtype=np.int64)
        return cls(first.astype(np.int64), runs, operations)

    @property
    def dense(self) -> int:
        """Multiplications of a factorisation of a full matrix."""
        n = len(self.first) - 1
        return sum(k * (k + 1) for k in range(n))
