"""Sums of squares over the rates and their minimum, written out: entries that are the number zero cost nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gyrostat.algorithms.constrained.sparse_ldl import is_zero

Array = np.ndarray


def normal_equations(A: Array, r: Array, diagonal: Any) -> tuple[Array, Array]:
    """H = A^T A + diagonal 1 (n, n) and h = A^T r (n,), for A (m, n)."""
    n = A.shape[1]
    H, h = np.full((n, n), 0.0, dtype=object), np.full(n, 0.0, dtype=object)
    for row, rest in zip(A, r, strict=True):
        there = [k for k in range(n) if not is_zero(row[k])]
        for i, j in enumerate(there):
            h[j] = _plus(h[j], row[j] * rest)
            for k in there[i:]:
                H[j, k] = H[k, j] = _plus(H[j, k], row[j] * row[k])
    for k in range(n):
        H[k, k] = _plus(H[k, k], diagonal)
    return H, h


def minimum(H: Array, h: Array) -> Array:
    """x (n,) with H x = h, H positive definite: L D L^T, the last rates first, as they are the outer ones of the
    tree."""
    n = len(h)
    H, x = H.copy(), h.copy()
    inverse: dict[int, Any] = {}
    lower: dict[int, dict[int, Any]] = {}
    for k in reversed(range(n)):
        inverse[k] = 1.0 / H[k, k]
        inner = [j for j in range(k) if not is_zero(H[k, j])]
        lower[k] = {j: H[k, j] * inverse[k] for j in inner}
        for a, i in enumerate(inner):
            for j in inner[a:]:
                H[j, i] = H[i, j] = H[i, j] - lower[k][i] * H[k, j]
            x[i] = x[i] - lower[k][i] * x[k]
    for k in range(n):
        x[k] = x[k] * inverse[k]
        for j, factor in lower[k].items():
            x[k] = x[k] - factor * x[j]
    return x


def product(rows: Array, x: Array) -> list[Any]:
    """rows x, without zeros."""
    return [_sum([c * y for c, y in zip(row, x, strict=True) if not (is_zero(c) or is_zero(y))]) for row in rows]


def _sum(terms: Sequence[Any]) -> Any:
    total: Any = 0.0
    for term in terms:
        total = _plus(total, term)
    return total


def _plus(x: Any, y: Any) -> Any:
    return y if is_zero(x) else x + y
