"""How a multistep method begins, as drivers: by an explicit step of order 5 that fills its table of differences.

Where efforts jump, at samples of digital parts and at events, the state is continuous, and so is the time scale: the
step that served last time is tried again. A step that reaches the next sample leaves no table to be filled."""

from __future__ import annotations

from gyrostat.engine.drivers.words import copy, doubles, fma, kernel, ptr, words
from gyrostat.simulate.kernels.environment import (
    ABORT,
    CONSTANTS,
    LAW,
    MEMORY,
    NP,
    NQ,
    NV,
    PARAMETERS,
    TIME,
    WORK,
)
from gyrostat.simulate.kernels.harvest import DEGREE, POLYNOMIAL
from gyrostat.simulate.kernels.vector_state import unit, vector_stage
from gyrostat.simulate.methods.drivers.bdf_memory import (
    ACCEPTED,
    ATOL,
    COEFFICIENTS,
    END_ACCELERATIONS,
    END_TAU,
    EQUAL,
    ERROR_CONSTANT,
    FACTORED_C,
    FIRST_KNOWN,
    FRESH,
    H_START,
    HS,
    KNOWN_END,
    LIMIT,
    MAX_STEP,
    ONE_STEP,
    ORDER,
    PENDING,
    PREDICTED,
    RATES,
    REASON,
    REJECTED,
    RTOL,
    SCALE,
    SLOPES_AGE,
    STEP_WORK,
    T0,
    TABLE,
    TAU,
    TINY_STEP,
    U0,
    U1,
    WORST,
    D,
    H,
    K,
    T,
    U,
    Y,
)
from gyrostat.simulate.methods.drivers.differences import ROWS, differenced
from gyrostat.simulate.methods.drivers.stage_sums import combined
from gyrostat.simulate.methods.drivers.stiff_ends import (
    ERROR_TOO_LARGE,
    GO_ON,
    NOT_FINITE,
    RESULT_NOT_FINITE,
    STOPPED,
    TOO_SMALL,
    largest,
    made_unit,
    weighted,
)

STAGES, DEGREE_OF_START = 7, 4
START_ORDER, PARTS = 4, 4
"""Order that the method begins with, and parts of the starting step that become its steps."""
LEAST, GROWTH = 0.2, 5.0


def allowed(size: int, rtol: float, atol: ptr, y: ptr, x: ptr, scale: ptr) -> int:
    """scale (size,) = 1 / (atol + rtol max(|y|, |x|)). 0."""
    for k in range(size):
        scale[k] = 1.0 / fma(rtol, max(abs(y[k]), abs(x[k])), atol[k])
    return 0


def first_guess(env: words, run: words, ctl: ptr) -> float:
    """A step for the beginning [Hairer, Norsett, Wanner II.4]; one more evaluation. Zero if that is not finite."""
    size = env[NQ] + env[NV] + env[NP]
    k0, y, x, scale = doubles(run[K]), doubles(run[Y]), doubles(run[PREDICTED]), doubles(run[SCALE])
    k1 = k0 + size + 1
    allowed(size, ctl[RTOL], doubles(run[ATOL]), y, y, scale)
    d0, d1 = weighted(size, y, scale), weighted(size, k0, scale)
    h = 1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1
    h = min(h, ctl[MAX_STEP])
    for k in range(size + 1):
        x[k] = fma(h, k0[k], y[k])
    if vector_stage(env, ctl[T] + h, x, k1, doubles(run[U]), doubles(run[TAU])) != 0.0:
        return 0.0
    for k in range(size):
        x[k] = k1[k] - k0[k]
    d2 = max(d1, weighted(size, x, scale) / h)
    return min(100.0 * h, max(1e-6, 1e-3 * h) if d2 <= 1e-15 else pow(0.01 / d2, 0.2))


def began(env: words, run: words, ctl: ptr) -> int:
    """The first stage, and a step to try if there is none. GO_ON, or how the run ends."""
    size = env[NQ] + env[NV] + env[NP]
    y = doubles(run[Y])
    if run[FIRST_KNOWN] == 0:
        copy(size, doubles(run[U0]), y)
        y[size] = 0.0
        if vector_stage(env, ctl[T], y, doubles(run[K]), doubles(run[U]), doubles(run[TAU])) != 0.0:
            return STOPPED if env[ABORT] != 0 else NOT_FINITE
        run[FIRST_KNOWN] = 1
    if ctl[H_START] == 0.0:
        ctl[H_START] = first_guess(env, run, ctl)
        if env[ABORT] != 0:
            return STOPPED
        if not (ctl[H_START] > 0.0):
            ctl[H_START] = 1e-6
    return GO_ON


