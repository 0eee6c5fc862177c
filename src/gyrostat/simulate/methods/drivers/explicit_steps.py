"""Steps of explicit Runge-Kutta methods in machine code, any table, any robot: stages, estimate of the error,
acceptance, next step, dense output, and what the run takes from each step.

A step from q0 integrates y = (x, v, p, work) with y' = f(t, y), x local coordinates around q0. The last stage of every
table is at y1, so that it is the first one of the next step. The table in memory: rows of a (S, S), c (S,), weights of
the error (S,) and of a second estimate (S,), then the dense output, P (S, degree): y(s) = y0 + h sum_j k_j sum_d P_jd
s^(d+1). Stages beyond the last one serve the dense output alone."""

from __future__ import annotations

from gyrostat.engine.drivers.words import count_at, doubles, fma, ptr, some, sqrt, words
from gyrostat.simulate.kernels.environment import ABORT, CLOSE, CONTACTS, NP, NQ, NV, PLAIN, SIZE_OF
from gyrostat.simulate.kernels.harvest import DEGREE, MOST, POLYNOMIAL, ROW, harvested, wanted
from gyrostat.simulate.kernels.loop_margins import longest_inside
from gyrostat.simulate.kernels.loop_projection import moved_too_far, thrown
from gyrostat.simulate.kernels.stage import stage, turned
from gyrostat.simulate.methods.drivers.first_step import first_step
from gyrostat.simulate.methods.drivers.fixed_clock import (
    BUDGET,
    FULL,
    GO_ON,
    HS,
    KNOWN,
    LIMIT,
    LOOK,
    NOT_FINITE,
    NUMBERS,
    PENDING,
    REASON,
    RUNAWAY,
    STOPPED,
    T0,
    TOO_SMALL,
    WORDS,
    WORST,
    T,
    accepted,
    broken_off,
    counted_to,
    gone_on,
    largest_of,
    length_to,
    next_end,
    too_fast,
)
from gyrostat.simulate.methods.drivers.stage_sums import combined, relative_errors

TURN = 3.0
"""Rotation [rad] within a step beyond which it is not accepted: the local coordinates end at two pi."""
SAFETY, LEAST, GROWTH = 0.9, 0.2, 6.0
H, BEFORE, RTOL, MAX_STEP, K_POWER, BETA, TINY_STEP, USUAL = range(NUMBERS, NUMBERS + 8)
"""Numbers of a run beyond those that all have: next step, error before, tolerance, longest step, exponents of the step
control, shortest step relative to the time, a usual step."""
STAGES, EXTRA, ADAPTIVE, TWO_ERRORS, REJECTED, AGAIN, THROWN, TRIES = range(WORDS, WORDS + 8)
"""Words: stages with the one at y1, stages for the dense output alone; kind of method; steps given up; whether the last
one was; how many tries one after the other the projection onto loops has moved too far, and rejections in a row."""
MOST_TRIES, FEW_TRIES = 100, 4
"""Tries to pass a singular position, and rejections in a row after which one is supposed to be there."""
CAREFUL = 0.2
"""Error of such a try, relative to what is allowed, with which it is accepted: stages near the position are noisy."""
ERROR_TOO_LARGE, STAGE_NOT_FINITE, TURNED_TOO_FAR, PROJECTED_TOO_FAR = 1, 2, 3, 4


def tolerated(env: words, rtol: float, atol: ptr, q: ptr, y: ptr, q1: ptr, x: ptr, allowed: ptr) -> int:
    """Allowed error of each entry: atol + rtol times its size at either end; that of a rotation is one."""
    n, np = env[NV], env[NP]
    if env[PLAIN] == 1:
        for k in range(n):
            allowed[k] = fma(rtol, max(abs(q[k]), abs(q1[k])), atol[k])
    else:
        at = count_at(env[SIZE_OF])
        for k in range(n):
            size = max(abs(q[at[k]]), abs(q1[at[k]])) if at[k] >= 0 else 1.0
            allowed[k] = fma(rtol, size, atol[k])
    for k in range(n, 2 * n + np):
        allowed[k] = fma(rtol, max(abs(y[k]), abs(x[k])), atol[k])
    return 0


