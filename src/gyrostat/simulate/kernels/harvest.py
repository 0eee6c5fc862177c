"""What a run takes from each accepted step, as drivers: samples at the instants asked for, a row at its end, and
whether a function of an event may have changed its sign.

Inside a step the state is a polynomial of the fraction s from 0 to 1, sum_d C_d s^d, with rows C_d of N numbers: first
coordinates (``WAY``), then v (nv,), p (np,) and the work [J] of the efforts since the beginning of the step."""

from __future__ import annotations

from gyrostat.engine.drivers.words import copy, count_at, doubles, fma, kernel, ptr, sqrt, words
from gyrostat.simulate.kernels.contact_margins import contact_margins
from gyrostat.simulate.kernels.environment import (
    CONTACTS,
    GUARD_CONSTANTS,
    GUARDS,
    MEMORY,
    NP,
    NQ,
    NV,
    OUTPUT_COUNT,
    PLAIN,
    RETRACT,
    RHS_COUNT,
    TIME,
    WORK,
)
from gyrostat.simulate.kernels.loop_margins import passed_the_end
from gyrostat.simulate.kernels.loop_projection import closed_state
from gyrostat.simulate.kernels.stage import accelerations, place

(
    ROWS, ROW, MOST, KEEP,  # rows written, how many, at most; 1 if the end of every step is kept
    INSTANTS, INSTANT_COUNT, NEXT, SAMPLES,  # t_eval, their number, the next one; rows of samples
    WATCHES, SIGNS, LASTS, VALUES, ALWAYS,  # functions of events; 1 if every step must be looked at
    DONE_WORK, SCRATCH, POLYNOMIAL, DEGREE, WAY,  # work so far; scratch; C, its degree; what its coordinates are
    QUATERNIONS, QUATERNION_COUNT,  # words: first coordinate of each quaternion
    LOOK_AT_END, END_TIME,  # 1 if the step that ends the run must be looked at; its time
    SKIP, TAKEN,  # 1 if no row of the step is kept; how many steps have been taken from
    LATER,  # 1 if a and tau of rows may stay unknown: somebody finds them later
) = range(25)  # fmt: skip
WORDS_OF_A_HARVEST = 25
AROUND, ALONG, ABSOLUTE = 0, 1, 2
"""Coordinates of C: local ones around the start (:mod:`~gyrostat.configuration.chart`); a displacement from it as in
``gs.integrate``; q itself, whose quaternions may have any length."""
IGNORED = 2.0
"""The sign of a function that is not looked at."""


def wanted(io: words, t1: float) -> int:
    """Whether somebody needs the polynomial of a step that ends at t1."""
    if io[WATCHES] > 0 or io[ALWAYS] == 1:
        return 1
    if io[NEXT] < io[INSTANT_COUNT]:
        instants = doubles(io[INSTANTS])
        if instants[io[NEXT]] < t1:
            return 1
    return 0


def inside(env: words, io: words, size: int, q0: ptr, s: float, y: ptr, q: ptr) -> float:
    """y (size,) = sum_d C_d s^d, and q (nq,) there; zero if loops that are projected can be closed there."""
    C, degree = doubles(io[POLYNOMIAL]), io[DEGREE]
    for k in range(size):
        y[k] = C[degree * size + k]
    for d in range(degree - 1, -1, -1):
        for k in range(size):
            y[k] = fma(y[k], s, C[d * size + k])
    n, nq, work = env[NV], env[NQ], doubles(env[WORK])
    if io[WAY] == ABSOLUTE:
        copy(nq, y, q)
        at = count_at(io[QUATERNIONS])
        for j in range(io[QUATERNION_COUNT]):
            c = q + at[j]
            one = 1.0 / sqrt(c[0] * c[0] + c[1] * c[1] + c[2] * c[2] + c[3] * c[3])
            for k in range(4):
                c[k] = c[k] * one
    elif env[PLAIN] == 1:
        for k in range(n):
            q[k] = q0[k] + y[k]
    elif io[WAY] == ALONG:
        kernel(env[RETRACT])(q0, y, q, work)
    else:
        scratch = doubles(io[SCRATCH])
        place(env, q0, y, y + n, q, scratch)
    return closed_state(env, q, y + coordinates_of(env, io))


def coordinates_of(env: words, io: words) -> int:
    """How many numbers of the polynomial are coordinates."""
    return env[NQ] if io[WAY] == ABSOLUTE else env[NV]


