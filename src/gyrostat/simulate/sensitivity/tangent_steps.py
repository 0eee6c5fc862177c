"""Tangents of accepted steps in machine code: the formulas of the method, applied to the variational equations.

A step from q0 that was accepted, with its start (t0, q0, v0, p0), its length h and its end, is gone through once more.
Stage i is at y_i = y0 + h sum_j a_ij k_j; along every column

    dot y_i = dot y0 + h sum_j a_ij dot k_j,   dot k_i = d f(t_i, q0, y_i, m, parameters, live) . (e, dot y_i, ...),

where e (nv,) is how q0 moves along its rates and dot y0 = (0, dot v0, dot p0). Then q1 = moved(q0, x1) moves along its
own rates by PLACE. So the tangents are exact derivatives of the numerical solution whose steps stay as they are.
Samples inside a step are tangents of its dense output.

The first stage of a step is evaluated at its start, although the last one of the step before is the same but for
rounding: where a step is as long as the stability of the method allows, that rounding would grow from step to step,
because the motion itself does not follow it.

Columns come in blocks of W, the width of a register: entry k of column c of a block is at [k W + c]."""

from __future__ import annotations

from gyrostat.engine.drivers.words import copy, doubles, fma, kernel, ptr, words
from gyrostat.simulate.kernels.environment import NM, NP, NQ, NV, PLAIN, UPDATE, UPDATE_CONSTANTS
from gyrostat.simulate.methods.drivers.stage_sums import combined

(
    BLOCKS, WIDTH, STAGES, EXTRA, DEGREE, EULER,  # blocks of columns; the table; 1 for semi-implicit Euler
    KEEP, ROW, INSTANT_COUNT, NEXT,  # 1 if ends of steps are kept; rows, samples
    STAGE_COMMON, STAGE_COLUMNS, PLACE_COMMON, PLACE_COLUMNS, UPDATE_COMMON, UPDATE_COLUMNS,  # kernels
    PARAMETERS, CONSTANTS, LIVE, MEMORY, NEW_MEMORY, WORK,  # inputs that all columns share; work space
    DOT_PARAMETERS, DOT_LIVE, DOT_MEMORY, NEW_DOT_MEMORY,  # of each block, one behind the other
    PARAMETER_COUNT, LIVE_COUNT, INSTANTS, SAMPLES, ROWS,  # t_eval; where rows go
    Q, Y, K, X, E, E1, DOT_Y, DOT_K, DOT_X, WEIGHTS, TABLE,  # memory of a step
) = range(42)  # fmt: skip
WORDS = 48
T, DT, PERIOD, INSTANT, TIME = 0, 1, 2, 3, 4
"""Numbers: time that is reached; fixed steps, or 0; sample time of digital parts, or 0, and number of the next instant;
the time that kernels read."""
DONE, NOT_FINITE = 0, -1


def stage_tangents(env: words, run: words, clock: ptr, t: float, i: int) -> float:
    """k_i and dot k_i of all columns at the state in X and DOT_X; zero if all is finite."""
    n, W, size = env[NV], run[WIDTH], 2 * env[NV] + env[NP]
    S, m = run[STAGES] + run[EXTRA], env[NM]
    time = clock + TIME
    time[0] = t
    K_i, work = doubles(run[K]) + i * size, doubles(run[WORK])
    e, dot_x, dot_k = doubles(run[E]), doubles(run[DOT_X]), doubles(run[DOT_K]) + i * size * W
    dot_m, dot_par, dot_live = doubles(run[DOT_MEMORY]), doubles(run[DOT_PARAMETERS]), doubles(run[DOT_LIVE])
    bad = kernel(run[STAGE_COMMON])(
        time, doubles(run[Q]), doubles(run[X]), doubles(run[MEMORY]), doubles(run[PARAMETERS]),
        doubles(run[CONSTANTS]), doubles(run[LIVE]), e, dot_x, dot_m, dot_par, dot_live, K_i, dot_k, work,
    )  # fmt: skip
    for b in range(run[BLOCKS]):
        bad = bad + kernel(run[STAGE_COLUMNS])(
            time, doubles(run[Q]), doubles(run[X]), doubles(run[MEMORY]), doubles(run[PARAMETERS]),
            doubles(run[CONSTANTS]), doubles(run[LIVE]), e + b * n * W, dot_x + b * size * W, dot_m + b * m * W,
            dot_par + b * run[PARAMETER_COUNT] * W, dot_live + b * run[LIVE_COUNT] * W,
            K_i, dot_k + b * S * size * W, work,
        )  # fmt: skip
    return bad


def state_of(env: words, run: words, h: float, count: int, weights: ptr) -> int:
    """X = y0 + h sum_j w_j k_j and DOT_X of all columns, over ``count`` stages."""
    W, size = run[WIDTH], 2 * env[NV] + env[NP]
    S = run[STAGES] + run[EXTRA]
    combined(size, count, weights, doubles(run[K]), h, doubles(run[Y]), doubles(run[X]))
    for b in range(run[BLOCKS]):
        at = b * size * W
        dot_k = doubles(run[DOT_K]) + S * at
        combined(size * W, count, weights, dot_k, h, doubles(run[DOT_Y]) + at, doubles(run[DOT_X]) + at)
    return 0


