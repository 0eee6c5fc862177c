"""Steps with a matrix S that is kept for many of them, in machine code: what the method of AS 2.1 does.

    a1 = 2 a - a_before,    p1 = p + h f                                                               predictor
    (q1, v1) by the formulas from a1,    r = (H(q1, v1, a1, p1, t1), p1 - p - h/2 (f + f1))            a pass
    accepted by r: the step ends; otherwise    (a1, p1) -= S r                                         (6)

    S^-1 = (1 - b) M + h/2 dH/dv + h^2/4 dH/dq at a configuration q*,                                  (7)

with a share b = BIAS of the mass matrix left out for the first Newton step of each step, without it for further ones.
The error of S against the same matrix at another configuration q is bounded by the eigenvalues e of S (M(q) - (1 - b)
M(q*)), in all directions at once. At q* they are about b; S serves while they stay within LEAST and MOST. Whether they
do is seen by two factorisations of Cholesky: MOST S^-1 - (M(q) - (1 - b) M(q*)) and M(q) - (1 - b) M(q*) - LEAST S^-1
must be positive definite, the latter with a part of the damping added."""

from __future__ import annotations

from gyrostat.engine.drivers.linear_algebra import definite, gauss_jordan, multiplied
from gyrostat.engine.drivers.words import copy, count_at, doubles, fma, kernel, ptr, sqrt, words
from gyrostat.simulate.kernels.environment import ABORT, LIVE, MASS, NP, NV, TIME, WORK
from gyrostat.simulate.methods.drivers.fixed_clock import DT, T
from gyrostat.simulate.methods.drivers.implicit_equations import (
    along,
    fulfilled,
    matrix,
    measured,
    residual,
    share_of,
    summed,
)
from gyrostat.simulate.methods.drivers.implicit_memory import (
    BEFORE,
    BETA,
    BIASED_INVERSE,
    BLOCKS,
    CHANGE,
    FACTORISATIONS,
    FACTORS,
    GAMMA,
    HERE,
    INTERVAL,
    ITERATIONS,
    KEPT,
    KEPT_DAMPING,
    KEPT_MASS,
    KEPT_MATRIX,
    KEPT_Q,
    LONGEST_SERVICE,
    MATRIX,
    METRIC,
    NEWTON,
    NEXT_LOOK,
    PATIENCE,
    PIVOTS,
    PREDICTED,
    RESIDUAL,
    SERVED,
    SHARE,
    SLOPES_SERVE,
    SPAN,
    SPARE,
    STRIDE,
    THERE,
    TRIED,
    WHOLE,
    WHOLE_INVERSE,
    WHOLE_KNOWN,
    a_of,
    f_of,
    p_of,
    v_of,
)
from gyrostat.simulate.methods.drivers.newton import SOLVED, TIGHT, UNSOLVED, undefined

BIAS = 0.13
"""Share of the mass matrix that is left out. One Newton step with a matrix that is too large makes undamped vibrations
grow, by up to 5 % a step where it is off by 5 %; with one that is too small by up to a quarter it does not. With this
share the mass matrix may change by as much to either side."""
LEAST, MOST = -0.005, 0.23
"""Eigenvalues e between which S serves."""
DAMPED = 0.25
"""Part of h/2 dH/dv by which the mass matrix may become smaller besides: damping takes away what S feeds."""
NEAR = 0.95
"""Part of the way to these limits that is used."""
SLOW = 0.27
"""Ratio of a Newton step to the one before it up to which S serves."""
ROUNDING = 1e-13
"""Change of q, relative to one plus its size, that is rounding."""
STRETCH = 0.7
"""Part of what S can bear that is used up by the middle of the way which it is made for."""
FIRST_STEPS, MOST_STEPS = 16, 256
"""Steps that the first S, and any S, is made for."""
TRIES = 8
"""Newton steps with S, after which a step is given up."""
LOOKS, FARTHEST = 4, 32
"""How often the mass matrix is looked at on the way that S is made for; steps between two looks at most."""
LEAST_PATIENCE, MOST_PATIENCE = 4, 64
"""Steps that S serves however slowly Newton's method converges: twice as many where a new one is no better."""
SELDOM = 4
"""Steps after which the convergence is looked at where they need no more Newton steps than they must have."""
BRIEF = 8
"""Steps that an S must serve so that it pays to compute how long the next one will."""
POWERS = 5
"""Iterations for the largest change of the mass matrix."""
EXACT, SPRINGS, DIAGONAL = 0, 1, 2


