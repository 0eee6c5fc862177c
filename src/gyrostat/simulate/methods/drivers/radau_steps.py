"""Steps of Radau's method of order 5 in machine code, for any robot: three stages at once, an estimate of the error
that stiffness does not disturb, predictive step control [Hairer, Wanner, Solving Ordinary Differential Equations II,
IV.8].

y = (q, v, p) are plain numbers, quaternions points of R^4 (:mod:`~gyrostat.simulate.kernels.vector_state`); stages are
solved on inverse dynamics (:mod:`~gyrostat.simulate.methods.drivers.radau_newton`). Between the ends of a step y is the
polynomial through its stages, which foretells the stages of the next one."""

from __future__ import annotations

from gyrostat.engine.drivers.words import copy, doubles, fma, ptr, sqrt, words
from gyrostat.simulate.kernels.environment import ABORT, NP, NQ, NV
from gyrostat.simulate.kernels.harvest import MOST, POLYNOMIAL, ROW, wanted
from gyrostat.simulate.kernels.loop_projector import vector_moved_too_far
from gyrostat.simulate.kernels.sampling import NEXT_LIMIT, sampled_at
from gyrostat.simulate.kernels.vector_state import vector_stage
from gyrostat.simulate.methods.drivers.radau_memory import (
    ACCEPTED,
    AGAIN,
    ATOL,
    BUDGET,
    DENSE,
    DZ,
    END_TAU,
    ERROR_BEFORE,
    ESTIMATE,
    ETA,
    EXTRAPOLATE,
    F0,
    F1,
    FACTORED,
    FACTORED_H,
    FASTEST,
    H_BEFORE,
    HS,
    ITERATIONS,
    KNOWN,
    LIMIT,
    MAX_STEP,
    NEWTON_TOLERANCE,
    NODES,
    OLD,
    PENDING,
    REAL,
    REASON,
    REJECTED,
    RESTRETCHED,
    RTOL,
    SCALE,
    SHRINK,
    SLOPES_KNOWN,
    SLOPES_NEW,
    STEP_WORK,
    T0,
    TABLE,
    TAU,
    THETA,
    TINY_STEP,
    U0,
    U1,
    WORST,
    Y1,
    H,
    S,
    T,
    U,
    Y,
    Z,
)
from gyrostat.simulate.methods.drivers.radau_newton import factorised, iteration, real_solved, worked
from gyrostat.simulate.methods.drivers.stiff_ends import (
    BAD_SAMPLE,
    ERROR_TOO_LARGE,
    FULL,
    GO_ON,
    NO_CONVERGENCE,
    NOT_FINITE,
    PROJECTED_TOO_FAR,
    REACHED,
    RESULT_NOT_FINITE,
    RUNAWAY,
    STOPPED,
    TOO_SMALL,
    fastest_rate,
    handed_over,
    largest,
    made_unit,
    restretched,
    weighted,
)

MOST_ITERATIONS = 7
SAFETY, LEAST, GROWTH = 0.9, 0.2, 10.0
KEEP_SLOPES = 1e-2
"""Rate of convergence up to which slopes are kept."""
ROUNDING = 0.05
"""Part of the tolerance of Newton's method below which a change is good enough, however fast it converges."""
WORTH = 1.2
"""A longer step that is worth new factorisations."""


def first_guess(env: words, run: words, ctl: ptr) -> float:
    """A step for the beginning: a hundredth of the time in which the state changes by its size, or by what is allowed
    if that is longer."""
    size = env[NQ] + env[NV] + env[NP]
    y, f, scale = doubles(run[Y]), doubles(run[F0]), doubles(run[SCALE])
    scaled(env, run, ctl, y)
    d0, d1 = weighted(size, y, scale), weighted(size, f, scale)
    return 1e-6 if d0 < 1e-5 or d1 < 1e-5 else max(0.01 * d0 / d1, 1.0 / d1)


def scaled(env: words, run: words, ctl: ptr, x: ptr) -> int:
    """1 / (atol + rtol max(|y|, |x|)). 0."""
    y, atol, scale = doubles(run[Y]), doubles(run[ATOL]), doubles(run[SCALE])
    for k in range(env[NQ] + env[NV] + env[NP]):
        scale[k] = 1.0 / fma(ctl[RTOL], max(abs(y[k]), abs(x[k])), atol[k])
    return 0


