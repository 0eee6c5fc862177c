"""Residuals of implicit steps and the matrices of Newton's method for them, as drivers.

Unknown are the rates v and own states p; with a = (v - b)/c, dp/dt = (p - b)/c and coordinates that follow v
(:mod:`~gyrostat.simulate.kernels.vector_state`),

    c r(q, v, a, p) = c (rnea - tau) = 0,        p - b - c f(q, v, p) = 0

have the derivatives by v and p

    [M + c r_v + c r_q T,    -c tau_p]
    [-c (f_v + f_q T),     1 - c f_p],

with slopes r_q, f_q along the rates, and T = dq/dv along them: c for numbers, and for a rotation at the rates w and u,

    d = c (1 - c/2 w~) / (1 + c^2 |w|^2 / 4) dw,        ds = c (du - u~ d).

``c`` is real, or complex for pairs of stages. Active constraints: see :mod:`~gyrostat.simulate.kernels.environment`."""

from __future__ import annotations

from gyrostat.engine.drivers.words import copy, count_at, doubles, fma, kernel, ptr, words
from gyrostat.simulate.kernels.environment import (
    BAUMGARTE,
    BY_ACCELERATIONS,
    CONSTANTS,
    DIRECTIONS,
    INVERSE,
    JACOBIAN_COUNT,
    LAW,
    LAW_SLOPES,
    LIVE,
    LOOP_PROJECTOR,
    LOOPS,
    MEMORY,
    NP,
    NUMBER_COUNT,
    NUMBERS,
    NV,
    PARAMETERS,
    PLAIN,
    PROJECT,
    PROJECTOR,
    PROJECTOR_BIAS,
    RESIDUAL_COUNT,
    SLOPES,
    TIME,
    TURNING,
    TURNS,
    WORK,
)
from gyrostat.simulate.kernels.loop_projection import K1, K2
from gyrostat.simulate.kernels.loop_projector import loop_projector
from gyrostat.simulate.kernels.stage import accelerations

# memory of slopes S: r_q, r_v, M (nv, nv) | tau_p (nv, np), p_q, p_v (np, nv), p_p (np, np) | tau_q, tau_v (nv, nv)


def slopes_size(n: int, np: int) -> int:
    """Doubles of S."""
    return 5 * n * n + 3 * n * np + np * np + 1


def projected(n: int, width: int, N: ptr, X: ptr, spare: ptr) -> int:
    """X (n, width) becomes N X; ``spare`` (n,). 0."""
    for j in range(width):
        for i in range(n):
            x = 0.0
            for k in range(n):
                x = fma(N[i * n + k], X[k * width + j], x)
            spare[i] = x
        for i in range(n):
            X[i * width + j] = spare[i]
    return 0


def project(env: words, q: ptr, v: ptr) -> float:
    """N and b of active constraints at a state, if they depend on it."""
    if env[LOOP_PROJECTOR] == 1:
        return loop_projector(env, q, v, doubles(env[PROJECTOR]), doubles(env[PROJECTOR_BIAS]))
    if env[PROJECT] == 0:
        return 0.0
    return kernel(env[PROJECT])(
        doubles(env[TIME]), q, v, doubles(env[PROJECTOR]), doubles(env[PROJECTOR_BIAS]), doubles(env[WORK])
    )


def slopes_at(env: words, t: float, q: ptr, v: ptr, p: ptr, a: ptr, S: ptr, spare: ptr) -> float:
    """S at a state with unit quaternions; ``spare`` (nv,). Zero if all is finite."""
    n, np = env[NV], env[NP]
    nn, time, work = n * n, doubles(env[TIME]), doubles(env[WORK])
    time[0] = t
    env[JACOBIAN_COUNT] = env[JACOBIAN_COUNT] + 1
    tau_p = S + 3 * nn
    p_q = tau_p + n * np
    p_v = p_q + np * n
    p_p = p_v + np * n
    tau_q = p_p + np * np
    tau_v = tau_q + nn
    M = S + 2 * nn
    bad = kernel(env[SLOPES])(time, q, v, a, doubles(env[DIRECTIONS]), doubles(env[LIVE]), S, S + nn, M, work)
    bad = bad + kernel(env[LAW_SLOPES])(
        time, q, v, p, doubles(env[MEMORY]), doubles(env[PARAMETERS]), doubles(env[CONSTANTS]),
        tau_q, tau_v, tau_p, p_q, p_v, p_p, work,
    )  # fmt: skip
    for k in range(2 * nn):
        S[k] = S[k] - tau_q[k]
    if env[PROJECTOR] != 0:
        bad = bad + project(env, q, v)
        N = doubles(env[PROJECTOR])
        projected(n, n, N, S, spare)
        projected(n, n, N, S + nn, spare)
        projected(n, n, N, M, spare)
        projected(n, np, N, tau_p, spare)
        for i in range(n):
            for j in range(n):
                M[i * n + j] = M[i * n + j] - N[i * n + j]
            M[i * n + i] = M[i * n + i] + 1.0
        if env[BAUMGARTE] != 0:
            drawn_slopes(n, N, doubles(env[LOOPS]), S)
    return bad


