"""Steps of backward differentiation of variable order in machine code, for any robot.

Quasi-constant steps h on backward differences D_i of y = (q, v, p) [Shampine, Reichelt, SIAM J. Sci. Comp. 18 (1997)
1-22]: with y* = sum_{i <= k} D_i, c = h / alpha_k and b = y* - sum_{1 <= i <= k} gamma_i D_i / alpha_k,

    y = b + c y'(y),      error = e_k |y - y*|.

Solved for v and p, one Newton-Euler pass an iteration; q follows in closed form
(:mod:`~gyrostat.simulate.kernels.newton_matrix`). The power of the efforts has differences too, whose integral is their
work. Slopes are kept until Newton's method slows down."""

from __future__ import annotations

from gyrostat.engine.drivers.linear_algebra import gauss_jordan, multiplied
from gyrostat.engine.drivers.words import copy, count_at, doubles, fma, ptr, sqrt, words
from gyrostat.simulate.kernels.environment import ABORT, NP, NQ, NV
from gyrostat.simulate.kernels.harvest import MOST, ROW, wanted
from gyrostat.simulate.kernels.loop_projector import closed_vector, vector_moved_too_far
from gyrostat.simulate.kernels.newton_matrix import real_matrix, residual, slopes_at
from gyrostat.simulate.kernels.sampling import NEXT_LIMIT, sampled_at
from gyrostat.simulate.kernels.vector_state import implicit_coordinates, unit
from gyrostat.simulate.methods.drivers.bdf_memory import (
    ACCELERATIONS,
    ACCEPTED,
    ALPHA,
    ATOL,
    BASE,
    BASIS,
    BUDGET,
    CHANGE,
    COEFFICIENTS,
    CONVERGENCE,
    DIFFERENCE,
    END_ACCELERATIONS,
    END_TAU,
    EQUAL,
    ERROR,
    ERROR_CONSTANT,
    FACTORED_C,
    FACTORISATIONS,
    FASTEST,
    FIRST_KNOWN,
    FRESH,
    GAMMA,
    HS,
    INVERSE,
    ITERATIONS,
    KNOWN_END,
    LIMIT,
    MAX_STEP,
    MOULTON,
    NEWTON_TOLERANCE,
    ONE_STEP,
    ORDER,
    PENDING,
    PIVOTS,
    POWER,
    PREDICTED,
    RATES,
    REASON,
    REJECTED,
    RESTRETCHED,
    RTOL,
    SAFETY,
    SCALE,
    SLOPES_AGE,
    SPARE,
    STEP_WORK,
    T0,
    TAU,
    TINY_STEP,
    U0,
    U1,
    WORST,
    A,
    D,
    H,
    R,
    S,
    T,
    U,
    Y,
)
from gyrostat.simulate.methods.drivers.bdf_start import polynomial_of_start, start_step, started_on
from gyrostat.simulate.methods.drivers.differences import (
    HIGHEST,
    ROWS,
    appended,
    integrated,
    interpolated,
    rescaled,
)
from gyrostat.simulate.methods.drivers.stiff_ends import (
    BAD_SAMPLE,
    ERROR_TOO_LARGE,
    FULL,
    GO_ON,
    NO_CONVERGENCE,
    PROJECTED_TOO_FAR,
    REACHED,
    RESULT_NOT_FINITE,
    RUNAWAY,
    STOPPED,
    TOO_SMALL,
    end_wanted,
    fastest_rate,
    handed_over,
    largest,
    made_unit,
    observed,
    restretched,
    weighted,
)

ITERATIONS_AT_MOST = 4
LEAST, GROWTH = 0.2, 10.0
ROUNDING = 0.05
"""Part of the tolerance of Newton's method below which a change is good enough, however fast it converges."""
WORTH = 1.15
"""A longer step that is worth a new factorisation."""
OLD, SLOW = 20, 0.1
"""Slopes are computed anew with another step size if they are so many steps old, or Newton's method has become so
slow."""


def shortened(env: words, run: words, ctl: ptr, factor: float) -> int:
    """Differences of steps of ``factor`` h. 0."""
    width = env[NQ] + env[NV] + env[NP] + 1
    rescaled(run[ORDER], factor, width, doubles(run[D]), doubles(run[SPARE]))
    ctl[H] = ctl[H] * factor
    run[EQUAL] = 0
    return 0