def watched(env: words, io: words, t0: float, t1: float, q0: ptr, q1: ptr, v1: ptr, p1: ptr) -> int:
    """Whether some function of an event has not the sign that it had: at a quarter, half, three quarters, the end."""
    if io[ALWAYS] == 1:
        return 1
    end = doubles(io[END_TIME])
    if io[LOOK_AT_END] == 1 and t1 >= end[0]:
        return 1
    if env[CONTACTS] != 0:
        if contacts_watched(env, io, t0, t1, q0, q1, v1, p1) == 1:
            return 1
    count, m, n, np = io[WATCHES], coordinates_of(env, io), env[NV], env[NP]
    size = m + n + np + 1
    signs, lasts, values = doubles(io[SIGNS]), doubles(io[LASTS]), doubles(io[VALUES])
    y = doubles(io[SCRATCH]) + n
    q = y + size
    time, work = doubles(env[TIME]), doubles(env[WORK])
    for quarter in range(1, 5):
        s = 0.25 * quarter
        if quarter == 4:
            time[0] = t1
            kernel(env[GUARDS])(time, q1, v1, p1, doubles(env[MEMORY]), doubles(env[GUARD_CONSTANTS]), values, work)
        else:
            inside(env, io, size, q0, s, y, q)
            time[0] = t0 + s * (t1 - t0)
            kernel(env[GUARDS])(
                time, q, y + m, y + m + n, doubles(env[MEMORY]), doubles(env[GUARD_CONSTANTS]), values, work
            )
        for k in range(count):
            if signs[k] != IGNORED:
                if not (values[k] * signs[k] > 0.0):
                    return 1
    for k in range(count):
        lasts[k] = values[k]
    return 0


def contacts_watched(env: words, io: words, t0: float, t1: float, q0: ptr, q1: ptr, v1: ptr, p1: ptr) -> int:
    """Whether a closed contact may leave, slip or come to rest: at a quarter, half, three quarters, the end."""
    m, n = coordinates_of(env, io), env[NV]
    size = m + n + env[NP] + 1
    y = doubles(io[SCRATCH]) + n
    q = y + size
    for quarter in range(1, 4):
        s = 0.25 * quarter
        inside(env, io, size, q0, s, y, q)
        if contact_margins(env, t0 + s * (t1 - t0), q, y + m, y + m + n) == 1:
            return 1
    return contact_margins(env, t1, q1, v1, p1)


def written(env: words, io: words, row: ptr, t: float, q: ptr, v: ptr, p: ptr, a: ptr, tau: ptr, work: float) -> int:
    """A row (t, q, v, p, a, tau, work)."""
    nq, n, np = env[NQ], env[NV], env[NP]
    row[0] = t
    x = row + 1
    for k in range(nq):
        x[k] = q[k]
    x = x + nq
    for k in range(n):
        x[k] = v[k]
    x = x + n
    for k in range(np):
        x[k] = p[k]
    x = x + np
    for k in range(n):
        x[k] = a[k]
    x = x + n
    for k in range(n):
        x[k] = tau[k]
    x[n] = work
    return 0


def sampled(
    env: words, io: words, t0: float, t1: float, q0: ptr, q1: ptr, v1: ptr, p1: ptr, a1: ptr, tau1: ptr, work1: float
) -> float:
    """Samples of the instants up to t1. At t1 itself a and tau are those of the step."""
    instants, samples, done = doubles(io[INSTANTS]), doubles(io[SAMPLES]), doubles(io[DONE_WORK])
    nq, n, np, m = env[NQ], env[NV], env[NP], coordinates_of(env, io)
    size, width = m + n + np + 1, 2 + nq + 3 * n + np
    y = doubles(io[SCRATCH]) + n
    q = y + size
    a = q + nq
    rate, tau = a + n, a + n + np
    bad = 0.0
    while io[NEXT] < io[INSTANT_COUNT]:
        t = instants[io[NEXT]]
        if t > t1:
            break
        row = samples + io[NEXT] * width
        if t == t1:
            written(env, io, row, t, q1, v1, p1, a1, tau1, done[0] + work1)
        else:
            bad = bad + inside(env, io, size, q0, (t - t0) / (t1 - t0), y, q)
            bad = bad + accelerations(env, t, q, y + m, y + m + n, a, rate, tau)
            env[RHS_COUNT] = env[RHS_COUNT] - 1
            env[OUTPUT_COUNT] = env[OUTPUT_COUNT] + 1
            written(env, io, row, t, q, y + m, y + m + n, a, tau, done[0] + y[size - 1])
        io[NEXT] = io[NEXT] + 1
    return bad


def harvested(
    env: words, io: words, t0: float, t1: float, q0: ptr, q1: ptr, v1: ptr, p1: ptr, a1: ptr, tau1: ptr, work1: float
) -> int:
    """All that is taken from a step to t1, whose polynomial is there if it is :func:`wanted`. 1 if the step must be
    looked at first: then nothing has been taken; -1 if a sample is not finite."""
    if passed_the_end(env, t1 - t0, q1, v1) == 1:
        return -1
    if io[WATCHES] > 0 or io[ALWAYS] == 1 or env[CONTACTS] != 0:
        if watched(env, io, t0, t1, q0, q1, v1, p1) == 1:
            return 1
    if io[NEXT] < io[INSTANT_COUNT]:
        if not (sampled(env, io, t0, t1, q0, q1, v1, p1, a1, tau1, work1) == 0.0):
            return -1
    done, width = doubles(io[DONE_WORK]), 2 + env[NQ] + 3 * env[NV] + env[NP]
    done[0] = done[0] + work1
    io[TAKEN] = io[TAKEN] + 1
    if io[KEEP] == 1 and io[SKIP] == 0:
        written(env, io, doubles(io[ROWS]) + io[ROW] * width, t1, q1, v1, p1, a1, tau1, done[0])
        io[ROW] = io[ROW] + 1
    return 0
