"""The equations of an implicit step in machine code: its formulas, residual, matrix, and whether it is accepted.

    (1 - alpha_m) w1 + alpha_m w0 = (1 - alpha_f) a1 + alpha_f a0,
    q1 = q0 (+) (h v0 + h^2 ((1/2 - beta) w0 + beta w1)),    v1 = v0 + h ((1 - gamma) w0 + gamma w1),
    H(t1, q1, v1, a1, p1) = rnea(q1, v1, a1) - tau(t1, q1, v1, p1) = 0,    p1 = p0 + h/2 (f0 + f1).

With a share c = dw1/da1 the matrix by (a1, p1) is, along the rates,

    ( M + c gamma h dH/dv + c beta h^2 dH/dq                 -dtau/dp      )
    ( -h/2 (c gamma h df/dv + c beta h^2 df/dq)              1 - h/2 df/dp )

A step is accepted by its residual, relative to the forces in it:

    |H_j| <= share (|tau_j| + |rnea_j| + sum_i |M_ji| |a_i|) + rounding_j
    |p1 - p0 - h/2 (f0 + f1)| <= share h/2 (|f0| + |f1|) + rounding

What is accepted is the exact solution of the step for efforts that are wrong by that share at most, however poor the
matrix of Newton's method was. ``rounding_j`` is what a change of q and p by rounding makes of the residual."""

from __future__ import annotations

from gyrostat.engine.drivers.linear_algebra import lu, multiplied, solve, tree_lu, tree_solve
from gyrostat.engine.drivers.words import copy, count_at, doubles, fma, kernel, ptr, words
from gyrostat.simulate.kernels.environment import (
    CONSTANTS,
    DIRECTIONS,
    INVERSE,
    JACOBIAN_COUNT,
    LAW,
    LAW_SLOPES,
    LIVE,
    MEMORY,
    NP,
    NQ,
    NV,
    PARAMETERS,
    PLAIN,
    PROJECTOR,
    PROJECTOR_BIAS,
    RESIDUAL_COUNT,
    RETRACT,
    SLOPES,
    TIME,
    WORK,
)
from gyrostat.simulate.kernels.newton_matrix import project
from gyrostat.simulate.methods.drivers.implicit_memory import (
    ALPHA_F,
    ALPHA_M,
    BETA,
    BLOCKS,
    BY_TREE,
    FACTORS,
    FIRST,
    FLOW,
    GAMMA,
    MASS_SIZE,
    MOVE,
    PIVOTED,
    PIVOTS,
    REACH,
    REACH_P,
    RESIDUAL,
    RUNS,
    SPARE,
    STRIDE,
    TREE,
    WHOLE,
    a_of,
    f_of,
    p_of,
    tau_of,
    v_of,
    w_of,
)

ROUNDING = 2e-15
"""Relative error of q, p and what is computed of them, that nothing can avoid."""


# ------------------------------------------------------------------ formulas
def along(env: words, q0: ptr, move: ptr, q: ptr) -> float:
    """q (nq,) reached from q0 along a displacement (nv,)."""
    if env[PLAIN] == 1:
        for k in range(env[NV]):
            q[k] = q0[k] + move[k]
        return 0.0
    return kernel(env[RETRACT])(q0, move, q, doubles(env[WORK]))


def share_of(ctl: ptr) -> float:
    """dw1/da1."""
    return (1.0 - ctl[ALPHA_F]) / (1.0 - ctl[ALPHA_M])


def advanced(env: words, box: words, ctl: ptr, h: float, x: ptr, y: ptr) -> float:
    """w, v and q at the end y of a step for the acceleration there."""
    v0, a0, w0, v1, a1, w1 = v_of(env, x), a_of(env, x), w_of(env, x), v_of(env, y), a_of(env, y), w_of(env, y)
    move = doubles(box[MOVE])
    am, af, beta, gamma = ctl[ALPHA_M], ctl[ALPHA_F], ctl[BETA], ctl[GAMMA]
    one = 1.0 / (1.0 - am)
    for k in range(env[NV]):
        w = ((1.0 - af) * a1[k] + af * a0[k] - am * w0[k]) * one
        w1[k] = w
        move[k] = h * v0[k] + (h * h) * ((0.5 - beta) * w0[k] + beta * w)
        v1[k] = v0[k] + h * ((1.0 - gamma) * w0[k] + gamma * w)
    return along(env, x, move, y)