def predicted(env: words, run: words, ctl: ptr) -> float:
    """y*, b and the scale of the errors; c [s]."""
    width, order = env[NQ] + env[NV] + env[NP] + 1, run[ORDER]
    rows, coefficients, atol, rtol = doubles(run[D]), doubles(run[COEFFICIENTS]), doubles(run[ATOL]), ctl[RTOL]
    y, b, scale = doubles(run[PREDICTED]), doubles(run[BASE]), doubles(run[SCALE])
    one = 1.0 / coefficients[ALPHA + order]
    for k in range(width):
        y[k] = rows[k]
        b[k] = rows[k]
    for i in range(1, order + 1):
        row = rows + i * width
        weight = 1.0 - coefficients[GAMMA + i] * one
        for k in range(width):
            y[k] = y[k] + row[k]
            b[k] = fma(weight, row[k], b[k])
    for k in range(width - 1):
        scale[k] = 1.0 / fma(rtol, abs(y[k]), atol[k])
    return ctl[H] * one


def stride_of(size: int) -> int:
    """Numbers of a column of the inverse."""
    return (size + 3) // 4 * 4


def inverse_of(size: int, A: ptr, S: ptr, pivots: words, spare: ptr) -> int:
    """S, column by column, the inverse of A (size, size); ``spare`` (size,). 0; 1 if A is singular."""
    stride = stride_of(size)
    for i in range(size):
        row = S + i * stride
        for j in range(size):
            row[j] = A[j * size + i]
        for j in range(size, stride):
            row[j] = 0.0
    return gauss_jordan(size, stride, S, pivots, spare)


def factored(env: words, run: words, ctl: ptr, t1: float, c: float, anew: int) -> int:
    """The inverse matrix for c; slopes at y* if they are wanted ``anew``. 1 if they are, 0 if they are not new, -1 if
    there is none."""
    nq, n, np = env[NQ], env[NV], env[NP]
    y, b, slopes, matrix, a = (
        doubles(run[PREDICTED]),
        doubles(run[BASE]),
        doubles(run[S]),
        doubles(run[A]),
        doubles(run[ACCELERATIONS]),
    )
    if anew == 1:
        u = doubles(run[U])
        unit(env, y, u)
        for k in range(n):
            a[k] = (y[nq + k] - b[nq + k]) / c
        if slopes_at(env, t1, u, y + nq, y + nq + n, a, slopes, doubles(run[SPARE])) != 0.0:
            run[SLOPES_AGE] = 1000
            return -1
        run[SLOPES_AGE] = 0
    real_matrix(env, slopes, c, y + nq, matrix, doubles(run[SPARE]))
    run[FACTORISATIONS] = run[FACTORISATIONS] + 1
    ctl[CONVERGENCE] = -1.0
    ctl[FACTORED_C] = 0.0
    if inverse_of(n + np, matrix, doubles(run[INVERSE]), count_at(run[PIVOTS]), doubles(run[CHANGE])) != 0:
        run[SLOPES_AGE] = 1000
        return -1
    ctl[FACTORED_C] = c
    return anew


def corrected(env: words, run: words, ctl: ptr, t1: float, c: float) -> float:
    """One iteration of Newton's method: y changes; size of the change in units of the tolerance, or NaN."""
    nq, n, np = env[NQ], env[NV], env[NP]
    y, b, u, r = doubles(run[Y]), doubles(run[BASE]), doubles(run[U]), doubles(run[R])
    a, tau, rate, scale = doubles(run[ACCELERATIONS]), doubles(run[TAU]), doubles(run[RATES]), doubles(run[SCALE])
    v, p, spare, power = y + nq, y + nq + n, doubles(run[SPARE]), 0.0
    unit(env, y, u)
    one = 1.0 / c
    for k in range(n):
        a[k] = (v[k] - b[nq + k]) * one
    bad = residual(env, t1, u, v, p, a, doubles(run[S]), r, rate, tau, spare)
    for k in range(n):
        r[k] = c * r[k]
        power = power + tau[k] * v[k]
    for k in range(np):
        r[n + k] = p[k] - b[nq + n + k] - c * rate[k]
    ctl[POWER] = power
    change, total, others = doubles(run[CHANGE]), 0.0, 0.0
    multiplied(n + np, stride_of(n + np), doubles(run[INVERSE]), r, change)
    for k in range(n + np):
        v[k] = v[k] - change[k]
        e = change[k] * scale[nq + k]
        total = total + e * e
    implicit_coordinates(env, b, c, v, spare)
    for k in range(nq):
        e = (spare[k] - y[k]) * scale[k]
        others = others + e * e
        y[k] = spare[k]
    return bad + sqrt((total + others) / (nq + n + np))


