"""Newton's method for the end of an implicit step, damped, with a matrix that is made anew where it converges slowly.

A Newton step is halved while the norm of the residual does not shrink, up to ten times: friction that changes its sign
within 1e-5 rad/s lets whole steps jump from side to side. The norm is that of (h H_j / M_jj, p_k), rates and states,
relative to one plus their size, or to what counts as one. A factorisation without pivots that leads nowhere is done
again with them."""

from __future__ import annotations

from gyrostat.engine.drivers.linear_algebra import regular
from gyrostat.engine.drivers.words import copy, doubles, ptr, sqrt, words
from gyrostat.simulate.kernels.environment import ABORT, NP, NV
from gyrostat.simulate.methods.drivers.fixed_clock import WORST
from gyrostat.simulate.methods.drivers.implicit_equations import (
    applied,
    factorised,
    fulfilled,
    matrix,
    measured,
    residual,
    share_of,
)
from gyrostat.simulate.methods.drivers.implicit_memory import (
    ALPHA_F,
    ALPHA_M,
    BASE,
    BASE_RESIDUAL,
    BETA,
    BLOCKS,
    BY_TREE,
    CHANGE,
    FACTORISATIONS,
    FACTORS,
    GAMMA,
    NEWTON,
    PIVOTED,
    RESIDUAL,
    SHARE,
    SIZES,
    WEIGHTS,
    WHOLE,
    a_of,
    f_of,
    p_of,
    v_of,
    w_of,
)

SOLVED, UNSOLVED, UNDEFINED, ABORTED = 0, 1, 2, 3
"""How Newton's method ends: solved; not solved; something was not finite; a Python function has failed."""
CLOSE, CONVERGED = 1e-8, 1e-11
"""Changes of q, v and p, relative to one plus their size: from the first on the residual is looked at, from the second
on Newton's iteration ends if the residual is within ``rtol`` of the forces."""
TIGHT = 1e-12
"""Residual, relative to the forces, at which it ends whatever the changes are."""
SLOW = 0.3
"""Ratio of two changes above which the matrix is computed anew."""
MOST_ITERATIONS = 20
MOST_DAMPED = 100
"""Newton steps in all, and those that were shortened, which do not count among the first."""
SHORTENED = 10
"""How often a Newton step is halved."""
HARD = 6
"""Newton steps from which on a solution may be another one than that of the step."""
ENOUGH = 1e-4
"""Part of the decrease of the residual's norm that a Newton step promises which is enough."""


def undefined(env: words) -> int:
    """What is not finite, or has failed."""
    return ABORTED if env[ABORT] != 0 else UNDEFINED


# ------------------------------------------------------------------ the start
def foreseen(env: words, box: words, ctl: ptr, t: float, h: float, x: ptr, y: ptr) -> int:
    """Where Newton's iteration begins, and the residual there: with the acceleration of the start, or, where that would
    change the rates by much, with the one that leaves them, whichever is nearer to a solution. Strong damping takes
    back within the step what a large acceleration at its start would do."""
    n, np = env[NV], env[NP]
    v0, a0, w0, p0, f0, a1, p1 = (
        v_of(env, x),
        a_of(env, x),
        w_of(env, x),
        p_of(env, x),
        f_of(env, x),
        a_of(env, y),
        p_of(env, y),
    )
    copy(n, a0, a1)
    for k in range(np):
        p1[k] = p0[k] + h * f0[k]
    usual, much = 1, 0
    if residual(env, box, ctl, t, h, x, y) != 0.0:
        if env[ABORT] != 0:
            return ABORTED
        usual = 0
    for k in range(n):
        if not (h * abs(a0[k]) <= 1.0 + abs(v0[k])):
            much = 1
    if much == 0:
        return SOLVED if usual == 1 else UNDEFINED
    r, first = doubles(box[RESIDUAL]), doubles(box[BASE_RESIDUAL])
    copy(n + np, r, first)
    am, af, back = ctl[ALPHA_M], ctl[ALPHA_F], (1.0 - ctl[GAMMA]) / ctl[GAMMA]
    for k in range(n):
        a1[k] = ((am - (1.0 - am) * back) * w0[k] - af * a0[k]) / (1.0 - af)
    if residual(env, box, ctl, t, h, x, y) != 0.0:
        if env[ABORT] != 0:
            return ABORTED
        if usual == 0:
            return UNDEFINED
    elif usual == 0:
        return SOLVED
    else:
        gain = 0.0
        for k in range(n + np):
            total = abs(first[k]) + abs(r[k])
            if total > 0.0:
                gain = gain + (abs(first[k]) - abs(r[k])) / total
        if gain > 0.0:
            return SOLVED
    copy(n, a0, a1)
    return SOLVED if residual(env, box, ctl, t, h, x, y) == 0.0 else undefined(env)


# ------------------------------------------------------------------ sizes
def size_of_change(env: words, box: words, ctl: ptr, h: float, y: ptr) -> float:
    """Greatest change of q, v, p by a Newton step, relative to one plus their size (of p: to what counts as one)."""
    n, v, a, p, change, sizes = (
        env[NV],
        v_of(env, y),
        a_of(env, y),
        p_of(env, y),
        doubles(box[CHANGE]),
        doubles(box[SIZES]),
    )
    c, most, fastest, worst = share_of(ctl), 0.0, -1.0, 0
    for k in range(n):
        d, reach = abs(change[k]) * c, h * abs(a[k])
        most = max(most, ctl[BETA] * h * h * d / (1.0 + h * abs(v[k]) + h * reach))
        most = max(most, ctl[GAMMA] * h * d / (1.0 + abs(v[k]) + reach))
        if not (d <= fastest):
            fastest = d
            worst = k
    box[WORST] = worst
    for k in range(env[NP]):
        most = max(most, abs(change[n + k]) / (sizes[k] + abs(p[k])))
    return most


