"""Factors of symmetric positive matrices, as drivers."""

from __future__ import annotations

from gyrostat.engine.drivers.words import fma, ptr, sqrt


def rooted(m: int, A: ptr) -> int:
    """The lower part of A (m, m), symmetric, becomes L, A = L L^T. 0; 1 if A is not positive definite."""
    for k in range(m):
        row = A + k * m
        for j in range(k):
            x, other = row[j], A + j * m
            for i in range(j):
                x = fma(-row[i], other[i], x)
            row[j] = x / other[j]
        x = row[k]
        for i in range(k):
            x = fma(-row[i], row[i], x)
        if not (x > 0.0 and x < 1e300):
            return 1
        row[k] = sqrt(x)
    return 0


def rooted_solve(m: int, L: ptr, x: ptr) -> int:
    """x (m,) becomes the solution y of L L^T y = x. 0."""
    for k in range(m):
        y = x[k]
        for i in range(k):
            y = fma(-L[k * m + i], x[i], y)
        x[k] = y / L[k * m + k]
    for k in range(m - 1, -1, -1):
        y = x[k]
        for i in range(k + 1, m):
            y = fma(-L[i * m + k], x[i], y)
        x[k] = y / L[k * m + k]
    return 0