def solved(env: words, run: words, ctl: ptr, t1: float, c: float) -> int:
    """Newton's method from y*: 1 if it has converged. CONVERGENCE is its rate, or -1 if that is not known."""
    nq, size = env[NQ], env[NQ] + env[NV] + env[NP]
    y, start = doubles(run[Y]), doubles(run[PREDICTED])
    copy(size, start, y)
    implicit_coordinates(env, doubles(run[BASE]), c, start + nq, y)
    rate, before, k = ctl[CONVERGENCE], 0.0, 0
    run[REASON] = NO_CONVERGENCE
    while k < ITERATIONS_AT_MOST:
        k = k + 1
        run[ITERATIONS] = k
        change = corrected(env, run, ctl, t1, c)
        if not (change < 1e300):
            run[REASON] = RESULT_NOT_FINITE
            return 0
        if k > 1:
            rate = change / before
            ctl[CONVERGENCE] = max(0.3 * ctl[CONVERGENCE], min(rate, 1.0))
        if change <= ROUNDING * ctl[NEWTON_TOLERANCE]:
            return 1
        if rate >= 1.0 and k > 1:
            return 0
        if rate >= 0.0 and rate < 1.0:
            left = change * rate / (1.0 - rate)
            if left < ctl[NEWTON_TOLERANCE]:
                return 1
            if k > 1 and left * pow(rate, float(ITERATIONS_AT_MOST - k)) > ctl[NEWTON_TOLERANCE]:
                return 0
        before = change
    return 0


def newton(env: words, run: words, ctl: ptr, t1: float, c: float) -> int:
    """The equations of a step, with a matrix that is good enough: 1 if they are solved, 0 if not, -1 if a Python
    function has failed."""
    anew = 0
    if ctl[FACTORED_C] != c:
        if run[SLOPES_AGE] >= OLD or ctl[CONVERGENCE] > SLOW:
            anew = 1
        anew = factored(env, run, ctl, t1, c, anew)
    while True:
        if anew >= 0 and solved(env, run, ctl, t1, c) == 1:
            run[SLOPES_AGE] = run[SLOPES_AGE] + 1
            return 1
        if env[ABORT] != 0:
            return -1
        if anew != 0:
            return 0
        anew = factored(env, run, ctl, t1, c, 1)
    return 0


def bdf_step(env: words, run: words, ctl: ptr) -> int:
    """One try: GO_ON, and PENDING if it is accepted; or how the run ends."""
    nq, n = env[NQ], env[NV]
    width, order, t = nq + n + env[NP] + 1, run[ORDER], ctl[T]
    if ctl[H] > ctl[MAX_STEP]:
        shortened(env, run, ctl, ctl[MAX_STEP] / ctl[H])
    left = ctl[LIMIT] - t
    t1 = t + ctl[H]
    if left <= 1.0000001 * ctl[H]:
        if abs(left / ctl[H] - 1.0) > 1e-13:
            shortened(env, run, ctl, left / ctl[H])
        t1 = ctl[LIMIT]
    h = ctl[H]
    if h < ctl[TINY_STEP] * max(abs(t), abs(t1)):
        return TOO_SMALL
    c = predicted(env, run, ctl)
    status = newton(env, run, ctl, t1, c)
    if status < 0:
        return STOPPED
    y, start, d, scale, coefficients = (
        doubles(run[Y]),
        doubles(run[PREDICTED]),
        doubles(run[DIFFERENCE]),
        doubles(run[SCALE]),
        doubles(run[COEFFICIENTS]),
    )
    if status == 0:
        run[REJECTED] = run[REJECTED] + 1
        run[WORST] = largest(n, y + nq, scale + nq)
        shortened(env, run, ctl, 0.5)
        return GO_ON
    unit(env, y, doubles(run[U]))
    if closed_vector(env, y, doubles(run[U])) != 0.0 or vector_moved_too_far(env, scale, 0.03) == 1:
        if env[ABORT] != 0:
            return STOPPED
        run[REASON] = PROJECTED_TOO_FAR
        run[REJECTED] = run[REJECTED] + 1
        shortened(env, run, ctl, 0.5)
        return GO_ON
    for k in range(width - 1):
        d[k] = y[k] - start[k]
    d[width - 1] = ctl[POWER] - start[width - 1]
    error = coefficients[ERROR_CONSTANT + order] * weighted(width - 1, d, scale)
    safety = 0.9 * (2.0 * ITERATIONS_AT_MOST + 1.0) / (2.0 * ITERATIONS_AT_MOST + run[ITERATIONS])
    if not (error <= 1.0):
        run[REASON] = ERROR_TOO_LARGE
        run[WORST] = largest(width - 1, d, scale)
        run[REJECTED] = run[REJECTED] + 1
        shortened(env, run, ctl, max(LEAST, safety * pow(error, -1.0 / (order + 1.0))))
        return GO_ON
    rows = doubles(run[D])
    appended(order, width, rows, d)
    made_unit(env, rows, doubles(run[U1]))
    ctl[STEP_WORK] = integrated(order, width, rows, coefficients + MOULTON, h)
    ctl[ERROR] = error
    ctl[SAFETY] = safety
    ctl[T0] = t
    ctl[HS] = h
    ctl[T] = t1
    run[EQUAL] = run[EQUAL] + 1
    run[ACCEPTED] = run[ACCEPTED] + 1
    run[PENDING] = 1
    run[ONE_STEP] = 0
    run[KNOWN_END] = 0
    return GO_ON