def drawn_slopes(n: int, N: ptr, factors: ptr, S: ptr) -> int:
    """S with k2 (I - N) and k1 (I - N) by q and v, of what draws loops together. 0."""
    k1, k2 = factors[K1], factors[K2]
    for i in range(n):
        for j in range(n):
            x = (1.0 if i == j else 0.0) - N[i * n + j]
            S[i * n + j] = fma(k2, x, S[i * n + j])
            S[n * n + i * n + j] = fma(k1, x, S[n * n + i * n + j])
    return 0


def residual(
    env: words, t: float, q: ptr, v: ptr, p: ptr, a: ptr, S: ptr, r: ptr, rate: ptr, tau: ptr, spare: ptr
) -> float:
    """r (nv,) = rnea - tau within active constraints, dp/dt (np,) and tau (nv,) at a state with unit quaternions. A
    user's forward dynamics f gives r = M (a - f). Zero if all is finite."""
    n, time, work = env[NV], doubles(env[TIME]), doubles(env[WORK])
    if env[BY_ACCELERATIONS] == 1:
        bad = accelerations(env, t, q, v, p, spare, rate, tau)
        M = S + 2 * n * n
        for i in range(n):
            x = 0.0
            for k in range(n):
                x = fma(M[i * n + k], a[k] - spare[k], x)
            r[i] = x
        return bad
    env[RESIDUAL_COUNT] = env[RESIDUAL_COUNT] + 1
    time[0] = t
    bad = kernel(env[LAW])(
        time, q, v, p, doubles(env[MEMORY]), doubles(env[PARAMETERS]), doubles(env[CONSTANTS]), tau, rate, work
    )
    bad = bad + kernel(env[INVERSE])(time, q, v, a, doubles(env[DIRECTIONS]), doubles(env[LIVE]), r, work)
    for k in range(n):
        r[k] = r[k] - tau[k]
    if env[PROJECTOR] != 0:
        bad = bad + project(env, q, v)
        N, b = doubles(env[PROJECTOR]), doubles(env[PROJECTOR_BIAS])
        for i in range(n):
            x = a[i] + b[i]
            for k in range(n):
                x = fma(N[i * n + k], r[k] - a[k], x)
            spare[i] = x
        copy(n, spare, r)
    return bad


# ------------------------------------------------------------------------------------------------ real c
def along(env: words, rows: int, F: ptr, c: float, v: ptr, X: ptr) -> int:
    """X (rows, nv) = F T for F (rows, nv). 0."""
    n = env[NV]
    if env[PLAIN] == 1:
        for k in range(rows * n):
            X[k] = c * F[k]
        return 0
    pairs, at = count_at(env[NUMBERS]), count_at(env[TURNS])
    for i in range(rows):
        f, x = F + i * n, X + i * n
        for k in range(env[NUMBER_COUNT]):
            j = pairs[2 * k + 1]
            x[j] = c * f[j]
        for j in range(env[TURNING]):
            g, w, y = f + at[4 * j + 2], v + at[4 * j + 2], x + at[4 * j + 2]
            e = c / (1.0 + 0.25 * c * c * (w[0] * w[0] + w[1] * w[1] + w[2] * w[2]))
            r0, r1, r2 = g[0], g[1], g[2]
            if at[4 * j + 3] >= 0:
                g, u, z = f + at[4 * j + 3], v + at[4 * j + 3], x + at[4 * j + 3]
                r0 = r0 - c * (g[1] * u[2] - g[2] * u[1])
                r1 = r1 - c * (g[2] * u[0] - g[0] * u[2])
                r2 = r2 - c * (g[0] * u[1] - g[1] * u[0])
                for k in range(3):
                    z[k] = c * g[k]
            y[0] = e * (r0 - 0.5 * c * (r1 * w[2] - r2 * w[1]))
            y[1] = e * (r1 - 0.5 * c * (r2 * w[0] - r0 * w[2]))
            y[2] = e * (r2 - 0.5 * c * (r0 * w[1] - r1 * w[0]))
    return 0


def real_matrix(env: words, S: ptr, c: float, v: ptr, A: ptr, X: ptr) -> int:
    """A (nv + np, nv + np) of the equations above at the rates v; X (nv + np, nv) is spare. 0."""
    n, np = env[NV], env[NP]
    nn, size = n * n, n + np
    M, tau_p = S + 2 * nn, S + 3 * nn
    p_q = tau_p + n * np
    p_v = p_q + np * n
    p_p = p_v + np * n
    along(env, n, S, c, v, X)
    for i in range(n):
        row, by_v, mass, x = A + i * size, S + nn + i * n, M + i * n, X + i * n
        for k in range(n):
            row[k] = fma(c, by_v[k] + x[k], mass[k])
        for k in range(np):
            row[n + k] = -c * tau_p[i * np + k]
    along(env, np, p_q, c, v, X)
    for i in range(np):
        row = A + (n + i) * size
        for k in range(n):
            row[k] = -c * (p_v[i * n + k] + X[i * n + k])
        for k in range(np):
            row[n + k] = -c * p_p[i * np + k]
        row[n + i] = row[n + i] + 1.0
    return 0


