"""Loops that are constraints in residuals of implicit methods, as drivers: N = I - J^+ J and b = J^+ (dJ/dt v + k1 J v
+ k2 g) of :mod:`~gyrostat.simulate.kernels.environment`, from the equations that say something new; and states as plain
numbers, quaternions of any length, that are projected.

Memory: g (m,), J (m, nv), b (m,), J J^T (m, m), spare (m,)."""

from __future__ import annotations

from gyrostat.engine.drivers.words import copy, count_at, doubles, fma, kernel, ptr, sqrt, words
from gyrostat.simulate.kernels.environment import (
    BAUMGARTE,
    CLOSE,
    LIVE,
    LOOP_COUNT,
    LOOP_ROWS,
    LOOP_WORK,
    LOOPS,
    NQ,
    NUMBER_COUNT,
    NUMBERS,
    NV,
    PLAIN,
    TIME,
    TURNING,
    TURNS,
    WORK,
)
from gyrostat.simulate.kernels.loop_projection import ALLOWED, HEAD, K1, K2, closed_state
from gyrostat.simulate.kernels.rooted_matrix import rooted, rooted_solve


def loop_work_size(n: int, m: int) -> int:
    """Doubles of the memory."""
    return m * (n + m + 3) + 1


def loop_projector(env: words, q: ptr, v: ptr, N: ptr, b: ptr) -> float:
    """N (nv, nv) and b (nv,) at a state; zero if there are such."""
    m, n = env[LOOP_COUNT], env[NV]
    g = doubles(env[LOOP_WORK])
    J, bias = g + m, g + m + m * n
    A, x = bias + m, bias + m + m * m
    bad = kernel(env[LOOP_ROWS])(doubles(env[TIME]), q, v, doubles(env[LIVE]), g, J, bias, doubles(env[WORK]))
    if bad != 0.0:
        return bad
    for i in range(m):
        for j in range(i + 1):
            y = 0.0
            for k in range(n):
                y = fma(J[i * n + k], J[j * n + k], y)
            A[i * m + j] = y
    if rooted(m, A) == 1:
        return 1.0
    k1, k2 = 0.0, 0.0
    if env[BAUMGARTE] != 0:
        factors = doubles(env[LOOPS])
        k1 = factors[K1]
        k2 = factors[K2]
    for i in range(m):
        y = 0.0
        for k in range(n):
            y = fma(J[i * n + k], v[k], y)
        x[i] = bias[i] + k1 * y + k2 * g[i]
    rooted_solve(m, A, x)
    for k in range(n):
        y = 0.0
        for i in range(m):
            y = fma(J[i * n + k], x[i], y)
        b[k] = y
    for j in range(n):
        for i in range(m):
            x[i] = J[i * n + j]
        rooted_solve(m, A, x)
        for k in range(n):
            y = 1.0 if k == j else 0.0
            for i in range(m):
                y = fma(-J[i * n + k], x[i], y)
            N[k * n + j] = y
    return 0.0


# ------------------------------------------------------------------ states as plain numbers
def closed_vector(env: words, y: ptr, u: ptr) -> float:
    """y = (q, v, ...) and its q with unit quaternions u (nq,) become closed ones; lengths of quaternions in y stay.
    Zero if there are such."""
    if env[CLOSE] == 0:
        return 0.0
    bad = closed_state(env, u, y + env[NQ])
    if env[PLAIN] == 1:
        copy(env[NQ], u, y)
        return bad
    pairs, at = count_at(env[NUMBERS]), count_at(env[TURNS])
    for k in range(env[NUMBER_COUNT]):
        y[pairs[2 * k]] = u[pairs[2 * k]]
    for j in range(env[TURNING]):
        c, one = y + at[4 * j], u + at[4 * j]
        length = sqrt(c[0] * c[0] + c[1] * c[1] + c[2] * c[2] + c[3] * c[3])
        for k in range(4):
            c[k] = length * one[k]
        if at[4 * j + 1] >= 0:
            for k in range(3):
                y[at[4 * j + 1] + k] = u[at[4 * j + 1] + k]
    return bad


def vector_moved_too_far(env: words, scale: ptr, share: float) -> int:
    """1 if the last projection has moved a number or a rate by more than ``ALLOWED`` tolerances, of which 1 / scale (nq
    + nv,) are a ``share``, else 0."""
    if env[CLOSE] == 0:
        return 0
    n, nq, moved, pairs = env[NV], env[NQ], doubles(env[LOOPS]) + HEAD + env[NV], count_at(env[NUMBERS])
    for k in range(env[NUMBER_COUNT]):
        if not (abs(moved[pairs[2 * k + 1]]) * scale[pairs[2 * k]] * share <= ALLOWED):
            return 1
    for k in range(n):
        if not (abs(moved[n + k]) * scale[nq + k] * share <= ALLOWED):
            return 1
    return 0
