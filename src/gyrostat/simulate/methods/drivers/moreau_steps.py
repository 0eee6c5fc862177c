"""Moreau's steps in machine code [Moreau 1988; Acary, Brogliato 2008, 10.1]. A state in memory is a row (q, v, p, a,
dp/dt, tau), the last three means over the step that ends there.

    q_m = q0 (+) h/2 v0,    H (v1 - v0) = h (tau - f)(t0 + h/2, q_m) + J(q_m (+) h/2 v0)^T P,    q1 = q_m (+) h/2 v1,

H = M + h D at q_m with the damping of shafts; rows J act on the rates at the end of the step, and are those of its end,
as far as that is known: what rolls turns much within a step. Contacts, limits, loops and dry friction are impulses P
that obey their laws at the end of the step (:mod:`~gyrostat.simulate.methods.drivers.moreau_impacts`)."""

from __future__ import annotations

from gyrostat.engine.drivers.words import copy, doubles, fma, kernel, ptr, words
from gyrostat.simulate.kernels.contact_energy import UNKNOWN
from gyrostat.simulate.kernels.environment import (
    ABORT,
    CONSTANTS,
    LAW,
    LIVE,
    MEMORY,
    NP,
    NQ,
    NV,
    PARAMETERS,
    RHS_COUNT,
    TIME,
    WORK,
)
from gyrostat.simulate.kernels.harvest import MOST, ROW, wanted
from gyrostat.simulate.kernels.loop_projection import closed_state
from gyrostat.simulate.methods.drivers.fixed_clock import (
    BUDGET,
    FULL,
    GO_ON,
    KNOWN,
    LOOK,
    NOT_FINITE,
    PENDING,
    REASON,
    RUNAWAY,
    STOPPED,
    T,
    accepted,
    broken_off,
    counted_to,
    gone_on,
    length_to,
    next_end,
    too_fast,
)
from gyrostat.simulate.methods.drivers.moreau_contacts import add_contacts, find_contacts, put_twists, solids_are_near
from gyrostat.simulate.methods.drivers.moreau_delassus import put_delassus
from gyrostat.simulate.methods.drivers.moreau_depth import (
    DEPTH,
    correct_depth,
    depth_left,
    part_owed,
    put_ends_of_stops,
    put_gaps_at_the_end,
    put_starts_of_stops,
)
from gyrostat.simulate.methods.drivers.moreau_energy import (
    OWED,
    PART_OWED,
    bounded,
    effort_along,
    keep_energies,
    put_energies,
    put_start_energies,
)
from gyrostat.simulate.methods.drivers.moreau_harvest import between_ends, mean_work, taken_from_step
from gyrostat.simulate.methods.drivers.moreau_impacts import keep_impulses, solve_impulses
from gyrostat.simulate.methods.drivers.moreau_memory import (
    ADDED,
    ANSWERED,
    BEFORE_SPEED,
    BOXES,
    CONTACT_COUNT,
    CONTACT_SUM,
    DEEPEST,
    ENDING,
    ENDS,
    ENERGIES,
    ENERGY_LAW,
    FACTORS,
    FREE,
    IMPULSE,
    L_VALUES,
    MIDDLE,
    MOST_RECORDS,
    MOST_ROWS_SEEN,
    PORT_COUNT,
    POSES,
    RATES,
    RECORD_COUNT,
    RESIDUAL_SUM,
    SCALAR_COUNT,
    SCALE,
    SCENE,
    SCREWS,
    SHORTENED,
    SOLID_COUNT,
    SOLVED,
    SPARE,
    STEP,
    STRIDE,
    TIGHT,
    TWISTS,
    UNSEEN,
    UNSOLVED_STEPS,
    V_FREE,
    V_TURNED,
    WAY,
    WHITE,
    WORST,
)
from gyrostat.simulate.methods.drivers.moreau_records import put_records
from gyrostat.simulate.methods.drivers.moreau_rows import contact_rows, other_rows, unwhitened
from gyrostat.simulate.methods.drivers.semi_implicit_steps import displaced

