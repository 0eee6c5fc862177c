"""The start of a run as a driver: is the state one, what is there, and the first row of what the run takes."""

from __future__ import annotations

from gyrostat.engine.drivers.words import count_at, doubles, ptr, words
from gyrostat.simulate.kernels.environment import NQ, NV, OUTPUT_COUNT, RHS_COUNT
from gyrostat.simulate.kernels.harvest import (
    DONE_WORK,
    NEXT,
    QUATERNION_COUNT,
    QUATERNIONS,
    ROW,
    ROWS,
    TAKEN,
    written,
)
from gyrostat.simulate.kernels.stage import stage

MOST = 1.7976931348623157e308
"""The largest number."""


def first_row(env: words, io: words, t: float, q: ptr, v: ptr, unit: float, y: ptr, dy: ptr, q1: ptr, tau: ptr) -> int:
    """Rows begin with that of the state q (nq,), v (nv,) at t, of a plant without own states of its source: 0. 1 if the
    state, or what is found there, is not finite, or the square of a quaternion differs from one by more than ``unit``.
    The largest of the rates is in dy[0]; y, dy (2 nv + 1,), q1, tau are spare."""
    nq, n = env[NQ], env[NV]
    for k in range(nq):
        if not (abs(q[k]) <= MOST):
            return 1
    fastest = 0.0
    for k in range(n):
        if not (abs(v[k]) <= MOST):
            return 1
        fastest = max(fastest, abs(v[k]))
        y[k] = 0.0
        y[n + k] = v[k]
    y[2 * n] = 0.0
    at = count_at(io[QUATERNIONS])
    for j in range(io[QUATERNION_COUNT]):
        c = q + at[j]
        if not (abs(c[0] * c[0] + c[1] * c[1] + c[2] * c[2] + c[3] * c[3] - 1.0) <= unit):
            return 1
    bad = stage(env, t, q, y, dy, q1, tau)
    if not (bad == 0.0):
        return 1
    env[RHS_COUNT] = env[RHS_COUNT] - 1
    env[OUTPUT_COUNT] = env[OUTPUT_COUNT] + 1
    done = doubles(io[DONE_WORK])
    done[0] = 0.0
    written(env, io, doubles(io[ROWS]), t, q, v, y + 2 * n, dy + n, tau, 0.0)
    io[ROW] = 1
    io[NEXT] = 0
    io[TAKEN] = 0
    dy[0] = fastest
    return 0
