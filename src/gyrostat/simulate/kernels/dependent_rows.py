"""The least solution of equations that may depend on each other, as a driver: elimination with the largest pivot of
all, then without what cancels."""

from __future__ import annotations

from gyrostat.engine.drivers.words import ptr, words
from gyrostat.simulate.kernels.rooted_matrix import rooted, rooted_solve

DEPENDS = 1e-11
"""Pivot, as a part of the first one, that is rounding."""


def least_solution(m: int, A: ptr, x: ptr, spare: ptr, order: words, cost: ptr) -> float:
    """x (m,) becomes the solution y of A y = x with the least sum of cost y^2, A (m, m) of any rank; ``spare``
    (m (2 m + 2),). Zero if A is finite."""
    for k in range(m):
        order[k] = k
    rank, first = m, 0.0
    for k in range(m):
        best, row, column = 0.0, k, k
        for i in range(k, m):
            for j in range(k, m):
                y = abs(A[i * m + j])
                if not (y < 1e300):
                    return 1.0
                if y > best:
                    best, row, column = y, i, j
        if k == 0:
            first = best
        if not (best > DEPENDS * first):
            rank = k
            break
        pivot_swapped(m, A, x, order, k, row, column)
        for i in range(k + 1, m):
            factor = A[i * m + k] / A[k * m + k]
            for j in range(k + 1, m):
                A[i * m + j] = A[i * m + j] - factor * A[k * m + j]
            x[i] = x[i] - factor * x[k]
    for k in range(rank, m):
        x[k] = 0.0
    upper_solved(m, rank, A, x)
    if rank < m:
        shortest_of(m, rank, A, x, spare, order, cost)
    for k in range(m):
        spare[order[k]] = x[k]
    for k in range(m):
        x[k] = spare[k]
    return 0.0


def pivot_swapped(m: int, A: ptr, x: ptr, order: words, k: int, row: int, column: int) -> int:
    """Row and column of the pivot come to place k. 0."""
    if row != k:
        for j in range(m):
            y = A[row * m + j]
            A[row * m + j] = A[k * m + j]
            A[k * m + j] = y
        y = x[row]
        x[row] = x[k]
        x[k] = y
    if column != k:
        for i in range(m):
            y = A[i * m + column]
            A[i * m + column] = A[i * m + k]
            A[i * m + k] = y
        number = order[column]
        order[column] = order[k]
        order[k] = number
    return 0


def upper_solved(m: int, rank: int, A: ptr, x: ptr) -> int:
    """x (rank,) becomes the solution of the upper triangle of A. 0."""
    for k in range(rank - 1, -1, -1):
        y = x[k]
        for j in range(k + 1, rank):
            y = y - A[k * m + j] * x[j]
        x[k] = y / A[k * m + k]
    return 0


def shortest_of(m: int, rank: int, A: ptr, x: ptr, spare: ptr, order: words, cost: ptr) -> int:
    """x (m,) loses what A takes to zero: N y with N^T D (x - N y) = 0, D the cost. 0."""
    p = m - rank
    S, y = spare + p * m, spare + p * m + p * p
    for c in range(p):
        row = spare + c * m
        for k in range(rank):
            row[k] = -A[k * m + rank + c]
        upper_solved(m, rank, A, row)
        for k in range(rank, m):
            row[k] = 1.0 if k == rank + c else 0.0
    for c in range(p):
        one = spare + c * m
        for e in range(c + 1):
            other, z = spare + e * m, 0.0
            for k in range(m):
                z = z + cost[order[k]] * one[k] * other[k]
            S[c * p + e] = z
        z = 0.0
        for k in range(m):
            z = z + cost[order[k]] * one[k] * x[k]
        y[c] = z
    if rooted(p, S) == 0:
        rooted_solve(p, S, y)
        for c in range(p):
            one = spare + c * m
            for k in range(m):
                x[k] = x[k] - y[c] * one[k]
    return 0
