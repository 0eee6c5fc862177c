"""Implicit steps whose loops are constraints with multipliers, in machine code [AS (2), (3a), (6), (9)]: unknown are
the accelerations a1, own states p1 and the forces lambda of the loops,

    H_q = rnea(q1, v1, a1) - tau(t1, q1, v1, p1) - J^T lambda = 0,      H_c = 0,

with q1, v1 of a1 by the formulas of :mod:`~gyrostat.simulate.methods.drivers.implicit_equations`. With the share c =
dw1/da1

    index 3:  H_c = g(q1) / (c beta h^2),
    index 2:  H_c = J(q1) v1 / (c gamma h),     q1 closed by a displacement M^-1 J^T mu beside the formula for it

[Gear, Leimkuhler, Gupta 1985], so that for both H_c has the derivative J by a1, and Newton's method the matrix

    ( M + c gamma h dH/dv + c beta h^2 dH/dq      -J^T )
    ( J                                             0  ),

which is kept from step to step until it converges slowly. A step without a solution is halved."""

from __future__ import annotations

from gyrostat.engine.drivers.linear_algebra import lu, solve
from gyrostat.engine.drivers.words import copy, count_at, doubles, fma, kernel, ptr, words
from gyrostat.simulate.kernels.environment import (
    ABORT,
    DIRECTIONS,
    INVERSE,
    LIVE,
    LOOP_COUNT,
    LOOP_ROWS,
    NP,
    NV,
    RESIDUAL_COUNT,
    TIME,
    WORK,
)
from gyrostat.simulate.kernels.harvest import MOST, ROW
from gyrostat.simulate.kernels.loop_projection import closed_place, closed_state
from gyrostat.simulate.methods.drivers.fixed_clock import (
    BUDGET,
    DT,
    FULL,
    GO_ON,
    KNOWN,
    NO_SOLUTION,
    NOT_FINITE,
    PENDING,
    REASON,
    STOPPED,
    T,
    length_to,
    next_end,
    taken_back,
)
from gyrostat.simulate.methods.drivers.implicit_equations import advanced, efforts, share_of, slopes, summed
from gyrostat.simulate.methods.drivers.implicit_memory import (
    BETA,
    CHANGE,
    FACTORISATIONS,
    FINISH,
    GAMMA,
    HALVED,
    IRREGULAR,
    ITERATIONS,
    KEPT_H,
    LONGEST,
    LONGEST_SERVICE,
    NEWTON,
    SERVED,
    START,
    TRIED_H,
    WHOLE,
    a_of,
    f_of,
    p_of,
    tau_of,
    v_of,
)
from gyrostat.simulate.methods.drivers.implicit_memory import WORDS as IMPLICIT_WORDS
from gyrostat.simulate.methods.drivers.implicit_steps import ENDLESS, arrived, first_state, moved_on_from, taken_from
from gyrostat.simulate.methods.drivers.newton import ABORTED, SOLVED, UNDEFINED, UNSOLVED, size_of_change, undefined

INDEX, MULTIPLIERS, EQUATIONS, SADDLE, SADDLE_PIVOTS, UNKNOWN, SADDLE_KEPT, AT_REST, ZEROS = range(
    IMPLICIT_WORDS, IMPLICIT_WORDS + 9
)
"""Words behind those of implicit steps: index 3 or 2; lambda (m,); g (m,), J (m, nv), b (m,); the matrix, its pivots;
its right-hand side; 1 if it is kept; 1 if slopes are those of a robot at rest [AS (8), (9)]; zeros (nv,)."""
LOOP_WORDS = IMPLICIT_WORDS + 12
ENOUGH_CHANGE = 1e-10
"""Change of q, v and p, relative to one plus their size, that is left at most when Newton's iteration ends."""
SLOW_RATE = 0.2
"""Ratio of two changes above which the matrix is made anew for the next step."""
MOST_TURNS, FEW_TURNS = 12, 4
"""Newton steps of a step at most, and those after which the next one gets a new matrix."""


