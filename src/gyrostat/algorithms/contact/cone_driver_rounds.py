"""Rounds of sweeps and steps of Newton as a driver, and proximal problems where they do not end: see
:mod:`~gyrostat.algorithms.contact.cone_rounds`."""

from __future__ import annotations

from gyrostat.algorithms.contact.cone_driver_elimination import wide_for
from gyrostat.algorithms.contact.cone_driver_newton import cone_newton_step
from gyrostat.algorithms.contact.cone_driver_scaling import (
    HEAD,
    dead_rows,
    own_matrices,
    scaled_laws,
    scaled_rows,
    velocities,
)
from gyrostat.algorithms.contact.cone_driver_sweeps import LAW, made_feasible, natural_map, swept
from gyrostat.engine.drivers.words import copy, count_at, ptr, words

ROUNDS, FEW_ROUNDS, WAYS = 8, 3, 2
"""For a problem, and for each on the ways out; how many of these there are."""
FIRST_SWEEPS, FIRST_STEPS, MOST_STEPS = 2, 8, 40
"""Of a round; twice as many in the next."""
PATIENCE, SHORTEST = 3, 0.02
"""How many steps of Newton may raise the sum of squares, and below which length they are not shortened."""


def cone_stride(m: int) -> int:
    """Row length of G: a multiple of four."""
    return (m + 3) // 4 * 4


def cone_memory(m: int, count: int) -> int:
    """Doubles that :func:`cone_solve` needs."""
    return HEAD + m * cone_stride(m) + (m + 1) * wide_for(m) + count * LAW + 14 * wide_for(m)


def refined(
    m: int,
    count: int,
    units: words,
    laws: ptr,
    A: ptr,
    b: ptr,
    P: ptr,
    u: ptr,
    free: ptr,
    target: float,
    steps: int,
    residual: float,
    head: ptr,
) -> float:
    """Steps of Newton, shorter ones where the whole does not lower the sum of squares; the best that they come across,
    and its residual."""
    stride, wide = cone_stride(m), wide_for(m)
    dP, Q, R, w = free, free + wide, free + 2 * wide, free + 3 * wide
    active, place = count_at(free + 4 * wide), count_at(free + 5 * wide)
    best, speeds, memory, merit = free + 6 * wide, free + 7 * wide, free + 8 * wide, head + 3
    if residual <= target:
        return residual
    square = merit[0]  # of P, for which the residual was found last
    copy(stride, P, best)
    copy(stride, u, speeds)
    failures = 0
    for _step in range(steps):
        if residual <= target or failures > PATIENCE:
            break
        copy(stride, P, Q)
        copy(stride, u, w)
        head[2] = head[2] + 1.0
        if cone_newton_step(m, count, stride, wide, units, laws, A, Q, w, memory, dP, active, place) == 0:
            break
        for k in range(m):
            dP[k] = Q[k] + dP[k] - P[k]
        length = 1.0
        new = 0.0
        failures += 1
        while length > SHORTEST:
            for k in range(m):
                R[k] = P[k] + length * dP[k]
            made_feasible(count, units, laws, R)
            velocities(m, stride, A, b, R, w)
            new = natural_map(count, units, laws, R, w, merit)
            if merit[0] < square:
                failures = 0
                break
            length = length * 0.5
        copy(stride, R, P)
        copy(stride, w, u)
        square = merit[0]
        if new < residual:
            residual = new
            copy(stride, P, best)
            copy(stride, u, speeds)
    copy(stride, best, P)
    copy(stride, speeds, u)
    return residual


def rounds(
    m: int,
    count: int,
    units: words,
    laws: ptr,
    A: ptr,
    b: ptr,
    P: ptr,
    u: ptr,
    free: ptr,
    target: float,
    most: int,
    head: ptr,
) -> float:
    """Sweeps, more in each round, and Newton's method after them; the residual. P is feasible."""
    stride = cone_stride(m)
    velocities(m, stride, A, b, P, u)
    residual = natural_map(count, units, laws, P, u, head + 3)
    sweeps, steps = FIRST_SWEEPS, FIRST_STEPS
    for _round in range(most):
        if residual <= target:
            return residual
        for _sweep in range(sweeps):
            swept(count, stride, units, laws, A, P, u)
        head[1] = head[1] + sweeps
        sweeps, steps = sweeps * 2, min(steps * 2, MOST_STEPS)
        residual = natural_map(count, units, laws, P, u, head + 3)
        residual = refined(m, count, units, laws, A, b, P, u, free, target, steps, residual, head)
    return residual


