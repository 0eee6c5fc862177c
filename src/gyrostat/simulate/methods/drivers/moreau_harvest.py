"""What a run takes from a step of Moreau's: as from any other (:mod:`~gyrostat.simulate.kernels.harvest`), but with the
mean acceleration and the efforts of the step at samples inside it: those of one instant are not defined at impacts."""

from __future__ import annotations

from gyrostat.engine.drivers.words import doubles, fma, ptr, words
from gyrostat.simulate.kernels.environment import NP, NQ, NV
from gyrostat.simulate.kernels.harvest import (
    ALWAYS,
    DONE_WORK,
    INSTANT_COUNT,
    INSTANTS,
    KEEP,
    NEXT,
    POLYNOMIAL,
    ROW,
    ROWS,
    SAMPLES,
    SCRATCH,
    SKIP,
    TAKEN,
    WATCHES,
    inside,
    watched,
    written,
)
from gyrostat.simulate.kernels.loop_margins import passed_the_end
from gyrostat.simulate.methods.drivers.moreau_records import put_forces


def mean_work(env: words, h: float, y: ptr, y1: ptr) -> float:
    """Of the efforts along the mean of the rates at both ends [J]."""
    n = env[NV]
    v, v1, tau, power = y + env[NQ], y1 + env[NQ], y1 + env[NQ] + 2 * n + 2 * env[NP], 0.0
    for k in range(n):
        power = fma(tau[k], v[k] + v1[k], power)
    return 0.5 * h * power


def between_ends(env: words, io: words, h: float, y: ptr, y1: ptr, work: float) -> int:
    """Rates on a straight line from v0 to v1, and the displacement that belongs to them."""
    n, np = env[NV], env[NP]
    size = 2 * n + np + 1
    C, v, v1 = doubles(io[POLYNOMIAL]), y + env[NQ], y1 + env[NQ]
    C1, C2 = C + size, C + 2 * size
    for k in range(n):
        C[k] = 0.0
        C1[k] = h * v[k]
        C2[k] = 0.5 * h * (v1[k] - v[k])
    for k in range(n + np):
        C[n + k] = v[k]
        C1[n + k] = v1[k] - v[k]
        C2[n + k] = 0.0
    C[size - 1] = 0.0
    C1[size - 1] = work
    C2[size - 1] = 0.0
    return 0


def samples_within(env: words, io: words, t0: float, t1: float, y: ptr, y1: ptr, work: float) -> float:
    """Samples of the instants up to t1; zero if all are finite."""
    instants, samples, done = doubles(io[INSTANTS]), doubles(io[SAMPLES]), doubles(io[DONE_WORK])
    nq, n, np = env[NQ], env[NV], env[NP]
    size, width = 2 * n + np + 1, 2 + nq + 3 * n + np
    x = doubles(io[SCRATCH]) + n
    q, bad = x + size, 0.0
    v1 = y1 + nq
    a, tau = v1 + n + np, v1 + 2 * n + 2 * np
    while io[NEXT] < io[INSTANT_COUNT]:
        t = instants[io[NEXT]]
        if t > t1:
            break
        row = samples + io[NEXT] * width
        if t == t1:
            written(env, io, row, t, y1, v1, v1 + n, a, tau, done[0] + work)
        else:
            bad = bad + inside(env, io, size, y, (t - t0) / (t1 - t0), x, q)
            written(env, io, row, t, q, x + n, x + 2 * n, a, tau, done[0] + x[size - 1])
        io[NEXT] = io[NEXT] + 1
    return bad


def taken_from_step(env: words, run: words, io: words, t0: float, t1: float, y: ptr, y1: ptr, work: float) -> int:
    """All that is taken from a step to t1. 1 if it must be looked at first: then nothing has been taken; -1 if a sample
    is not finite."""
    nq, n, np = env[NQ], env[NV], env[NP]
    v1 = y1 + nq
    if passed_the_end(env, t1 - t0, y1, v1) == 1:
        return -1
    if io[WATCHES] > 0 or io[ALWAYS] == 1:
        if watched(env, io, t0, t1, y, y1, v1, v1 + n) == 1:
            put_forces(run, t1, t1 - t0)
            return 1
    first = io[NEXT]
    if first < io[INSTANT_COUNT]:
        if not (samples_within(env, io, t0, t1, y, y1, work) == 0.0):
            return -1
    done, width = doubles(io[DONE_WORK]), 2 + nq + 3 * n + np
    done[0] = done[0] + work
    io[TAKEN] = io[TAKEN] + 1
    keeps = 0
    if io[KEEP] == 1 and io[SKIP] == 0:
        tau = v1 + 2 * n + 2 * np
        written(env, io, doubles(io[ROWS]) + io[ROW] * width, t1, y1, v1, v1 + n, v1 + n + np, tau, done[0])
        io[ROW] = io[ROW] + 1
        keeps = 1
    if keeps == 1 or io[NEXT] > first:
        put_forces(run, t1, t1 - t0)
    return 0
