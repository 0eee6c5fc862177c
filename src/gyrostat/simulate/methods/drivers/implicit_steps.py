"""Steps of implicit methods in machine code, any robot: the clock of fixed steps, halving of what has no solution,
dense output, and what the run takes from each step.

A step is done by Newton's method, or with a matrix that is kept, or as AS prints it. Where there is no solution it is
halved, 1/2, 1/4, ..., and the rest of it follows. Inside a step coordinates, v and p are cubics of the fraction,
through both ends with their rates, and the power of the efforts changes linearly, which is of the order of the
methods."""

from __future__ import annotations

from gyrostat.engine.drivers.words import copy, doubles, ptr, words
from gyrostat.simulate.kernels.environment import ABORT, NP, NV, PROJECTOR
from gyrostat.simulate.kernels.harvest import MOST, POLYNOMIAL, ROW, SKIP, harvested, wanted
from gyrostat.simulate.kernels.loop_projection import closed_state
from gyrostat.simulate.kernels.stage import accelerations
from gyrostat.simulate.methods.drivers.fixed_clock import (
    BUDGET,
    DT,
    FULL,
    GO_ON,
    HS,
    KNOWN,
    LIMIT,
    LOOK,
    NO_SOLUTION,
    NOT_FINITE,
    PENDING,
    REASON,
    RUNAWAY,
    STOPPED,
    T0,
    T,
    accepted,
    broken_off,
    counted_to,
    gone_on,
    length_to,
    next_end,
    taken_back,
    too_fast,
)
from gyrostat.simulate.methods.drivers.implicit_memory import (
    BEFORE,
    EVERY,
    FALLBACKS,
    FINISH,
    HALVED,
    IRREGULAR,
    KEPT,
    KEPT_H,
    KIND,
    LONGEST,
    MIDDLE,
    MIDDLE_KNOWN,
    MOVE,
    PHASE,
    REPEATED,
    SLOPES_SERVE,
    START,
    TRIED_H,
    a_of,
    f_of,
    p_of,
    state_size,
    tau_of,
    v_of,
    w_of,
)
from gyrostat.simulate.methods.drivers.kept_matrix import made, passes, served
from gyrostat.simulate.methods.drivers.newton import ABORTED, SOLVED, UNDEFINED, newton
from gyrostat.simulate.methods.drivers.printed_steps import KEPT_STEPS, NEWTON_STEPS, SIMPSON_STEPS, printed
from gyrostat.simulate.methods.drivers.simpson_steps import made_for_pairs, pair_passes

ENDLESS = 1e300
HALVINGS = 30
"""How often a step is halved: 1e-9 of it is left. Efforts that jump exactly at its end need about 20."""


# ------------------------------------------------------------------ one step
def arrived(box: words, ctl: ptr, t1: float, h: float) -> int:
    """A step of h ends at t1."""
    counted_to(ctl, t1)
    accepted(box, ctl, t1, h)
    return SOLVED


def halved(env: words, box: words, ctl: ptr, x: ptr, y: ptr) -> int:
    """The end y of the next step from x by Newton's method, or of a part of it where the whole has no solution."""
    t, end = ctl[T], next_end(ctl)
    h = min(end - t, ctl[LONGEST])
    while True:
        t1 = end if end - t <= h * (1.0 + 1e-9) else t + h
        h = length_to(ctl, t1)
        box[REASON] = newton(env, box, ctl, t1, h, x, y)
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


