"""Moreau's steps of W robots, the scheme of :mod:`~gyrostat.simulate.methods.drivers.moreau_steps`: free motion,
impulses by rounds until every lane has converged, the state after them.

    q_m = q0 (+) h/2 v0,    H (v1 - v0) = h (tau - f)(t0 + h/2, q_m) + J(q_m (+) h/2 v0)^T P,
    q1 = q_m (+) (h/2 v1 + x),

x takes back what is deep, and v1 is shortened if the step has gained energy
(:mod:`~gyrostat.simulate.methods.drivers.moreau_energy`); gyroscopic forces in f are those of the middle
(:mod:`~gyrostat.simulate.kernels.contact_scene`). Between the programs of
:mod:`~gyrostat.simulate.rollout.moreau_programs` lie columns of W doubles. Impulses of the step before are where
the search begins; they are carried in the memory of a robot, behind that of its digital parts, with the residual of the
last step and the number of steps whose residual stayed above the tolerance. Lanes that have converged keep their
numbers, so that no robot notices its neighbours."""

from __future__ import annotations

from gyrostat.algorithms.contact.whitened_cones import SOFT
from gyrostat.engine.drivers.words import copy, doubles, fma, kernel, ptr, some, where, words
from gyrostat.simulate.kernels.environment import CONSTANTS, LAW, LIVE, MEMORY, NM, NP, NQ, NV, PARAMETERS, TIME, WORK
from gyrostat.simulate.methods.drivers.moreau_depth import DEPTH
from gyrostat.simulate.methods.drivers.moreau_energy import ROUNDING
from gyrostat.simulate.methods.drivers.semi_implicit_steps import displaced

(
    ROWS_CODE, ROUND_CODE, DEPTH_CODE, DEPTH_ROUND_CODE, ARRIVAL_CODE,  # kernels
    IMPULSES, CONES, CARRIED, MOST_ROUNDS,  # rows; contacts and stops; first of the impulses in the memory
    STEP, HALF, MIDDLE, FREE, L_FACTORS, ROOTS, X_ENTRIES, B_SPEEDS, DIAGONAL, MU, GAPS, ALLOWED,
    SWEEPS_CODE, LOW, PART_BACK, BEFORE, P_FIRST, W_FIRST, B_SECOND, BOUNCES, EXPANSION_CODE, JOINED_CODE,
    P_ONE, W_ONE, R_ONE, P_TWO, W_TWO, R_TWO, P_BEST, W_BEST, R_BEST, GIVES,
    DEEP_B, DEEP_P, DEEP_W, DEEP_R, DEEP_P_TWO, DEEP_W_TWO, DEEP_R_TWO,
    ENERGY_CODE, CHECK_CODE, LIFT_CODE, BOUND_CODE, BOUNDED,  # of the end of a step; whether energies are known
    WAY, START, ENERGIES, LIFTED, SHORT, BUSY, SHARE, PLACE, DUE, LEFT,
) = range(63)  # fmt: skip
WORDS_OF_CONTACT = 64
CODES = {
    ROWS_CODE: "rows", ROUND_CODE: "round", SWEEPS_CODE: "sweeps", ARRIVAL_CODE: "arrival", ENERGY_CODE: "energy",
    CHECK_CODE: "check", BOUND_CODE: "bound",
}  # fmt: skip
DEEP = {DEPTH_CODE: "depth", DEPTH_ROUND_CODE: "depth_round", LIFT_CODE: "lift"}
BOUNCING = {EXPANSION_CODE: "expansion", JOINED_CODE: "joined"}
COLUMNS = {
    STEP: "h", HALF: "v", MIDDLE: "middle", FREE: "free", L_FACTORS: "L", ROOTS: "roots", X_ENTRIES: "X",
    B_SPEEDS: "b", DIAGONAL: "G", MU: "mu", LOW: "low", PART_BACK: "back", BEFORE: "before", P_FIRST: "P_first",
    W_FIRST: "w_first", B_SECOND: "b_second", GAPS: "gaps", ALLOWED: "allowed",
    P_ONE: "P", W_ONE: "w", R_ONE: "r", P_TWO: "P", W_TWO: "w", R_TWO: "r",
    P_BEST: "P", W_BEST: "w", R_BEST: "r", GIVES: "giving",
    DEEP_B: "deep_b", DEEP_P: "deep_P", DEEP_W: "deep_w", DEEP_R: "deep_r",
    DEEP_P_TWO: "deep_P", DEEP_W_TWO: "deep_w", DEEP_R_TWO: "deep_r",
    WAY: "way", START: "start", ENERGIES: "energies", LIFTED: "lifted", SHORT: "short", BUSY: "busy", SHARE: "short",
    PLACE: "middle", DUE: "due", LEFT: "left",
}  # fmt: skip
"""Columns by the names that their sizes have in the programs."""
TOLERANCE = 1e-8
"""Of the residual of all contacts and stops [m/s, rad/s]."""
MOST, LAST = 10, 24
"""Rounds of a Newton step and a sweep in one step; then turns of sweeps, or a Newton step."""
GIVING = 1e-2
"""Part of the diagonal by which every third Newton step gives way, where the first have failed."""
ANY, HALVINGS = 1e300, 6