def estimated(
    env: words, run: words, ctl: ptr, tab: ptr, h: float, atol: ptr, q: ptr, y: ptr, q1: ptr, x: ptr, K: ptr, spare: ptr
) -> float:
    """Root mean square of the estimated errors, relative to what is allowed. With two estimates they are combined as
    Hairer, Norsett and Wanner do in II.10."""
    n, np, s = env[NV], env[NP], run[STAGES]
    S = s + run[EXTRA]
    size = 2 * n + np
    allowed, e = spare, spare + size
    tolerated(env, ctl[RTOL], atol, q, y, q1, x, allowed)
    other = 0.0
    if run[TWO_ERRORS] == 1:
        other = relative_errors(size, size + 1, s, tab + S * S + 2 * S, K, allowed, e)
    total = relative_errors(size, size + 1, s, tab + S * S + S, K, allowed, e)
    if run[TWO_ERRORS] == 1:
        down = total + 0.01 * other
        return h * total / sqrt(down * size) if down > 0.0 else 0.0
    return h * sqrt(total / size)


def polynomial(
    env: words, run: words, io: words, tab: ptr, t: float, h: float, q: ptr, y: ptr, K: ptr, x: ptr, q1: ptr, tau1: ptr
) -> float:
    """The dense output of a step as a polynomial, further stages included."""
    s, extra, degree = run[STAGES], run[EXTRA], io[DEGREE]
    S = s + extra
    size = 2 * env[NV] + env[NP] + 1
    bad = 0.0
    for i in range(s, S):
        combined(size, i, tab + i * S, K, h, y, x)
        bad = bad + stage(env, t + tab[S * S + i] * h, q, x, K + i * size, q1, tau1)
    C, P = doubles(io[POLYNOMIAL]), tab + S * S + 3 * S
    for k in range(size):
        C[k] = y[k]
    for d in range(degree):
        row = C + (d + 1) * size
        for k in range(size):
            row[k] = 0.0
        for j in range(S):
            w = h * P[j * degree + d]
            if some(w != 0.0):
                for k in range(size):
                    row[k] = fma(w, K[j * size + k], row[k])
    return bad


def moved_on(env: words, run: words, q: ptr, y: ptr, K: ptr, q1: ptr, x: ptr) -> int:
    """Go on from the end of the step that waits: local coordinates begin anew, x' = v."""
    n = env[NV]
    size = 2 * n + env[NP] + 1
    last = K + (run[STAGES] - 1) * size
    for k in range(env[NQ]):
        q[k] = q1[k]
    for k in range(n, size):
        y[k] = x[k]
        K[k] = last[k]
    for k in range(n):
        y[k] = 0.0
        K[k] = y[n + k]
    y[size - 1] = 0.0
    run[PENDING] = 0
    run[KNOWN] = 1
    return 0


def passing(run: words, ctl: ptr) -> float:
    """The next try after one that has come too near a singular position of a loop: steps from somewhat more than a
    usual one down, so that what is around such a position is passed between two stages before it is approached."""
    run[THROWN] = run[THROWN] + 1
    return 1.3 * ctl[USUAL] * pow(0.95, float(run[THROWN] - 1))


