"""Steps of order 4 with a matrix that is kept: AS 2.1 with Simpson's rule in the place of the trapezoidal rule (5).

    v_m = v_0 + h/24 (5 a_0 + 8 a_m - a_1),        v_1 = v_0 + h/6 (a_0 + 4 a_m + a_1),
    q_m = q_0 + h/24 (5 v_0 + 8 v_m - v_1),        q_1 = q_0 + h/6 (v_0 + 4 v_m + v_1),        p alike with f,
    H(t_m, q_m, v_m, a_m, p_m) = 0,    H(t_1, q_1, v_1, a_1, p_1) = 0

for a_m, p_m in the middle of the step and a_1, p_1 at its end: Lobatto IIIA with three stages, symmetric and A-stable
[Hairer, Wanner, Solving Ordinary Differential Equations II, IV.5]. With v = ... + h A a, q = ... + h^2 A^2 a,

    A = (1/3  -1/24),    A^2 = (1/12  -1/48),    A^3 = (1/72  -1/144),
        (2/3   1/6 )           (1/3     0  )           (1/9   -1/72 )

the matrix by both accelerations and both p has the blocks

    ( d_ij M + h A_ij dH/dv + h^2 A^2_ij dH/dq          -d_ij dtau/dp      )
    ( -h (h A^2_ij df/dv + h^2 A^3_ij df/dq)       d_ij 1 - h A_ij df/dp ).

A has the eigenvalues l = 1/4 + i sqrt(3)/12 and conj(l), with the eigenvectors (1, 2 - 2 sqrt(3) i) and its conjugate;
along the first one that matrix is Z, with l^k in the place of (A^k)_ij: half as large, and complex. With residuals r of
both stages,

    Z z = (1/2 - i/(2 sqrt 3)) r_m + i/(4 sqrt 3) r_1,    change_m = 2 Re z,    change_1 = 2 Re (2 - 2 sqrt(3) i) z.

Its inverse S is made at the middle of the way ahead and kept while that is worth its Newton steps. A
step is accepted by the residuals of both stages. Where there is no solution, or constraints are active, steps are those
of Newmark. Coordinates are numbers: on rotations these formulas would be of order 2."""

from __future__ import annotations

from gyrostat.engine.drivers.complex_linear_algebra import complex_gauss_jordan
from gyrostat.engine.drivers.linear_algebra import multiplied
from gyrostat.engine.drivers.words import copy, count_at, doubles, ptr, words
from gyrostat.simulate.kernels.environment import NP, NV
from gyrostat.simulate.methods.drivers.implicit_equations import efforts, fulfilled, measured, unbalanced
from gyrostat.simulate.methods.drivers.implicit_memory import (
    BLOCKS,
    EXTRA,
    FACTORISATIONS,
    FRESH,
    HERE,
    ITERATIONS,
    KEPT,
    KEPT_H,
    LONGEST_SERVICE,
    MIDDLE,
    MIDDLE_KNOWN,
    MOVE,
    NEWTON,
    PAIR_CHANGE,
    PAIR_INVERSE,
    PAIR_PRODUCT,
    PAIR_RESIDUAL,
    PAIR_RIGHT,
    PIVOTS,
    RESIDUAL,
    SERVED,
    SHARE,
    SPAN,
    STRIDE,
    a_of,
    f_of,
    p_of,
    v_of,
    w_of,
)
from gyrostat.simulate.methods.drivers.kept_matrix import BRIEF, mass_at, matrix_ahead, stretch
from gyrostat.simulate.methods.drivers.newton import SOLVED, TIGHT, UNSOLVED, undefined

MAKING, TRIES = 4, 12
"""What it takes to make S, in Newton steps; Newton steps after which a step is given up."""


# ------------------------------------------------------------------ S
ROOT3 = 1.7320508075688772
REAL, IMAGINARY = 0.25, ROOT3 / 12.0
"""l, an eigenvalue of A; the other one is its conjugate."""