def better(env: words, run: words, ctl: ptr) -> int:
    """After enough steps of one size: the order, of this one and its neighbours, that allows the longest steps. 0."""
    size, order = env[NQ] + env[NV] + env[NP], run[ORDER]
    if run[EQUAL] < order + 1:
        return 0
    rows, scale, e = doubles(run[D]), doubles(run[SCALE]), doubles(run[COEFFICIENTS]) + ERROR_CONSTANT
    best, factor = order, pow(max(ctl[ERROR], 1e-12), -1.0 / (order + 1.0))
    if order > 1:
        below = e[order - 1] * weighted(size, rows + order * (size + 1), scale)
        f = pow(max(below, 1e-12), -1.0 / order)
        if f > factor:
            best = order - 1
            factor = f
    if order < HIGHEST:
        above = e[order + 1] * weighted(size, rows + (order + 2) * (size + 1), scale)
        f = pow(max(above, 1e-12), -1.0 / (order + 2.0))
        if f > factor:
            best = order + 1
            factor = f
    factor = min(GROWTH, ctl[SAFETY] * factor)
    if best == order and factor >= 0.98 and factor < WORTH:
        return 0
    run[ORDER] = best
    shortened(env, run, ctl, factor)
    return 0


def moved_on(env: words, run: words, ctl: ptr, clock: ptr) -> int:
    """Go on from the end of the step that waits. GO_ON, or how the run ends."""
    nq, n, size = env[NQ], env[NV], env[NQ] + env[NV] + env[NP]
    u0 = doubles(run[U0])
    copy(size, doubles(run[U1]), u0)
    run[PENDING] = 0
    status = GO_ON
    if ctl[T] >= ctl[LIMIT]:
        arrived = sampled_at(env, clock, ctl[T], u0, u0 + nq, u0 + nq + n)
        if arrived < 0:
            return BAD_SAMPLE
        if arrived == 0:
            ctl[LIMIT] = clock[NEXT_LIMIT]
            run[FRESH] = 1
            run[FIRST_KNOWN] = 0
            return GO_ON
        status = REACHED
    if run[ONE_STEP] == 1:
        started = started_on(env, run, ctl)
        return status if started == GO_ON else started
    run[RESTRETCHED] = run[RESTRETCHED] + restretched(env, ROWS, size + 1, doubles(run[D]))
    better(env, run, ctl)
    return status


def given_out(env: words, run: words, io: words, ctl: ptr) -> int:
    """What the run takes from the step that waits: GO_ON, or how the call ends."""
    n, u1, order = env[NV], doubles(run[U1]), run[ORDER]
    a, tau = doubles(run[END_ACCELERATIONS]), doubles(run[END_TAU])
    fastest = fastest_rate(n, u1 + env[NQ])
    status = GO_ON
    if not (abs(u1[env[NQ] + fastest]) <= ctl[FASTEST]):
        run[WORST] = fastest
        status = RUNAWAY
    elif run[KNOWN_END] == 0 and end_wanted(io, ctl[T]) == 1:
        if observed(env, ctl[T], u1, a, doubles(run[RATES]), tau) != 0.0:
            status = STOPPED if env[ABORT] != 0 else BAD_SAMPLE
        run[KNOWN_END] = 1
    if status == GO_ON:
        if wanted(io, ctl[T]) == 1:
            if run[ONE_STEP] == 1:
                polynomial_of_start(env, io, run, ctl[HS])
            else:
                interpolated(env, io, order, doubles(run[D]), doubles(run[COEFFICIENTS]) + BASIS, ctl[HS])
        status = handed_over(env, io, ctl[T0], ctl[T], doubles(run[U0]), u1, a, tau, ctl[STEP_WORK])
    if status < 0:
        ctl[T] = ctl[T0]
        run[PENDING] = 0
        run[ACCEPTED] = run[ACCEPTED] - 1
    return status


def bdf_steps(env: words, run: words, io: words, ctl: ptr, clock: ptr) -> int:
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
        status = start_step(env, run, ctl) if run[FRESH] == 1 else bdf_step(env, run, ctl)
        if status == GO_ON and run[PENDING] == 1:
            status = given_out(env, run, io, ctl)
        if status != GO_ON:
            return status
    return FULL
