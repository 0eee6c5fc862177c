"""One evaluation of the right-hand side, as a driver: chart, law, forward dynamics, active constraints."""

from __future__ import annotations

from gyrostat.engine.drivers.words import count_at, doubles, fma, kernel, ptr, words
from gyrostat.simulate.kernels.closed_contacts import contact_accelerations
from gyrostat.simulate.kernels.environment import (
    ANGULAR,
    BAUMGARTE,
    CHART,
    CLOSE,
    CONSTANTS,
    CONSTRAIN,
    CONTACTS,
    DIRECTIONS,
    FORWARD,
    LAW,
    LIVE,
    MEMORY,
    NP,
    NQ,
    NV,
    PARAMETERS,
    PLAIN,
    RHS_COUNT,
    TIME,
    TURNING,
    WORK,
)
from gyrostat.simulate.kernels.loop_projection import closed_stage, drawn_together


def place(env: words, q0: ptr, x: ptr, v: ptr, q: ptr, x_rate: ptr) -> float:
    """q at the local coordinates x around q0, and dx/dt."""
    if env[PLAIN] == 1:
        for k in range(env[NV]):
            q[k] = q0[k] + x[k]
            x_rate[k] = v[k]
        return 0.0
    return kernel(env[CHART])(q0, x, v, q, x_rate, doubles(env[WORK]))


def unconstrained(env: words, t: float, q: ptr, v: ptr, p: ptr, a: ptr, p_rate: ptr, tau: ptr) -> float:
    """a (nv,), dp/dt (np,) and tau (nv,) without active constraints, for any lanes; zero if all are finite."""
    time, work = doubles(env[TIME]), doubles(env[WORK])
    time[0] = t
    env[RHS_COUNT] = env[RHS_COUNT] + 1
    bad = kernel(env[LAW])(
        time, q, v, p, doubles(env[MEMORY]), doubles(env[PARAMETERS]), doubles(env[CONSTANTS]), tau, p_rate, work
    )
    return bad + kernel(env[FORWARD])(time, q, v, tau, doubles(env[DIRECTIONS]), doubles(env[LIVE]), a, work)


def accelerations(env: words, t: float, q: ptr, v: ptr, p: ptr, a: ptr, p_rate: ptr, tau: ptr) -> float:
    """a (nv,), dp/dt (np,) and tau (nv,); zero if all are finite."""
    bad = unconstrained(env, t, q, v, p, a, p_rate, tau)
    if env[CONTACTS] != 0:
        bad = bad + contact_accelerations(env, q, v, a)
    elif env[CONSTRAIN] != 0:
        bad = bad + kernel(env[CONSTRAIN])(doubles(env[TIME]), q, v, a, doubles(env[WORK]))
    if env[BAUMGARTE] != 0:
        bad = bad + drawn_together(env, q, v, a)
    return bad


def stage(env: words, t: float, q0: ptr, y: ptr, dy: ptr, q: ptr, tau: ptr) -> float:
    """dy (2 nv + np + 1,) for y = (x, v, p, work) around q0 (nq,), with q (nq,) and tau (nv,) there. Where loops are
    projected, q and the rates in y become closed ones."""
    n, np = env[NV], env[NP]
    bad = place(env, q0, y, y + n, q, dy)
    if env[CLOSE] != 0:
        bad = bad + closed_stage(env, q0, y, q, dy)
    bad = bad + accelerations(env, t, q, y + n, y + 2 * n, dy + n, dy + 2 * n, tau)
    dy[2 * n + np] = product(n, tau, y + n)
    return bad


def product(n: int, a: ptr, b: ptr) -> float:
    """a . b (n,), in four sums that do not wait for each other."""
    p0, p1, p2, p3 = 0.0, 0.0, 0.0, 0.0
    most = n // 4
    for k in range(most):
        x, y = a + 4 * k, b + 4 * k
        p0, p1 = fma(x[0], y[0], p0), fma(x[1], y[1], p1)
        p2, p3 = fma(x[2], y[2], p2), fma(x[3], y[3], p3)
    for k in range(4 * most, n):
        p0 = fma(a[k], b[k], p0)
    return (p0 + p1) + (p2 + p3)


def turned(env: words, x: ptr, most: float) -> int:
    """Whether a rotation among the local coordinates x exceeds ``most`` [rad]."""
    at = count_at(env[ANGULAR])
    for k in range(env[TURNING]):
        w = x + at[k]
        if not (w[0] * w[0] + w[1] * w[1] + w[2] * w[2] <= most * most):
            return 1
    return 0


def one_stage(env: words, t: float, q0: ptr, y: ptr, dy: ptr, q: ptr, tau: ptr) -> int:
    """:func:`stage` from outside: 0 if all is finite."""
    bad = stage(env, t, q0, y, dy, q, tau)
    return 0 if bad == 0.0 else 1


def one_place(env: words, count: int, q0: ptr, x: ptr, v: ptr, q: ptr, x_rate: ptr) -> int:
    """:func:`place` of ``count`` local coordinates around one q0."""
    bad = 0.0
    for k in range(count):
        bad = bad + place(env, q0, x + k * env[NV], v, q + k * env[NQ], x_rate)
    return 0 if bad == 0.0 else 1


def applied_rows(
    env: words, code: int, constants: ptr, count: int, width: int, rows: ptr, wrenches: ptr, entries: int
) -> int:
    """Wrenches (count, entries) in the states of rows (t, q, v, p, a, tau, work), whose efforts become those beside
    the wrenches."""
    nq, n, np = env[NQ], env[NV], env[NP]
    for k in range(count):
        row = rows + k * width
        q = row + 1
        v = q + nq
        p = v + n
        tau = p + np + n
        kernel(code)(
            row, q, v, p, doubles(env[MEMORY]), doubles(env[PARAMETERS]), constants, wrenches + k * entries, tau,
            doubles(env[WORK]),
        )  # fmt: skip
    return 0