def foretold(env: words, run: words, ctl: ptr, h: float) -> int:
    """Stages to begin with: the polynomial of the step before goes on, or rates stay as they are. 0."""
    nq, size, tab = env[NQ], env[NQ] + env[NV] + env[NP], doubles(run[TABLE])
    width, z, old, f = size + 1, doubles(run[Z]), doubles(run[OLD]), doubles(run[F0])
    for i in range(3):
        row, c = z + i * width, tab[NODES + i]
        if run[EXTRAPOLATE] == 1:
            s = 1.0 + c * h / ctl[HS]
            for k in range(size):
                row[k] = s * (old[k] + s * (old[width + k] + s * old[2 * width + k]))
                row[k] = row[k] - (old[k] + old[width + k] + old[2 * width + k])
        else:
            for k in range(nq):
                row[k] = c * h * f[k]
            for k in range(nq, size):
                row[k] = 0.0
    return 0


def solved(env: words, run: words, ctl: ptr, t: float, h: float) -> int:
    """Newton's method for the stages: 1 if it has converged; else SHRINK is a factor for the step to try."""
    ctl[SHRINK] = 0.5
    run[REASON] = NO_CONVERGENCE
    eta, before, quotient, theta, k = pow(max(ctl[ETA], 2.3e-16), 0.8), 0.0, 0.0, KEEP_SLOPES, 0
    while k < MOST_ITERATIONS:
        k = k + 1
        run[ITERATIONS] = k
        change = iteration(env, run, ctl, t, h)
        if not (change < 1e300):
            run[REASON] = RESULT_NOT_FINITE
            return 0
        change = sqrt(change)
        if k > 1:
            ratio = change / before
            theta = ratio if k == 2 else sqrt(ratio * quotient)
            quotient = ratio
        if change <= ROUNDING * ctl[NEWTON_TOLERANCE]:
            ctl[THETA] = theta
            return 1
        if k > 1:
            if theta >= 0.99:
                return 0
            eta = theta / (1.0 - theta)
            ctl[ETA] = eta
            far = eta * change * pow(theta, float(MOST_ITERATIONS - 1 - k)) / ctl[NEWTON_TOLERANCE]
            if far >= 1.0 and k < MOST_ITERATIONS:
                ctl[SHRINK] = 0.8 * pow(min(20.0, max(1e-4, far)), -1.0 / (3.0 + MOST_ITERATIONS - k))
                return 0
        before = change
        if eta * change <= ctl[NEWTON_TOLERANCE]:
            ctl[THETA] = theta
            ctl[ETA] = eta
            return 1
    return 0


def error_vector(env: words, run: words, h: float, f: ptr, e: ptr) -> int:
    """e (size,) = (mu/h - J)^-1 (f + sum_i e_i Z_i / h). 0."""
    nq, n, size = env[NQ], env[NV], env[NQ] + env[NV] + env[NP]
    width, z, w, M, x = (
        size + 1,
        doubles(run[Z]),
        doubles(run[TABLE]) + ESTIMATE,
        doubles(run[S]) + 2 * env[NV] * env[NV],
        doubles(run[DZ]),
    )
    for k in range(size):
        e[k] = f[k] + (w[0] * z[k] + w[1] * z[width + k] + w[2] * z[2 * width + k]) / h
    for i in range(n):
        total = 0.0
        for k in range(n):
            total = fma(M[i * n + k], e[nq + k], total)
        x[i] = total
    copy(n, x, e + nq)
    real_solved(env, run, h, e, x)
    return 0


def estimated(env: words, run: words, ctl: ptr, t: float, h: float) -> float:
    """The error of a step, relative to what is allowed. The first one, and one that is tried again, get another look at
    components that are stiff."""
    size = env[NQ] + env[NV] + env[NP]
    y, y1, e, scale = doubles(run[Y]), doubles(run[Y1]), doubles(run[REAL]), doubles(run[SCALE])
    scaled(env, run, ctl, y1)
    error_vector(env, run, h, doubles(run[F0]), e)
    error = weighted(size, e, scale)
    if error > 1.0 and (run[AGAIN] == 1 or run[EXTRAPOLATE] == 0):
        x = doubles(run[U1])
        for k in range(size):
            x[k] = y[k] + e[k]
        x[size] = 0.0
        f = doubles(run[F1])
        if vector_stage(env, t, x, f, doubles(run[U]), doubles(run[TAU])) == 0.0:
            error_vector(env, run, h, f, e)
            error = weighted(size, e, scale)
    run[WORST] = largest(size, e, scale)
    return error