def with_kept_matrix(env: words, box: words, ctl: ptr, x: ptr, y: ptr) -> int:
    """The end y of the next step from x with the present S, else with a new one, else by Newton's method to its end."""
    end = next_end(ctl)
    if env[PROJECTOR] != 0 or ctl[LONGEST] < ENDLESS or length_to(ctl, end) != ctl[DT]:
        box[KEPT] = 0  # its place is needed
        box[SLOPES_SERVE] = 0
        return halved(env, box, ctl, x, y)  # constraints are fulfilled exactly; or a part of a step
    fresh = 0
    while fresh < 2:
        if box[KEPT] == 0:
            fresh = 1
            status = made(env, box, ctl, x)
            if status == ABORTED:
                return ABORTED
        if box[KEPT] == 1:
            status = passes(env, box, ctl, end, x, y)
            if status == ABORTED:
                return ABORTED
            if status == SOLVED:
                arrived(box, ctl, end, ctl[DT])
                served(env, box, ctl, y)
                box[IRREGULAR] = 0
                return SOLVED
        box[KEPT] = 0
        if fresh == 1:
            fresh = 2
        else:
            box[REPEATED] = box[REPEATED] + 1
    box[FALLBACKS] = box[FALLBACKS] + 1
    return halved(env, box, ctl, x, y)


def by_simpson(env: words, box: words, ctl: ptr, x: ptr, y: ptr) -> int:
    """The end y of the next step from x by Simpson's rule with the present S, else with a new one, else by Newmark's
    formulas."""
    end = next_end(ctl)
    h = length_to(ctl, end)
    fresh = 0 if env[PROJECTOR] == 0 and ctl[LONGEST] == ENDLESS else 3
    while fresh < 3:
        if box[KEPT] == 0 or ctl[KEPT_H] != h:
            fresh = max(fresh, 1)
            if made_for_pairs(env, box, ctl, h, 2 - fresh, x) == ABORTED:
                return ABORTED
        if box[KEPT] == 1:
            status = pair_passes(env, box, ctl, end, h, x, y)
            if status == ABORTED:
                return ABORTED
            if status == SOLVED:
                box[IRREGULAR] = 0
                return arrived(box, ctl, end, h)
        box[KEPT] = 0
        fresh = fresh + 1
        box[REPEATED] = box[REPEATED] + 1
    if env[PROJECTOR] == 0:
        box[FALLBACKS] = box[FALLBACKS] + 1
    box[KEPT] = 0
    box[MIDDLE_KNOWN] = 0
    return halved(env, box, ctl, x, y)


def next_state(env: words, box: words, ctl: ptr, x: ptr, y: ptr) -> int:
    """The end y of the next step from x."""
    if box[KIND] == SIMPSON_STEPS:
        return by_simpson(env, box, ctl, x, y)
    if box[KIND] == NEWTON_STEPS:
        return halved(env, box, ctl, x, y)
    if box[KIND] == KEPT_STEPS:
        return with_kept_matrix(env, box, ctl, x, y)
    t, t1 = ctl[T], next_end(ctl)
    h = length_to(ctl, t1)
    status = printed(env, box, ctl, box[KIND], t, t1, h, x, y)
    if status == SOLVED:
        arrived(box, ctl, t1, h)
    box[IRREGULAR] = 0
    box[REASON] = status
    return status


# ------------------------------------------------------------------ what lies between
def power(env: words, y: ptr) -> float:
    """Of the efforts [W]."""
    v, tau, total = v_of(env, y), tau_of(env, y), 0.0
    for k in range(env[NV]):
        total = total + tau[k] * v[k]
    return total


def cubics(count: int, size: int, C: ptr, h: float, x0: ptr, rise: ptr, d0: ptr, d1: ptr) -> int:
    """Columns of C (4, size): from x0 by ``rise``, with the rates d0 and d1 at both ends."""
    for k in range(count):
        u = h * d0[k] - rise[k]
        w = h * d1[k] - rise[k]
        C[k] = x0[k]
        C[size + k] = h * d0[k]
        C[2 * size + k] = -(2.0 * u + w)
        C[3 * size + k] = u + w
    return 0