def staged(env: words, run: words, t: float, t1: float, h: float) -> int:
    """All stages of a step; the last one is at its end, x. 1 if they are finite."""
    size = env[NQ] + env[NV] + env[NP] + 1
    tab, y, x, k = doubles(run[TABLE]), doubles(run[Y]), doubles(run[PREDICTED]), doubles(run[K])
    c = tab + STAGES * STAGES
    for i in range(1, STAGES):
        combined(size, i, tab + i * STAGES, k, h, y, x)
        at = t1 if i == STAGES - 1 else t + c[i] * h
        if vector_stage(env, at, x, k + i * size, doubles(run[U]), doubles(run[TAU])) != 0.0:
            return 0
    return 1


def error_of_start(env: words, run: words, ctl: ptr, h: float) -> float:
    """Estimated error of the step, relative to what is allowed."""
    size = env[NQ] + env[NV] + env[NP]
    tab, y, x, k, scale = (
        doubles(run[TABLE]),
        doubles(run[Y]),
        doubles(run[PREDICTED]),
        doubles(run[K]),
        doubles(run[SCALE]),
    )
    weights, e = tab + STAGES * STAGES + STAGES, doubles(run[U])
    allowed(size, ctl[RTOL], doubles(run[ATOL]), y, x, scale)
    for i in range(size):
        total = 0.0
        for j in range(STAGES):
            total = fma(weights[j], k[j * (size + 1) + i], total)
        e[i] = h * total
    run[WORST] = largest(size, e, scale)
    return weighted(size, e, scale)


def start_step(env: words, run: words, ctl: ptr) -> int:
    """One try: GO_ON, and PENDING if it is accepted; or how the run ends."""
    nq, n, size = env[NQ], env[NV], env[NQ] + env[NV] + env[NP]
    status = began(env, run, ctl)
    if status != GO_ON:
        return status
    t = ctl[T]
    h, left = min(ctl[H_START], ctl[MAX_STEP]), ctl[LIMIT] - t
    t1 = t + h
    if left <= 1.0000001 * h:
        h = left
        t1 = ctl[LIMIT]
    if h < ctl[TINY_STEP] * max(abs(t), abs(t1)):
        return TOO_SMALL
    error = 1e3
    run[REASON] = RESULT_NOT_FINITE
    if staged(env, run, t, t1, h) == 1:
        error = error_of_start(env, run, ctl, h)
        run[REASON] = ERROR_TOO_LARGE
    elif env[ABORT] != 0:
        return STOPPED
    if not (error <= 1.0):
        ctl[H_START] = h * (max(LEAST, 0.9 * pow(error, -0.2)) if error < 1e300 else LEAST)
        run[REJECTED] = run[REJECTED] + 1
        return GO_ON
    factor = min(GROWTH, max(LEAST, 0.9 * pow(max(error, 1e-10), -0.2)))
    if h * factor > ctl[H_START] or h >= 0.99 * ctl[H_START]:
        ctl[H_START] = h * factor
    x, last = doubles(run[PREDICTED]), doubles(run[K]) + (STAGES - 1) * (size + 1)
    made_unit(env, x, doubles(run[U1]))
    copy(n, last + nq, doubles(run[END_ACCELERATIONS]))
    copy(n, doubles(run[TAU]), doubles(run[END_TAU]))
    ctl[STEP_WORK] = x[size]
    ctl[T0] = t
    ctl[HS] = h
    ctl[T] = t1
    run[ACCEPTED] = run[ACCEPTED] + 1
    run[PENDING] = 1
    run[ONE_STEP] = 1
    run[KNOWN_END] = 1
    return GO_ON


