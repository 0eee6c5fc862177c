"""Gauss' elimination without pivots for steps of Newton, as drivers: K (n, n), rows ``wide`` apart, a multiple of
eight, with the right-hand side in column n."""

from __future__ import annotations

from gyrostat.engine.drivers.words import apart, fma, ptr

SMALLEST_PIVOT, LARGEST_PIVOT = 1e-14, 1e100


def wide_for(n: int) -> int:
    """Doubles from row to row: n columns and the right-hand side."""
    return (n + 8) // 8 * 8


def pivot(x: float) -> float:
    """-1/x; 0 if x is too small, or not finite."""
    if abs(x) > SMALLEST_PIVOT and abs(x) < LARGEST_PIVOT:
        return -1.0 / x
    return 0.0


@apart
def add_multiple(first: int, wide: int, f: float, top: ptr, row: ptr) -> int:
    """row += f top, from column ``first``, a multiple of eight. 0."""
    for j in range(first, wide, 8):
        for c in range(j, j + 8):
            row[c] = fma(f, top[c], row[c])
    return 0


@apart
def add_multiples(first: int, wide: int, f: float, top: ptr, g: float, below: ptr, row: ptr) -> int:
    """row += f top + g below, from column ``first``. 0."""
    for j in range(first, wide, 8):
        for c in range(j, j + 8):
            row[c] = fma(g, below[c], fma(f, top[c], row[c]))
    return 0


def eliminated(n: int, wide: int, K: ptr, x: ptr) -> int:
    """x (n,) solves K x = column n: 1; 0 if a pivot is too small. Two rows at a time are eliminated from those below,
    which halves what is read and written; the second pivot is that of a determinant, so that it need not wait for the
    first."""
    for k in range(0, n - 1, 2):
        top, below = K + k * wide, K + (k + 1) * wide
        a, b, c, d = top[k], top[k + 1], below[k], below[k + 1]
        one, det = pivot(a), fma(a, d, -b * c)
        if one == 0.0 or not (abs(det) > SMALLEST_PIVOT * abs(a) and abs(det) < LARGEST_PIVOT * abs(a)):
            return 0
        other = -a / det
        add_multiple((k + 1) // 8 * 8, wide, c * one, top, below)
        for i in range(k + 2, n):
            row = K + i * wide
            f = row[k] * one
            g = fma(f, b, row[k + 1]) * other
            add_multiples((k + 2) // 8 * 8, wide, f, top, g, below, row)
        top[k] = one
        below[k + 1] = other
    if n % 2 == 1:
        last = K + (n - 1) * wide
        last[n - 1] = pivot(last[n - 1])
        if last[n - 1] == 0.0:
            return 0
    return substituted(n, wide, K, x)


def substituted(n: int, wide: int, K: ptr, x: ptr) -> int:
    """x (n,) of a triangle with -1/pivot on its diagonal, four rows at a time. 1."""
    whole = n // 4 * 4
    for k in range(n - 1, whole - 1, -1):
        row, a = K + k * wide, 0.0
        for j in range(k + 1, n):
            a = fma(row[j], x[j], a)
        x[k] = (a - row[n]) * row[k]
    for k in range(whole - 4, -1, -4):
        p, q, r, s = K + k * wide, K + (k + 1) * wide, K + (k + 2) * wide, K + (k + 3) * wide
        a, b, c, d = -p[n], -q[n], -r[n], -s[n]
        for j in range(k + 4, n):
            y = x[j]
            a, b, c, d = fma(p[j], y, a), fma(q[j], y, b), fma(r[j], y, c), fma(s[j], y, d)
        d = d * s[k + 3]
        c = fma(r[k + 3], d, c) * r[k + 2]
        b = fma(q[k + 3], d, fma(q[k + 2], c, b)) * q[k + 1]
        a = fma(p[k + 3], d, fma(p[k + 2], c, fma(p[k + 1], b, a))) * p[k]
        x[k] = a
        x[k + 1] = b
        x[k + 2] = c
        x[k + 3] = d
    return 1