def multiplier_residual(env: words, box: words, ctl: ptr, t: float, h: float, x: ptr, y: ptr) -> float:
    """UNKNOWN (nv + np + m,): H_q, p1 - p0 - h/2 (f0 + f1), H_c, for a and p of y and lambda; zero if finite."""
    n, np, m = env[NV], env[NP], env[LOOP_COUNT]
    r, force, g = doubles(box[UNKNOWN]), doubles(box[MULTIPLIERS]), doubles(box[EQUATIONS])
    J, time, work = g + m, doubles(env[TIME]), doubles(env[WORK])
    v = v_of(env, y)
    bad = advanced(env, box, ctl, h, x, y)
    if bad == 0.0 and box[INDEX] == 2:
        bad = closed_place(env, y)
    if bad != 0.0:
        return bad
    bad = efforts(env, t, y)
    env[RESIDUAL_COUNT] = env[RESIDUAL_COUNT] + 1
    tau = tau_of(env, y)
    bad = bad + kernel(env[INVERSE])(time, y, v, a_of(env, y), doubles(env[DIRECTIONS]), doubles(env[LIVE]), r, work)
    bad = bad + kernel(env[LOOP_ROWS])(time, y, v, doubles(env[LIVE]), g, J, J + m * n, work)
    for k in range(n):
        s = r[k] - tau[k]
        for i in range(m):
            s = fma(-J[i * n + k], force[i], s)
        r[k] = s
    p0, f0, p1, f1 = p_of(env, x), f_of(env, x), p_of(env, y), f_of(env, y)
    for k in range(np):
        r[n + k] = p1[k] - p0[k] - 0.5 * h * (f0[k] + f1[k])
    c = share_of(ctl)
    for i in range(m):
        s = g[i] / (c * ctl[BETA] * h * h)
        if box[INDEX] == 2:
            s = 0.0
            for k in range(n):
                s = fma(J[i * n + k], v[k], s)
            s = s / (c * ctl[GAMMA] * h)
        r[n + np + i] = s
    return bad


def saddle(env: words, box: words, ctl: ptr, t: float, h: float, y: ptr) -> int:
    """The matrix at y, factorised: SOLVED, or why not. J is that of the last residual."""
    n, np, m = env[NV], env[NP], env[LOOP_COUNT]
    size, whole = n + np + m, n + np
    A, K, J = doubles(box[WHOLE]), doubles(box[SADDLE]), doubles(box[EQUATIONS]) + m
    c, v, a = share_of(ctl), v_of(env, y), a_of(env, y)
    if box[AT_REST] == 1:
        v = doubles(box[ZEROS])
        a = v
    if slopes(env, box, t, y, v, a, p_of(env, y)) != 0.0:
        return undefined(env)
    summed(env, box, h, c * ctl[GAMMA] * h, c * ctl[BETA] * h * h)
    for k in range(size * size):
        K[k] = 0.0
    for i in range(whole):
        copy(whole, A + i * whole, K + i * size)
    for i in range(m):
        row = K + (whole + i) * size
        for k in range(n):
            row[k] = J[i * n + k]
            K[k * size + whole + i] = -J[i * n + k]
    box[FACTORISATIONS] = box[FACTORISATIONS] + 1
    box[SERVED] = 0
    box[SADDLE_KEPT] = 1
    ctl[KEPT_H] = h
    return UNSOLVED if lu(size, K, count_at(box[SADDLE_PIVOTS])) != 0 else SOLVED


