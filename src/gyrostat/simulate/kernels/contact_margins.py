"""How far closed contacts are from an event, as a driver: a step in which all margins stay positive needs no look in
Python. The same numbers as :mod:`~gyrostat.simulate.constraints.contact_margins`, with the shortest forces."""

from __future__ import annotations

from gyrostat.engine.drivers.words import count_at, doubles, fma, kernel, ptr, sqrt, words
from gyrostat.simulate.kernels.closed_contacts import (
    CLOSED,
    COUNT,
    EFFORTS,
    FIXED,
    FREE,
    HIGHEST,
    LOWEST,
    MU_STATIC,
    NUMBERS,
    REFERENCE,
    ROUGH,
    ROWS,
    SIZES,
    SLOW,
    SOLUTION,
    VALUES,
    row_forces,
    shared_forces,
)
from gyrostat.simulate.kernels.environment import (
    CONSTANTS,
    CONTACTS,
    DIRECTIONS,
    FORWARD,
    LAW,
    LIVE,
    MEMORY,
    NV,
    OUTPUT_COUNT,
    PARAMETERS,
    TIME,
    WORK,
)

TURNED = 0.3
FORCE, SLIP, TURN = 0, 1, 2
"""Margins: least force [N], least slip [m/s], and how far slip may still turn."""


def contact_margins(env: words, t: float, q: ptr, v: ptr, p: ptr) -> int:
    """1 if a margin is not positive at a state, or not known; VALUES are those of the state."""
    box, n = count_at(env[CONTACTS]), env[NV]
    time, work, a, tau, values = (
        doubles(env[TIME]), doubles(env[WORK]), doubles(box[FREE]), doubles(box[EFFORTS]), doubles(box[VALUES]),
    )  # fmt: skip
    time[0] = t
    env[OUTPUT_COUNT] = env[OUTPUT_COUNT] + 1
    bad = kernel(env[LAW])(
        time, q, v, p, doubles(env[MEMORY]), doubles(env[PARAMETERS]), doubles(env[CONSTANTS]), tau, tau + n, work
    )
    bad = bad + kernel(env[FORWARD])(time, q, v, tau, doubles(env[DIRECTIONS]), doubles(env[LIVE]), a, work)
    if not (bad == 0.0):
        return 1
    if row_forces(env, q, v, a) != 0.0:
        return 1
    if least_force(box) <= 0.0 and shared_forces(env) != 0.0:
        return 1
    force, slip, turn = least_force(box), 1e300, 1.0
    numbers, sizes, rough = count_at(box[NUMBERS]), count_at(box[SIZES]), count_at(box[ROUGH])
    for i in range(box[CLOSED]):
        if sizes[i] == 1 and rough[i] == 1:
            own, reference, x, y = doubles(box[ROWS]) + 3 * n * numbers[i], doubles(box[REFERENCE]) + 2 * i, 0.0, 0.0
            for k in range(n):
                x = fma(own[n + k], v[k], x)
                y = fma(own[2 * n + k], v[k], y)
            along, across = x * reference[0] + y * reference[1], x * reference[1] - y * reference[0]
            slip = min(slip, along)
            if along > SLOW:
                turn = min(turn, TURNED - abs(across) / along)
    values[FORCE] = force
    values[SLIP] = slip
    values[TURN] = turn
    return 0 if force > 0.0 and slip > 0.0 and turn > 0.0 else 1


def least_force(box: words) -> float:
    """The smallest of all normal forces, of what is left of cones [N], and of the limits of frictions that stick."""
    force, sizes = 1e300, count_at(box[SIZES])
    f, friction, at = doubles(box[SOLUTION]), doubles(box[MU_STATIC]), box[COUNT]
    for i in range(box[CLOSED]):
        at = at - sizes[i]
    low, high = doubles(box[LOWEST]), doubles(box[HIGHEST])
    for i in range(box[FIXED]):
        force = min(force, min(f[i] - low[i], high[i] - f[i]))
    for i in range(box[CLOSED]):
        force = min(force, f[at])
        if sizes[i] == 3:
            x, y = f[at + 1], f[at + 2]
            force = min(force, friction[i] * f[at] - sqrt(x * x + y * y))
        at = at + sizes[i]
    return force