def searched(env: words, box: words) -> float:
    """Rounds from the impulses P_ONE until all lanes have converged, or as many as allowed; ONE is the best of them.

    The first Newton steps must lower the residual. Where that fails, who touches and slides may go round in circles
    between contacts that are nearly the same: others may raise it, and every third gives way."""
    X, b, G, work = doubles(box[X_ENTRIES]), doubles(box[B_SPEEDS]), doubles(box[DIAGONAL]), doubles(env[WORK])
    n, rows, bad, way = env[NV], box[IMPULSES], 0.0, doubles(box[GIVES])
    P, w, r = doubles(box[P_ONE]), doubles(box[W_ONE]), doubles(box[R_ONE])
    P2, w2, r2 = doubles(box[P_TWO]), doubles(box[W_TWO]), doubles(box[R_TWO])
    P3, w3, r3 = doubles(box[P_BEST]), doubles(box[W_BEST]), doubles(box[R_BEST])
    done = 0
    for k in range(box[MOST_ROUNDS]):
        if not some(r[0] > TOLERANCE):
            break
        way[0] = SOFT
        way[1] = 1.0
        if k > 1:
            way[0] = GIVING if k % 3 == 0 else SOFT
            way[1] = ANY
        bad = bad + kernel(box[ROUND_CODE])(
            X, b, G, doubles(box[MU]), doubles(box[LOW]), way, P, w, r, P2, w2, r2, work
        )
        copy(rows, P2, P)
        copy(n, w2, w)
        copy(1, r2, r)
        if k == 1:
            copy(rows, P, P3)
            copy(n, w, w3)
            copy(1, r, r3)
        elif k > 1:
            kept_if_better(rows, r[0], r3[0], P, P3)
            kept_if_better(n, r[0], r3[0], w, w3)
            r3[0] = min(r[0], r3[0])
        done = k
    if done > 1:
        copy(rows, P3, P)
        copy(n, w3, w)
        copy(1, r3, r)
    if some(r[0] > TOLERANCE):
        bad = bad + swept(env, box)
    return bad


def swept(env: words, box: words) -> float:
    """From the impulses P_ONE: sweeps, and a Newton step where it lowers the residual, in turn."""
    X, b, G, work = doubles(box[X_ENTRIES]), doubles(box[B_SPEEDS]), doubles(box[DIAGONAL]), doubles(env[WORK])
    n, rows, bad, way = env[NV], box[IMPULSES], 0.0, doubles(box[GIVES])
    P, w, r, mu, low = (
        doubles(box[P_ONE]),
        doubles(box[W_ONE]),
        doubles(box[R_ONE]),
        doubles(box[MU]),
        doubles(box[LOW]),
    )
    P2, w2, r2 = doubles(box[P_TWO]), doubles(box[W_TWO]), doubles(box[R_TWO])
    way[0] = SOFT
    way[1] = 1.0
    for k in range(LAST):
        if not some(r[0] > TOLERANCE):
            break
        if k % 3 == 2:
            bad = bad + kernel(box[ROUND_CODE])(X, b, G, mu, low, way, P, w, r, P2, w2, r2, work)
        else:
            bad = bad + kernel(box[SWEEPS_CODE])(X, b, G, mu, low, P, w, r, P2, w2, r2, work)
        copy(rows, P2, P)
        copy(n, w2, w)
        copy(1, r2, r)
    return bad