def explicit_steps(
    env: words,
    run: words,
    io: words,
    ctl: ptr,
    tab: ptr,
    atol: ptr,
    q: ptr,
    y: ptr,
    K: ptr,
    q1: ptr,
    x: ptr,
    tau1: ptr,
    spare: ptr,
    clock: ptr,
) -> int:
    """Steps up to the limit; the budget, a full buffer, or something to be looked at comes first."""
    n, s = env[NV], run[STAGES]
    size, S = 2 * n + env[NP] + 1, s + run[EXTRA]
    c = tab + S * S
    budget = run[BUDGET]
    while True:
        if run[PENDING] == 1:
            moved_on(env, run, q, y, K, q1, x)
            status = gone_on(env, run, ctl, clock, q, y + n, y + 2 * n)
            if status != GO_ON:
                return status
        if budget <= 0 or io[ROW] >= io[MOST]:
            return FULL
        budget = budget - 1
        t = ctl[T]
        if run[KNOWN] == 0:
            if stage(env, t, q, y, K, q1, tau1) != 0.0:
                return STOPPED if env[ABORT] != 0 else NOT_FINITE
            run[KNOWN] = 1
        if run[ADAPTIVE] == 1 and ctl[H] == 0.0:
            h = first_step(env, t, ctl[RTOL], ctl[MAX_STEP], ctl[K_POWER], atol, q, y, K, K + size, x, q1, tau1, spare)
            if not (h > 0.0):
                return STOPPED if env[ABORT] != 0 else NOT_FINITE
            ctl[H] = h
        left = ctl[LIMIT] - t
        if run[ADAPTIVE] == 1:
            h = min(min(ctl[H], ctl[MAX_STEP]), longest_inside(env, q, y + n))
            t1 = t + h
            if left <= h * 1.0000001:
                h = left
                t1 = ctl[LIMIT]
            elif left < 2.0 * h and left > 1.2 * h:
                h = 0.5 * left
                t1 = t + h
            if h < ctl[TINY_STEP] * max(abs(t), abs(t1)):
                return TOO_SMALL
        else:
            t1 = next_end(ctl)
            h = length_to(ctl, t1)
        ok = 1
        for i in range(1, s):
            combined(size, i, tab + i * S, K, h, y, x)
            if turned(env, x, 2.0 * TURN) == 1:
                ok = 0
                run[REASON] = TURNED_TOO_FAR
                break
            at = t1 if i == s - 1 else t + c[i] * h
            if stage(env, at, q, x, K + i * size, q1, tau1) != 0.0:
                if env[ABORT] != 0:
                    return STOPPED
                ok = 0
                run[REASON] = STAGE_NOT_FINITE
                break
        if ok == 1 and turned(env, x, TURN) == 1:
            ok = 0
            run[REASON] = TURNED_TOO_FAR
        if ok == 1 and run[ADAPTIVE] == 0 and thrown(env, h, y + n, K + n) == 1:
            ok = 0
            run[REASON] = PROJECTED_TOO_FAR
        if run[ADAPTIVE] == 1:
            err = 2.0
            if ok == 1:
                err = estimated(env, run, ctl, tab, h, atol, q, y, q1, x, K, spare)
                if err <= 1.0 and moved_too_far(env, spare) == 1:
                    ok = 0
                    err = 2.0
                    run[REASON] = PROJECTED_TOO_FAR
            if not (err <= (CAREFUL if run[THROWN] > 0 else 1.0)):
                shrink = LEAST
                if ok == 1 and err < 1e300:
                    run[REASON] = ERROR_TOO_LARGE
                    run[WORST] = largest_of(2 * n + env[NP], spare + 2 * n + env[NP])
                    shrink = max(LEAST, SAFETY * pow(err, -ctl[K_POWER]))
                elif run[REASON] == TURNED_TOO_FAR:
                    shrink = 0.5
                ctl[H] = h * shrink
                if (
                    env[CLOSE] != 0
                    and env[CONTACTS] == 0
                    and (run[REASON] == PROJECTED_TOO_FAR or run[THROWN] > 0 or run[TRIES] >= FEW_TRIES)
                    and run[THROWN] < MOST_TRIES
                ):
                    ctl[H] = passing(run, ctl)
                run[REJECTED] = run[REJECTED] + 1
                run[TRIES] = run[TRIES] + 1
                run[AGAIN] = 1
                continue
            factor = SAFETY * pow(max(err, 1e-10), -(ctl[K_POWER] - 0.75 * ctl[BETA])) * pow(ctl[BEFORE], ctl[BETA])
            most = 1.0 if run[AGAIN] == 1 else GROWTH
            if h >= 0.99 * ctl[H] or err > 0.5:
                ctl[H] = h * min(most, max(LEAST, factor))
            ctl[BEFORE] = max(err, 1e-4)
            if run[THROWN] > 0:
                ctl[H] = ctl[USUAL]
            ctl[USUAL] = max(h, 0.9 * ctl[USUAL])
            run[AGAIN] = 0
            run[THROWN] = 0
            run[TRIES] = 0
        elif ok == 0:
            ctl[T0] = t
            ctl[HS] = h
            return NOT_FINITE
        else:
            counted_to(ctl, t1)
        accepted(run, ctl, t1, h)
        if too_fast(env, run, ctl, x + n) == 1:
            return RUNAWAY
        if (
            wanted(io, t1) == 1
            and polynomial(env, run, io, tab, t, h, q, y, K, spare, spare + size, spare + size + env[NQ]) != 0.0
        ):
            return broken_off(env, run, ctl)
        last = K + (s - 1) * size
        status = harvested(env, io, t, t1, q, q1, x + n, x + 2 * n, last + n, tau1, x[size - 1])
        if status == 1:
            return LOOK
        if status < 0:
            return broken_off(env, run, ctl)
    return FULL