def continued(
    m: int,
    count: int,
    units: words,
    laws: ptr,
    A: ptr,
    b: ptr,
    P: ptr,
    u: ptr,
    free: ptr,
    target: float,
    e: float,
    factor: float,
    best: ptr,
    head: ptr,
) -> float:
    """Proximal problems (A + e, b - e P) with smaller and smaller e; the best of what they lead to goes to ``best``,
    its residual is returned. P moves along."""
    stride = cone_stride(m)
    near, Q = free, free + wide_for(m)
    rest = free + 2 * wide_for(m)
    least = 1e300
    while e > 1e-9:
        for k in range(m):
            near[k] = b[k] - e * P[k]
            A[k * stride + k] = A[k * stride + k] + e
        for k in range(m, stride):
            near[k] = 0.0
        own_matrices(count, stride, units, A, laws)
        rounds(m, count, units, laws, A, near, P, u, rest, target, FEW_ROUNDS, head)
        for k in range(m):
            A[k * stride + k] = A[k * stride + k] - e
        own_matrices(count, stride, units, A, laws)
        copy(stride, P, Q)
        velocities(m, stride, A, b, Q, u)
        residual = natural_map(count, units, laws, Q, u, head + 3)
        residual = refined(m, count, units, laws, A, b, Q, u, rest, target, MOST_STEPS, residual, head)
        if residual < least:
            least = residual
            copy(stride, Q, best)
        if residual <= target:
            return residual
        e = e * factor
    return least


def cone_solve(
    m: int, count: int, G: ptr, c: ptr, units: words, numbers: ptr, P: ptr, u: ptr, tolerance: float, memory: ptr
) -> int:
    """Forces P (stride,), which hold those to begin with, and velocities u = G P + c (stride,), for G (m, stride),
    symmetric, zeros beside it, c (m,), with stride = cone_stride(m); ``units`` (count, 2), ``numbers`` (count, 6),
    ``memory`` (cone_memory(m, count),). 1 if the residual is within the tolerance, else 0; memory[0]: the residual,
    relative to c, memory[1]: sweeps, memory[2]: steps of Newton."""
    return cone_solve_within(m, count, G, c, units, numbers, P, u, tolerance, memory, ROUNDS, WAYS)


def cone_solve_within(
    m: int,
    count: int,
    G: ptr,
    c: ptr,
    units: words,
    numbers: ptr,
    P: ptr,
    u: ptr,
    tolerance: float,
    memory: ptr,
    most: int,
    ways: int,
) -> int:
    """As :func:`cone_solve`, with at most so many rounds, and so many ways out (0, 1, 2) where they do not end."""
    stride, wide = cone_stride(m), wide_for(m)
    head, A, laws = memory, memory + HEAD, memory + HEAD + m * stride
    scale, b = laws + count * LAW, laws + count * LAW + wide
    best = b + wide
    free = best + wide
    for k in range(HEAD):
        head[k] = 0.0
    for k in range(m, stride):
        P[k] = 0.0
        b[k] = 0.0
    size = scaled_rows(m, count, stride, G, c, units, A, scale, best, b)
    size = size if size > 0.0 else 1.0
    scaled_laws(count, units, numbers, scale, laws)
    dead_rows(count, stride, G, units, scale, laws)
    own_matrices(count, stride, units, A, laws)
    for k in range(m):
        P[k] = P[k] * scale[k]
    made_feasible(count, units, laws, P)
    target = tolerance * size
    residual = rounds(m, count, units, laws, A, b, P, u, free, target, most, head)
    if residual > target:
        copy(stride, P, best)
        least = residual
        for way in range(ways):
            if least > target:
                if way == 1:
                    for k in range(m):
                        P[k] = 0.0
                    made_feasible(count, units, laws, P)
                Q = best + wide
                factor = 0.1 if way == 0 else 0.3
                residual = continued(m, count, units, laws, A, b, P, u, free + wide, target, factor, factor, Q, head)
                if residual < least:
                    least = residual
                    copy(stride, Q, best)
        residual = least
        copy(stride, best, P)
        velocities(m, stride, A, b, P, u)
    for k in range(m):
        P[k] = P[k] / scale[k]
        u[k] = u[k] * scale[k]
    head[0] = residual / size
    head[3] = 1.0 if residual <= target else 0.0
    return 1 if residual <= target else 0