def pushed(n: int, np: int, W: int, h: float, y: ptr, k: ptr, x: ptr) -> int:
    """Semi-implicit Euler, W columns of (x, v, p): v1 = v0 + h a, the displacement h v1, p1 = p0 + h p'."""
    for j in range(n * W, (2 * n + np) * W):
        x[j] = fma(h, k[j], y[j])
    for j in range(n * W):
        x[j] = h * x[n * W + j]
    return 0


def euler_state(env: words, run: words, h: float) -> int:
    """X and DOT_X at the end of a semi-implicit step of h."""
    n, np, W, S = env[NV], env[NP], run[WIDTH], run[STAGES] + run[EXTRA]
    pushed(n, np, 1, h, doubles(run[Y]), doubles(run[K]), doubles(run[X]))
    for b in range(run[BLOCKS]):
        at = b * (2 * n + np) * W
        pushed(n, np, W, h, doubles(run[DOT_Y]) + at, doubles(run[DOT_K]) + S * at, doubles(run[DOT_X]) + at)
    return 0


def placed(env: words, run: words) -> float:
    """E1: how q at X moves along the rates there."""
    n, W, size = env[NV], run[WIDTH], 2 * env[NV] + env[NP]
    e, d, dot_x = doubles(run[E]), doubles(run[E1]), doubles(run[DOT_X])
    if env[PLAIN] == 1:
        for b in range(run[BLOCKS]):
            for j in range(n * W):
                d[b * n * W + j] = e[b * n * W + j] + dot_x[b * size * W + j]
        return 0.0
    q, x, work = doubles(run[Q]), doubles(run[X]), doubles(run[WORK])
    bad = kernel(run[PLACE_COMMON])(q, x, e, dot_x, d, work)
    for b in range(run[BLOCKS]):
        at = b * n * W
        bad = bad + kernel(run[PLACE_COLUMNS])(q, x, e + at, dot_x + b * size * W, d + at, work)
    return bad


def written(env: words, run: words, row: ptr) -> int:
    """A row: for each block (e, dot v, dot p) at X."""
    n, W, size = env[NV], run[WIDTH], 2 * env[NV] + env[NP]
    d, dot_x = doubles(run[E1]), doubles(run[DOT_X])
    for b in range(run[BLOCKS]):
        at = b * size * W
        copy(n * W, d + b * n * W, row + at)
        copy((size - n) * W, dot_x + at + n * W, row + at + n * W)
    return 0


def weights_at(run: words, share: float) -> int:
    """WEIGHTS of the stages in the dense output at a fraction of the step."""
    S, degree = run[STAGES] + run[EXTRA], run[DEGREE]
    weights, P = doubles(run[WEIGHTS]), doubles(run[TABLE]) + S * S + 3 * S
    for j in range(S):
        w = 0.0
        for d in range(degree - 1, -1, -1):
            w = fma(w, share, P[j * degree + d])
        weights[j] = w * share
    return 0


def stages_from(env: words, run: words, clock: ptr, h: float, first: int, last: int) -> float:
    """Stages ``first`` to ``last``, the latter not included."""
    S, tab, bad = run[STAGES] + run[EXTRA], doubles(run[TABLE]), 0.0
    for i in range(first, last):
        state_of(env, run, h, i, tab + i * S)
        bad = bad + stage_tangents(env, run, clock, clock[T] + tab[S * S + i] * h, i)
    return bad


def first_stage(env: words, run: words, clock: ptr) -> float:
    """The stage at the start of a step."""
    size = 2 * env[NV] + env[NP]
    copy(size, doubles(run[Y]), doubles(run[X]))
    copy(run[BLOCKS] * size * run[WIDTH], doubles(run[DOT_Y]), doubles(run[DOT_X]))
    return stage_tangents(env, run, clock, clock[T], 0)


def samples_inside(env: words, run: words, clock: ptr, t1: float, h: float) -> float:
    """Rows at the instants before t1, from the dense output, with the stages that serve it alone."""
    s, S, wide = run[STAGES], run[STAGES] + run[EXTRA], run[BLOCKS] * (2 * env[NV] + env[NP]) * run[WIDTH]
    t0, instants = clock[T], doubles(run[INSTANTS])
    bad, ready = 0.0, 0
    while run[NEXT] < run[INSTANT_COUNT]:
        t = instants[run[NEXT]]
        if t >= t1:
            break
        share = (t - t0) / (t1 - t0)
        if run[EULER] == 1:
            euler_state(env, run, share * h)
        else:
            if ready == 0:
                bad = bad + stages_from(env, run, clock, h, s - 1, S)
                ready = 1
            weights_at(run, share)
            state_of(env, run, h, S, doubles(run[WEIGHTS]))
        bad = bad + placed(env, run)
        written(env, run, doubles(run[SAMPLES]) + run[NEXT] * wide)
        run[NEXT] = run[NEXT] + 1
    return bad


