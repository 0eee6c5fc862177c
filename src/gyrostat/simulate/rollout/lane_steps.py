"""Fixed steps of many robots in machine code, W of them in the lanes of the registers: any robot, any explicit table.

The formulas are those of ``gs.simulate``: a step from q0 integrates y = (x, v, p), x local coordinates around q0,

    k_i = f(t + c_i h, y_0 + h sum_j a_ij k_j),   y_1 = y_0 + h sum_j b_j k_j,   q_1 = q0 (+) x_1;

semi-implicit Euler is v_1 = v_0 + h a, q_1 = q0 (+) h v_1, p_1 = p_0 + h p'; steps with contacts are in
:mod:`~gyrostat.simulate.rollout.moreau_steps`. A digital part is sampled at the beginning
of a step. A lane whose step is not finite, or turns too far, keeps the numbers that it had, and the number of the step
is noted; the others do not notice.

All that a step computes is its *record*, in columns of W doubles: k (S, n), y (S, n) and q (S, nq) of the stages,
with n = 2 nv + np; y_1 (n), q_1 (nq); the memory before and during the step. A rollout uses one record again and again,
an adjoint sweep keeps those of many steps."""

from __future__ import annotations

from gyrostat.engine.drivers.words import (
    LANES,
    copy,
    count_at,
    doubles,
    fma,
    kernel,
    ptr,
    shared,
    some,
    table,
    where,
    words,
)
from gyrostat.simulate.kernels.environment import (
    ANGULAR,
    LIVE,
    MEMORY,
    NEW_MEMORY,
    NM,
    NP,
    NQ,
    NV,
    PARAMETERS,
    TIME,
    TURNING,
    UPDATE,
    UPDATE_CONSTANTS,
    WORK,
)
from gyrostat.simulate.kernels.loop_margins import ends_ahead
from gyrostat.simulate.kernels.stage import place, unconstrained
from gyrostat.simulate.methods.drivers.explicit_steps import TURN
from gyrostat.simulate.methods.drivers.semi_implicit_steps import displaced
from gyrostat.simulate.methods.drivers.stage_sums import combined
from gyrostat.simulate.rollout.moreau_steps import moreau_step

(
    STAGES, SAMPLE, RECORD, RECORD_SIZE,  # stages, 0: semi-implicit; steps between samples; the first record
    TABLE, TAU, BAD,  # columns: the table; scratch; first bad step of each lane, or -1
    ROBOTS, ROWS, EVERY, BEGIN,  # robots, rows to write, steps between them, number of the first step
    Q_FROM, V_FROM, P_FROM, M_FROM, Q_TO, V_TO, P_TO, M_TO,  # rows to begin from, first rows to write
    ALL, FIRST_BAD,  # robots in a row; first bad step of each robot, or -1
    PARAMETER_ROWS, PARAMETER_SIZE, PARAMETER_STRIDE, LIVE_ROWS, LIVE_SIZE, LIVE_STRIDE,
    DIGITAL, CONTACT,  # memory of digital parts; words of moreau_steps, or 0
) = range(29)  # fmt: skip
WORDS_OF_A_ROLLOUT = 32
NAN = float("nan")


def gathered(size: int, here: int, rows: table, stride: int, columns: ptr) -> int:
    """Columns (size,) from the rows of ``here`` robots; lanes beyond them read the last one again."""
    c = shared(columns)
    for lane in range(LANES):
        row = rows + min(lane, here - 1) * stride
        for k in range(size):
            c[k * LANES + lane] = row[k]
    return 0


def scattered(size: int, here: int, columns: ptr, rows: table, stride: int) -> int:
    """Columns (size,) to the rows of ``here`` robots."""
    c = shared(columns)
    for lane in range(here):
        row = rows + lane * stride
        for k in range(size):
            row[k] = c[k * LANES + lane]
    return 0


def turned_too_far(env: words, x: ptr, most: float) -> float:
    """Zero; NaN in lanes where a rotation among the local coordinates x exceeds ``most`` [rad]."""
    at, bad = count_at(env[ANGULAR]), 0.0
    for k in range(env[TURNING]):
        w = x + at[k]
        bad = bad + where(w[0] * w[0] + w[1] * w[1] + w[2] * w[2] <= most * most, 0.0, NAN)
    return bad