# ------------------------------------------------------------------ mass matrices
def mass_at(env: words, box: words, q: ptr, M: ptr) -> float:
    """M (nv, nv) at q; its diagonal alone if nothing else is used."""
    return kernel(env[MASS])(doubles(env[TIME]), q, doubles(env[LIVE]), M, doubles(env[WORK]))


def mass_inverse(env: words, box: words, M: ptr) -> int:
    """METRIC: M^-1, columns of STRIDE numbers. 0; 1 if M is singular."""
    n, stride, P = env[NV], box[STRIDE], doubles(box[METRIC])
    for i in range(n):
        row = P + i * stride
        copy(n, M + i * n, row)
        for j in range(n, stride):
            row[j] = 0.0
    return gauss_jordan(n, stride, P, count_at(box[PIVOTS]), doubles(box[RESIDUAL]))


def change_of_mass(env: words, box: words, M: ptr, other: ptr) -> float:
    """Largest relative change of the mass matrix from M, whose inverse is METRIC, to another one, in any direction, by
    powers of M^-1 (other - M)."""
    n, P, x = env[NV], doubles(box[METRIC]), doubles(box[SPARE])
    for k in range(n):
        x[k] = (1.0 + 0.1 * k) / sqrt(M[k * n + k])
    y, z, largest = x + n, doubles(box[RESIDUAL]), 0.0
    for _turn in range(POWERS):
        up, down = 0.0, 0.0
        for i in range(n):
            s, m = 0.0, 0.0
            for j in range(n):
                s = fma(other[i * n + j] - M[i * n + j], x[j], s)
                m = fma(M[i * n + j], x[j], m)
            y[i] = s
            up = fma(s, x[i], up)
            down = fma(m, x[i], down)
        if not (down > 0.0):
            return 1e300
        largest = max(largest, abs(up / down))
        multiplied(n, box[STRIDE], P, y, z)
        size = 0.0
        for i in range(n):
            size = max(size, abs(z[i]))
        if not (size > 0.0):
            return largest
        size = 1.0 / size
        for i in range(n):
            x[i] = z[i] * size
    return largest


def serves(env: words, box: words, near: float, M: ptr) -> int:
    """Whether S serves where the mass matrix is M, up to a part of the way to its limits."""
    n, stride, damping = env[NV], box[STRIDE], doubles(box[KEPT_DAMPING])
    kept, metric, test = doubles(box[KEPT_MASS]), doubles(box[KEPT_MATRIX]), doubles(box[METRIC])
    most, least = near * MOST, near * LEAST
    for i in range(n):
        row, at = test + i * stride, i * n
        for j in range(n):
            row[j] = most * metric[at + j] - (M[at + j] - kept[at + j])
    if definite(n, stride, test) == 0:
        return 0
    for i in range(n):
        row, at = test + i * stride, i * n
        for j in range(n):
            row[j] = (M[at + j] - kept[at + j]) - least * metric[at + j] + damping[at + j]
    return definite(n, stride, test)


# ------------------------------------------------------------------ S
def stretch(env: words, box: words, ctl: ptr, x: ptr, M: ptr) -> float:
    """Time [s] in which the mass matrix changes by what S can bear, at the present rates; M: that of now."""
    if box[MATRIX] == DIAGONAL:
        return 0.0
    n, h, other = env[NV], ctl[DT], doubles(box[THERE])
    move, q, v = doubles(box[CHANGE]), doubles(box[KEPT_Q]), v_of(env, x)
    if mass_inverse(env, box, M) != 0:
        return 0.0
    span = min(max(2.0 * ctl[SPAN], 2.0 * FIRST_STEPS * h), MOST_STEPS * h)
    for _turn in range(3):
        for k in range(n):
            move[k] = 0.5 * span * v[k]
        if along(env, x, move, q) + mass_at(env, box, q, other) != 0.0:
            return 0.0
        change = change_of_mass(env, box, M, other)
        if change <= 1.2 * STRETCH * BIAS:
            return span
        span = span * (STRETCH * BIAS / change)
    return span


