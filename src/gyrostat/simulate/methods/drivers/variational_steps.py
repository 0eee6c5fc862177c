"""Steps of the variational midpoint rule in machine code.

A state in memory is a row (q, v, p, a, dp/dt, tau); its momenta come after the two rows. Newton's method on the
displacement d and the change u of p, with what is between them

    A = [M/h - M'/2 + (f_v - tau_v)/2 + h/4 (f_q - tau_q),  -h/4 tau_p;  -(p_v + h/2 p_q),  1 - h/2 p_p],

made in every step, and again where it does not serve."""

from __future__ import annotations

from gyrostat.engine.drivers.linear_algebra import lu, solve
from gyrostat.engine.drivers.words import copy, count_at, doubles, fma, kernel, ptr, words
from gyrostat.simulate.kernels.environment import (
    ABORT,
    ARRIVAL,
    CARRIED,
    CONSTANTS,
    CONSTRAIN,
    DIRECTIONS,
    FORWARD,
    JACOBIAN_COUNT,
    LAW,
    LAW_SLOPES,
    LIVE,
    MEMORY,
    MOMENTUM,
    NP,
    NQ,
    NV,
    PARAMETERS,
    PLAIN,
    RATES,
    RESIDUAL_COUNT,
    SLOPES,
    TIME,
    WORK,
)
from gyrostat.simulate.kernels.harvest import MOST, POLYNOMIAL, ROW, harvested, wanted
from gyrostat.simulate.kernels.stage import turned
from gyrostat.simulate.methods.drivers.fixed_clock import (
    BUDGET,
    FULL,
    GO_ON,
    KNOWN,
    LOOK,
    NO_SOLUTION,
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
from gyrostat.simulate.methods.drivers.semi_implicit_steps import displaced, known_at

ITERATIONS, FACTORISATIONS = 6, 7
"""Words: counts."""
MOST_ITERATIONS, SLOW, CLOSE, ROUNDING, ULPS, NEXT_TO_ROUNDING = 50, 0.3, 1e-15, 1e-16, 4e-16, 1e-13
"""Of Newton's method: at most; ratio of two changes from which on A is made anew; share of the displacement that the
last change has at most, and that the next one would have by the slowest ratio so far; shares of momenta and impulses
that are rounding, and next to it, where changes do not fall any more. With 1e-13 in the place of 1e-15 the momentum of
a free tree moves by 5e-11 in 20,000 steps, now by 1.4e-13, for a tenth more of iterations."""
TURN = 1.0
"""Rotation [rad] in one step at most."""
SOLVED, UNSOLVED, NONSENSE, TURNING_TOO_FAST = 0, 1, 2, 3


def largest(n: int, x: ptr) -> float:
    """max |x_k|, n > 0."""
    most = abs(x[0])
    for k in range(1, n):
        if not (abs(x[k]) <= most):
            most = abs(x[k])
    return most


def held(env: words, qm: ptr, w: ptr, M: ptr, tau: ptr, force: ptr, x: ptr) -> float:
    """force (nv,) with that of active constraints, M (a - a_free), for the efforts tau."""
    n, time, work = env[NV], doubles(env[TIME]), doubles(env[WORK])
    a = x + n
    bad = kernel(env[FORWARD])(time, qm, w, tau, doubles(env[DIRECTIONS]), doubles(env[LIVE]), a, work)
    copy(n, a, x)
    bad = bad + kernel(env[CONSTRAIN])(time, qm, w, a, work)
    for i in range(n):
        for k in range(n):
            force[i] = fma(M[i * n + k], a[k] - x[k], force[i])
    return bad


def midpoint(env: words, t: float, h: float, y: ptr, z: ptr, s: ptr) -> float:
    """For z = (d, u): the middle, momenta p0, p1 at both ends, tau and dp/dt there; zero if all is finite.

    ``s``: qm (nq,), w, p, force, p0, p1, tau, half d, x (2,) (nv,), then pm, dp/dt (np,), M, M' (nv, nv)."""
    n, nq, np = env[NV], env[NQ], env[NP]
    w = s + nq
    p, force = w + n, w + 2 * n
    p0, p1, tau, half = w + 3 * n, w + 4 * n, w + 5 * n, w + 6 * n
    pm = w + 9 * n
    rate, M = pm + np, pm + 2 * np
    work, time = doubles(env[WORK]), doubles(env[TIME])
    env[RESIDUAL_COUNT] = env[RESIDUAL_COUNT] + 1
    for k in range(n):
        w[k] = z[k] / h
        half[k] = 0.5 * z[k]
    for k in range(np):
        pm[k] = fma(0.5, z[n + k], y[nq + n + k])
    bad = displaced(env, y, half, s)
    time[0] = t + 0.5 * h
    bad = bad + kernel(env[LAW])(
        time, s, w, pm, doubles(env[MEMORY]), doubles(env[PARAMETERS]), doubles(env[CONSTANTS]), tau, rate, work
    )
    bad = bad + kernel(env[MOMENTUM])(
        time, s, w, doubles(env[DIRECTIONS]), doubles(env[LIVE]), p, force, M, M + n * n, work
    )
    for k in range(n):
        force[k] = force[k] + tau[k]
    if env[CONSTRAIN] != 0:
        bad = bad + held(env, s, w, M, tau, force, w + 7 * n)
    for k in range(n):
        half[k] = 0.5 * h * force[k]
    if env[PLAIN] == 1:
        for k in range(n):
            p0[k] = p[k] - half[k]
            p1[k] = p[k] + half[k]
        return bad
    return bad + kernel(env[CARRIED])(z, p, half, p0, p1, work)


def factored(env: words, run: words, h: float, s: ptr, A: ptr, slopes: ptr) -> int:
    """A (nv + np, nv + np) at the middle, as L and U, with its pivots behind it. 0; 1 if that is not possible."""
    n, nq, np = env[NV], env[NQ], env[NP]
    w = s + nq
    pm = w + 9 * n
    M = pm + 2 * np
    f_q, f_v, a = slopes, slopes + n * n, slopes + 3 * n * n
    tau_q = a + n
    tau_v, tau_p = tau_q + n * n, tau_q + 2 * n * n
    p_q = tau_p + n * np
    p_v, p_p = p_q + np * n, p_q + 2 * np * n
    work, time, size = doubles(env[WORK]), doubles(env[TIME]), n + np
    env[JACOBIAN_COUNT] = env[JACOBIAN_COUNT] + 1
    run[FACTORISATIONS] = run[FACTORISATIONS] + 1
    for k in range(n):
        a[k] = 0.0
    directions, live = doubles(env[DIRECTIONS]), doubles(env[LIVE])
    bad = kernel(env[SLOPES])(time, s, w, a, directions, live, f_q, f_v, slopes + 2 * n * n, work)
    memory, constants = doubles(env[MEMORY]), doubles(env[CONSTANTS])
    bad = bad + kernel(env[LAW_SLOPES])(
        time, s, w, pm, memory, doubles(env[PARAMETERS]), constants, tau_q, tau_v, tau_p, p_q, p_v, p_p, work
    )
    if bad != 0.0:
        return 1
    for i in range(n):
        for k in range(n):
            at = i * n + k
            now = M[at] / h - 0.5 * M[n * n + at] + 0.5 * (f_v[at] - tau_v[at])
            A[i * size + k] = fma(0.25 * h, f_q[at] - tau_q[at], now)
        for k in range(np):
            A[i * size + n + k] = -0.25 * h * tau_p[i * np + k]
    for i in range(np):
        for k in range(n):
            A[(n + i) * size + k] = -fma(0.5 * h, p_q[i * n + k], p_v[i * n + k])
        for k in range(np):
            A[(n + i) * size + n + k] = -0.5 * h * p_p[i * np + k]
        A[(n + i) * size + n + i] = A[(n + i) * size + n + i] + 1.0
    return lu(size, A, count_at(A + size * size))


def changed(env: words, h: float, s: ptr, start: ptr, z: ptr, A: ptr, r: ptr) -> float:
    """z is improved once: the largest change of d."""
    n, np = env[NV], env[NP]
    p0 = s + env[NQ] + 3 * n
    rate = s + env[NQ] + 9 * n + np
    size = n + np
    for k in range(n):
        r[k] = p0[k] - start[k]
    for k in range(np):
        r[n + k] = z[n + k] - h * rate[k]
    solve(size, A, count_at(A + size * size), r)
    for k in range(size):
        z[k] = z[k] - r[k]
    return largest(size, r)


def balanced(env: words, h: float, s: ptr, start: ptr, z: ptr) -> int:
    """What is left of the equations: 2 if it is rounding, entry by entry; 1 if it is next to it, by the largest; 0."""
    n, np = env[NV], env[NP]
    p = s + env[NQ] + n
    force, p0, tau = p + n, p + 2 * n, p + 4 * n
    pm = s + env[NQ] + 9 * n
    rate = pm + np
    rounding, left, most = 1, 0.0, 0.0
    for k in range(n + np):
        if k < n:
            r = abs(p0[k] - start[k])
            size = abs(p[k]) + 0.5 * h * (abs(force[k] - tau[k]) + abs(tau[k]))
        else:
            r = abs(z[k] - h * rate[k - n])
            size = abs(pm[k - n]) + abs(z[k])
        if not (r <= ULPS * size):
            rounding = 0
        left = max(left, r)
        most = max(most, size)
    if rounding == 1:
        return 2
    return 1 if left <= NEXT_TO_ROUNDING * most else 0


def guessed(env: words, h: float, y: ptr, z: ptr) -> int:
    """z from the state and its rates at the beginning: d = h v + h^2/2 a, u = h p'."""
    n, np = env[NV], env[NP]
    v = y + env[NQ]
    a = v + n + np
    for k in range(n):
        z[k] = h * fma(0.5 * h, a[k], v[k])
    for k in range(np):
        z[n + k] = h * a[n + k]
    return 0


def solved(env: words, run: words, t: float, h: float, y: ptr, z: ptr, start: ptr, s: ptr, A: ptr, r: ptr) -> int:
    """The displacement of a step, to rounding."""
    n, np = env[NV], env[NP]
    guessed(env, h, y, z)
    before, slowest, stale = 0.0, 0.0, 1
    for k in range(MOST_ITERATIONS):
        if turned(env, z, TURN) == 1:
            return TURNING_TOO_FAST
        if midpoint(env, t, h, y, z, s) != 0.0:
            return NONSENSE
        if stale == 1 and factored(env, run, h, s, A, r + n + np) == 1:
            return NONSENSE
        run[ITERATIONS] = run[ITERATIONS] + 1
        balance = balanced(env, h, s, start, z)
        now = changed(env, h, s, start, z, A, r)
        scale = largest(n + np, z)
        if balance == 2 or now <= ROUNDING * scale:
            return SOLVED
        stale = 0
        if k > 0:
            slowest = max(slowest, now / before)
            if now <= CLOSE * scale and slowest * now <= ROUNDING * scale:
                return SOLVED
            if now >= before and balance == 1:
                return SOLVED
            if now > SLOW * before:
                stale = 1
        before = now
    return UNSOLVED


def projected(env: words, t: float, q: ptr, x: ptr, none: ptr) -> float:
    """Rates x (nv,) that active constraints allow, the nearest ones by the energy."""
    time = doubles(env[TIME])
    time[0] = t
    for k in range(env[NV]):
        none[k] = 0.0
    return kernel(env[CONSTRAIN])(time, q, none, x, doubles(env[WORK]))


def arrived(env: words, t1: float, h: float, y: ptr, z: ptr, s: ptr, y1: ptr, end: ptr) -> float:
    """The row y1 at the end of the displacement, and its momenta ``end``."""
    n, nq, np = env[NV], env[NQ], env[NP]
    v1, p1 = y1 + nq, s + nq + 4 * n
    bad = 0.0
    for k in range(np):
        v1[n + k] = y[nq + n + k] + z[n + k]
    if env[CONSTRAIN] != 0:
        for k in range(n):
            z[k] = z[k] / h
        bad = projected(env, t1 - 0.5 * h, s, z, s + nq + 7 * n)
        for k in range(n):
            z[k] = h * z[k]
    bad = bad + displaced(env, y, z, y1)
    bad = bad + velocities(env, t1, y1, p1, end)
    return bad + known_at(env, t1, y1)


def velocities(env: words, t: float, y: ptr, p: ptr, end: ptr) -> float:
    """The rates in a row for its momenta p, which are kept in ``end``; those that constraints allow."""
    n, v, time, work = env[NV], y + env[NQ], doubles(env[TIME]), doubles(env[WORK])
    time[0] = t
    copy(n, p, end)
    bad = kernel(env[RATES])(time, y, end, doubles(env[LIVE]), v, work)
    if env[CONSTRAIN] != 0:
        bad = bad + projected(env, t, y, v, end)
        time[0] = t
        bad = bad + momenta(env, t, y, end)
    return bad


def momenta(env: words, t: float, y: ptr, p: ptr) -> float:
    """p (nv,) = M v of a row; behind p there is room for what else the kernel gives."""
    n, time = env[NV], doubles(env[TIME])
    time[0] = t
    M = p + 2 * n
    directions, live = doubles(env[DIRECTIONS]), doubles(env[LIVE])
    return kernel(env[MOMENTUM])(time, y, y + env[NQ], directions, live, p, p + n, M, M + n * n, doubles(env[WORK]))


def hermite(count: int, size: int, C: ptr, from_: ptr, to: ptr, slope: ptr, slope1: ptr, h: float) -> int:
    """Cubics between two ends with their rates, in the columns of C (4, size)."""
    for k in range(count):
        rise, s0, s1 = to[k] - from_[k], h * slope[k], h * slope1[k]
        C[k] = from_[k]
        C[size + k] = s0
        C[2 * size + k] = 3.0 * rise - 2.0 * s0 - s1
        C[3 * size + k] = s0 + s1 - 2.0 * rise
    return 0


def between(env: words, io: words, h: float, y: ptr, y1: ptr, z: ptr, work: ptr, x: ptr) -> float:
    """The polynomial of a step: cubics of displacement, v, p and work."""
    n, nq, np = env[NV], env[NQ], env[NP]
    size, C = 2 * n + np + 1, doubles(io[POLYNOMIAL])
    v, v1, none, rate = y + nq, y1 + nq, x, x + n
    tau, tau1 = v + 2 * n + 2 * np, v1 + 2 * n + 2 * np
    bad = 0.0
    for k in range(n):
        none[k] = 0.0
        rate[k] = v1[k]
    if env[PLAIN] == 0:
        bad = kernel(env[ARRIVAL])(z, v1, rate, doubles(env[WORK]))
    hermite(n, size, C, none, z, v, rate, h)
    hermite(n + np, size, C + n, v, v1, v + n + np, v1 + n + np, h)
    work[1] = 0.0
    work[2] = 0.0
    work[3] = 0.0
    for k in range(n):
        work[2] = fma(tau[k], v[k], work[2])
        work[3] = fma(tau1[k], v1[k], work[3])
    hermite(1, size, C + (size - 1), work + 1, work, work + 2, work + 3, h)
    return bad


def variational_steps(env: words, run: words, io: words, ctl: ptr, y: ptr, y1: ptr, space: ptr, clock: ptr) -> int:
    """Steps up to the limit; the budget, a full buffer, or something to be looked at comes first."""
    n, nq, np = env[NV], env[NQ], env[NP]
    size, budget = nq + 3 * n + 2 * np, run[BUDGET]
    m = n + np
    work, z = space, space + 4
    start = z + m
    end = start + n
    s = end + 2 * n + 2 * n * n
    A = s + nq + 9 * n + 2 * np + 2 * n * n
    r = A + m * m + m
    while True:
        if run[PENDING] == 1:
            copy(size, y1, y)
            copy(n, end, start)
            run[PENDING] = 0
            run[KNOWN] = 1
            status = gone_on(env, run, ctl, clock, y, y + nq, y + nq + n)
            if status != GO_ON:
                return status
        if budget <= 0 or io[ROW] >= io[MOST]:
            return FULL
        budget = budget - 1
        t = ctl[T]
        if run[KNOWN] == 0:
            if known_at(env, t, y) + momenta(env, t, y, end) != 0.0:
                return STOPPED if env[ABORT] != 0 else NOT_FINITE
            copy(n, end, start)
            run[KNOWN] = 1
        t1 = next_end(ctl)
        h = length_to(ctl, t1)
        run[REASON] = solved(env, run, t, h, y, z, start, s, A, r)
        if run[REASON] != SOLVED:
            return STOPPED if env[ABORT] != 0 else NO_SOLUTION
        work[0] = 0.0
        for k in range(n):
            work[0] = fma(s[nq + 5 * n + k], z[k], work[0])
        if arrived(env, t1, h, y, z, s, y1, end) != 0.0:
            return STOPPED if env[ABORT] != 0 else NOT_FINITE
        counted_to(ctl, t1)
        accepted(run, ctl, t1, h)
        v1 = y1 + nq
        if too_fast(env, run, ctl, v1) == 1:
            return RUNAWAY
        if wanted(io, t1) == 1 and between(env, io, h, y, y1, z, work, r) != 0.0:
            return broken_off(env, run, ctl)
        status = harvested(env, io, t, t1, y, y1, v1, v1 + n, v1 + m, v1 + 2 * m, work[0])
        if status == 1:
            return LOOK
        if status < 0:
            return broken_off(env, run, ctl)
    return FULL