def kept_if_better(size: int, r: float, best: float, x: ptr, y: ptr) -> int:
    """y = x in lanes where r is smaller."""
    for k in range(size):
        y[k] = where(r < best, x[k], y[k])
    return 0


def bounced_back(env: words, box: words) -> float:
    """The expansion behind the compression at P_ONE, W_ONE, which becomes the sum of both."""
    X, b, G, mu = doubles(box[X_ENTRIES]), doubles(box[B_SPEEDS]), doubles(box[DIAGONAL]), doubles(box[MU])
    n, rows, cones, work = env[NV], box[IMPULSES], box[CONES], doubles(env[WORK])
    P, w, r, low = doubles(box[P_ONE]), doubles(box[W_ONE]), doubles(box[R_ONE]), doubles(box[LOW])
    P2, w2, r2 = doubles(box[P_TWO]), doubles(box[W_TWO]), doubles(box[R_TWO])
    P1, w1, b2 = doubles(box[P_FIRST]), doubles(box[W_FIRST]), doubles(box[B_SECOND])
    back, left = doubles(box[PART_BACK]), r[0]
    most = 0.0
    for k in range(cones):
        most = max(most, back[k])
    if not some(most > 0.0):
        return 0.0
    bad = kernel(box[EXPANSION_CODE])(X, b, G, mu, back, P, w, b2, low, P2, w2, r2, work)
    copy(rows, P, P1)
    copy(n, w, w1)
    copy(rows, P2, P)
    copy(n, w2, w)
    copy(1, r2, r)
    swap(rows, b, b2)
    bad = bad + searched(env, box)
    swap(rows, b, b2)
    for k in range(cones):
        low[k] = 0.0
    bad = bad + kernel(box[JOINED_CODE])(
        X, b, mu, doubles(box[ALLOWED]), doubles(box[BEFORE]), P1, w1, P, w, P2, w2, work
    )
    copy(rows, P2, P)
    copy(n, w2, w)
    r[0] = max(r[0], left)
    return bad


def swap(size: int, x: ptr, y: ptr) -> int:
    for k in range(size):
        z = x[k]
        x[k] = y[k]
        y[k] = z
    return 0


def corrected(env: words, box: words) -> float:
    """The correction of depth, at DEEP_W: none where nothing is too deep."""
    X, b, G, work = doubles(box[X_ENTRIES]), doubles(box[B_SPEEDS]), doubles(box[DIAGONAL]), doubles(env[WORK])
    n, cones, mu = env[NV], box[CONES], doubles(box[MU])
    c, P, w, r = doubles(box[DEEP_B]), doubles(box[DEEP_P]), doubles(box[DEEP_W]), doubles(box[DEEP_R])
    P2, w2, r2, bad = doubles(box[DEEP_P_TWO]), doubles(box[DEEP_W_TWO]), doubles(box[DEEP_R_TWO]), 0.0
    for _ in range(box[MOST_ROUNDS]):
        if not some(r[0] > TOLERANCE):
            break
        bad = bad + kernel(box[DEPTH_ROUND_CODE])(X, b, G, mu, c, P, w, r, P2, w2, r2, work)
        copy(cones, P2, P)
        copy(n, w2, w)
        copy(1, r2, r)
    return bad


def deepest(box: words) -> float:
    """Of all penetrations, not below zero."""
    gaps, deep = doubles(box[GAPS]), 0.0
    for k in range(box[CONES]):
        deep = max(deep, -gaps[k])
    return deep


def put_depth_of_start(env: words, box: words, owed: ptr, q: ptr, v: ptr) -> float:
    """owed: how deep robots that begin here are within others; -1 where they are not. Unknown (0) before."""
    if box[CONES] == 0 or not some(owed[0] == 0.0):
        return 0.0
    bad = kernel(box[CHECK_CODE])(
        doubles(env[TIME]), q, v, doubles(env[LIVE]), doubles(box[ENERGIES]), doubles(box[GAPS]), doubles(env[WORK])
    )
    deep = deepest(box)
    owed[0] = where(owed[0] == 0.0, where(deep > DEPTH, deep, -1.0), owed[0])
    return bad