def at_end(env: words, run: words, h: float) -> float:
    """X, DOT_X and E1 at the end of a step."""
    S, s = run[STAGES] + run[EXTRA], run[STAGES]
    if run[EULER] == 1:
        euler_state(env, run, h)
    else:
        state_of(env, run, h, s - 1, doubles(run[TABLE]) + (s - 1) * S)
    return placed(env, run)


def gone_on(env: words, run: words, q1: ptr) -> int:
    """The next step begins at the end of this one: q1, v1, p1 of the motion, E1 and DOT_X of the columns."""
    n, W, size = env[NV], run[WIDTH], 2 * env[NV] + env[NP]
    copy(env[NQ], q1, doubles(run[Q]))
    copy(size - n, q1 + env[NQ], doubles(run[Y]) + n)
    copy(run[BLOCKS] * n * W, doubles(run[E1]), doubles(run[E]))
    for b in range(run[BLOCKS]):
        at = (b * size + n) * W
        copy((size - n) * W, doubles(run[DOT_X]) + at, doubles(run[DOT_Y]) + at)
    return 0


def updated(env: words, run: words, clock: ptr, t: float, primal: int) -> float:
    """A sampling instant at the state in Q, Y, E, DOT_Y: the memory of the columns, and that of the motion itself if
    ``primal`` is 1."""
    n, np, m, W = env[NV], env[NP], env[NM], run[WIDTH]
    size = 2 * n + np
    time = clock + TIME
    time[0] = t
    q, y, work, memory = doubles(run[Q]), doubles(run[Y]), doubles(run[WORK]), doubles(run[MEMORY])
    e, dot_y, dot_m = doubles(run[E]), doubles(run[DOT_Y]), doubles(run[DOT_MEMORY])
    fresh = doubles(run[NEW_DOT_MEMORY])
    par, constants, dot_par = doubles(run[PARAMETERS]), doubles(env[UPDATE_CONSTANTS]), doubles(run[DOT_PARAMETERS])
    bad = kernel(run[UPDATE_COMMON])(
        time, q, y + n, y + 2 * n, memory, par, constants, e, dot_y, dot_y, dot_m, dot_par, fresh, work
    )
    for b in range(run[BLOCKS]):
        dot_v = dot_y + (b * size + n) * W
        bad = bad + kernel(run[UPDATE_COLUMNS])(
            time, q, y + n, y + 2 * n, memory, par, constants, e + b * n * W, dot_v, dot_v + n * W, dot_m + b * m * W,
            dot_par + b * run[PARAMETER_COUNT] * W, fresh + b * m * W, work,
        )  # fmt: skip
    copy(run[BLOCKS] * m * W, fresh, dot_m)
    if primal == 1:
        new = doubles(run[NEW_MEMORY])
        bad = bad + kernel(env[UPDATE])(time, q, y + n, y + 2 * n, memory, par, constants, new, work)
        copy(m, new, memory)
    return bad


def sampled_first(env: words, run: words, clock: ptr) -> int:
    """The sampling instant at the start, whose memory the motion has already."""
    return DONE if updated(env, run, clock, clock[T], 0) == 0.0 else NOT_FINITE


def tangent_steps(env: words, run: words, clock: ptr, steps: ptr, count: int, width: int) -> int:
    """Tangents along ``count`` steps, whose ends are rows (t, q, v, p, ...) of ``width`` numbers."""
    size = 2 * env[NV] + env[NP]
    wide, instants = run[BLOCKS] * size * run[WIDTH], doubles(run[INSTANTS])
    for k in range(count):
        end = steps + k * width
        t1 = end[0]
        h = t1 - clock[T]
        if abs(h - clock[DT]) <= 1e-6 * clock[DT] + 8.9e-16 * abs(t1):
            h = clock[DT]
        bad = first_stage(env, run, clock) + stages_from(env, run, clock, h, 1, run[STAGES] - 1)
        bad = bad + samples_inside(env, run, clock, t1, h) + at_end(env, run, h)
        if bad != 0.0:
            return NOT_FINITE
        if run[NEXT] < run[INSTANT_COUNT] and instants[run[NEXT]] <= t1:
            written(env, run, doubles(run[SAMPLES]) + run[NEXT] * wide)
            run[NEXT] = run[NEXT] + 1
        if run[KEEP] == 1:
            written(env, run, doubles(run[ROWS]) + run[ROW] * wide)
            run[ROW] = run[ROW] + 1
        gone_on(env, run, end + 1)
        clock[T] = t1
        if clock[PERIOD] > 0.0 and t1 >= clock[INSTANT] * clock[PERIOD]:
            if updated(env, run, clock, t1, 1) != 0.0:
                return NOT_FINITE
            clock[INSTANT] = clock[INSTANT] + 1.0
    return DONE