def not_finite(size: int, x: ptr) -> float:
    """Zero; NaN in lanes where one of x (size,) is not finite. Four sums, which need not wait for each other."""
    a, b, c, d, most = 0.0, 0.0, 0.0, 0.0, size // 4
    for k in range(most):
        y = x + 4 * k
        a = fma(0.0, y[0], a)
        b = fma(0.0, y[1], b)
        c = fma(0.0, y[2], c)
        d = fma(0.0, y[3], d)
    for k in range(4 * most, size):
        a = fma(0.0, x[k], a)
    return (a + b) + (c + d)


def explicit_step(env: words, stages: int, tab: ptr, t: float, h: float, record: ptr, tau: ptr) -> float:
    """One step of an explicit table from the first y and q of a record; zero where all is finite."""
    n, nq = env[NV], env[NQ]
    size = 2 * n + env[NP]
    K, Y = record, record + stages * size
    Q, c = Y + stages * size, tab + (stages + 1) * stages
    y1 = Q + stages * nq
    bad = unconstrained(env, t, Q, Y + n, Y + 2 * n, K + n, K + 2 * n, tau)
    copy(n, Y + n, K)  # x' = v at x = 0
    for i in range(1, stages):
        y, k = Y + i * size, K + i * size
        combined(size, i, tab + i * stages, K, h, Y, y)
        bad = bad + turned_too_far(env, y, 2.0 * TURN)
        bad = bad + place(env, Q, y, y + n, Q + i * nq, k)
        bad = bad + unconstrained(env, t + c[i] * h, Q + i * nq, y + n, y + 2 * n, k + n, k + 2 * n, tau)
    combined(size, stages, tab + stages * stages, K, h, Y, y1)
    bad = bad + turned_too_far(env, y1, TURN)
    return bad + place(env, Q, y1, y1 + n, y1 + size, tau)


def semi_implicit_step(env: words, t: float, h: float, record: ptr, tau: ptr) -> float:
    """One step of semi-implicit Euler, in a record with one stage; zero where all is finite."""
    n, np, nq = env[NV], env[NP], env[NQ]
    size = 2 * n + np
    K, y = record, record + size
    q = y + size
    y1 = q + nq
    q1 = y1 + size
    bad = unconstrained(env, t, q, y + n, y + 2 * n, K + n, K + 2 * n, tau)
    for k in range(n, size):
        y1[k] = fma(h, K[k], y[k])
    for k in range(n):
        y1[k] = h * y1[n + k]
    return bad + displaced(env, q, y1, q1)


def sampled_memory(env: words, run: words, number: int, t: float, q: ptr, v: ptr, p: ptr, before: ptr) -> float:
    """What digital parts hold during a step, in MEMORY and behind what they held ``before``."""
    memory, fresh, time = doubles(env[MEMORY]), doubles(env[NEW_MEMORY]), doubles(env[TIME])
    nm = env[NM]
    bad = 0.0
    copy(nm, memory, before)
    if run[DIGITAL] > 0 and number % run[SAMPLE] == 0:
        time[0] = t
        bad = kernel(env[UPDATE])(
            time, q, v, p, before, doubles(env[PARAMETERS]), doubles(env[UPDATE_CONSTANTS]), fresh, doubles(env[WORK])
        )
        copy(run[DIGITAL], fresh, memory)
    copy(nm, memory, before + nm)
    return bad


def kept_as_before(env: words, stages: int, number: int, bad: float, record: ptr, first_bad: ptr) -> int:
    """Lanes that are not finite get back what they had at the beginning of the step."""
    n, nq, nm = env[NV], env[NQ], env[NM]
    size = 2 * n + env[NP]
    Y = record + stages * size
    Q = Y + stages * size
    y1 = Q + stages * nq
    q1 = y1 + size
    memory, before = doubles(env[MEMORY]), q1 + nq
    for k in range(size):
        y1[k] = where(bad == 0.0, y1[k], Y[k])
    for k in range(nq):
        q1[k] = where(bad == 0.0, q1[k], Q[k])
    for k in range(nm):
        memory[k] = where(bad == 0.0, memory[k], before[k])
    first_bad[0] = where(bad == 0.0, first_bad[0], where(first_bad[0] < 0.0, number, first_bad[0]))
    return 0


