"""The state as plain numbers, as drivers: quaternions as points c of R^4 whose length has no meaning.

    q' = v,      c' = c (x) (w, 0) / 2,      x' = R(c / |c|) u:

homogeneous in c, so that c and s c move alike for every number s (:mod:`~gyrostat.simulate.plant.vector_system`). With
W(w) c = c (x) (w, 0), W(w)^2 = -|w|^2, and so an implicit equation for the coordinates has a closed solution:

    q = b + h q'(q, v):   q = b + h v,   c = (b + h/2 W(w) b) / (1 + h^2 |w|^2 / 4),   x = b + h R(c / |c|) u."""

from __future__ import annotations

from gyrostat.engine.drivers.words import copy, count_at, ptr, sqrt, words
from gyrostat.simulate.kernels.environment import NP, NQ, NUMBER_COUNT, NUMBERS, NV, PLAIN, TURNING, TURNS
from gyrostat.simulate.kernels.loop_projector import closed_vector
from gyrostat.simulate.kernels.stage import accelerations


def unit(env: words, q: ptr, u: ptr) -> int:
    """u (nq,): q with quaternions of unit length. 0."""
    copy(env[NQ], q, u)
    if env[PLAIN] == 1:
        return 0
    at = count_at(env[TURNS])
    for j in range(env[TURNING]):
        c = u + at[4 * j]
        one = 1.0 / sqrt(c[0] * c[0] + c[1] * c[1] + c[2] * c[2] + c[3] * c[3])
        for k in range(4):
            c[k] = c[k] * one
    return 0


def spun(c: ptr, w: ptr, f: float, r: ptr) -> int:
    """r (4,) = f c (x) (w, 0). 0."""
    x, y, z, s = c[0], c[1], c[2], c[3]
    r[0] = f * (s * w[0] + y * w[2] - z * w[1])
    r[1] = f * (s * w[1] + z * w[0] - x * w[2])
    r[2] = f * (s * w[2] + x * w[1] - y * w[0])
    r[3] = -f * (x * w[0] + y * w[1] + z * w[2])
    return 0


def carried(c: ptr, u: ptr, r: ptr) -> int:
    """r (3,) = R(c / |c|) u = u + 2 e x (e x u + s u) / |c|^2 with c = (e, s). 0."""
    x, y, z, s = c[0], c[1], c[2], c[3]
    two = 2.0 / (x * x + y * y + z * z + s * s)
    a = y * u[2] - z * u[1] + s * u[0]
    b = z * u[0] - x * u[2] + s * u[1]
    d = x * u[1] - y * u[0] + s * u[2]
    r[0] = u[0] + two * (y * d - z * b)
    r[1] = u[1] + two * (z * a - x * d)
    r[2] = u[2] + two * (x * b - y * a)
    return 0


def coordinate_rates(env: words, q: ptr, v: ptr, rate: ptr) -> int:
    """dq/dt (nq,), quaternions of any length. 0."""
    if env[PLAIN] == 1:
        copy(env[NV], v, rate)
        return 0
    pairs = count_at(env[NUMBERS])
    for k in range(env[NUMBER_COUNT]):
        rate[pairs[2 * k]] = v[pairs[2 * k + 1]]
    at = count_at(env[TURNS])
    for j in range(env[TURNING]):
        c = q + at[4 * j]
        spun(c, v + at[4 * j + 2], 0.5, rate + at[4 * j])
        if at[4 * j + 1] >= 0:
            carried(c, v + at[4 * j + 3], rate + at[4 * j + 1])
    return 0


def implicit_coordinates(env: words, b: ptr, h: float, v: ptr, q: ptr) -> int:
    """q (nq,) = b + h q'(q, v). 0."""
    if env[PLAIN] == 1:
        for k in range(env[NV]):
            q[k] = b[k] + h * v[k]
        return 0
    pairs = count_at(env[NUMBERS])
    for k in range(env[NUMBER_COUNT]):
        i = pairs[2 * k]
        q[i] = b[i] + h * v[pairs[2 * k + 1]]
    at = count_at(env[TURNS])
    for j in range(env[TURNING]):
        i = at[4 * j]
        w = v + at[4 * j + 2]
        c = q + i
        spun(b + i, w, 0.5 * h, c)
        one = 1.0 / (1.0 + 0.25 * h * h * (w[0] * w[0] + w[1] * w[1] + w[2] * w[2]))
        for k in range(4):
            c[k] = (b[i + k] + c[k]) * one
        i = at[4 * j + 1]
        if i >= 0:
            x = q + i
            carried(c, v + at[4 * j + 3], x)
            for k in range(3):
                x[k] = b[i + k] + h * x[k]
    return 0


def vector_stage(env: words, t: float, y: ptr, dy: ptr, u: ptr, tau: ptr) -> float:
    """dy (nq + nv + np + 1,) for y = (q, v, p, work); u (nq,): q with unit quaternions, tau (nv,). Zero if all are
    finite. Where loops are projected, y becomes a closed state."""
    nq, n = env[NQ], env[NV]
    v, p = y + nq, y + nq + n
    unit(env, y, u)
    bad = closed_vector(env, y, u)
    coordinate_rates(env, y, v, dy)
    bad = bad + accelerations(env, t, u, v, p, dy + nq, dy + nq + n, tau)
    power = 0.0
    for k in range(n):
        power = power + tau[k] * v[k]
    dy[nq + n + env[NP]] = power
    return bad