def put_depth_of_stopped(env: words, box: words, before: float, owed: ptr, q: ptr, v: ptr) -> float:
    """owed: of robots that have been stopped on their way out of others (``before`` > 0)."""
    if box[CONES] == 0 or not some(before > 0.0):
        return 0.0
    bad = kernel(box[CHECK_CODE])(
        doubles(env[TIME]), q, v, doubles(env[LIVE]), doubles(box[ENERGIES]), doubles(box[GAPS]), doubles(env[WORK])
    )
    owed[0] = where(before > 0.0, max(before, deepest(box)), owed[0])
    return bad


def lifted_out(env: words, box: words, owed: ptr, tau: ptr, q1: ptr, v1: ptr) -> float:
    """q1 out of what is too deep, energies there, and what the lift of a start has cost, at LIFTED."""
    e, work, busy = doubles(box[ENERGIES]), doubles(env[WORK]), doubles(box[BUSY])
    time, live, gaps, lifted = doubles(env[TIME]), doubles(env[LIVE]), doubles(box[GAPS]), doubles(box[LIFTED])
    due, left = doubles(box[DUE]), doubles(box[LEFT])
    lifted[0] = 0.0
    if box[CONES] == 0:
        return kernel(box[ENERGY_CODE])(time, q1, v1, live, e, work)
    bad = kernel(box[CHECK_CODE])(time, q1, v1, live, e, gaps, work)
    bad = bad + kernel(box[DEPTH_CODE])(
        doubles(box[X_ENTRIES]), doubles(box[B_SPEEDS]), doubles(box[DIAGONAL]), doubles(box[MU]), gaps,
        doubles(box[P_ONE]), e, owed, doubles(box[STEP]), doubles(box[DEEP_B]), doubles(box[DEEP_P]),
        doubles(box[DEEP_W]), doubles(box[DEEP_R]), busy, due, left, work,
    )  # fmt: skip
    if some(busy[0] > 0.0):
        before, way, more = e[1], doubles(box[WAY]), doubles(box[HALF])
        bad = bad + corrected(env, box)
        bad = bad + kernel(box[LIFT_CODE])(
            doubles(box[MIDDLE]), doubles(box[L_FACTORS]), doubles(box[ROOTS]), way, doubles(box[DEEP_W]), q1, more,
            work,
        )  # fmt: skip
        effort = 0.0  # of the lift, which works against it
        for k in range(env[NV]):
            effort = fma(tau[k], more[k] - way[k], effort)
        copy(env[NV], more, way)
        bad = bad + kernel(box[CHECK_CODE])(time, q1, v1, live, e, gaps, work)
        lifted[0] = due[0] * max(0.0, e[1] - before - effort)
    deep = deepest(box)
    owed[0] = where(deep > DEPTH, where(left[0] > 0.0, min(owed[0], deep), -1.0), -1.0)
    return bad


def stopped(env: words, box: words, h: float, q: ptr, v: ptr, tau: ptr, q1: ptr, v1: ptr) -> float:
    """Lanes that are SHORT of energy end at rest, as far on their way as there is some for."""
    n, nq, bad = env[NV], env[NQ], 0.0
    d, middle, way, e = doubles(box[HALF]), doubles(box[MIDDLE]), doubles(box[WAY]), doubles(box[ENERGIES])
    start, lifted, short, share = doubles(box[START]), doubles(box[LIFTED]), doubles(box[SHORT]), doubles(box[SHARE])
    work, time, live, place = doubles(env[WORK]), doubles(env[TIME]), doubles(env[LIVE]), doubles(box[PLACE])
    effort = 0.0
    for k in range(n):
        effort = fma(tau[k], fma(0.5 * h, v[k], way[k]), effort)
        v1[k] = where(short[0] > 0.0, 0.0, v1[k])
    share[0] = 1.0
    for k in range(HALVINGS):
        if not some(short[0] > 0.0):
            break
        share[0] = 0.5 * share[0] if k < HALVINGS - 1 else 0.0
        for i in range(n):
            d[i] = share[0] * 0.5 * h * v[i]
        bad = bad + displaced(env, q, d, middle)
        for i in range(n):
            d[i] = share[0] * way[i]
        bad = bad + displaced(env, middle, d, place)
        for i in range(nq):
            q1[i] = where(short[0] > 0.0, place[i], q1[i])
        bad = bad + kernel(box[ENERGY_CODE])(time, q1, v1, live, e, work)
        within = ROUNDING * (start[0] + abs(start[1]) + abs(e[1]))
        allowed = start[0] + start[1] + share[0] * (lifted[0] + effort) + within
        short[0] = where(e[1] <= allowed, 0.0, short[0])
    return bad