def given_up(run: words, ctl: ptr, h: float, factor: float) -> int:
    """The step is tried again, shorter. GO_ON."""
    ctl[H] = h * factor
    run[REJECTED] = run[REJECTED] + 1
    run[FACTORED] = 0
    if run[SLOPES_NEW] == 0:
        run[SLOPES_KNOWN] = 0
    run[AGAIN] = 1
    return GO_ON


def next_step(run: words, ctl: ptr, h: float, error: float) -> float:
    """The step after one of h with this error: predictive, after Gustafsson."""
    safety = SAFETY * (1.0 + 2.0 * MOST_ITERATIONS) / (run[ITERATIONS] + 2.0 * MOST_ITERATIONS)
    safety = min(SAFETY, safety)
    factor = safety * pow(max(error, 1e-10), -0.25)
    if ctl[H_BEFORE] > 0.0 and error <= 1.0:
        ratio = max(error, 1e-10)
        predictive = SAFETY * (h / ctl[H_BEFORE]) * pow(ctl[ERROR_BEFORE] / (ratio * ratio), 0.25)
        factor = min(factor, predictive)
    return h * min(GROWTH, max(LEAST, factor))


def radau_step(env: words, run: words, ctl: ptr) -> int:
    """One try: GO_ON, and PENDING if it is accepted; or how the run ends."""
    size, t = env[NQ] + env[NV] + env[NP], ctl[T]
    y, y1, z = doubles(run[Y]), doubles(run[Y1]), doubles(run[Z])
    if run[KNOWN] == 0:
        if vector_stage(env, t, y, doubles(run[F0]), doubles(run[U]), doubles(run[TAU])) != 0.0:
            return STOPPED if env[ABORT] != 0 else NOT_FINITE
        run[KNOWN] = 1
    if ctl[H] == 0.0:
        ctl[H] = first_guess(env, run, ctl)
    h, left = min(ctl[H], ctl[MAX_STEP]), ctl[LIMIT] - t
    t1 = t + h
    if left <= 1.0000001 * h:
        h = left
        t1 = ctl[LIMIT]
    if h < ctl[TINY_STEP] * max(abs(t), abs(t1)):
        return TOO_SMALL
    if (run[FACTORED] == 0 or abs(h / ctl[FACTORED_H] - 1.0) > 1e-9) and factorised(env, run, ctl, h) == 0:
        run[REASON] = RESULT_NOT_FINITE
        return STOPPED if env[ABORT] != 0 else given_up(run, ctl, h, 0.5)
    scaled(env, run, ctl, y)
    foretold(env, run, ctl, h)
    if solved(env, run, ctl, t, h) == 0:
        if env[ABORT] != 0:
            return STOPPED
        return given_up(run, ctl, h, 1.0 if run[SLOPES_NEW] == 0 else ctl[SHRINK])
    for k in range(size):
        y1[k] = y[k] + z[2 * (size + 1) + k]
    y1[size] = 0.0
    error = estimated(env, run, ctl, t, h)
    if env[ABORT] != 0:
        return STOPPED
    longer = next_step(run, ctl, h, error)
    if not (error <= 1.0):
        run[REASON] = ERROR_TOO_LARGE
        return given_up(run, ctl, h, longer / h if error < 1e300 else LEAST)
    if vector_stage(env, t1, y1, doubles(run[F1]), doubles(run[U]), doubles(run[END_TAU])) != 0.0:
        run[REASON] = RESULT_NOT_FINITE
        return STOPPED if env[ABORT] != 0 else given_up(run, ctl, h, 0.5)
    if vector_moved_too_far(env, doubles(run[SCALE]), 0.15) == 1:
        run[REASON] = PROJECTED_TOO_FAR
        return given_up(run, ctl, h, 0.5)
    worked(env, run, ctl, h)
    made_unit(env, y1, doubles(run[U1]))
    chosen(run, ctl, h, longer, error)
    ctl[T0] = t
    ctl[HS] = h
    ctl[T] = t1
    run[ACCEPTED] = run[ACCEPTED] + 1
    run[PENDING] = 1
    return GO_ON


