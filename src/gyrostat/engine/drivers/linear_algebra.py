"""Linear equations in drivers: a factorisation with partial pivots, one along a tree, and solutions by them.

Matrices are stored whole, row by row, of any size n that is known at the call. For n = 9 a factorisation with pivots
takes 0.6 us.

Along a tree [Featherstone, Rigid Body Dynamics Algorithms, 6.5], for matrices that need not be symmetric: row k is
eliminated from the rows of its neighbours before it, from the last k to the first. If the neighbours of k are those
below which k hangs, nothing fills up. ``first`` (n + 1,) and ``runs`` tell them as runs of columns: those of k are the
pairs (begin, end) number first[k] to first[k + 1]."""

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


def gauss_jordan(n: int, stride: int, A: ptr, piv: words, factors: ptr) -> int:
    """A (n, n), rows of ``stride`` numbers, a multiple of four, zeros from n on, becomes its inverse, by Gauss and
    Jordan with partial pivots; ``piv`` (n,), ``factors`` (n,). 0; 1 if A is singular or not finite. For many right-hand
    sides: a product (:func:`multiplied`) takes a fifth of the time of :func:`solve`.

    Four columns at a time go down all rows: what is read is read before anything is written, so that four numbers are
    one operation."""
    for k in range(n):
        top, p = A + k * stride, k
        big = abs(top[k])
        for i in range(k + 1, n):
            x = abs(A[i * stride + k])
            if not (x <= big):
                big = x
                p = i
        if not (big > 0.0 and big < 1e300):
            return 1
        piv[k] = p
        if p != k:
            other = A + p * stride
            for j in range(n):
                x = top[j]
                top[j] = other[j]
                other[j] = x
        one = 1.0 / top[k]
        for i in range(n):
            factors[i] = -A[i * stride + k]
            A[i * stride + k] = 0.0
        factors[k] = 0.0
        top[k] = 1.0
        for j in range(0, stride, 4):
            a, b, c, d = top[j] * one, top[j + 1] * one, top[j + 2] * one, top[j + 3] * one
            top[j] = a
            top[j + 1] = b
            top[j + 2] = c
            top[j + 3] = d
            row = A + j
            for i in range(n):
                f = factors[i]
                e, g, h, m = fma(f, a, row[0]), fma(f, b, row[1]), fma(f, c, row[2]), fma(f, d, row[3])
                row[0] = e
                row[1] = g
                row[2] = h
                row[3] = m
                row = row + stride
    for k in range(n - 1, -1, -1):
        p = piv[k]
        if p != k:
            for i in range(n):
                row = A + i * stride
                x = row[k]
                row[k] = row[p]
                row[p] = x
    return 0


TINY = 1e-8
"""Smallest entry on the diagonal that needs no pivots, relative to those beside it."""


def tree_lu(n: int, A: ptr, first: words, runs: words) -> int:
    """A (n, n) becomes (1 + F) G, F above the diagonal, G below it and on it; the diagonal of G is kept as its inverse.
    0; 1 if an entry of the diagonal is too small: then pivots are needed."""
    for k in range(n - 1, -1, -1):
        row = A + k * n
        largest = 0.0
        for a in range(first[k], first[k + 1]):
            for i in range(runs[2 * a], runs[2 * a + 1]):
                largest = max(largest, max(abs(row[i]), abs(A[i * n + k])))
        if not (abs(row[k]) > TINY * largest and abs(row[k]) < 1e300):
            return 1
        row[k] = 1.0 / row[k]
        for a in range(first[k], first[k + 1]):
            for i in range(runs[2 * a], runs[2 * a + 1]):
                other = A + i * n
                factor = other[k] * row[k]
                other[k] = factor
                for b in range(first[k], first[k + 1]):
                    for j in range(runs[2 * b], runs[2 * b + 1]):
                        other[j] = fma(-factor, row[j], other[j])
    return 0


def tree_solve(n: int, A: ptr, first: words, runs: words, b: ptr) -> int:
    """b (n,) becomes the solution x of A x = b, for what :func:`tree_lu` has made of A. 0."""
    for k in range(n - 1, -1, -1):
        x = b[k]
        for a in range(first[k], first[k + 1]):
            for i in range(runs[2 * a], runs[2 * a + 1]):
                b[i] = fma(-A[i * n + k], x, b[i])
    for k in range(n):
        x = b[k]
        for a in range(first[k], first[k + 1]):
            for j in range(runs[2 * a], runs[2 * a + 1]):
                x = fma(-A[k * n + j], b[j], x)
        b[k] = x * A[k * n + k]
    return 0


def definite(n: int, stride: int, A: ptr) -> int:
    """1 if A (n, n), rows of ``stride`` numbers, a multiple of four, which is symmetric, is positive definite, else 0.
    Its part on and above the diagonal is read, and destroyed; so is what stands beside it."""
    for k in range(n):
        top = A + k * stride
        if not (top[k] > 0.0 and top[k] < 1e300):
            return 0
        one = 1.0 / top[k]
        for j in range((k + 1) // 4 * 4, stride, 4):
            a, b, c, d = top[j] * one, top[j + 1] * one, top[j + 2] * one, top[j + 3] * one
            row = A + (k + 1) * stride + j
            for i in range(k + 1, min(n, j + 4)):
                f = -top[i]
                e, g, h, m = fma(f, a, row[0]), fma(f, b, row[1]), fma(f, c, row[2]), fma(f, d, row[3])
                row[0] = e
                row[1] = g
                row[2] = h
                row[3] = m
                row = row + stride
    return 1


def regular(n: int, stride: int, A: ptr) -> int:
    """1 if elimination without pivots meets positive numbers only on the diagonal of A (n, n), rows ``stride`` apart,
    else 0: then a matrix that was positive definite has become singular on the way to A, or a part of it has. A
    is destroyed."""
    for k in range(n):
        top = A + k * stride
        if not (top[k] > 0.0 and top[k] < 1e300):
            return 0
        one = 1.0 / top[k]
        for i in range(k + 1, n):
            row = A + i * stride
            factor = row[k] * one
            if factor != 0.0:
                for j in range(k + 1, n):
                    row[j] = fma(-factor, top[j], row[j])
    return 1


def multiplied(n: int, stride: int, S: ptr, r: ptr, x: ptr) -> int:
    """x (stride,) = S r for S (n, n) that is stored column by column, each of ``stride`` numbers, a multiple of four,
    zeros from n on. Sums stay in registers: twice as fast as columns that are added up one by one."""
    for i in range(0, stride, 4):
        column = S + i
        a, b, c, d = 0.0, 0.0, 0.0, 0.0
        for j in range(n):
            f = r[j]
            a, b = fma(column[0], f, a), fma(column[1], f, b)
            c, d = fma(column[2], f, c), fma(column[3], f, d)
            column = column + stride
        x[i] = a
        x[i + 1] = b
        x[i + 2] = c
        x[i + 3] = d
    return 0
