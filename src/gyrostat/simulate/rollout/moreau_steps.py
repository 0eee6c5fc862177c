"""Moreau's steps of W robots: free motion, impulses by rounds until every lane has converged, the state after them.

Between the programs of :mod:`~gyrostat.simulate.rollout.moreau_programs` lie columns of W doubles. Impulses of the step
before are where the search begins; they are carried in the memory of a robot, behind that of its digital parts, with
the residual of the last step and the number of steps whose residual stayed above the tolerance. Lanes that have
converged keep their numbers, so that no robot notices its neighbours."""

from __future__ import annotations

from gyrostat.engine.drivers.words import copy, count_at, doubles, fma, kernel, ptr, some, where, words
from gyrostat.simulate.kernels.environment import CONSTANTS, LAW, LIVE, MEMORY, NM, NP, NQ, NV, PARAMETERS, TIME, WORK

(
    ROWS_CODE, ROUND_CODE, END_CODE,  # kernels
    IMPULSES, CARRIED, MOST_ROUNDS,  # rows; first of them in the memory; rounds of a step
    STEP, MIDDLE, FREE, L_FACTORS, ROOTS, X_ENTRIES, B_SPEEDS, DIAGONAL, P_ONE, W_ONE, R_ONE, P_TWO, W_TWO, R_TWO,
) = range(20)  # fmt: skip
WORDS_OF_CONTACT = 24
COLUMNS = MIDDLE, FREE, L_FACTORS, ROOTS, X_ENTRIES, B_SPEEDS, DIAGONAL, P_ONE, W_ONE, R_ONE
CODES = {ROWS_CODE: "rows", ROUND_CODE: "round", END_CODE: "end"}
TOLERANCE = 1e-8
"""Of the residual of all contacts and stops [m/s, rad/s]."""


def searched(env: words, box: words) -> float:
    """Rounds from the impulses P_ONE until all lanes have converged, or as many as allowed; where it ends is ONE."""
    X, b, G, work = doubles(box[X_ENTRIES]), doubles(box[B_SPEEDS]), doubles(box[DIAGONAL]), doubles(env[WORK])
    n, rows, bad = env[NV], box[IMPULSES], 0.0
    P, w, r = doubles(box[P_ONE]), doubles(box[W_ONE]), doubles(box[R_ONE])
    P2, w2, r2 = doubles(box[P_TWO]), doubles(box[W_TWO]), doubles(box[R_TWO])
    for k in range(box[MOST_ROUNDS]):
        if not some(r[0] > TOLERANCE):
            break
        bad = bad + kernel(box[ROUND_CODE])(X, b, G, P, w, r, P2, w2, r2, work)
        copy(rows, P2, P)
        copy(n, w2, w)
        copy(1, r2, r)
    return bad


def moreau_step(env: words, box: words, t: float, h: float, record: ptr) -> float:
    """One step, in a record with one stage whose accelerations are the place of the efforts; zero where all is
    finite. The impulses are behind the memory in the record, too."""
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
    time[0] = t
    step[0] = h
    bad = kernel(env[LAW])(
        time, q, y + n, y + 2 * n, memory, doubles(env[PARAMETERS]), doubles(env[CONSTANTS]), K + n, K + 2 * n, work
    )
    bad = bad + kernel(box[ROWS_CODE])(
        time, q, y + n, K + n, step, live, kept,
        middle, free, L, roots, doubles(box[X_ENTRIES]), doubles(box[B_SPEEDS]), doubles(box[DIAGONAL]), P, w, r, work,
    )  # fmt: skip
    if some(r[0] > TOLERANCE):
        bad = bad + searched(env, box)
    bad = bad + kernel(box[END_CODE])(middle, free, L, roots, w, step, q1, y1 + n, work)
    for k in range(n):
        y1[k] = 0.0
    for k in range(np):
        y1[2 * n + k] = fma(h, K[2 * n + k], y[2 * n + k])
    copy(rows, P, q1 + nq + 2 * env[NM])
    copy(rows, P, kept)
    kept[rows] = r[0]
    kept[rows + 1] = kept[rows + 1] + where(r[0] > TOLERANCE, 1.0, 0.0)
    return bad