def multiplier_newton(env: words, box: words, ctl: ptr, t: float, h: float, x: ptr, y: ptr) -> int:
    """The end y, at t, of a step of h from x: SOLVED, or why not."""
    n, np, m = env[NV], env[NP], env[LOOP_COUNT]
    r, force, change = doubles(box[UNKNOWN]), doubles(box[MULTIPLIERS]), doubles(box[CHANGE])
    a, a0, p, p0, f0 = a_of(env, y), a_of(env, x), p_of(env, y), p_of(env, x), f_of(env, x)
    for k in range(n):
        a[k] = a0[k]
    for k in range(np):
        p[k] = p0[k] + h * f0[k]
    if multiplier_residual(env, box, ctl, t, h, x, y) != 0.0:
        return undefined(env)
    fresh = 0
    if box[SADDLE_KEPT] == 0 or ctl[KEPT_H] != h:
        status = saddle(env, box, ctl, t, h, y)
        if status != SOLVED:
            return status
        fresh = 1
    moved, last, turn = 1e300, 1e300, 0
    while turn < MOST_TURNS:
        turn = turn + 1
        box[NEWTON] = box[NEWTON] + 1
        solve(n + np + m, doubles(box[SADDLE]), count_at(box[SADDLE_PIVOTS]), r)
        copy(n + np, r, change)
        for k in range(n):
            a[k] = a[k] - r[k]
        for k in range(np):
            p[k] = p[k] - r[n + k]
        for i in range(m):
            force[i] = force[i] - r[n + np + i]
        if multiplier_residual(env, box, ctl, t, h, x, y) != 0.0:
            return undefined(env)
        last = moved
        moved = size_of_change(env, box, ctl, h, y)
        rate = moved / last if turn > 1 else 1.0
        if not (moved < 1e300):
            return UNDEFINED
        if turn >= box[ITERATIONS] and (moved <= ENOUGH_CHANGE or moved * rate <= 0.1 * ENOUGH_CHANGE):
            if turn > FEW_TURNS or (turn > 2 and rate > SLOW_RATE and moved > 1e-3 * ENOUGH_CHANGE):
                box[SADDLE_KEPT] = 0
            box[SERVED] = box[SERVED] + 1
            box[LONGEST_SERVICE] = max(box[LONGEST_SERVICE], box[SERVED])
            return SOLVED
        if turn > 1 and rate > 0.5:
            if fresh == 1 and turn > 3:
                break
            status = saddle(env, box, ctl, t, h, y)
            if status != SOLVED:
                return status
            fresh = 1
    box[SADDLE_KEPT] = 0
    return UNSOLVED


def multiplier_step(env: words, box: words, ctl: ptr, x: ptr, y: ptr) -> int:
    """The end y of the next step from x, or of a part of it where the whole has no solution."""
    t, end = ctl[T], next_end(ctl)
    h = min(end - t, ctl[LONGEST])
    while True:
        t1 = end if end - t <= h * (1.0 + 1e-9) else t + h
        h = length_to(ctl, t1)
        box[REASON] = multiplier_newton(env, box, ctl, t1, h, x, y)
        if box[REASON] == SOLVED:
            break
        if box[REASON] == ABORTED:
            return ABORTED
        ctl[TRIED_H] = t1 - t
        h = 0.5 * (t1 - t)
        if h < ctl[DT] * 9.313225746154785e-10 or t + h == t:
            return box[REASON]
        box[HALVED] = box[HALVED] + 1
    ctl[LONGEST] = 2.0 * (t1 - t) if t1 < end else ENDLESS
    box[IRREGULAR] = 1 if ctl[LONGEST] < ENDLESS or abs(h - ctl[DT]) > 1e-6 * ctl[DT] else 0
    return arrived(box, ctl, t1, h)


def loop_multiplier_steps(env: words, box: words, io: words, ctl: ptr, clock: ptr, spare: ptr) -> int:
    """Steps up to the limit; the budget, a full buffer, or something to be looked at comes first."""
    x, y, budget = doubles(box[START]), doubles(box[FINISH]), box[BUDGET]
    while True:
        if box[PENDING] == 1:
            status = moved_on_from(env, box, ctl, clock, x, y)
            if status != GO_ON:
                return status
        if budget <= 0 or io[ROW] >= io[MOST]:
            return FULL
        budget = budget - 1
        if box[KNOWN] == 0 and first_state(env, box, ctl, x) != 0.0:
            box[KNOWN] = 0
            box[REASON] = UNDEFINED
            return STOPPED if env[ABORT] != 0 else NOT_FINITE
        status = multiplier_step(env, box, ctl, x, y)
        if status != SOLVED:
            if status == ABORTED:
                return STOPPED
            return NOT_FINITE if status == UNDEFINED else NO_SOLUTION
        if closed_state(env, y, v_of(env, y)) != 0.0:
            taken_back(box, ctl)
            box[REASON] = UNDEFINED
            return STOPPED if env[ABORT] != 0 else NOT_FINITE
        status = taken_from(env, box, io, ctl, x, y, spare)
        if status != GO_ON:
            return status
    return FULL
