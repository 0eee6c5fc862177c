"""A = Q R of a square matrix by reflections (Householder), written out: no choice of pivots is needed, so that code
without branches solves with any regular matrix. Where A is singular, a pivot is zero and solutions are not finite."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.engine.tracing.choose import where
from gyrostat.spatial.algebra import Array


@dataclass(frozen=True)
class OrthogonalFactors:
    """R (n, n), upper; reflections I - w w^T s, w (n - k,) with its first entries left out."""

    R: Array
    reflections: Sequence[tuple[Array, Any]]

    def solve(self, b: Array) -> Array:
        """A^-1 b for b (n,)."""
        y = list(b)
        for k, (w, s) in enumerate(self.reflections):
            _reflect(y, k, w, s)
        n = len(y)
        for k in reversed(range(n)):
            y[k] = (y[k] - _dot(self.R[k, k + 1 :], y[k + 1 :])) / self.R[k, k]
        return np.array(y)

    def solve_transposed(self, b: Array) -> Array:
        """A^-T b for b (n,)."""
        y = list(b)
        for k in range(len(y)):
            y[k] = (y[k] - _dot(self.R[:k, k], y[:k])) / self.R[k, k]
        for k, (w, s) in reversed(list(enumerate(self.reflections))):
            _reflect(y, k, w, s)
        return np.array(y)


def orthogonal_factors(A: Array) -> OrthogonalFactors:
    """Factors of A (n, n)."""
    n = len(A)
    R: Any = np.array(A, dtype=object)
    reflections: list[tuple[Array, Any]] = []
    for k in range(n - 1):
        x = R[k:, k]
        length = np.sqrt(_dot(x, x))
        end = where(x[0] >= 0.0, -length, length)
        w = np.array([x[0] - end, *x[1:]])
        s = 1.0 / (end * (end - x[0]))
        for j in range(k + 1, n):
            column = list(R[:, j])
            _reflect(column, k, w, s)
            R[:, j] = column
        R[k, k], R[k + 1 :, k] = end, 0.0
        reflections.append((w, s))
    return OrthogonalFactors(R, reflections)


def _reflect(y: list[Any], k: int, w: Array, s: Any) -> None:
    share = _dot(w, y[k:]) * s
    for i, x in enumerate(w):
        y[k + i] = y[k + i] - x * share


def _dot(xs: Any, ys: Any) -> Any:
    total: Any = 0.0
    for x, y in zip(xs, ys, strict=True):
        total = total + x * y
    return total
