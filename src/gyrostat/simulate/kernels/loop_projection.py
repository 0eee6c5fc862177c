"""Loops that are constraints, as drivers: states are projected onto g(q) = 0 and J v = 0, in the metric of the mass
matrix, or accelerations draw them together.

A step of Newton's method towards g = 0 is the shortest one, d = -M^-1 J^T (J M^-1 J^T)^-1 g, and rates lose M^-1 J^T (J
M^-1 J^T)^-1 J v: what an impact would take from them. Both are kernels. With k1 and k2 [AS (3b)]

    J a + dJ/dt v + k1 J v + k2 g = 0    is solved by    a + k1 (v_closed - v) + k2 d:

the same two kernels once more.

Memory, with n = nv: k1, k2, and two spare numbers | the last Newton step (n,) | how far the last projection has moved q
(n,) and v (n,) | spare (n,), (nq,), (nv,)."""

from __future__ import annotations

from gyrostat.engine.drivers.words import copy, doubles, fma, kernel, ptr, words
from gyrostat.simulate.kernels.closed_contacts import contact_rates, contact_step
from gyrostat.simulate.kernels.environment import (
    BAUMGARTE,
    CHART,
    CLOSE,
    CLOSED_RATES,
    CONTACTS,
    LIVE,
    LOOP_COUNT,
    LOOP_ROWS,
    LOOPS,
    NQ,
    NV,
    PLAIN,
    RETRACT,
    TIME,
    WORK,
)

K1, K2, HEAD = 0, 1, 4
MOST = 8
"""Newton steps of one projection."""
ENOUGH = 1e-9
"""Newton step [rad, m] after which the next one would be rounding: they become smaller quadratically."""
FARTHEST = 1.0
"""Newton step [rad, m] that leads anywhere."""
ALLOWED = 30.0
"""How many tolerances the projection of a step may move it."""


def loop_memory_size(nq: int, n: int) -> int:
    """Doubles of the memory."""
    return HEAD + 5 * n + nq


def closed_place(env: words, q: ptr) -> float:
    """q (nq,) becomes the place beside it in which the loops are closed; zero if there is one."""
    n, memory = env[NV], doubles(env[LOOPS]) + HEAD
    d, moved, other = memory, memory + n, memory + 4 * n
    for k in range(n):
        moved[k] = 0.0
    for _ in range(MOST):
        if closing_step(env, q, d) != 0.0:
            return 1.0
        largest = 0.0
        for k in range(n):
            moved[k] = moved[k] + d[k]
            largest = max(largest, abs(d[k]))
        if not (largest <= FARTHEST):
            return 1.0
        if env[PLAIN] == 1:
            for k in range(n):
                q[k] = q[k] + d[k]
        else:
            if kernel(env[RETRACT])(q, d, other, doubles(env[WORK])) != 0.0:
                return 1.0
            copy(env[NQ], other, q)
        if largest <= ENOUGH:
            return 0.0
    return 1.0


def closing_step(env: words, q: ptr, d: ptr) -> float:
    """d (nv,): towards closed loops, and closed contacts; zero if there is one."""
    if env[CONTACTS] != 0:
        return contact_step(env, q, d)
    return kernel(env[CLOSE])(doubles(env[TIME]), q, doubles(env[LIVE]), d, doubles(env[WORK]))


def closing_rates(env: words, q: ptr, v: ptr, rates: ptr) -> float:
    """rates (nv,): v without what opens loops, and contacts; zero if all is finite."""
    if env[CONTACTS] != 0:
        return contact_rates(env, q, v, rates)
    return kernel(env[CLOSED_RATES])(doubles(env[TIME]), q, v, doubles(env[LIVE]), rates, doubles(env[WORK]))


