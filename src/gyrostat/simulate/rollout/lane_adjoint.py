"""Adjoint of the steps of a rollout in machine code: weights of the states after a step become weights of the states
before it, and of the parameters, from the last step to the first. Exact for the steps as they are computed.

With the weights (lambda_q, lambda_v, lambda_p) of the end of a step, bar_y_1 = (bar_x_1, lambda_v, lambda_p) where
bar_x_1 and a part of bar_q_0 come from q_1 = q_0 (+) x_1; then, from the last stage to the first,

    bar_k_i = h b_i bar_y_1 + h sum_(j > i) a_ji bar_y_j,   bar_y_i = (df/dy_i)^T bar_k_i,

and the sum of all bar_y_i and bar_y_1 is that of y_0. Coordinates q are numbers here, four for a quaternion; whoever
asks takes the part along the rates. The records of the steps are those of
:mod:`~gyrostat.simulate.rollout.lane_steps`."""

from __future__ import annotations

from gyrostat.engine.drivers.words import LANES, copy, doubles, fma, kernel, ptr, shared, some, words
from gyrostat.simulate.kernels.environment import (
    DIRECTIONS,
    LIVE,
    NM,
    NP,
    NQ,
    NV,
    PARAMETERS,
    PLAIN,
    TIME,
    UPDATE_CONSTANTS,
    WORK,
)
from gyrostat.simulate.rollout.adjoint_words import (  # noqa: F401
    BAR_K,
    BAR_Q,
    BAR_TAU,
    BAR_Y,
    CHART_ADJOINT,
    CONTACT_ADJOINT,
    FIRST_ROBOT,
    FIRST_ROW,
    FIRST_STEP,
    FORWARD_ADJOINT,
    HERE,
    IN_A_ROW,
    LAW_ADJOINT,
    MORE_LIVE,
    MORE_M,
    MORE_P,
    MORE_PARAMETERS,
    MORE_Q,
    MORE_V,
    RETRACT_ADJOINT,
    STEPS,
    SUM_LIVE,
    SUM_M,
    SUM_P,
    SUM_PARAMETERS,
    SUM_Q,
    SUM_SIZE,
    SUM_V,
    SUMS,
    TOTAL_LIVE,
    TOTAL_PARAMETERS,
    TOTAL_Q,
    TOTAL_V,
    UPDATE_ADJOINT,
    W_Q,
    W_V,
    WORDS_OF_AN_ADJOINT,
    ZEROS,
    added,
    law_adjoint,
)
from gyrostat.simulate.rollout.lane_steps import (
    CONTACT,
    DIGITAL,
    EVERY,
    LIVE_SIZE,
    PARAMETER_SIZE,
    RECORD,
    RECORD_SIZE,
    ROBOTS,
    SAMPLE,
    STAGES,
    begun,
    gathered,
    lane_step,
    scattered,
    taken_up,
)
from gyrostat.simulate.rollout.moreau_adjoint import moreau_adjoint


def forward_stretch(env: words, run: words, back: words, tab: ptr, h: float, keep: int) -> int:
    """Steps of one block from the state in the first record; their records one behind the other if they are kept, else
    the end is the first record again."""
    first, count = back[FIRST_STEP], back[STEPS]
    record = doubles(run[RECORD])
    for k in range(count):
        y1 = lane_step(env, run, tab, h, first + k, record)
        if keep == 1:
            record = record + run[RECORD_SIZE]
        if k + 1 < count or keep == 0:
            begun(env, run, y1, record)
    return 0


def row_added(env: words, back: words, row: int) -> int:
    """The weights of a row of the result."""
    if row < back[FIRST_ROW]:
        return 0
    nq, n, here = env[NQ], env[NV], back[HERE]
    at = (row - back[FIRST_ROW]) * back[IN_A_ROW] + back[FIRST_ROBOT]
    x = doubles(back[BAR_TAU])
    if back[W_Q] != 0:
        gathered(nq, here, shared(back[W_Q]) + at * nq, nq, x)
        added(nq, x, doubles(back[SUM_Q]))
    if back[W_V] != 0:
        gathered(n, here, shared(back[W_V]) + at * n, n, x)
        added(n, x, doubles(back[SUM_V]))
    return 0