# ------------------------------------------------------------------------------------------------ complex c
def along_complex(env: words, rows: int, F: ptr, re: float, im: float, v: ptr, X: ptr) -> int:
    """X (rows, nv) = F T for F (rows, nv) and complex c = re + i im. 0."""
    n = env[NV]
    pairs, at = count_at(env[NUMBERS]), count_at(env[TURNS])
    for i in range(rows):
        f, x = F + i * n, X + 2 * i * n
        for k in range(env[NUMBER_COUNT]):
            j = pairs[2 * k + 1]
            x[2 * j] = re * f[j]
            x[2 * j + 1] = im * f[j]
        for j in range(env[TURNING]):
            turned_complex(re, im, f, v, x, at[4 * j + 2], at[4 * j + 3])
    return 0


def turned_complex(re: float, im: float, f: ptr, v: ptr, x: ptr, angular: int, linear: int) -> int:
    """Of one row, the columns of one rotation. 0."""
    g, w, y = f + angular, v + angular, x + 2 * angular
    size = 0.25 * (w[0] * w[0] + w[1] * w[1] + w[2] * w[2])
    dr, di = 1.0 + size * (re * re - im * im), 2.0 * size * re * im
    one = 1.0 / (dr * dr + di * di)
    er, ei = (re * dr + im * di) * one, (im * dr - re * di) * one
    a0, a1, a2, b0, b1, b2 = g[0], g[1], g[2], 0.0, 0.0, 0.0
    if linear >= 0:
        g, u, z = f + linear, v + linear, x + 2 * linear
        k0, k1, k2 = g[1] * u[2] - g[2] * u[1], g[2] * u[0] - g[0] * u[2], g[0] * u[1] - g[1] * u[0]
        a0, a1, a2 = a0 - re * k0, a1 - re * k1, a2 - re * k2
        b0, b1, b2 = -im * k0, -im * k1, -im * k2
        for k in range(3):
            z[2 * k] = re * g[k]
            z[2 * k + 1] = im * g[k]
    hr, hi = 0.5 * re, 0.5 * im
    c0, c1, c2 = a1 * w[2] - a2 * w[1], a2 * w[0] - a0 * w[2], a0 * w[1] - a1 * w[0]
    d0, d1, d2 = b1 * w[2] - b2 * w[1], b2 * w[0] - b0 * w[2], b0 * w[1] - b1 * w[0]
    a0, b0 = a0 - hr * c0 + hi * d0, b0 - hr * d0 - hi * c0
    a1, b1 = a1 - hr * c1 + hi * d1, b1 - hr * d1 - hi * c1
    a2, b2 = a2 - hr * c2 + hi * d2, b2 - hr * d2 - hi * c2
    y[0] = er * a0 - ei * b0
    y[1] = er * b0 + ei * a0
    y[2] = er * a1 - ei * b1
    y[3] = er * b1 + ei * a1
    y[4] = er * a2 - ei * b2
    y[5] = er * b2 + ei * a2
    return 0


def complex_matrix(env: words, S: ptr, re: float, im: float, v: ptr, A: ptr, X: ptr) -> int:
    """A (nv + np, nv + np) of the equations above for complex c; X (nv + np, nv) complex is spare. 0."""
    n, np = env[NV], env[NP]
    nn, size = n * n, n + np
    M, tau_p = S + 2 * nn, S + 3 * nn
    p_q = tau_p + n * np
    p_v = p_q + np * n
    p_p = p_v + np * n
    along_complex(env, n, S, re, im, v, X)
    for i in range(n):
        row, by_v, mass, x = A + 2 * i * size, S + nn + i * n, M + i * n, X + 2 * i * n
        for k in range(n):
            y = by_v[k] + x[2 * k]
            z = x[2 * k + 1]
            row[2 * k] = mass[k] + re * y - im * z
            row[2 * k + 1] = re * z + im * y
        for k in range(np):
            row[2 * (n + k)] = -re * tau_p[i * np + k]
            row[2 * (n + k) + 1] = -im * tau_p[i * np + k]
    along_complex(env, np, p_q, re, im, v, X)
    for i in range(np):
        row, x = A + 2 * (n + i) * size, X + 2 * i * n
        for k in range(n):
            y = p_v[i * n + k] + x[2 * k]
            z = x[2 * k + 1]
            row[2 * k] = im * z - re * y
            row[2 * k + 1] = -re * z - im * y
        for k in range(np):
            row[2 * (n + k)] = -re * p_p[i * np + k]
            row[2 * (n + k) + 1] = -im * p_p[i * np + k]
        row[2 * (n + i)] = row[2 * (n + i)] + 1.0
    return 0