def closed_rates(env: words, q: ptr, v: ptr) -> float:
    """v (nv,) loses what opens the loops at q; zero if all is finite."""
    n, memory = env[NV], doubles(env[LOOPS]) + HEAD
    moved, rates = memory + 2 * n, memory + 3 * n
    bad = closing_rates(env, q, v, rates)
    for k in range(n):
        moved[k] = rates[k] - v[k]
        v[k] = rates[k]
    return bad


def closed_state(env: words, q: ptr, v: ptr) -> float:
    """q and v become those in which the loops are closed, and stay so; zero if there are such."""
    if env[CLOSE] == 0:
        return 0.0
    bad = closed_place(env, q)
    return bad + closed_rates(env, q, v) if bad == 0.0 else bad


def closed_stage(env: words, q0: ptr, y: ptr, q: ptr, x_rate: ptr) -> float:
    """q and the rates in y = (x, v, ...) become closed ones, and dx/dt is that of these rates."""
    n = env[NV]
    v = y + n
    bad = closed_state(env, q, v)
    if env[PLAIN] == 1:
        copy(n, v, x_rate)
        return bad
    other = doubles(env[LOOPS]) + HEAD + 4 * n
    return bad + kernel(env[CHART])(q0, y, v, other, x_rate, doubles(env[WORK]))


def drawn_together(env: words, q: ptr, v: ptr, a: ptr) -> float:
    """a (nv,) with what draws open loops together [AS (3b)]; zero if all is finite."""
    n, memory = env[NV], doubles(env[LOOPS])
    k1, k2, d, rates = memory[K1], memory[K2], memory + HEAD, memory + HEAD + 3 * n
    time, live, work = doubles(env[TIME]), doubles(env[LIVE]), doubles(env[WORK])
    bad = kernel(env[BAUMGARTE])(time, q, live, d, work)
    bad = bad + kernel(env[CLOSED_RATES])(time, q, v, live, rates, work)
    for k in range(n):
        a[k] = fma(k1, rates[k] - v[k], fma(k2, d[k], a[k]))
    return bad


def moved_too_far(env: words, allowed: ptr) -> int:
    """1 if the last projection has moved q or v by more than ``ALLOWED`` times what is ``allowed`` (2 nv,), else 0."""
    if env[CLOSE] == 0:
        return 0
    n, moved = env[NV], doubles(env[LOOPS]) + HEAD + env[NV]
    for k in range(2 * n):
        if not (abs(moved[k]) <= ALLOWED * allowed[k]):
            return 1
    return 0


def thrown(env: words, h: float, v: ptr, a: ptr) -> int:
    """1 if the last projection has moved q by more than half of what a step of h with the rates v and accelerations a
    does, else 0: a fixed step that is too long for its loops."""
    if env[CLOSE] == 0:
        return 0
    n, moved, fastest, most = env[NV], doubles(env[LOOPS]) + HEAD + env[NV], 0.0, 0.0
    for k in range(n):
        fastest = max(fastest, abs(v[k]) + h * abs(a[k]))
        most = max(most, abs(moved[k]))
    return 1 if most > 0.5 * h * fastest + ENOUGH else 0


def closed_rows(env: words, count: int, q: ptr, v: ptr) -> int:
    """:func:`closed_state` of ``count`` states, one behind the other; how many of them, from the first one on."""
    for k in range(count):
        if closed_state(env, q + k * env[NQ], v + k * env[NV]) != 0.0:
            return k
    return count


def equation_rows(env: words, count: int, q: ptr, v: ptr, g: ptr, J: ptr, b: ptr) -> int:
    """g (count, m), J (count, m, nv), b (count, m) at ``count`` states; how many are finite, from the first one on."""
    m, n = env[LOOP_COUNT], env[NV]
    for k in range(count):
        bad = kernel(env[LOOP_ROWS])(
            doubles(env[TIME]), q + k * env[NQ], v + k * n, doubles(env[LIVE]), g + k * m, J + k * m * n, b + k * m,
            doubles(env[WORK]),
        )  # fmt: skip
        if bad != 0.0:
            return k
    return count