def paired(env: words, box: words, h: float) -> int:
    """PAIR_INVERSE: that of Z, from the blocks, column by column. 0; 1 if Z is singular."""
    n, np, stride, Z = env[NV], env[NP], box[STRIDE], doubles(box[PAIR_INVERSE])
    m, wide = n + np, 2 * box[STRIDE]
    f_q = doubles(box[BLOCKS])
    f_v, M, tau_q = f_q + n * n, f_q + 2 * n * n, f_q + 3 * n * n
    tau_v, tau_p = tau_q + n * n, tau_q + 2 * n * n
    p_q, p_v, p_p = tau_p + n * np, tau_p + 2 * n * np, tau_p + 3 * n * np
    vr, vi = h * REAL, h * IMAGINARY  # h l, h^2 l^2, h^3 l^3
    qr, qi = vr * vr - vi * vi, 2.0 * vr * vi
    cr, ci = qr * vr - qi * vi, qr * vi + qi * vr
    for j in range(m):
        column = Z + wide * j
        for i in range(m, stride):
            column[i] = 0.0
            column[stride + i] = 0.0
    for j in range(n):
        re = Z + wide * j
        im = re + stride
        for i in range(n):
            at = i * n + j
            D, K = f_v[at] - tau_v[at], f_q[at] - tau_q[at]
            re[i] = M[at] + vr * D + qr * K
            im[i] = vi * D + qi * K
        for i in range(np):
            re[n + i] = -(qr * p_v[i * n + j] + cr * p_q[i * n + j])
            im[n + i] = -(qi * p_v[i * n + j] + ci * p_q[i * n + j])
    for j in range(np):
        re = Z + wide * (n + j)
        im = re + stride
        for i in range(n):
            re[i] = -tau_p[i * np + j]
            im[i] = 0.0
        for i in range(np):
            re[n + i] = -vr * p_p[i * np + j]
            im[n + i] = -vi * p_p[i * np + j]
        re[n + j] = re[n + j] + 1.0
    return complex_gauss_jordan(m, stride, Z, count_at(box[PIVOTS]), doubles(box[PAIR_CHANGE]))


def pair_solved(env: words, box: words) -> int:
    """PAIR_CHANGE, of the middle and of the end, from PAIR_RESIDUAL. 0."""
    m, stride, r, Z = env[NV] + env[NP], box[STRIDE], doubles(box[PAIR_RESIDUAL]), doubles(box[PAIR_INVERSE])
    change, right, product = doubles(box[PAIR_CHANGE]), doubles(box[PAIR_RIGHT]), doubles(box[PAIR_PRODUCT])
    for k in range(m):
        right[k] = 0.5 * r[k]
        right[stride + k] = (0.5 * r[m + k] - r[k]) / (2.0 * ROOT3)
    multiplied(m, 2 * stride, Z, right, product)
    multiplied(m, 2 * stride, Z, right + stride, product + 2 * stride)
    for k in range(m):
        re, im = product[k] - product[3 * stride + k], product[stride + k] + product[2 * stride + k]
        change[k] = 2.0 * re
        change[m + k] = 4.0 * (re + ROOT3 * im)
    return 0


def made_for_pairs(env: words, box: words, ctl: ptr, h: float, ahead: int, x: ptr) -> int:
    """S for steps of h on the next stretch of the way, or, if it is not to be ``ahead``, for the next step alone."""
    here, span = doubles(box[HERE]), h
    box[KEPT] = 0
    if ahead == 1:
        span = box[SERVED] * h
        if box[SERVED] == 0 or box[SERVED] >= BRIEF:
            if mass_at(env, box, x, here) != 0.0:
                return undefined(env)
            span = max(h, stretch(env, box, ctl, x, here))
    ctl[SPAN] = span
    if matrix_ahead(env, box, ctl, x, span) != 0.0:
        return undefined(env)
    measured(env, box)
    box[FACTORISATIONS] = box[FACTORISATIONS] + 1
    if paired(env, box, h) != 0:
        return UNSOLVED
    box[KEPT] = 1
    box[SERVED] = 0
    ctl[KEPT_H] = h
    return SOLVED


# ------------------------------------------------------------------ a step
def predicted_pair(env: words, box: words, h: float, x: ptr, z: ptr, y: ptr) -> int:
    """Where Newton's method begins: along the line through the accelerations of the middle of the last step and its
    end. 0."""
    a0, am, a1 = a_of(env, x), a_of(env, z), a_of(env, y)
    p0, f0, pm, p1 = p_of(env, x), f_of(env, x), p_of(env, z), p_of(env, y)
    for k in range(env[NV]):
        rise = a0[k] - am[k] if box[MIDDLE_KNOWN] == 1 else 0.0
        am[k] = a0[k] + rise
        a1[k] = a0[k] + 2.0 * rise
    for k in range(env[NP]):
        pm[k] = p0[k] + 0.5 * h * f0[k]
        p1[k] = p0[k] + h * f0[k]
    return 0


