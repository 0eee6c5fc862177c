"""Sampling instants within a compiled loop: digital parts read the state and set what they hold until the next one."""

from __future__ import annotations

from gyrostat.engine.drivers.words import doubles, kernel, ptr, words
from gyrostat.simulate.kernels.environment import (
    MEMORY,
    NEW_MEMORY,
    NM,
    PARAMETERS,
    TIME,
    UPDATE,
    UPDATE_CONSTANTS,
    WORK,
)

PERIOD, INSTANT, END, NEXT_LIMIT = 0, 1, 2, 3
"""Numbers of the clock: sample time T [s], or 0; number k of the next instant k T; end of the call; the nearer one."""


def limited(clock: ptr) -> float:
    """Where steps must end at the latest: the next sampling instant, or the end."""
    limit = clock[END]
    if clock[PERIOD] > 0.0:
        limit = min(limit, clock[INSTANT] * clock[PERIOD])
    clock[NEXT_LIMIT] = limit
    return limit


def sampled_at(env: words, clock: ptr, t: float, q: ptr, v: ptr, p: ptr) -> int:
    """The limit t is reached: 1 if it is the end; else a sampling instant, and the memory is set anew: 0, or -1 if it
    is not finite."""
    if t >= clock[END]:
        return 1
    time, memory, fresh = doubles(env[TIME]), doubles(env[MEMORY]), doubles(env[NEW_MEMORY])
    time[0] = t
    bad = kernel(env[UPDATE])(
        time, q, v, p, memory, doubles(env[PARAMETERS]), doubles(env[UPDATE_CONSTANTS]), fresh, doubles(env[WORK])
    )
    if not (bad == 0.0):
        return -1
    for k in range(env[NM]):
        memory[k] = fresh[k]
    clock[INSTANT] = clock[INSTANT] + 1.0
    limited(clock)
    return 0