def stage_adjoint(
    env: words, run: words, back: words, t: float, q: ptr, y: ptr, a: ptr, m: ptr, bar_k: ptr, bar_y: ptr
) -> float:
    """Weights of one evaluation of the right-hand side at q, y = (x, v, p), where the accelerations were a: bar_k of
    its results to BAR_Q (nq,) and v, p in bar_y; those of parameters and memory are added up."""
    n = env[NV]
    time, work, live = doubles(env[TIME]), doubles(env[WORK]), doubles(env[LIVE])
    bar_tau, bar_q, more_live = doubles(back[BAR_TAU]), doubles(back[BAR_Q]), doubles(back[MORE_LIVE])
    time[0] = t
    bad = kernel(back[FORWARD_ADJOINT])(
        time, q, y + n, a, doubles(env[DIRECTIONS]), live, bar_k + n,
        bar_tau, bar_q, bar_y + n, more_live, work,
    )  # fmt: skip
    added(run[LIVE_SIZE], more_live, doubles(back[SUM_LIVE]))
    return bad + law_adjoint(env, run, back, q, y, m, bar_k, bar_y)


def chart_adjoint(env: words, back: words, q0: ptr, y: ptr, bar_q: ptr, bar_rate: ptr, bar_y: ptr) -> float:
    """Weights of q = q0 (+) x and dx/dt to those of x in bar_y; what v gets is added there, what q0 gets to SUM_Q."""
    n, nq, sum_q = env[NV], env[NQ], doubles(back[SUM_Q])
    if env[PLAIN] == 1:
        for k in range(n):
            bar_y[k] = bar_q[k]
            bar_y[n + k] = bar_y[n + k] + bar_rate[k]
            sum_q[k] = sum_q[k] + bar_q[k]
        return 0.0
    more_q, more_v = doubles(back[MORE_Q]), doubles(back[MORE_V])
    bad = kernel(back[CHART_ADJOINT])(q0, y, y + n, bar_q, bar_rate, more_q, bar_y, more_v, doubles(env[WORK]))
    added(n, more_v, bar_y + n)
    added(nq, more_q, sum_q)
    return bad


def explicit_adjoint(env: words, run: words, back: words, tab: ptr, t: float, h: float, record: ptr) -> float:
    """One step of an explicit table, backwards."""
    s, n, np, nq = run[STAGES], env[NV], env[NP], env[NQ]
    size = 2 * n + np
    K, Y = record, record + s * size
    Q, c = Y + s * size, tab + (s + 1) * s
    y1 = Q + s * nq
    m = y1 + size + nq + env[NM]
    bar_K, bar_y, bar_q = doubles(back[BAR_K]), doubles(back[BAR_Y]), doubles(back[BAR_Q])
    sum_q, sum_v, sum_p = doubles(back[SUM_Q]), doubles(back[SUM_V]), doubles(back[SUM_P])
    copy(nq, sum_q, bar_q)
    for k in range(nq):
        sum_q[k] = 0.0
    copy(n, sum_v, bar_y + n)
    copy(np, sum_p, bar_y + 2 * n)
    bad = chart_adjoint(env, back, Q, y1, bar_q, doubles(back[ZEROS]), bar_y)
    for i in range(s):
        w = h * tab[s * s + i]
        for k in range(size):
            bar_K[i * size + k] = w * bar_y[k]
    for i in range(s - 1, -1, -1):
        q, y, bar_k = Q + i * nq, Y + i * size, bar_K + i * size
        bad = bad + stage_adjoint(env, run, back, t + c[i] * h, q, y, K + i * size + n, m, bar_k, bar_y)
        if i == 0:  # at x = 0: q is that of the beginning, and x' = v
            added(nq, bar_q, sum_q)
            added(n, bar_k, sum_v)
        else:
            bad = bad + chart_adjoint(env, back, Q, y, bar_q, bar_k, bar_y)
            for j in range(i):
                w = h * tab[i * s + j]
                if some(w != 0.0):
                    bar_j = bar_K + j * size
                    for k in range(size):
                        bar_j[k] = fma(w, bar_y[k], bar_j[k])
        added(n, bar_y + n, sum_v)
        added(np, bar_y + 2 * n, sum_p)
    return bad


def semi_implicit_adjoint(env: words, run: words, back: words, t: float, h: float, record: ptr) -> float:
    """One step of semi-implicit Euler, backwards."""
    n, np, nq = env[NV], env[NP], env[NQ]
    size = 2 * n + np
    K, y = record, record + size
    q = y + size
    y1 = q + nq
    m = y1 + size + nq + env[NM]
    bar_k, bar_y, bar_q = doubles(back[BAR_K]), doubles(back[BAR_Y]), doubles(back[BAR_Q])
    sum_q, sum_v, sum_p = doubles(back[SUM_Q]), doubles(back[SUM_V]), doubles(back[SUM_P])
    bad = 0.0
    if env[PLAIN] == 1:
        copy(n, sum_q, bar_y)
    else:
        copy(nq, sum_q, bar_q)
        bad = kernel(back[RETRACT_ADJOINT])(q, y1, bar_q, sum_q, bar_y, doubles(env[WORK]))
    for k in range(n):
        sum_v[k] = fma(h, bar_y[k], sum_v[k])
        bar_k[n + k] = h * sum_v[k]
    for k in range(np):
        bar_k[2 * n + k] = h * sum_p[k]
    bad = bad + stage_adjoint(env, run, back, t, q, y, K + n, m, bar_k, bar_y)
    added(nq, bar_q, sum_q)
    added(n, bar_y + n, sum_v)
    added(np, bar_y + 2 * n, sum_p)
    return bad


