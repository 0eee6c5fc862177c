"""What steps of implicit methods share, as drivers: their states as numbers, and what a run takes from their ends."""

from __future__ import annotations

from gyrostat.engine.drivers.words import copy, count_at, doubles, fma, ptr, sqrt, words
from gyrostat.simulate.kernels.environment import (
    ABORT,
    NP,
    NQ,
    NV,
    OUTPUT_COUNT,
    PLAIN,
    RHS_COUNT,
    TURNING,
    TURNS,
)
from gyrostat.simulate.kernels.harvest import INSTANT_COUNT, INSTANTS, KEEP, LATER, NEXT, harvested
from gyrostat.simulate.kernels.stage import accelerations
from gyrostat.simulate.kernels.vector_state import unit

SHORTEST, LONGEST = 0.7, 1.4
"""Lengths of quaternions beyond which they are made one again."""
FULL, REACHED, LOOK, TOO_SMALL, NOT_FINITE, STOPPED, RUNAWAY, BAD_SAMPLE = 0, 1, 2, -2, -3, -4, -5, -6
"""How a call ends, as for :mod:`~gyrostat.simulate.methods.drivers.explicit_steps`."""
ERROR_TOO_LARGE, RESULT_NOT_FINITE, NO_CONVERGENCE, PROJECTED_TOO_FAR = 1, 2, 3, 4
"""Why a step was given up."""
GO_ON = 9


def weighted(size: int, x: ptr, scale: ptr) -> float:
    """Root mean square of x (size,) times the scale (size,). Four sums at a time: each is a chain of its own."""
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    whole = size // 4 * 4
    for k in range(0, whole, 4):
        e, f, g, h = x[k] * scale[k], x[k + 1] * scale[k + 1], x[k + 2] * scale[k + 2], x[k + 3] * scale[k + 3]
        a, b, c, d = fma(e, e, a), fma(f, f, b), fma(g, g, c), fma(h, h, d)
    for k in range(whole, size):
        e = x[k] * scale[k]
        a = fma(e, e, a)
    return sqrt((a + b + (c + d)) / size)


def largest(size: int, x: ptr, scale: ptr) -> int:
    """Which entry of x times the scale is the largest."""
    at = 0
    for k in range(1, size):
        if abs(x[k] * scale[k]) > abs(x[at] * scale[at]):
            at = k
    return at


def fastest_rate(n: int, v: ptr) -> int:
    """Which of the rates v (n,) is the largest."""
    at = 0
    for k in range(1, n):
        if not (abs(v[k]) <= abs(v[at])):
            at = k
    return at


def made_unit(env: words, y: ptr, u: ptr) -> int:
    """u = (q, v, p) of y, quaternions of unit length. 0."""
    nq = env[NQ]
    unit(env, y, u)
    copy(env[NV] + env[NP], y + nq, u + nq)
    return 0


def restretched(env: words, count: int, width: int, D: ptr) -> int:
    """Quaternions in the rows of D (count, width) are scaled, so that those of the first row have length one, where
    they have become much shorter or longer: the equations are homogeneous, so that nothing else changes. 1 if so."""
    if env[PLAIN] == 1:
        return 0
    at, some_strayed = count_at(env[TURNS]), 0
    for j in range(env[TURNING]):
        c = D + at[4 * j]
        size = sqrt(c[0] * c[0] + c[1] * c[1] + c[2] * c[2] + c[3] * c[3])
        if size < SHORTEST or size > LONGEST:
            some_strayed = 1
            for i in range(count):
                for k in range(4):
                    c[i * width + k] = c[i * width + k] / size
    return some_strayed


def end_wanted(io: words, t1: float) -> int:
    """Whether accelerations and efforts at t1 itself are asked for."""
    if io[KEEP] == 1 and io[LATER] == 0:
        return 1
    instants, k = doubles(io[INSTANTS]), io[NEXT]
    while k < io[INSTANT_COUNT]:
        if instants[k] >= t1:
            return 1 if instants[k] == t1 else 0
        k = k + 1
    return 0


def observed(env: words, t1: float, u: ptr, a: ptr, rate: ptr, tau: ptr) -> float:
    """Accelerations and efforts at the end u of a step, counted as an output."""
    nq, n = env[NQ], env[NV]
    bad = accelerations(env, t1, u, u + nq, u + nq + n, a, rate, tau)
    env[RHS_COUNT] = env[RHS_COUNT] - 1
    env[OUTPUT_COUNT] = env[OUTPUT_COUNT] + 1
    return bad


def handed_over(env: words, io: words, t0: float, t1: float, u0: ptr, u1: ptr, a: ptr, tau: ptr, work: float) -> int:
    """What is taken from a step: GO_ON, LOOK, or how the run ends."""
    nq, n = env[NQ], env[NV]
    status = harvested(env, io, t0, t1, u0, u1, u1 + nq, u1 + nq + n, a, tau, work)
    if status == 1:
        return LOOK
    if status < 0:
        return STOPPED if env[ABORT] != 0 else BAD_SAMPLE
    return GO_ON