CROWDED = 4
"""How a call ends that found more contacts than there are places for."""
ASKED = 5
"""How a call ends in the middle of a step, where Python must say where solids touch."""
LARGEST_SHIFT = 0.05
"""Displacement [m, rad] of a rate that takes penetration back within a step, at most."""
LIFTS, HOPELESS = 3, 0.5
"""Displacements out of a penetration within a step, at most; part of the depth that one must not leave, for the next to
be tried."""
SHALLOW, PATIENCE = 1e-6, 100.0
"""Penetration [m, rad] that is left while the kinetic energy is that many times what it takes to be lifted out."""
MORE_CONTACTS = 4
"""How often a step is solved with contacts that its own impulses close."""


def free_motion(env: words, box: words, t: float, h: float, y: ptr, y1: ptr) -> float:
    """q in the middle, efforts there, the rates at the end without impulses, and the rest of the scene."""
    n, nq, np = env[NV], env[NQ], env[NP]
    v, d, q, end = y + nq, doubles(box[RATES]), doubles(box[MIDDLE]), doubles(box[ENDING])
    time, work, step = doubles(env[TIME]), doubles(env[WORK]), doubles(box[STEP])
    p, rate = v + n, y1 + nq + 2 * n + np
    tau = rate + np
    for k in range(n):
        d[k] = 0.5 * h * v[k]
    bad = displaced(env, y, d, q)
    bad = bad + displaced(env, q, d, end)
    time[0] = t + 0.5 * h
    step[0] = h
    env[RHS_COUNT] = env[RHS_COUNT] + 1
    bad = bad + kernel(env[LAW])(
        time, q, v, p, doubles(env[MEMORY]), doubles(env[PARAMETERS]), doubles(env[CONSTANTS]), tau, rate, work
    )
    return bad + kernel(box[SCENE])(
        time, q, end, v, tau, step, doubles(env[LIVE]), doubles(box[V_FREE]), doubles(box[V_TURNED]),
        doubles(box[L_VALUES]), doubles(box[SCALE]), doubles(box[POSES]), doubles(box[SCREWS]), doubles(box[FACTORS]),
        doubles(box[BOXES]), doubles(box[ENDS]), work,
    )  # fmt: skip


def impulses(env: words, box: words, ctl: ptr, h: float, v: ptr) -> int:
    """The impulses of the step from rates v at IMPULSE, and rates at its end at RATES + nv: how many rows, or -1 if
    there are too many contacts, -3 if Python must say first where solids touch."""
    n, v_free, v1 = env[NV], doubles(box[V_FREE]), doubles(box[RATES]) + env[NV]
    put_twists(box, v_free, doubles(box[TWISTS]))
    put_twists(box, v, doubles(box[TWISTS]) + 6 * box[PORT_COUNT])
    if box[SOLID_COUNT] > 0:
        if box[ANSWERED] == 0 and solids_are_near(box, h) == 1:
            return -3
        box[ANSWERED] = 0
    if find_contacts(box, h) != 0:
        return -1
    rows = 0
    for _ in range(MORE_CONTACTS):
        rows = solved_rows(env, box, ctl, h)
        if rows > 0:
            put_rates(env, box, rows, doubles(box[IMPULSE]), v1)
            for k in range(n):
                v1[k] = v1[k] + v_free[k]
        else:
            copy(n, v_free, v1)
        added = add_contacts(box, h, v1) if rows > 0 else 0
        if added < 0:
            return -1
        if added == 0:
            break
        box[ADDED] = box[ADDED] + 1
    return rows


