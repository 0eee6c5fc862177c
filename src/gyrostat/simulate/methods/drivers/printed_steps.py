"""AS (6), (7) as they are printed, for comparison: one Newton step in each step, with a matrix that serves a hundred of
them, and no look at what it leaves.

    a1 = a0 - S H(q, v, a0, p1, t1),    S = (dH/da + c h dH/dv + h^2/4 dH/dq)^-1,    (q1, v1) by (5) from a1

PRINTED: letter by letter, (q, v) = (q0, v0) and c = 1. PREDICTED: (q, v) by (5) from a1 = a0, and c = 1/2, as it
follows from (5). AS does not say how p is integrated: p1 = p0 + h f0."""

from __future__ import annotations

from gyrostat.engine.drivers.words import copy, doubles, ptr, words
from gyrostat.simulate.kernels.environment import NP, NQ, NV
from gyrostat.simulate.methods.drivers.implicit_equations import (
    advanced,
    applied,
    efforts,
    factorised,
    measured,
    slopes,
    summed,
    unbalance,
    unbalanced,
)
from gyrostat.simulate.methods.drivers.implicit_memory import (
    FACTORISATIONS,
    KEPT,
    KEPT_H,
    LARGEST,
    RESIDUAL,
    SERVED,
    WHOLE,
    a_of,
    f_of,
    p_of,
    v_of,
)
from gyrostat.simulate.methods.drivers.newton import SOLVED, UNSOLVED, undefined

NEWTON_STEPS, KEPT_STEPS, PREDICTED_STEPS, PRINTED_STEPS, SIMPSON_STEPS = 0, 1, 2, 3, 4
"""Kinds of steps: by Newton's method, with a kept matrix, those of this file, and those of order 4."""
SERVES = 100
"""Steps that a matrix serves [AS, below (7)]."""


def renewed(env: words, box: words, ctl: ptr, h: float, by_v: float, t: float, x: ptr) -> int:
    """The matrix at a state, for accelerations alone."""
    n, size = env[NV], env[NV] + env[NP]
    if slopes(env, box, t, x, v_of(env, x), a_of(env, x), p_of(env, x)) != 0.0:
        return undefined(env)
    summed(env, box, h, by_v, 0.25 * h * h)
    A = doubles(box[WHOLE])
    for i in range(size):
        for j in range(size):
            if i >= n or j >= n:
                A[i * size + j] = 1.0 if i == j else 0.0
    measured(env, box)
    box[FACTORISATIONS] = box[FACTORISATIONS] + 1
    box[SERVED] = 0
    box[KEPT] = 1
    ctl[KEPT_H] = h
    return UNSOLVED if factorised(env, box, A) != 0 else SOLVED


def printed(env: words, box: words, ctl: ptr, kind: int, t0: float, t: float, h: float, x: ptr, y: ptr) -> int:
    """The end y, at t, of a step of h from x."""
    n, np = env[NV], env[NP]
    if box[KEPT] == 0 or box[SERVED] >= SERVES or abs(h - ctl[KEPT_H]) > 1e-6 * h:
        status = renewed(env, box, ctl, h, h if kind == PRINTED_STEPS else 0.5 * h, t0, x)
        if status != SOLVED:
            return status
    box[SERVED] = box[SERVED] + 1
    p0, f0, p1, a1, r = p_of(env, x), f_of(env, x), p_of(env, y), a_of(env, y), doubles(box[RESIDUAL])
    copy(n, a_of(env, x), a1)
    for k in range(np):
        p1[k] = p0[k] + h * f0[k]
        r[n + k] = 0.0
    bad = 0.0
    if kind == PRINTED_STEPS:
        copy(n, v_of(env, x), v_of(env, y))
        copy(env[NQ], x, y)
    else:
        bad = advanced(env, box, ctl, h, x, y)
    bad = bad + efforts(env, t, y)
    bad = bad + unbalanced(env, box, t, y, v_of(env, y), y)
    if bad != 0.0:
        return undefined(env)
    applied(env, box, r)
    for k in range(n):
        a1[k] = a1[k] - r[k]
    bad = advanced(env, box, ctl, h, x, y)
    bad = bad + efforts(env, t, y)
    bad = bad + unbalanced(env, box, t, y, v_of(env, y), y)
    if bad != 0.0:
        return undefined(env)
    ctl[LARGEST] = max(ctl[LARGEST], unbalance(env, box, h, y))
    return SOLVED