def polynomial_of_start(env: words, io: words, run: words, h: float) -> int:
    """The dense output of the starting step, for samples. 0."""
    size, degree = env[NQ] + env[NV] + env[NP] + 1, io[DEGREE]
    C, y, k = doubles(io[POLYNOMIAL]), doubles(run[Y]), doubles(run[K])
    weights = doubles(run[TABLE]) + STAGES * STAGES + 3 * STAGES
    copy(size, y, C)
    for d in range(degree):
        row = C + (d + 1) * size
        for i in range(size):
            row[i] = 0.0
        if d < DEGREE_OF_START:
            for j in range(STAGES):
                w = h * weights[j * DEGREE_OF_START + d]
                for i in range(size):
                    row[i] = fma(w, k[j * size + i], row[i])
    return 0


def started_from(env: words, run: words, t: float, h: float, s: float, y: ptr) -> float:
    """y = (q, v, p, power) at the fraction s of the starting step. Zero if it is finite."""
    nq, n = env[NQ], env[NV]
    size = nq + n + env[NP] + 1
    y0, k, weights = doubles(run[Y]), doubles(run[K]), doubles(run[TABLE]) + STAGES * STAGES + 3 * STAGES
    copy(size, y0, y)
    for j in range(STAGES):
        p = weights + j * DEGREE_OF_START
        w = h * s * (p[0] + s * (p[1] + s * (p[2] + s * p[3])))
        for i in range(size):
            y[i] = fma(w, k[j * size + i], y[i])
    u, tau, time = doubles(run[U]), doubles(run[TAU]), doubles(env[TIME])
    time[0] = t + s * h
    unit(env, y, u)
    bad = kernel(env[LAW])(
        time, u, y + nq, y + nq + n, doubles(env[MEMORY]), doubles(env[PARAMETERS]), doubles(env[CONSTANTS]),
        tau, doubles(run[RATES]), doubles(env[WORK]),
    )  # fmt: skip
    power = 0.0
    for i in range(n):
        power = power + tau[i] * y[nq + i]
    y[size - 1] = power
    return bad


def order_of_start(run: words, width: int) -> int:
    """The order to begin with: the lowest one whose steps can grow at once, or the highest. Differences beyond it are
    left out: where they are rounding, longer steps would make errors of them."""
    rows, scale, e = doubles(run[D]), doubles(run[SCALE]), doubles(run[COEFFICIENTS]) + ERROR_CONSTANT
    for order in range(1, START_ORDER):
        error = e[order] * weighted(width - 1, rows + (order + 1) * width, scale)
        if error < pow(0.1, order + 1.0):
            return order
    return START_ORDER


def table_filled(env: words, run: words, ctl: ptr) -> float:
    """Differences of the starting step, whose parts are the steps from now on. Zero if all is finite."""
    width = env[NQ] + env[NV] + env[NP] + 1
    rows, h, bad = doubles(run[D]), ctl[HS], 0.0
    for i in range(ROWS * width):
        rows[i] = 0.0
    for i in range(PARTS + 1):
        s = 1.0 - float(i) / PARTS
        bad = bad + started_from(env, run, ctl[T0], h, s, rows + i * width)
    copy(width - 1, doubles(run[PREDICTED]), rows)
    differenced(START_ORDER, width, rows)
    ctl[H] = h / PARTS
    order = order_of_start(run, width)
    for i in range((order + 1) * width, ROWS * width):
        rows[i] = 0.0
    run[ORDER] = order
    run[EQUAL] = 0
    run[FRESH] = 0
    run[FIRST_KNOWN] = 0
    run[SLOPES_AGE] = 1000
    ctl[FACTORED_C] = 0.0
    return bad


def started_on(env: words, run: words, ctl: ptr) -> int:
    """Go on from the starting step that waits: with another one if the limit is near, else with differences. GO_ON, or
    how the run ends."""
    size = env[NQ] + env[NV] + env[NP] + 1
    left, k = ctl[LIMIT] - ctl[T], doubles(run[K])
    if left > 2.0 * min(ctl[H_START], ctl[MAX_STEP]):
        if table_filled(env, run, ctl) != 0.0:
            return STOPPED if env[ABORT] != 0 else NOT_FINITE
    else:
        y = doubles(run[Y])
        copy(size, k + (STAGES - 1) * size, k)
        copy(size, doubles(run[PREDICTED]), y)
        y[size - 1] = 0.0
        run[FIRST_KNOWN] = 1
    return GO_ON