def solved_rows(env: words, box: words, ctl: ptr, h: float) -> int:
    """Rows of all contacts and others, and their impulses: how many."""
    before, free, v = doubles(box[BEFORE_SPEED]), doubles(box[FREE]), doubles(box[V_TURNED])
    contact_rows(env, box, v, before, free)
    other_rows(env, box, h, v, before, free)
    rows = 3 * (box[CONTACT_COUNT] + (box[SCALAR_COUNT] + 2) // 3)
    if rows == 0:
        return 0
    box[STRIDE] = (rows + 4) // 4 * 4
    pad(rows, box[STRIDE], before)
    pad(rows, box[STRIDE], free)
    put_delassus(env, box)
    left = solve_impulses(box, box[STRIDE], h, before, free)
    box[CONTACT_SUM] = box[CONTACT_SUM] + rows
    box[SOLVED] = box[SOLVED] + 1
    box[UNSOLVED_STEPS] = box[UNSOLVED_STEPS] + (0 if left <= TIGHT else 1)
    box[MOST_ROWS_SEEN] = max(box[MOST_ROWS_SEEN], rows)
    ctl[WORST] = max(ctl[WORST], left)
    ctl[RESIDUAL_SUM] = ctl[RESIDUAL_SUM] + left
    return rows


def pad(rows: int, stride: int, x: ptr) -> int:
    for k in range(rows, stride):
        x[k] = 0.0
    return 0


def put_rates(env: words, box: words, rows: int, P: ptr, x: ptr) -> int:
    """x (nv,) = H^-1 J^T P."""
    n, Y, w = env[NV], doubles(box[WHITE]), doubles(box[RATES]) + 2 * env[NV]
    for k in range(n):
        w[k] = 0.0
    for b in range(rows // 3):
        p, q, r = P[3 * b], P[3 * b + 1], P[3 * b + 2]
        if p != 0.0 or q != 0.0 or r != 0.0:
            y = Y + 4 * n * b
            for k in range(n):
                w[k] = fma(p, y[4 * k], fma(q, y[4 * k + 1], fma(r, y[4 * k + 2], w[k])))
    return unwhitened(box, n, w, x)


def finished(env: words, box: words, ctl: ptr, h: float, y: ptr, y1: ptr, rows: int) -> float:
    """q1, v1, p1, a1 of the row y1; zero if all is finite."""
    n, nq, np = env[NV], env[NQ], env[NP]
    v, v1, way, x = y + nq, y1 + nq, doubles(box[WAY]), doubles(box[RATES]) + env[NV]
    a1 = y1 + nq + n + np
    rate = a1 + n
    for k in range(n):
        v1[k] = x[k]
        way[k] = 0.5 * h * v1[k]
    for k in range(np):
        v1[n + k] = fma(h, rate[k], v[n + k])
    bad = displaced(env, doubles(box[MIDDLE]), way, y1)
    bad = bad + closed_state(env, y1, v1)
    lifted, e, owed, shortened = 0.0, doubles(box[ENERGIES]), 0.0, box[SHORTENED]
    if rows > 0 or box[ENERGY_LAW] != UNKNOWN:
        bad = bad + put_energies(env, box, y1)
    if rows > 0:
        before = e[1] - effort_along(env, h, 1.0, y, y1, way)
        owed = e[OWED]
        bad = bad + out_of_depth(env, box, ctl, h, y1, rows)
        after = e[1] - effort_along(env, h, 1.0, y, y1, way)  # a lift works against efforts, too
        lifted = max(0.0, after - before) * e[PART_OWED] if owed > 0.0 else 0.0
    else:
        e[OWED] = 0.0
    bad = bad + bounded(env, box, h, y, y1, rows, lifted)
    if owed > 0.0 and box[SHORTENED] > shortened:
        e[OWED] = max(owed, put_gaps_at_the_end(env, box))
    for k in range(n):
        a1[k] = (v1[k] - v[k]) / h
        bad = bad + (v1[k] - v1[k])
    return bad


def pushed(box: words) -> float:
    """Sum of the normal impulses of contacts [N s]."""
    P, total = doubles(box[IMPULSE]), 0.0
    for b in range(box[CONTACT_COUNT]):
        total = total + P[3 * b]
    return total


def out_of_depth(env: words, box: words, ctl: ptr, h: float, y1: ptr, rows: int) -> float:
    """The row y1 where rows are not deeper than DEPTH, or than what a start has left, as far as that is possible."""
    n, way, x, bad = env[NV], doubles(box[WAY]), doubles(box[RATES]) + env[NV], 0.0
    put_ends_of_stops(box, h)
    deep = put_gaps_at_the_end(env, box)
    e = doubles(box[ENERGIES])
    left = depth_left(min(e[OWED], deep), h)
    e[PART_OWED] = part_owed(e[OWED], left, deep)
    if deep <= SHALLOW and e[0] > PATIENCE * deep * pushed(box) / h:
        ctl[DEEPEST] = max(ctl[DEEPEST], deep)
        e[OWED] = 0.0
        return 0.0
    for _ in range(LIFTS):
        if not (deep > left + DEPTH):
            break
        correct_depth(box, box[STRIDE], h, left)
        put_rates(env, box, rows, doubles(box[SPARE]) + 4, x)
        largest = 0.0
        for k in range(n):
            largest = max(largest, abs(x[k]))
        share = min(1.0, LARGEST_SHIFT / largest) if largest > 0.0 else 0.0
        for k in range(n):
            way[k] = fma(share, x[k], way[k])
        bad = bad + displaced(env, doubles(box[MIDDLE]), way, y1)
        bad = bad + closed_state(env, y1, y1 + env[NQ])
        bad = bad + put_energies(env, box, y1)
        before = deep
        deep = put_gaps_at_the_end(env, box)
        if deep > HOPELESS * before:
            break
    ctl[DEEPEST] = max(ctl[DEEPEST], deep)
    e[OWED] = min(e[OWED], deep) if deep > DEPTH else 0.0
    return bad + (deep - deep)


def put_depth_of_start(env: words, box: words, h: float, y: ptr, rows: int) -> float:
    """ENERGIES + OWED: how deep the row y is within others; zero if it is finite."""
    e = doubles(box[ENERGIES])
    box[UNSEEN] = 0
    e[OWED] = 0.0
    if rows == 0:
        return 0.0
    bad = put_energies(env, box, y)
    put_starts_of_stops(box, h)
    deep = put_gaps_at_the_end(env, box)
    e[OWED] = deep if deep > DEPTH else 0.0
    return bad + (deep - deep)


def one_moreau_step(env: words, box: words, ctl: ptr, t: float, h: float, y: ptr, y1: ptr) -> int:
    """The row y1 behind y: rows of the problem, -1 for too many contacts, -2 where something is not finite, -3 if
    Python must be asked."""
    if put_start_energies(env, box, y) != 0.0:
        return -2
    if box[ANSWERED] == 0:  # else it is known
        if free_motion(env, box, t, h, y, y1) != 0.0:
            return -2
    rows = impulses(env, box, ctl, h, y + env[NQ])
    if rows < 0:
        return rows
    if box[UNSEEN] == 1 and put_depth_of_start(env, box, h, y, rows) != 0.0:
        return -2
    return rows if finished(env, box, ctl, h, y, y1, rows) == 0.0 else -2


def moreau_steps(env: words, run: words, io: words, ctl: ptr, y: ptr, y1: ptr, d: ptr, clock: ptr) -> int:
    """Steps up to the limit; the budget, a full buffer, or something to be looked at comes first."""
    n, nq, np = env[NV], env[NQ], env[NP]
    size, budget = nq + 3 * n + 2 * np, run[BUDGET]
    while True:
        if run[PENDING] == 1:
            copy(size, y1, y)
            run[PENDING] = 0
            run[KNOWN] = 1
            status = gone_on(env, run, ctl, clock, y, y + nq, y + nq + n)
            if status != GO_ON:
                return status
        if budget <= 0 or io[ROW] >= io[MOST] or run[RECORD_COUNT] >= run[MOST_RECORDS]:
            return FULL
        budget = budget - 1
        t, t1 = ctl[T], next_end(ctl)
        h = length_to(ctl, t1)
        rows = one_moreau_step(env, run, ctl, t, h, y, y1)
        if rows == -1:
            return CROWDED
        if rows == -3:
            return ASKED
        if rows == -2:
            run[REASON] = 0
            return STOPPED if env[ABORT] != 0 else NOT_FINITE
        counted_to(ctl, t1)
        accepted(run, ctl, t1, h)
        if too_fast(env, run, ctl, y1 + nq) == 1:
            return RUNAWAY
        put_records(run, t1, h)
        keep_impulses(run, rows)
        keep_energies(env, run, y1)
        work = mean_work(env, h, y, y1)
        if wanted(io, t1) == 1:
            between_ends(env, io, h, y, y1, work)
        status = taken_from_step(env, run, io, t, t1, y, y1, work)
        if status == 1:
            return LOOK
        if status < 0:
            return broken_off(env, run, ctl)
    return FULL