# ------------------------------------------------------------------ residual
def efforts(env: words, t: float, y: ptr) -> float:
    """tau and f of a state."""
    time = doubles(env[TIME])
    time[0] = t
    fixed, numbers = doubles(env[PARAMETERS]), doubles(env[CONSTANTS])
    return kernel(env[LAW])(
        time,
        y,
        v_of(env, y),
        p_of(env, y),
        doubles(env[MEMORY]),
        fixed,
        numbers,
        tau_of(env, y),
        f_of(env, y),
        doubles(env[WORK]),
    )


def projected(env: words, box: words, q: ptr, v: ptr, a: ptr, r: ptr) -> float:
    """r (nv,) along the motions that active constraints leave, and what they ask of the accelerations."""
    n = env[NV]
    N, b, spare = doubles(env[PROJECTOR]), doubles(env[PROJECTOR_BIAS]), doubles(box[SPARE])
    bad = project(env, q, v)
    for i in range(n):
        x = a[i] + b[i]
        for j in range(n):
            x = fma(N[i * n + j], r[j] - a[j], x)
        spare[i] = x
    copy(n, spare, r)
    return bad


def unbalanced(env: words, box: words, t: float, q: ptr, v: ptr, y: ptr) -> float:
    """H (nv,) at (q, v) with a, p and tau of y; zero if it is finite."""
    r, tau, a = doubles(box[RESIDUAL]), tau_of(env, y), a_of(env, y)
    time = doubles(env[TIME])
    time[0] = t
    env[RESIDUAL_COUNT] = env[RESIDUAL_COUNT] + 1
    bad = kernel(env[INVERSE])(time, q, v, a, doubles(env[DIRECTIONS]), doubles(env[LIVE]), r, doubles(env[WORK]))
    for k in range(env[NV]):
        r[k] = r[k] - tau[k]
    if env[PROJECTOR] != 0:
        bad = bad + projected(env, box, q, v, a, r)
    return bad


def residual(env: words, box: words, ctl: ptr, t: float, h: float, x: ptr, y: ptr) -> float:
    """H (nv,), then p1 - p0 - h/2 (f0 + f1) (np,), for a and p of y, all else of which is found; zero if finite."""
    n, r = env[NV], doubles(box[RESIDUAL])
    bad = advanced(env, box, ctl, h, x, y)
    bad = bad + efforts(env, t, y)
    bad = bad + unbalanced(env, box, t, y, v_of(env, y), y)
    p0, f0, p1, f1 = p_of(env, x), f_of(env, x), p_of(env, y), f_of(env, y)
    for k in range(env[NP]):
        r[n + k] = p1[k] - p0[k] - 0.5 * h * (f0[k] + f1[k])
    return bad


# ------------------------------------------------------------------ matrix
def slopes(env: words, box: words, t: float, q: ptr, v: ptr, a: ptr, p: ptr) -> float:
    """The blocks: f_q, f_v, M, then tau_q, tau_v (nv, nv), tau_p (nv, np), p_q, p_v (np, nv), p_p (np, np)."""
    n, np = env[NV], env[NP]
    D = doubles(box[BLOCKS])
    E = D + 3 * n * n
    G = E + 2 * n * n
    time, work = doubles(env[TIME]), doubles(env[WORK])
    time[0] = t
    env[JACOBIAN_COUNT] = env[JACOBIAN_COUNT] + 1
    bad = kernel(env[SLOPES])(
        time, q, v, a, doubles(env[DIRECTIONS]), doubles(env[LIVE]), D, D + n * n, D + 2 * n * n, work
    )
    bad = bad + project(env, q, v)
    return bad + kernel(env[LAW_SLOPES])(
        time, q, v, p, doubles(env[MEMORY]), doubles(env[PARAMETERS]), doubles(env[CONSTANTS]),
        E, E + n * n, G, G + n * np, G + 2 * n * np, G + 3 * n * np, work,
    )  # fmt: skip


