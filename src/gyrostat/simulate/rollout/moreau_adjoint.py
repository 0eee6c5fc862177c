"""Adjoint of a step with contacts, at its impulses."""

from __future__ import annotations

from gyrostat.engine.drivers.words import copy, count_at, doubles, fma, kernel, ptr, words
from gyrostat.simulate.kernels.environment import LIVE, NM, NP, NQ, NV, PLAIN, TIME, WORK
from gyrostat.simulate.rollout.adjoint_words import (
    BAR_K,
    BAR_Q,
    BAR_TAU,
    BAR_Y,
    CONTACT_ADJOINT,
    MORE_LIVE,
    RETRACT_ADJOINT,
    SUM_LIVE,
    SUM_P,
    SUM_Q,
    SUM_V,
    added,
    law_adjoint,
)
from gyrostat.simulate.rollout.lane_steps import CONTACT, LIVE_SIZE
from gyrostat.simulate.rollout.moreau_steps import CONES, HALF, IMPULSES, MIDDLE, STEP, in_the_middle


def moreau_adjoint(env: words, run: words, back: words, t: float, h: float, record: ptr) -> float:
    """One step with contacts, backwards, at its impulses: who touches, sticks and slides is held."""
    box, n, np, nq = count_at(run[CONTACT]), env[NV], env[NP], env[NQ]
    size = 2 * n + np
    K, y = record, record + size
    q = y + size
    q1 = q + nq + size
    m, P = q1 + nq + env[NM], q1 + nq + 2 * env[NM]
    bar_k, bar_y, bar_q = doubles(back[BAR_K]), doubles(back[BAR_Y]), doubles(back[BAR_Q])
    sum_q, sum_v, sum_p = doubles(back[SUM_Q]), doubles(back[SUM_V]), doubles(back[SUM_P])
    time, step, more_live = doubles(env[TIME]), doubles(box[STEP]), doubles(back[MORE_LIVE])
    time[0] = t + 0.5 * h
    step[0] = h
    middle = doubles(box[MIDDLE])
    bad = in_the_middle(env, box, h, q, y + n)
    bad = bad + kernel(back[CONTACT_ADJOINT])(
        time, middle, y + n, K + n, step, doubles(env[LIVE]), P, P + box[IMPULSES],
        P + box[IMPULSES] + box[CONES], sum_q, sum_v,
        bar_q, bar_y + n, doubles(back[BAR_TAU]), more_live, doubles(env[WORK]),
    )  # fmt: skip
    added(run[LIVE_SIZE], more_live, doubles(back[SUM_LIVE]))
    for k in range(np):
        bar_k[2 * n + k] = h * sum_p[k]
    bad = bad + law_adjoint(env, run, back, middle, y, m, bar_k, bar_y)
    if env[PLAIN] == 1:
        copy(n, bar_q, bar_y)
        copy(n, bar_q, sum_q)
    else:
        bad = bad + kernel(back[RETRACT_ADJOINT])(q, doubles(box[HALF]), bar_q, sum_q, bar_y, doubles(env[WORK]))
    for k in range(n):
        sum_v[k] = fma(0.5 * h, bar_y[k], bar_y[n + k])
    added(np, bar_y + 2 * n, sum_p)
    return bad
