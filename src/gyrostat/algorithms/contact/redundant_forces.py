"""Forces of contacts that may hold the same thing twice: (K + C) f = b of least norm, for K = Lambda^-1 = J M^-1 J^T
positive semidefinite, b in its range, C the diagonal of compliances.

K = L L^T with columns of L left out whose pivots vanish: rows that others hold already. Then b = L y, and of all f with
L^T f = y the least is L (L^T L)^-1 y: the solution that the pseudoinverse gives, without choices of pivots, so that it
is one straight line of operations. Never NaN: a frame that nothing moves has zero rows, and gets no force."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.algorithms.constrained.sparse_ldl import is_zero
from gyrostat.engine.tracing.choose import where
from gyrostat.spatial.algebra import Array

DROPPED = 1e-11
"""Pivots below this part of their diagonal are rows that others hold already."""


@dataclass(frozen=True)
class Cholesky:
    """L (m, m), lower; ``inverse`` (m,): 1/L_ii, zero where the column was left out."""

    L: Array
    inverse: Array

    def forward(self, b: Array) -> Array:
        """y with L y = b."""
        y: list[Any] = []
        for i in range(len(b)):
            y.append(_less(b[i], self.L[i, :i], y) * self.inverse[i])
        return _array(y)

    def backward(self, y: Array) -> Array:
        """x with L^T x = y."""
        m = len(y)
        x: list[Any] = [0.0] * m
        for i in reversed(range(m)):
            x[i] = _less(y[i], self.L[i + 1 :, i], x[i + 1 :]) * self.inverse[i]
        return _array(x)


def cholesky(K: Array, dropped: float = 0.0) -> Cholesky:
    """L of K (m, m); with ``dropped``, columns whose pivot is less than this part of the diagonal are zero."""
    m = len(K)
    L: Any = np.zeros((m, m), dtype=object)
    L[...] = 0.0
    inverse: list[Any] = []
    for j in range(m):
        d = _less(K[j, j], L[j, :j], L[j, :j])
        if dropped:
            there = d > K[j, j] * dropped
            d = where(there, d, 1.0)
            root = np.sqrt(d)
            inverse.append(where(there, 1.0 / root, 0.0))
            L[j, j] = where(there, root, 0.0)
        else:
            root = np.sqrt(d)
            inverse.append(1.0 / root)
            L[j, j] = root
        for i in range(j + 1, m):
            L[i, j] = _less(K[i, j], L[i, :j], L[j, :j]) * inverse[j]
    return Cholesky(L, _array(inverse))


@dataclass(frozen=True)
class ContactFactors:
    """Factors of K + C, and those of L^T L."""

    outer: Cholesky
    inner: Cholesky

    def solve(self, b: Array) -> Array:
        """f (m,) of least norm."""
        return self._times(self.inner.backward(self.inner.forward(self.outer.forward(b))))

    def solve_any(self, b: Array) -> Array:
        """f (m,) that leaves out rows which others hold already: the same as of least norm where there are none."""
        return self.outer.backward(self.outer.forward(b))

    def unheld(self, x: Array) -> Array:
        """The part of x (m,) outside the range of K: x - L (L^T L)^-1 L^T x."""
        L, m = self.outer.L, len(x)
        y = _array([_sum([L[k, i] * x[k] for k in range(i, m) if not is_zero(L[k, i])]) for i in range(m)])
        return x - self._times(self.inner.backward(self.inner.forward(y)))

    def _times(self, y: Array) -> Array:
        """L y (m,)."""
        L, m = self.outer.L, len(y)
        return _array([_sum([L[i, k] * y[k] for k in range(i + 1) if not is_zero(L[i, k])]) for i in range(m)])


def contact_factors(K: Array, compliances: Array) -> ContactFactors:
    """For K (m, m), symmetric, of which the lower half is read."""
    m = len(K)
    A: Any = np.array(K, dtype=object)
    for i in range(m):
        if compliances[i]:
            A[i, i] = A[i, i] + float(compliances[i])
    outer = cholesky(A, DROPPED)
    L = outer.L
    G: Any = np.zeros((m, m), dtype=object)
    for i in range(m):
        for j in range(i + 1):
            G[i, j] = _sum([L[k, i] * L[k, j] for k in range(i, m) if not (is_zero(L[k, i]) or is_zero(L[k, j]))])
        gone = outer.inverse[i] == 0.0 if isinstance(outer.inverse[i], float) else outer.inverse[i] <= 0.0
        G[i, i] = G[i, i] + where(gone, 1.0, 0.0)
    return ContactFactors(outer, cholesky(G))


def _less(start: Any, xs: Any, ys: Any) -> Any:
    for x, y in zip(xs, ys, strict=True):
        if not (is_zero(x) or is_zero(y)):
            start = start - x * y
    return start


def _sum(terms: list[Any]) -> Any:
    return sum(terms[1:], terms[0]) if terms else 0.0


def _array(values: list[Any]) -> Array:
    kind = float if all(isinstance(x, float) for x in values) else object
    return np.array(values, dtype=kind)