def restricted(env: words, box: words, width: int, A: ptr, unit: int) -> int:
    """The first nv rows of A (..., width) along the motions that active constraints leave; with ``unit`` those that
    they take away get ones."""
    n, N, spare = env[NV], doubles(env[PROJECTOR]), doubles(box[SPARE])
    for j in range(width):
        for i in range(n):
            x = 0.0
            for k in range(n):
                x = fma(N[i * n + k], A[k * width + j], x)
            spare[i] = x
        for i in range(n):
            A[i * width + j] = spare[i]
    if unit == 1:
        for i in range(n):
            for j in range(n):
                A[i * width + j] = A[i * width + j] - N[i * n + j]
            A[i * width + i] = A[i * width + i] + 1.0
    return 0


def summed(env: words, box: words, h: float, by_v: float, by_q: float) -> int:
    """WHOLE (nv + np, nv + np) from the blocks, with the weights of dH/dv and dH/dq; M becomes its part by a."""
    n, np = env[NV], env[NP]
    size = n + np
    A, f_q = doubles(box[WHOLE]), doubles(box[BLOCKS])
    f_v, M, tau_q = f_q + n * n, f_q + 2 * n * n, f_q + 3 * n * n
    tau_v, tau_p = tau_q + n * n, tau_q + 2 * n * n
    p_q, p_v, p_p = tau_p + n * np, tau_p + 2 * n * np, tau_p + 3 * n * np
    for i in range(n):
        row, at = A + i * size, i * n
        for j in range(n):
            row[j] = M[at + j] + by_v * (f_v[at + j] - tau_v[at + j]) + by_q * (f_q[at + j] - tau_q[at + j])
        for j in range(np):
            row[n + j] = -tau_p[i * np + j]
    for i in range(np):
        row, at = A + (n + i) * size, i * n
        for j in range(n):
            row[j] = -0.5 * h * (by_v * p_v[at + j] + by_q * p_q[at + j])
        for j in range(np):
            row[n + j] = -0.5 * h * p_p[i * np + j]
        row[n + i] = row[n + i] + 1.0
    if env[PROJECTOR] != 0:
        restricted(env, box, size, A, 1)
        restricted(env, box, n, M, 1)
    return 0


def measured(env: words, box: words) -> int:
    """What residuals are compared with, from WHOLE and M: |M|, and row by row what a change of all of q by one makes of
    the residual, and one of each p."""
    n, np, stride = env[NV], env[NP], box[STRIDE]
    size = n + np
    A, M = doubles(box[WHOLE]), doubles(box[BLOCKS]) + 2 * n * n
    mass, reach, reach_p = doubles(box[MASS_SIZE]), doubles(box[REACH]), doubles(box[REACH_P])
    for i in range(size):
        total = 0.0
        for j in range(n):
            x = A[i * size + j]
            if i < n:
                x = x - M[i * n + j]
                mass[j * stride + i] = abs(M[i * n + j])
            total = total + abs(x)
        reach[i] = total
        for j in range(np):
            x = A[i * size + n + j]
            if i == n + j:
                x = x - 1.0
            reach_p[i * np + j] = abs(x)
    return 0


def matrix(env: words, box: words, ctl: ptr, t: float, h: float, q: ptr, v: ptr, a: ptr, p: ptr) -> float:
    """WHOLE, the derivative of the residual by (a1, p1); zero if it is finite."""
    c = share_of(ctl)
    bad = slopes(env, box, t, q, v, a, p)
    summed(env, box, h, c * ctl[GAMMA] * h, c * ctl[BETA] * h * h)
    return bad