def advanced_pair(env: words, box: words, h: float, x: ptr, z: ptr, y: ptr) -> int:
    """q and v of both stages for their accelerations. 0."""
    n, move, c = env[NV], doubles(box[MOVE]), h * h
    v0, a0, am, a1 = v_of(env, x), a_of(env, x), a_of(env, z), a_of(env, y)
    vm, v1, w1 = v_of(env, z), v_of(env, y), w_of(env, y)
    for k in range(n):
        s, m, e = a0[k], am[k], a1[k]
        vm[k] = v0[k] + h * (5.0 * s + 8.0 * m - e) / 24.0
        v1[k] = v0[k] + h * (s + 4.0 * m + e) / 6.0
        z[k] = x[k] + (0.5 * h * v0[k] + c * (3.0 * s + 4.0 * m - e) / 48.0)
        move[k] = h * v0[k] + c * (s + 2.0 * m) / 6.0
        w1[k] = e
    for k in range(n):
        y[k] = x[k] + move[k]
    return 0


def residual_of_pair(env: words, box: words, t: float, h: float, x: ptr, z: ptr, y: ptr) -> float:
    """PAIR_RESIDUAL: H and the equations of p of both stages; zero if all is finite."""
    n, np, r, both = env[NV], env[NP], doubles(box[RESIDUAL]), doubles(box[PAIR_RESIDUAL])
    m = n + np
    advanced_pair(env, box, h, x, z, y)
    bad = efforts(env, t - 0.5 * h, z) + unbalanced(env, box, t - 0.5 * h, z, v_of(env, z), z)
    copy(n, r, both)
    bad = bad + efforts(env, t, y) + unbalanced(env, box, t, y, v_of(env, y), y)
    copy(n, r, both + m)
    p0, f0, pm, fm, p1, f1 = p_of(env, x), f_of(env, x), p_of(env, z), f_of(env, z), p_of(env, y), f_of(env, y)
    for k in range(np):
        both[n + k] = pm[k] - p0[k] - h * (5.0 * f0[k] + 8.0 * fm[k] - f1[k]) / 24.0
        both[m + n + k] = p1[k] - p0[k] - h * (f0[k] + 4.0 * fm[k] + f1[k]) / 6.0
    return bad


def pair_fulfilled(env: words, box: words, h: float, share: float, x: ptr, z: ptr, y: ptr) -> int:
    """Whether the residuals of both stages are small enough."""
    m, r, both = env[NV] + env[NP], doubles(box[RESIDUAL]), doubles(box[PAIR_RESIDUAL])
    copy(m, both, r)
    if fulfilled(env, box, h, share, x, z) == 0:
        return 0
    copy(m, both + m, r)
    return fulfilled(env, box, h, share, x, y)


def pair_passes(env: words, box: words, ctl: ptr, t: float, h: float, x: ptr, y: ptr) -> int:
    """The end y, at t, of a step of h from x with the present S."""
    n, np, z, share = env[NV], env[NP], doubles(box[MIDDLE]), max(ctl[SHARE], TIGHT)
    m = n + np
    change, tries = doubles(box[PAIR_CHANGE]), 0
    am, pm, a1, p1 = a_of(env, z), p_of(env, z), a_of(env, y), p_of(env, y)
    predicted_pair(env, box, h, x, z, y)
    box[MIDDLE_KNOWN] = 0
    while True:
        if residual_of_pair(env, box, t, h, x, z, y) != 0.0:
            return undefined(env)
        if tries >= box[ITERATIONS] and pair_fulfilled(env, box, h, share, x, z, y) == 1:
            break
        if tries >= TRIES:
            return UNSOLVED
        pair_solved(env, box)
        for k in range(n):
            am[k] = am[k] - change[k]
            a1[k] = a1[k] - change[m + k]
        for k in range(np):
            pm[k] = pm[k] - change[n + k]
            p1[k] = p1[k] - change[m + n + k]
        tries = tries + 1
        box[NEWTON] = box[NEWTON] + 1
    box[MIDDLE_KNOWN] = 1
    box[LONGEST_SERVICE] = max(box[LONGEST_SERVICE], box[SERVED] + 1)
    box[KEPT] = worth_keeping(box, tries)
    return SOLVED


def worth_keeping(box: words, tries: int) -> int:
    """Whether S serves on after a step that took so many Newton steps: while the next step is likely to take no more
    than steps have taken on average since it was made, its making included."""
    box[SERVED] = box[SERVED] + 1
    if box[SERVED] == 1:
        box[FRESH] = tries
        box[EXTRA] = 0
        return 1
    more = max(0, tries - box[FRESH])
    box[EXTRA] = box[EXTRA] + more
    return 1 if more * box[SERVED] <= MAKING + box[EXTRA] else 0