def weighted(env: words, box: words, h: float, x: ptr) -> int:
    """WEIGHTS of the norm, from M and the state at the start."""
    n, v, p = env[NV], v_of(env, x), p_of(env, x)
    M, sizes, weights = doubles(box[BLOCKS]) + 2 * n * n, doubles(box[SIZES]), doubles(box[WEIGHTS])
    for k in range(n):
        weights[k] = h / (max(abs(M[k * n + k]), 1e-300) * (1.0 + abs(v[k])))
    for k in range(env[NP]):
        weights[n + k] = 1.0 / (sizes[k] + abs(p[k]))
    return 0


def norm(env: words, box: words) -> float:
    """Of the residual."""
    r, weights, total = doubles(box[RESIDUAL]), doubles(box[WEIGHTS]), 0.0
    for k in range(env[NV] + env[NP]):
        x = r[k] * weights[k]
        total = total + x * x
    return sqrt(total)


# ------------------------------------------------------------------ Newton steps
def tried(env: words, box: words, ctl: ptr, t: float, h: float, part: float, x: ptr, y: ptr) -> float:
    """The residual at y after a part of the change from the base; zero if it is finite."""
    n, a, p, base, change = env[NV], a_of(env, y), p_of(env, y), doubles(box[BASE]), doubles(box[CHANGE])
    for k in range(n):
        a[k] = base[k] - part * change[k]
    for k in range(env[NP]):
        p[k] = base[n + k] - part * change[n + k]
    return residual(env, box, ctl, t, h, x, y)


def prepared(env: words, box: words, ctl: ptr, t: float, h: float, x: ptr, y: ptr) -> int:
    """The matrix at y, factorised."""
    if matrix(env, box, ctl, t, h, y, v_of(env, y), a_of(env, y), p_of(env, y)) != 0.0:
        return undefined(env)
    measured(env, box)
    weighted(env, box, h, x)
    box[FACTORISATIONS] = box[FACTORISATIONS] + 1
    return UNSOLVED if factorised(env, box, doubles(box[WHOLE])) != 0 else SOLVED


def reachable(env: words, box: words) -> int:
    """Whether a solution belongs to the step: one that grows out of its start has a matrix that grows out of the mass
    matrix. Efforts that grow faster than the step is long have others, far away."""
    n, size, A = env[NV], env[NV] + env[NP], doubles(box[FACTORS])
    copy(size * size, doubles(box[WHOLE]), A)
    return regular(n, size, A)


def newton(env: words, box: words, ctl: ptr, t: float, h: float, x: ptr, y: ptr) -> int:
    """The end y, at t, of a step of h from x."""
    n, np = env[NV], env[NP]
    size = n + np
    r, change, base, kept = (
        doubles(box[RESIDUAL]),
        doubles(box[CHANGE]),
        doubles(box[BASE]),
        doubles(box[BASE_RESIDUAL]),
    )
    box[PIVOTED] = 0
    status = foreseen(env, box, ctl, t, h, x, y)
    if status != SOLVED:
        return status
    age, moved, before, count, total = -1, 1e300, 1e300, 0, 0
    level = 0.0
    while count < MOST_ITERATIONS and total < MOST_DAMPED:
        if age < 0:
            status = prepared(env, box, ctl, t, h, x, y)
            if status != SOLVED:
                return status
            age = 0
            level = norm(env, box)
        copy(size, r, change)
        copy(size, r, kept)
        copy(n, a_of(env, y), base)
        copy(np, p_of(env, y), base + n)
        applied(env, box, change)
        box[NEWTON] = box[NEWTON] + 1
        total = total + 1
        part, good, after = 1.0, 0, 0.0
        for k in range(SHORTENED + 1):
            bad = tried(env, box, ctl, t, h, part, x, y)
            if env[ABORT] != 0:
                return ABORTED
            if bad == 0.0:
                after = norm(env, box)
                size_now = part * size_of_change(env, box, ctl, h, y)
                if after <= (1.0 - ENOUGH * part) * level or size_now <= CLOSE:
                    good = 1
            if good == 1 or age > 0 or (k == 0 and box[BY_TREE] == 1):
                break
            part = 0.5 * part
        if good == 0 and (age > 0 or box[BY_TREE] == 1):  # again from here, with a better matrix
            if age == 0:
                box[PIVOTED] = 1
            copy(size, kept, r)
            copy(n, base, a_of(env, y))
            copy(np, base + n, p_of(env, y))
            age = -1
            count = count + 1
            continue
        if good == 0:  # nowhere down: as far as Newton's method says
            part = 1.0
            if tried(env, box, ctl, t, h, part, x, y) != 0.0:
                return undefined(env)
            after = norm(env, box)
        before = moved
        moved = part * size_of_change(env, box, ctl, h, y)
        level = after
        if moved <= CLOSE:
            share = max(ctl[SHARE], TIGHT) if moved <= CONVERGED else TIGHT
            if fulfilled(env, box, h, share, x, y) == 1:
                if total < HARD or reachable(env, box) == 1:
                    return SOLVED
                return UNSOLVED
        age = age + 1
        if moved > SLOW * before or moved <= CONVERGED or part < 1.0:
            age = -1
        if part == 1.0:
            count = count + 1
        else:
            total = max(total, HARD)
    return UNSOLVED
