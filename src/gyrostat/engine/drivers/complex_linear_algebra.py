"""Linear equations with complex numbers in drivers: a factorisation with partial pivots, and solutions by it.

A complex number is two doubles, real part first; matrices are dense, row by row, of any size n."""

from __future__ import annotations

from gyrostat.engine.drivers.words import fma, ptr, words


def complex_lu(n: int, A: ptr, piv: words) -> int:
    """A (n, n) becomes L and U, P A = L U, with ones on the diagonal of L, which are not kept; on the diagonal of U are
    the reciprocals. ``piv`` (n,): the row that took part in the place of row k; rows are chosen by |Re| + |Im|. 0; 1 if
    A is singular or not finite."""
    m = 2 * n
    for k in range(n):
        p = k
        big = abs(A[k * m + 2 * k]) + abs(A[k * m + 2 * k + 1])
        for i in range(k + 1, n):
            x = abs(A[i * m + 2 * k]) + abs(A[i * m + 2 * k + 1])
            if not (x <= big):
                big = x
                p = i
        if not (big > 0.0 and big < 1e300):
            return 1
        piv[k] = p
        top = A + k * m
        if p != k:
            other = A + p * m
            for j in range(m):
                x = top[j]
                top[j] = other[j]
                other[j] = x
        re, im = top[2 * k] / big, top[2 * k + 1] / big
        size = 1.0 / (big * (re * re + im * im))
        re = re * size
        im = -im * size
        top[2 * k] = re
        top[2 * k + 1] = im
        for i in range(k + 1, n):
            row = A + i * m
            x, y = row[2 * k], row[2 * k + 1]
            fr, fi = x * re - y * im, x * im + y * re
            row[2 * k] = fr
            row[2 * k + 1] = fi
            if fr != 0.0 or fi != 0.0:
                for j in range(k + 1, n):
                    u, w = top[2 * j], top[2 * j + 1]
                    row[2 * j] = fma(fi, w, fma(-fr, u, row[2 * j]))
                    row[2 * j + 1] = fma(-fi, u, fma(-fr, w, row[2 * j + 1]))
    return 0


def complex_solve(n: int, A: ptr, piv: words, b: ptr) -> int:
    """b (n,) becomes the solution x of A x = b, for what :func:`complex_lu` has made of A. 0."""
    m = 2 * n
    for k in range(n):
        p = piv[k]
        x, y = b[2 * p], b[2 * p + 1]
        b[2 * p] = b[2 * k]
        b[2 * p + 1] = b[2 * k + 1]
        row = A + k * m
        for i in range(k):
            u, w = b[2 * i], b[2 * i + 1]
            x = fma(row[2 * i + 1], w, fma(-row[2 * i], u, x))
            y = fma(-row[2 * i + 1], u, fma(-row[2 * i], w, y))
        b[2 * k] = x
        b[2 * k + 1] = y
    for k in range(n - 1, -1, -1):
        x, y = b[2 * k], b[2 * k + 1]
        row = A + k * m
        for j in range(k + 1, n):
            u, w = b[2 * j], b[2 * j + 1]
            x = fma(row[2 * j + 1], w, fma(-row[2 * j], u, x))
            y = fma(-row[2 * j + 1], u, fma(-row[2 * j], w, y))
        re, im = row[2 * k], row[2 * k + 1]
        b[2 * k] = x * re - y * im
        b[2 * k + 1] = x * im + y * re
    return 0
