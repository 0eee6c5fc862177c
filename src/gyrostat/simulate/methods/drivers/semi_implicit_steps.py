"""Steps of semi-implicit Euler in machine code. A state in memory is a row (q, v, p, a, dp/dt, tau)."""

from __future__ import annotations

from gyrostat.engine.drivers.words import copy, doubles, fma, kernel, ptr, words
from gyrostat.simulate.kernels.environment import ABORT, NP, NQ, NV, PLAIN, RETRACT, WORK
from gyrostat.simulate.kernels.harvest import MOST, POLYNOMIAL, ROW, harvested, wanted
from gyrostat.simulate.kernels.loop_projection import closed_state, thrown
from gyrostat.simulate.kernels.stage import accelerations
from gyrostat.simulate.methods.drivers.fixed_clock import (
    BUDGET,
    FULL,
    GO_ON,
    KNOWN,
    LOOK,
    NOT_FINITE,
    PENDING,
    REASON,
    RUNAWAY,
    STOPPED,
    T,
    accepted,
    broken_off,
    counted_to,
    gone_on,
    length_to,
    next_end,
    too_fast,
)


def displaced(env: words, q0: ptr, d: ptr, q: ptr) -> float:
    """q (nq,) reached from q0 along d (nv,); zero if it is finite."""
    if env[PLAIN] == 1:
        for k in range(env[NV]):
            q[k] = q0[k] + d[k]
        return 0.0
    return kernel(env[RETRACT])(q0, d, q, doubles(env[WORK]))


def known_at(env: words, t: float, y: ptr) -> float:
    """Completes a row: a, dp/dt and tau at its q, v, p; zero if all is finite."""
    v = y + env[NQ]
    p = v + env[NV]
    a = p + env[NP]
    rate = a + env[NV]
    return accelerations(env, t, y, v, p, a, rate, rate + env[NP])


def advanced(env: words, h: float, y: ptr, y1: ptr, d: ptr) -> float:
    """q, v, p of the row y1: v1 = v0 + h a0, q1 = q0 (+) h v1, p1 = p0 + h p0'."""
    n, np = env[NV], env[NP]
    v, v1 = y + env[NQ], y1 + env[NQ]
    a = v + n + np
    for k in range(n):
        v1[k] = fma(h, a[k], v[k])
        d[k] = h * v1[k]
    for k in range(np):
        v1[n + k] = fma(h, a[n + k], v[n + k])
    return displaced(env, y, d, y1)


def work_done(env: words, h: float, y: ptr, y1: ptr) -> float:
    """Of the mean of the efforts at both ends along h v1 [J]."""
    n = env[NV]
    to = env[NQ] + 2 * n + 2 * env[NP]
    v1, tau, tau1 = y1 + env[NQ], y + to, y1 + to
    power = 0.0
    for k in range(n):
        power = fma(tau[k] + tau1[k], v1[k], power)
    return 0.5 * h * power


def shorter_steps(env: words, io: words, h: float, y: ptr, work: float) -> int:
    """What lies between is the end of a shorter step: displacement s h (v0 + s h a0), v0 + s h a0, p0 + s h p0'."""
    n, np = env[NV], env[NP]
    size = 2 * n + np + 1
    C, v = doubles(io[POLYNOMIAL]), y + env[NQ]
    a = v + n + np
    C1, C2 = C + size, C + 2 * size
    for k in range(n):
        C[k] = 0.0
        C1[k] = h * v[k]
        C2[k] = h * h * a[k]
    for k in range(n + np):
        C[n + k] = v[k]
        C1[n + k] = h * a[k]
        C2[n + k] = 0.0
    C[size - 1] = 0.0
    C1[size - 1] = work
    C2[size - 1] = 0.0
    return 0


def semi_implicit_steps(env: words, run: words, io: words, ctl: ptr, y: ptr, y1: ptr, d: ptr, clock: ptr) -> int:
    """Steps up to the limit; the budget, a full buffer, or something to be looked at comes first."""
    n, nq, np = env[NV], env[NQ], env[NP]
    size, budget = nq + 3 * n + 2 * np, run[BUDGET]
    while True:
        if run[PENDING] == 1:
            copy(size, y1, y)
            run[PENDING] = 0
            run[KNOWN] = 1
            status = gone_on(env, run, ctl, clock, y, y + nq, y + nq + n)
            if status != GO_ON:
                return status
        if budget <= 0 or io[ROW] >= io[MOST]:
            return FULL
        budget = budget - 1
        t = ctl[T]
        if run[KNOWN] == 0:
            if known_at(env, t, y) != 0.0:
                return STOPPED if env[ABORT] != 0 else NOT_FINITE
            run[KNOWN] = 1
        t1 = next_end(ctl)
        h = length_to(ctl, t1)
        bad = advanced(env, h, y, y1, d)
        bad = bad + closed_state(env, y1, y1 + nq)
        run[REASON] = thrown(env, h, y + nq, y + nq + n + np)
        if run[REASON] == 1:
            return NOT_FINITE
        if bad + known_at(env, t1, y1) != 0.0:
            return STOPPED if env[ABORT] != 0 else NOT_FINITE
        counted_to(ctl, t1)
        accepted(run, ctl, t1, h)
        v1 = y1 + nq
        if too_fast(env, run, ctl, v1) == 1:
            return RUNAWAY
        work = work_done(env, h, y, y1)
        if wanted(io, t1) == 1:
            shorter_steps(env, io, h, y, work)
        status = harvested(env, io, t, t1, y, y1, v1, v1 + n, v1 + n + np, v1 + 2 * n + 2 * np, work)
        if status == 1:
            return LOOK
        if status < 0:
            return broken_off(env, run, ctl)
    return FULL