def between(env: words, box: words, C: ptr, h: float, x: ptr, y: ptr, spare: ptr) -> int:
    """Cubics of coordinates, v and p, and the work, from x to y."""
    n, np = env[NV], env[NP]
    size = 2 * n + np + 1
    v0, v1, p0, p1 = v_of(env, x), v_of(env, y), p_of(env, x), p_of(env, y)
    for k in range(n):
        spare[k] = 0.0
        spare[n + k] = v1[k] - v0[k]
    for k in range(np):
        spare[2 * n + k] = p1[k] - p0[k]
    cubics(n, size, C, h, spare, doubles(box[MOVE]), v0, v1)
    cubics(n, size, C + n, h, v0, spare + n, a_of(env, x), a_of(env, y))
    cubics(np, size, C + 2 * n, h, p0, spare + 2 * n, f_of(env, x), f_of(env, y))
    first, last = power(env, x), power(env, y)
    work = C + (size - 1)
    work[0] = 0.0
    work[size] = h * first
    bend = 0.0
    if box[MIDDLE_KNOWN] == 1:
        bend = 2.0 * (first + last) - 4.0 * power(env, doubles(box[MIDDLE]))
    work[2 * size] = 0.5 * h * (last - first - bend)
    work[3 * size] = h * bend / 3.0
    return 0


# ------------------------------------------------------------------ the run
def work_of(env: words, box: words, h: float, x: ptr, y: ptr) -> float:
    """Of the efforts in a step of h from x to y [J]."""
    first, last = power(env, x), power(env, y)
    if box[MIDDLE_KNOWN] == 1:
        return h * (first + 4.0 * power(env, doubles(box[MIDDLE])) + last) / 6.0
    return 0.5 * h * (first + last)


def taken_from(env: words, box: words, io: words, ctl: ptr, x: ptr, y: ptr, spare: ptr) -> int:
    """What the run takes from the step from x to y: GO_ON, or how the call ends."""
    t, t1, h, v = ctl[T0], ctl[T], ctl[HS], v_of(env, y)
    if too_fast(env, box, ctl, v) == 1:
        return RUNAWAY
    box[PHASE] = box[PHASE] + 1
    io[SKIP] = 1
    if box[PHASE] >= box[EVERY] or t1 >= ctl[LIMIT] or box[IRREGULAR] == 1:
        box[PHASE] = 0
        io[SKIP] = 0
    if wanted(io, t1) == 1:
        between(env, box, doubles(io[POLYNOMIAL]), h, x, y, spare)
    work = work_of(env, box, h, x, y)
    taken = harvested(env, io, t, t1, x, y, v, p_of(env, y), a_of(env, y), tau_of(env, y), work)
    if taken < 0:
        return broken_off(env, box, ctl)
    return LOOK if taken == 1 else GO_ON


def moved_on_from(env: words, box: words, ctl: ptr, clock: ptr, x: ptr, y: ptr) -> int:
    """Go on from the end of the step that waits: GO_ON, or how the call ends."""
    n, before = env[NV], doubles(box[BEFORE])
    copy(n, a_of(env, y) if box[IRREGULAR] == 1 else a_of(env, x), before)
    copy(state_size(env), y, x)
    box[PENDING] = 0
    if ctl[T] >= ctl[LIMIT]:
        ctl[LONGEST] = ENDLESS
        box[PHASE] = 0
    return gone_on(env, box, ctl, clock, x, v_of(env, x), p_of(env, x))


def first_state(env: words, box: words, ctl: ptr, x: ptr) -> float:
    """Accelerations and efforts at the start; zero if they are finite."""
    n, a, v, p = env[NV], a_of(env, x), v_of(env, x), p_of(env, x)
    bad = accelerations(env, ctl[T], x, v, p, a, f_of(env, x), tau_of(env, x))
    copy(n, a, w_of(env, x))
    copy(n, a, doubles(box[BEFORE]))
    box[KNOWN] = 1
    box[MIDDLE_KNOWN] = 0
    return bad


def implicit_steps(env: words, box: words, io: words, ctl: ptr, clock: ptr, spare: ptr) -> int:
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
        status = next_state(env, box, ctl, x, y)
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