def in_the_middle(env: words, box: words, h: float, q: ptr, v: ptr) -> float:
    """q after half a step with the rates v."""
    d = doubles(box[HALF])
    for k in range(env[NV]):
        d[k] = 0.5 * h * v[k]
    return displaced(env, q, d, doubles(box[MIDDLE]))


def moreau_step(env: words, box: words, t: float, h: float, record: ptr) -> float:
    """One step, in a record with one stage whose accelerations are the place of the efforts; zero where all is
    finite. The impulses, and those that correct depth, are behind the memory in the record, too."""
    n, np, nq = env[NV], env[NP], env[NQ]
    size, rows = 2 * n + np, box[IMPULSES]
    K, y = record, record + size
    q = y + size
    y1 = q + nq
    q1 = y1 + size
    memory, time, work, step = doubles(env[MEMORY]), doubles(env[TIME]), doubles(env[WORK]), doubles(box[STEP])
    kept, w, r = memory + box[CARRIED], doubles(box[W_ONE]), doubles(box[R_ONE])
    P, middle, free = doubles(box[P_ONE]), doubles(box[MIDDLE]), doubles(box[FREE])
    L, roots, live = doubles(box[L_FACTORS]), doubles(box[ROOTS]), doubles(env[LIVE])
    bad = in_the_middle(env, box, h, q, y + n)
    time[0] = t + 0.5 * h
    step[0] = h
    bad = bad + kernel(env[LAW])(
        time,
        middle,
        y + n,
        y + 2 * n,
        memory,
        doubles(env[PARAMETERS]),
        doubles(env[CONSTANTS]),
        K + n,
        K + 2 * n,
        work,
    )
    bad = bad + kernel(box[ROWS_CODE])(
        time, middle, y + n, K + n, step, live, kept, free, L, roots, doubles(box[X_ENTRIES]), doubles(box[B_SPEEDS]),
        doubles(box[DIAGONAL]), doubles(box[MU]), doubles(box[GAPS]), doubles(box[ALLOWED]), doubles(box[PART_BACK]),
        doubles(box[BEFORE]), P, w, r, work,
    )  # fmt: skip
    bad = bad + searched(env, box)
    if box[BOUNCES] > 0:
        bad = bad + bounced_back(env, box)
    way, owed, v1, tau = doubles(box[WAY]), kept + rows, y1 + n, K + n
    bad = bad + put_depth_of_start(env, box, owed, q, y + n)
    if box[BOUNDED] == 1:
        bad = bad + kernel(box[ENERGY_CODE])(time, q, y + n, live, doubles(box[START]), work)
    bad = bad + kernel(box[ARRIVAL_CODE])(middle, free, L, roots, w, step, q1, v1, way, work)
    solution = q1 + nq + 2 * env[NM]
    copy(1, owed, solution + rows + box[CONES])
    if box[BOUNDED] == 1 or box[CONES] > 0:
        bad = bad + lifted_out(env, box, owed, tau, q1, v1)
    if box[BOUNDED] == 1:
        short, new = doubles(box[SHORT]), doubles(box[HALF])
        bad = bad + kernel(box[BOUND_CODE])(
            tau, y + n, way, P, doubles(box[START]), doubles(box[ENERGIES]), doubles(box[LIFTED]), step, v1, new,
            short, work,
        )  # fmt: skip
        copy(n, new, v1)
        if some(short[0] > 0.0):
            before = where(short[0] > 0.0, solution[rows + box[CONES]], 0.0)
            bad = bad + stopped(env, box, h, q, y + n, tau, q1, v1)
            bad = bad + put_depth_of_stopped(env, box, before, owed, q1, v1)
    for k in range(n):
        y1[k] = 0.0
    for k in range(np):
        y1[2 * n + k] = fma(h, K[2 * n + k], y[2 * n + k])
    copy(rows, P, solution)
    copy(box[CONES], doubles(box[DEEP_P]), solution + rows)
    copy(rows, P, kept)
    kept[rows + 1] = r[0]
    kept[rows + 2] = kept[rows + 2] + where(r[0] > TOLERANCE, 1.0, 0.0)
    return bad