def matrix_ahead(env: words, box: words, ctl: ptr, x: ptr, span: float) -> float:
    """WHOLE of the kind that is asked for, in the middle of a stretch of the way."""
    n, size = env[NV], env[NV] + env[NP]
    move, q, v, rest = doubles(box[CHANGE]), doubles(box[KEPT_Q]), v_of(env, x), doubles(box[SPARE])
    for k in range(n):
        move[k] = 0.5 * span * v[k]
        rest[k] = 0.0
    bad = along(env, x, move, q)
    if box[SLOPES_SERVE] == 1:
        c, h = share_of(ctl), ctl[DT]
        bad = bad + mass_at(env, box, q, doubles(box[BLOCKS]) + 2 * n * n)
        summed(env, box, h, c * ctl[GAMMA] * h, c * ctl[BETA] * h * h)
        return bad
    if box[MATRIX] == EXACT:
        return bad + matrix(env, box, ctl, ctl[T], ctl[DT], q, v, a_of(env, x), p_of(env, x))
    bad = bad + matrix(env, box, ctl, ctl[T], ctl[DT], q, rest, rest, p_of(env, x))
    if box[MATRIX] == DIAGONAL:
        A, M = doubles(box[WHOLE]), doubles(box[BLOCKS]) + 2 * n * n
        for i in range(size):
            for j in range(size):
                if i != j:
                    A[i * size + j] = 0.0
                    if i < n and j < n:
                        M[i * n + j] = 0.0
    return bad


def inverted(env: words, box: words, A: ptr, S: ptr) -> int:
    """S: the inverse of A (nv + np, nv + np), column by column, STRIDE numbers each. 0; 1 if A is singular."""
    size, stride = env[NV] + env[NP], box[STRIDE]
    for j in range(size):
        column = S + j * stride
        for i in range(size):
            column[i] = A[i * size + j]
        for i in range(size, stride):
            column[i] = 0.0
    return gauss_jordan(size, stride, S, count_at(box[PIVOTS]), doubles(box[CHANGE]))


def damped(env: words, box: words, by_v: float) -> int:
    """KEPT_DAMPING (nv, nv): what damping lets the mass matrix shrink by."""
    n, f_v, damping = env[NV], doubles(box[BLOCKS]) + env[NV] * env[NV], doubles(box[KEPT_DAMPING])
    tau_v = f_v + 3 * n * n
    for i in range(n):
        for j in range(n):
            both = (f_v[i * n + j] - tau_v[i * n + j]) + (f_v[j * n + i] - tau_v[j * n + i])
            damping[i * n + j] = 0.5 * DAMPED * by_v * both
    return 0


def biased(env: words, box: words) -> int:
    """S from WHOLE and M, and what tells how long it serves. 0; 1 if it is singular."""
    n, size = env[NV], env[NV] + env[NP]
    A, M, B = doubles(box[WHOLE]), doubles(box[BLOCKS]) + 2 * n * n, doubles(box[FACTORS])
    kept, metric, test = doubles(box[KEPT_MASS]), doubles(box[KEPT_MATRIX]), doubles(box[METRIC])
    copy(size * size, A, B)
    for i in range(n):
        for j in range(n):
            B[i * size + j] = A[i * size + j] - BIAS * M[i * n + j]
            kept[i * n + j] = (1.0 - BIAS) * M[i * n + j]
    for i in range(n):
        for j in range(n):
            metric[i * n + j] = 0.5 * (B[i * size + j] + B[j * size + i])
    for i in range(n):
        copy(n, metric + i * n, test + i * box[STRIDE])
    if definite(n, box[STRIDE], test) == 0:  # strongly unsymmetric, by a controller
        copy(n * n, kept, metric)
    box[WHOLE_KNOWN] = 0
    return inverted(env, box, B, doubles(box[BIASED_INVERSE]))


def made(env: words, box: words, ctl: ptr, x: ptr) -> int:
    """S (7) for the next stretch of the way: made at its middle, so that it serves twice as long."""
    here = doubles(box[HERE])
    if box[MATRIX] != DIAGONAL and mass_at(env, box, x, here) != 0.0:
        return undefined(env)
    span = box[SERVED] * ctl[DT]
    if box[SLOPES_SERVE] == 0 or box[SERVED] >= BRIEF:
        span = stretch(env, box, ctl, x, here)
    box[KEPT] = 0
    while True:
        ctl[SPAN] = span
        if matrix_ahead(env, box, ctl, x, span) == 0.0:
            measured(env, box)
            if box[SLOPES_SERVE] == 0:
                damped(env, box, share_of(ctl) * ctl[GAMMA] * ctl[DT])
            box[FACTORISATIONS] = box[FACTORISATIONS] + 1
            if biased(env, box) == 0:
                box[KEPT] = 1
        elif env[ABORT] != 0:
            return undefined(env)
        if box[KEPT] == 1 and (span == 0.0 or serves(env, box, 1.0, here) == 1):
            break
        if span == 0.0:
            box[SLOPES_SERVE] = 0
            return UNSOLVED
        box[KEPT] = 0
        span = 0.0
    box[SERVED] = 0
    box[SLOPES_SERVE] = 0
    box[INTERVAL] = max(1, min(FARTHEST, int(span / (ctl[DT] * LOOKS))))
    box[NEXT_LOOK] = 2 * box[INTERVAL]  # at the middle: S was made there, and has been looked at here
    return SOLVED