def chosen(run: words, ctl: ptr, h: float, longer: float, error: float) -> int:
    """The next step after an accepted one, and what of the matrices serves on. 0."""
    if run[AGAIN] == 1:
        longer = min(longer, h)
    ctl[H_BEFORE] = h
    ctl[ERROR_BEFORE] = max(error, 1e-2)
    cut = 1 if h < 0.99 * ctl[H] else 0
    if ctl[THETA] > KEEP_SLOPES:
        run[SLOPES_KNOWN] = 0
        run[FACTORED] = 0
    elif longer >= h and longer <= WORTH * h:
        longer = h
    if cut == 0 or (longer < ctl[H] and error > 0.5):
        ctl[H] = longer
    run[SLOPES_NEW] = 0
    run[AGAIN] = 0
    return 0


def polynomial(env: words, run: words) -> int:
    """Coefficients of s, s^2, s^3 (3, size + 1) of the last step: the polynomial through its stages. 0."""
    width = env[NQ] + env[NV] + env[NP] + 1
    z, old, p = doubles(run[Z]), doubles(run[OLD]), doubles(run[TABLE]) + DENSE
    for d in range(3):
        for k in range(width):
            old[d * width + k] = p[d] * z[k] + p[3 + d] * z[width + k] + p[6 + d] * z[2 * width + k]
    return 0


def moved_on(env: words, run: words, ctl: ptr, clock: ptr) -> int:
    """Go on from the end of the step that waits. GO_ON, or how the run ends."""
    nq, n, size = env[NQ], env[NV], env[NQ] + env[NV] + env[NP]
    y, u0 = doubles(run[Y]), doubles(run[U0])
    copy(size + 1, doubles(run[Y1]), y)
    copy(size + 1, doubles(run[F1]), doubles(run[F0]))
    copy(size, doubles(run[U1]), u0)
    run[PENDING] = 0
    run[EXTRAPOLATE] = 1
    if restretched(env, 1, size + 1, y) == 1:
        run[RESTRETCHED] = run[RESTRETCHED] + 1
        run[KNOWN] = 0
        run[EXTRAPOLATE] = 0
    if ctl[T] < ctl[LIMIT]:
        return GO_ON
    arrived = sampled_at(env, clock, ctl[T], u0, u0 + nq, u0 + nq + n)
    if arrived != 0:
        return REACHED if arrived == 1 else BAD_SAMPLE
    ctl[LIMIT] = clock[NEXT_LIMIT]
    run[KNOWN] = 0
    run[EXTRAPOLATE] = 0
    return GO_ON


def given_out(env: words, run: words, io: words, ctl: ptr) -> int:
    """What the run takes from the step that waits: GO_ON, or how the call ends."""
    nq, n, width = env[NQ], env[NV], env[NQ] + env[NV] + env[NP] + 1
    u1 = doubles(run[U1])
    fastest = fastest_rate(n, u1 + nq)
    status = GO_ON
    polynomial(env, run)
    if not (abs(u1[nq + fastest]) <= ctl[FASTEST]):
        run[WORST] = fastest
        status = RUNAWAY
    else:
        if wanted(io, ctl[T]) == 1:
            c = doubles(io[POLYNOMIAL])
            copy(width - 1, doubles(run[Y]), c)
            c[width - 1] = 0.0
            copy(3 * width, doubles(run[OLD]), c + width)
        status = handed_over(
            env, io, ctl[T0], ctl[T], doubles(run[U0]), u1, doubles(run[F1]) + nq, doubles(run[END_TAU]), ctl[STEP_WORK]
        )
    if status < 0:
        ctl[T] = ctl[T0]
        run[PENDING] = 0
        run[ACCEPTED] = run[ACCEPTED] - 1
    return status


def radau_steps(env: words, run: words, io: words, ctl: ptr, clock: ptr) -> int:
    """Steps up to the limit; the budget, a full buffer, or something to be looked at comes first."""
    budget = run[BUDGET]
    while True:
        if run[PENDING] == 1:
            status = moved_on(env, run, ctl, clock)
            if status != GO_ON:
                return status
        if budget <= 0 or io[ROW] >= io[MOST]:
            return FULL
        budget = budget - 1
        status = radau_step(env, run, ctl)
        if status == GO_ON and run[PENDING] == 1:
            status = given_out(env, run, io, ctl)
        if status != GO_ON:
            return status
    return FULL