def lane_step(env: words, run: words, tab: ptr, h: float, number: int, record: ptr) -> ptr:
    """One step; y_1, behind which lies q_1."""
    s = max(1, run[STAGES])
    n, nq, tau = env[NV], env[NQ], doubles(run[TAU])
    size = 2 * n + env[NP]
    Y, t = record + s * size, number * h
    Q = Y + s * size
    y1 = Q + s * nq
    bad = 0.0
    if env[NM] > 0:
        bad = sampled_memory(env, run, number, t, Q, Y + n, Y + 2 * n, y1 + size + nq)
    if run[STAGES] > 0:
        bad = bad + explicit_step(env, s, tab, t, h, record, tau)
    elif run[CONTACT] != 0:
        bad = bad + moreau_step(env, count_at(run[CONTACT]), t, h, record)
    else:
        bad = bad + semi_implicit_step(env, t, h, record, tau)
    bad = bad + not_finite(size + nq, y1) + ends_ahead(env, h, Q, Y + n)
    if some(bad != 0.0):
        kept_as_before(env, s, number, bad, record, doubles(run[BAD]))
    return y1


def begun(env: words, run: words, y1: ptr, record: ptr) -> int:
    """A record begins where another one has ended."""
    s, n, nq = max(1, run[STAGES]), env[NV], env[NQ]
    size = 2 * n + env[NP]
    y = record + s * size
    for k in range(n):
        y[k] = 0.0
    for k in range(n, size):
        y[k] = y1[k]
    copy(nq, y1 + size, y + s * size)
    return 0


def taken_up(env: words, run: words, first: int, here: int) -> int:
    """A block of robots: states, memory, parameters, in their columns."""
    s, n, np, nq, nm = max(1, run[STAGES]), env[NV], env[NP], env[NQ], env[NM]
    size = 2 * n + np
    y = doubles(run[RECORD]) + s * size
    for k in range(n):
        y[k] = 0.0
    gathered(n, here, shared(run[V_FROM]) + first * n, n, y + n)
    gathered(np, here, shared(run[P_FROM]) + first * np, np, y + 2 * n)
    gathered(nq, here, shared(run[Q_FROM]) + first * nq, nq, y + s * size)
    gathered(nm, here, shared(run[M_FROM]) + first * nm, nm, doubles(env[MEMORY]))
    gathered(1, here, shared(run[FIRST_BAD]) + first, 1, doubles(run[BAD]))
    stride = run[PARAMETER_STRIDE]
    gathered(run[PARAMETER_SIZE], here, shared(run[PARAMETER_ROWS]) + first * stride, stride, doubles(env[PARAMETERS]))
    stride = run[LIVE_STRIDE]
    gathered(run[LIVE_SIZE], here, shared(run[LIVE_ROWS]) + first * stride, stride, doubles(env[LIVE]))
    return 0


def row_written(env: words, run: words, row: int, first: int, here: int, y1: ptr) -> int:
    """A row of the result."""
    n, np, nq, nm = env[NV], env[NP], env[NQ], env[NM]
    at = row * run[ALL] + first
    scattered(nq, here, y1 + 2 * n + np, shared(run[Q_TO]) + at * nq, nq)
    scattered(n, here, y1 + n, shared(run[V_TO]) + at * n, n)
    scattered(np, here, y1 + 2 * n, shared(run[P_TO]) + at * np, np)
    scattered(nm, here, doubles(env[MEMORY]), shared(run[M_TO]) + at * nm, nm)
    return 0


def lane_rows(env: words, run: words, tab: ptr, h: float) -> int:
    """Rows of all robots, a block of W after the other."""
    record, every, count = doubles(run[RECORD]), run[EVERY], run[ROBOTS]
    blocks = (count + LANES - 1) // LANES
    for block in range(blocks):
        first = block * LANES
        here = min(LANES, count - first)
        taken_up(env, run, first, here)
        y1 = record
        for row in range(run[ROWS]):
            for k in range(every):
                y1 = lane_step(env, run, tab, h, run[BEGIN] + row * every + k, record)
                begun(env, run, y1, record)
            row_written(env, run, row, first, here, y1)
        scattered(1, here, doubles(run[BAD]), shared(run[FIRST_BAD]) + first, 1)
    return 0