def whole_inverse(env: words, box: words) -> ptr:
    """The same without a bias, for further Newton steps."""
    S = doubles(box[WHOLE_INVERSE])
    if box[WHOLE_KNOWN] == 0:
        if inverted(env, box, doubles(box[WHOLE]), S) != 0:
            copy((env[NV] + env[NP]) * box[STRIDE], doubles(box[BIASED_INVERSE]), S)
        box[WHOLE_KNOWN] = 1
    return S


# ------------------------------------------------------------------ a step
def passes(env: words, box: words, ctl: ptr, t: float, x: ptr, y: ptr) -> int:
    """The end y, at t, of a step from x with the present S."""
    n, np, h = env[NV], env[NP], ctl[DT]
    size = n + np
    a0, p0, f0, a1, p1 = a_of(env, x), p_of(env, x), f_of(env, x), a_of(env, y), p_of(env, y)
    before, first = doubles(box[BEFORE]), doubles(box[PREDICTED])
    r, change, share = doubles(box[RESIDUAL]), doubles(box[CHANGE]), max(ctl[SHARE], TIGHT)
    for k in range(n):
        first[k] = 2.0 * a0[k] - before[k]
        a1[k] = first[k]
    for k in range(np):
        p1[k] = p0[k] + h * f0[k]
    tries = 0
    while True:
        if residual(env, box, ctl, t, h, x, y) != 0.0:
            return undefined(env)
        if tries >= box[ITERATIONS] and fulfilled(env, box, h, share, x, y) == 1:
            box[TRIED] = tries
            return SOLVED
        if tries >= TRIES:
            return UNSOLVED
        if tries == 0:
            multiplied(size, box[STRIDE], doubles(box[BIASED_INVERSE]), r, change)
        else:
            multiplied(size, box[STRIDE], whole_inverse(env, box), r, change)
        for k in range(n):
            a1[k] = a1[k] - change[k]
        for k in range(np):
            p1[k] = p1[k] - change[n + k]
        tries = tries + 1
        box[NEWTON] = box[NEWTON] + 1


def slow(env: words, box: words, ctl: ptr, y: ptr) -> int:
    """Whether Newton's method has converged slowly, a Newton step relative to the one before it. What is rounding does
    not count."""
    n, h, a, v = env[NV], ctl[DT], a_of(env, y), v_of(env, y)
    first, rest = doubles(box[PREDICTED]), doubles(box[CHANGE])
    multiplied(n + env[NP], box[STRIDE], doubles(box[BIASED_INVERSE]), doubles(box[RESIDUAL]), rest)
    left, gone, matters = 0.0, 0.0, 0
    for k in range(n):
        left = max(left, abs(rest[k]))
        gone = max(gone, abs(a[k] - first[k]))
        if 0.25 * h * h * abs(rest[k]) > ROUNDING * (1.0 + h * abs(v[k])):
            matters = 1
    allowed = max(gone, 1e-300)
    for _k in range(max(1, box[TRIED])):
        allowed = SLOW * allowed
    return 1 if matters == 1 and left > allowed else 0


def served(env: words, box: words, ctl: ptr, y: ptr) -> int:
    """S has served another step, which ends at y: whether it serves on."""
    box[SERVED] = box[SERVED] + 1
    box[LONGEST_SERVICE] = max(box[LONGEST_SERVICE], box[SERVED])
    look = 1 if box[TRIED] > box[ITERATIONS] or box[SERVED] % SELDOM == 0 else 0
    if look == 1 and box[SERVED] >= box[PATIENCE] and slow(env, box, ctl, y) == 1:
        box[PATIENCE] = min(MOST_PATIENCE, 2 * box[PATIENCE]) if box[SERVED] < 2 * box[PATIENCE] else LEAST_PATIENCE
        box[KEPT] = 0
    elif box[MATRIX] != DIAGONAL and box[SERVED] >= box[NEXT_LOOK]:
        box[NEXT_LOOK] = box[SERVED] + box[INTERVAL]
        M = doubles(box[HERE])
        if mass_at(env, box, y, M) == 0.0:
            box[KEPT] = serves(env, box, NEAR, M)
            box[SLOPES_SERVE] = 1 - box[KEPT] if box[MATRIX] == EXACT else 0
    return box[KEPT]