def sample_adjoint(env: words, run: words, back: words, t: float, record: ptr) -> float:
    """What digital parts hold during a step was set at its beginning: weights of the memory go to the state there, and
    to the memory before."""
    s, n, np, nq, nm = max(1, run[STAGES]), env[NV], env[NP], env[NQ], run[DIGITAL]
    size = 2 * n + np
    y, time = record + s * size, doubles(env[TIME])
    q = y + s * size
    before = q + s * nq + size + nq
    more_q, more_v, more_p = doubles(back[MORE_Q]), doubles(back[MORE_V]), doubles(back[MORE_P])
    more_m, more_parameters, sum_m = doubles(back[MORE_M]), doubles(back[MORE_PARAMETERS]), doubles(back[SUM_M])
    time[0] = t
    bad = kernel(back[UPDATE_ADJOINT])(
        time, q, y + n, y + 2 * n, before, doubles(env[PARAMETERS]), doubles(env[UPDATE_CONSTANTS]), sum_m,
        more_q, more_v, more_p, more_m, more_parameters, doubles(env[WORK]),
    )  # fmt: skip
    added(nq, more_q, doubles(back[SUM_Q]))
    added(n, more_v, doubles(back[SUM_V]))
    added(np, more_p, doubles(back[SUM_P]))
    added(run[PARAMETER_SIZE], more_parameters, doubles(back[SUM_PARAMETERS]))
    copy(nm, more_m, sum_m)
    return bad


def backward_stretch(env: words, run: words, back: words, tab: ptr, h: float) -> int:
    """The steps of a stretch backwards, whose records are there: 0, or 1 if something is not finite."""
    first, count, every = back[FIRST_STEP], back[STEPS], run[EVERY]
    record = doubles(run[RECORD]) + count * run[RECORD_SIZE]
    bad = 0.0
    for k in range(count - 1, -1, -1):
        number = first + k
        record = record + (0 - run[RECORD_SIZE])
        t = number * h
        if (number + 1) % every == 0:
            row_added(env, back, (number + 1) // every)
        if run[STAGES] > 0:
            bad = bad + explicit_adjoint(env, run, back, tab, t, h, record)
        elif run[CONTACT] != 0:
            bad = bad + moreau_adjoint(env, run, back, t, h, record)
        else:
            bad = bad + semi_implicit_adjoint(env, run, back, t, h, record)
        if run[DIGITAL] > 0 and number % run[SAMPLE] == 0:
            bad = bad + sample_adjoint(env, run, back, t, record)
    return 1 if some(bad != 0.0) else 0


def totals_written(env: words, run: words, back: words, robot: int, here: int) -> int:
    """The sums of a block of robots, in the rows of each."""
    nq, n, np, live = env[NQ], env[NV], run[PARAMETER_SIZE], run[LIVE_SIZE]
    scattered(nq, here, doubles(back[SUM_Q]), shared(back[TOTAL_Q]) + robot * nq, nq)
    scattered(n, here, doubles(back[SUM_V]), shared(back[TOTAL_V]) + robot * n, n)
    scattered(np, here, doubles(back[SUM_PARAMETERS]), shared(back[TOTAL_PARAMETERS]) + robot * np, np)
    scattered(live, here, doubles(back[SUM_LIVE]), shared(back[TOTAL_LIVE]) + robot * live, live)
    return 0


def gradient_blocks(env: words, run: words, back: words, tab: ptr, h: float, robot: int) -> int:
    """Blocks of W robots from ``robot`` on, all of whose records have room: 0, or the number of the first block, from
    1, in which something is not finite."""
    sums, count = doubles(back[SUM_Q]), run[ROBOTS]
    blocks = (count + LANES - 1) // LANES
    for block in range(blocks):
        first = block * LANES
        here = min(LANES, count - first)
        taken_up(env, run, first, here)
        back[FIRST_ROBOT] = robot + first
        back[HERE] = here
        for k in range(back[SUM_SIZE]):
            sums[k] = 0.0
        forward_stretch(env, run, back, tab, h, 1)
        if backward_stretch(env, run, back, tab, h) != 0:
            return block + 1
        totals_written(env, run, back, robot + first, here)
    return 0