def factorised(env: words, box: words, A: ptr) -> int:
    """FACTORS of A (nv + np, nv + np): along the tree where that serves, else with pivots. 0; 1 if A is singular."""
    size, F = env[NV] + env[NP], doubles(box[FACTORS])
    copy(size * size, A, F)
    box[BY_TREE] = 0
    if box[TREE] == 1 and box[PIVOTED] == 0 and env[PROJECTOR] == 0:
        if tree_lu(size, F, count_at(box[FIRST]), count_at(box[RUNS])) == 0:
            box[BY_TREE] = 1
            return 0
        copy(size * size, A, F)
    return lu(size, F, count_at(box[PIVOTS]))


def applied(env: words, box: words, b: ptr) -> int:
    """b (nv + np,) becomes the solution for the matrix that was factorised."""
    size, F = env[NV] + env[NP], doubles(box[FACTORS])
    if box[BY_TREE] == 1:
        return tree_solve(size, F, count_at(box[FIRST]), count_at(box[RUNS]), b)
    return solve(size, F, count_at(box[PIVOTS]), b)


# ------------------------------------------------------------------ acceptance
def rounding(env: words, box: words, i: int, size: float, p: ptr) -> float:
    """What rounding makes of entry i of the residual; ``size``: the :func:`extent` of the state."""
    np, reach, reach_p = env[NP], doubles(box[REACH]), doubles(box[REACH_P])
    x = reach[i] * size
    for j in range(np):
        x = fma(reach_p[i * np + j], abs(p[j]), x)
    if i >= env[NV]:
        x = x + abs(p[i - env[NV]])
    return ROUNDING * x


def flowing(env: words, box: words, y: ptr) -> ptr:
    """sum_j |M_ij| |a_j| for all i."""
    n, a, size, flow = env[NV], a_of(env, y), doubles(box[SPARE]) + env[NV] + env[NP], doubles(box[FLOW])
    for j in range(n):
        size[j] = abs(a[j])
    multiplied(n, box[STRIDE], doubles(box[MASS_SIZE]), size, flow)
    return flow


def extent(env: words, h: float, y: ptr) -> float:
    """One plus the sum of |q|, as an acceleration over a step."""
    x = 1.0
    for k in range(env[NQ]):
        x = x + abs(y[k])
    return x * (4.0 / (h * h))


def balanced(env: words, box: words) -> ptr:
    """H without what active constraints ask of the accelerations, which is no force."""
    n, r = env[NV], doubles(box[RESIDUAL])
    if env[PROJECTOR] == 0:
        return r
    N, spare = doubles(env[PROJECTOR]), doubles(box[SPARE])
    for i in range(n):
        x = 0.0
        for j in range(n):
            x = fma(N[i * n + j], r[j], x)
        spare[i] = x
    return spare


def fulfilled(env: words, box: words, h: float, share: float, x: ptr, y: ptr) -> int:
    """Whether the residual at the end y of a step from x is small enough."""
    n, H, tau, p, size = env[NV], balanced(env, box), tau_of(env, y), p_of(env, y), extent(env, h, y)
    flow, known = doubles(box[FLOW]), 0
    for i in range(n):
        allowed = share * (abs(tau[i]) + abs(H[i] + tau[i])) + rounding(env, box, i, size, p)
        if not (abs(H[i]) <= allowed):
            if known == 0:
                flowing(env, box, y)
                known = 1
            if not (abs(H[i]) <= allowed + share * flow[i]):
                return 0
    r, f0, f1 = doubles(box[RESIDUAL]), f_of(env, x), f_of(env, y)
    for k in range(env[NP]):
        allowed = share * 0.5 * h * (abs(f0[k]) + abs(f1[k])) + rounding(env, box, n + k, size, p)
        if not (abs(r[n + k]) <= allowed):
            return 0
    return 1


def unbalance(env: words, box: words, h: float, y: ptr) -> float:
    """Largest entry of H, relative to the forces."""
    H, tau, p, size, most = balanced(env, box), tau_of(env, y), p_of(env, y), extent(env, h, y), 0.0
    flow = flowing(env, box, y)
    for i in range(env[NV]):
        force = abs(tau[i]) + abs(H[i] + tau[i]) + flow[i] + rounding(env, box, i, size, p)
        if force > 0.0:
            most = max(most, abs(H[i]) / force)
    return most
