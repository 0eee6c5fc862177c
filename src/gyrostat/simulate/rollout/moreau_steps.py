"""Moreau's steps of W robots, the scheme of :mod:`~gyrostat.simulate.methods.drivers.moreau_steps`: free motion,
impulses by rounds until every lane has converged, the state after them.

    q_m = q0 (+) h/2 v0,    H (v1 - v0) = h (tau - f)(t0 + h/2, q_m) + J(q_m (+) h/2 v0)^T P,
    q1 = q_m (+) h/2 (v1 + x),

x takes back a part of what is deep; gyroscopic forces in f are those of the middle
(:mod:`~gyrostat.simulate.kernels.contact_scene`). Between the programs of
:mod:`~gyrostat.simulate.rollout.moreau_programs` lie columns of W doubles. Impulses of the step before are where
the search begins; they are carried in the memory of a robot, behind that of its digital parts, with the residual of the
last step and the number of steps whose residual stayed above the tolerance. Lanes that have converged keep their
numbers, so that no robot notices its neighbours."""

from __future__ import annotations

from gyrostat.algorithms.contact.whitened_cones import SOFT
from gyrostat.engine.drivers.words import copy, doubles, fma, kernel, ptr, some, where, words
from gyrostat.simulate.kernels.environment import CONSTANTS, LAW, LIVE, MEMORY, NM, NP, NQ, NV, PARAMETERS, TIME, WORK
from gyrostat.simulate.methods.drivers.semi_implicit_steps import displaced

(
    ROWS_CODE, ROUND_CODE, DEPTH_CODE, DEPTH_ROUND_CODE, END_CODE,  # kernels
    IMPULSES, CONES, CARRIED, MOST_ROUNDS,  # rows; contacts and stops; first of the impulses in the memory
    STEP, HALF, MIDDLE, FREE, L_FACTORS, ROOTS, X_ENTRIES, B_SPEEDS, DIAGONAL, MU, GAPS, ALLOWED,
    SWEEPS_CODE, LOW, PART_BACK, BEFORE, P_FIRST, W_FIRST, B_SECOND, BOUNCES, EXPANSION_CODE, JOINED_CODE,
    P_ONE, W_ONE, R_ONE, P_TWO, W_TWO, R_TWO, P_BEST, W_BEST, R_BEST, WAY,
    DEEP_B, DEEP_P, DEEP_W, DEEP_R, DEEP_P_TWO, DEEP_W_TWO, DEEP_R_TWO,
) = range(48)  # fmt: skip
WORDS_OF_CONTACT = 52
CODES = {
    ROWS_CODE: "rows", ROUND_CODE: "round", DEPTH_CODE: "depth", DEPTH_ROUND_CODE: "depth_round", END_CODE: "end",
    SWEEPS_CODE: "sweeps",
}  # fmt: skip
BOUNCING = {EXPANSION_CODE: "expansion", JOINED_CODE: "joined"}
COLUMNS = {
    STEP: "h", HALF: "v", MIDDLE: "middle", FREE: "free", L_FACTORS: "L", ROOTS: "roots", X_ENTRIES: "X",
    B_SPEEDS: "b", DIAGONAL: "G", MU: "mu", LOW: "low", PART_BACK: "back", BEFORE: "before", P_FIRST: "P_first",
    W_FIRST: "w_first", B_SECOND: "b_second", GAPS: "gaps", ALLOWED: "allowed",
    P_ONE: "P", W_ONE: "w", R_ONE: "r", P_TWO: "P", W_TWO: "w", R_TWO: "r",
    P_BEST: "P", W_BEST: "w", R_BEST: "r", WAY: "way",
    DEEP_B: "deep_b", DEEP_P: "deep_P", DEEP_W: "deep_w", DEEP_R: "deep_r",
    DEEP_P_TWO: "deep_P", DEEP_W_TWO: "deep_w", DEEP_R_TWO: "deep_r",
}  # fmt: skip
"""Columns by the names that their sizes have in the programs."""
TOLERANCE = 1e-8
"""Of the residual of all contacts and stops [m/s, rad/s]."""
MOST, LAST = 10, 24
"""Rounds of a Newton step and a sweep in one step; then turns of sweeps, or a Newton step."""
GIVING = 1e-2
"""Part of the diagonal by which every third Newton step gives way, where the first have failed."""
ANY = 1e300


def searched(env: words, box: words) -> float:
    """Rounds from the impulses P_ONE until all lanes have converged, or as many as allowed; ONE is the best of them.

    The first Newton steps must lower the residual. Where that fails, who touches and slides may go round in circles
    between contacts that are nearly the same: others may raise it, and every third gives way."""
    X, b, G, work = doubles(box[X_ENTRIES]), doubles(box[B_SPEEDS]), doubles(box[DIAGONAL]), doubles(env[WORK])
    n, rows, bad, way = env[NV], box[IMPULSES], 0.0, doubles(box[WAY])
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
    n, rows, bad, way = env[NV], box[IMPULSES], 0.0, doubles(box[WAY])
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
    """The correction of depth, at DEEP_W."""
    X, b, G, work = doubles(box[X_ENTRIES]), doubles(box[B_SPEEDS]), doubles(box[DIAGONAL]), doubles(env[WORK])
    n, cones, mu, step = env[NV], box[CONES], doubles(box[MU]), doubles(box[STEP])
    c, P, w, r = doubles(box[DEEP_B]), doubles(box[DEEP_P]), doubles(box[DEEP_W]), doubles(box[DEEP_R])
    P2, w2, r2 = doubles(box[DEEP_P_TWO]), doubles(box[DEEP_W_TWO]), doubles(box[DEEP_R_TWO])
    bad = kernel(box[DEPTH_CODE])(
        X, b, G, mu, doubles(box[GAPS]), doubles(box[ALLOWED]), doubles(box[W_ONE]), step, c, P, w, r, work
    )
    for _ in range(box[MOST_ROUNDS]):
        if not some(r[0] > TOLERANCE):
            break
        bad = bad + kernel(box[DEPTH_ROUND_CODE])(X, b, G, mu, step, c, P, w, r, P2, w2, r2, work)
        copy(cones, P2, P)
        copy(n, w2, w)
        copy(1, r2, r)
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
    bad = bad + corrected(env, box)
    bad = bad + kernel(box[END_CODE])(middle, free, L, roots, w, doubles(box[DEEP_W]), step, q1, y1 + n, work)
    for k in range(n):
        y1[k] = 0.0
    for k in range(np):
        y1[2 * n + k] = fma(h, K[2 * n + k], y[2 * n + k])
    solution = q1 + nq + 2 * env[NM]
    copy(rows, P, solution)
    copy(box[CONES], doubles(box[DEEP_P]), solution + rows)
    copy(rows, P, kept)
    kept[rows] = r[0]
    kept[rows + 1] = kept[rows + 1] + where(r[0] > TOLERANCE, 1.0, 0.0)
    return bad
