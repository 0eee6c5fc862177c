"""Newton's method for the three stages of Radau's step, as drivers: a real and a complex system of nv + np equations.

With Z_i = y_i - y_0, B = A^-1 of the method and the residuals G_i = f(y_i) - (B Z)_i / h, the simplified Newton method
(B / h - J) dZ = G falls apart into (l / h - J) dw = sum_i x_i G_i for the eigenvalues l and left eigenvectors x of B
[Hairer, Wanner, Solving Ordinary Differential Equations II, IV.8]. In each, coordinates are eliminated; with c = h / l
and rates w, u and the quaternion e at the beginning,

    numbers      dq = c (g + dv),
    quaternions  de = c (1 + c/2 W(w)) k / (1 + c^2 |w|^2 / 4),   k = g + e (x) (dw, 0) / 2,
                 d = 2 vec(e* (x) de) / |e|^2,
    positions    dx = c (g + R (du + d x u)),

and the rest are the equations of :mod:`~gyrostat.simulate.kernels.newton_matrix`."""

from __future__ import annotations

from gyrostat.engine.drivers.complex_linear_algebra import complex_lu, complex_solve
from gyrostat.engine.drivers.linear_algebra import lu, solve
from gyrostat.engine.drivers.words import count_at, doubles, fma, ptr, words
from gyrostat.simulate.kernels.environment import (
    NP,
    NQ,
    NUMBER_COUNT,
    NUMBERS,
    NV,
    TURNING,
    TURNS,
)
from gyrostat.simulate.kernels.newton_matrix import complex_matrix, real_matrix, residual, slopes_at
from gyrostat.simulate.kernels.vector_state import carried, coordinate_rates, spun, unit
from gyrostat.simulate.methods.drivers.radau_memory import (
    COMPLEX_PIVOTS,
    DZ,
    F0,
    FACTORED,
    FACTORED_H,
    FACTORISATIONS,
    IMAGINARY,
    INVERSE,
    LEFT,
    MU,
    NODES,
    PACKED,
    PIVOTS,
    REAL,
    RIGHT,
    RULE,
    SCALE,
    SLOPES_KNOWN,
    SLOPES_NEW,
    SPARE,
    STEP_WORK,
    TABLE,
    TAU,
    TURNED,
    A,
    B,
    G,
    S,
    T,
    U,
    Y,
    Z,
)
from gyrostat.simulate.methods.drivers.stiff_ends import weighted


# ------------------------------------------------------------------------------------------------ matrices
def factorised(env: words, run: words, ctl: ptr, h: float) -> int:
    """Slopes at the beginning of the step, if they are not known, and both factorisations for h. 1, 0 if there are
    none."""
    nq, n, size = env[NQ], env[NV], env[NV] + env[NP]
    y, f, slopes, tab, spare = (
        doubles(run[Y]),
        doubles(run[F0]),
        doubles(run[S]),
        doubles(run[TABLE]),
        doubles(run[SPARE]),
    )
    run[FACTORED] = 0
    if run[SLOPES_KNOWN] == 0:
        u = doubles(run[U])
        unit(env, y, u)
        if slopes_at(env, ctl[T], u, y + nq, y + nq + n, f + nq, slopes, spare) != 0.0:
            return 0
        run[SLOPES_KNOWN] = 1
        run[SLOPES_NEW] = 1
    run[FACTORISATIONS] = run[FACTORISATIONS] + 1
    re, im = tab[MU + 1], tab[MU + 2]
    one = h / (re * re + im * im)
    real_matrix(env, slopes, h / tab[MU], y + nq, doubles(run[A]), spare)
    complex_matrix(env, slopes, re * one, -im * one, y + nq, doubles(run[B]), spare)
    if lu(size, doubles(run[A]), count_at(run[PIVOTS])) != 0:
        return 0
    if complex_lu(size, doubles(run[B]), count_at(run[COMPLEX_PIVOTS])) != 0:
        return 0
    run[FACTORED] = 1
    ctl[FACTORED_H] = h
    return 1


# ------------------------------------------------------------------------------------------------ coordinates
def turned_by(e: ptr, x: ptr, d: ptr) -> int:
    """d (3,) = 2 vec(e* (x) x) / |e|^2 for x (4,). 0."""
    a, b, c, s = e[0], e[1], e[2], e[3]
    two = 2.0 / (a * a + b * b + c * c + s * s)
    d[0] = two * (s * x[0] - x[3] * a - b * x[2] + c * x[1])
    d[1] = two * (s * x[1] - x[3] * b - c * x[0] + a * x[2])
    d[2] = two * (s * x[2] - x[3] * c - a * x[1] + b * x[0])
    return 0


def carried_back(e: ptr, x: ptr, r: ptr, spare: ptr) -> int:
    """r (3,) = R(e / |e|)^T x. 0."""
    spare[0] = -e[0]
    spare[1] = -e[1]
    spare[2] = -e[2]
    spare[3] = e[3]
    carried(spare, x, r)
    return 0


def times(count: int, re: float, im: float, x: ptr, y: ptr) -> int:
    """x + i y times re + i im, in their place. 0."""
    for k in range(count):
        a, b = x[k], y[k]
        x[k] = re * a - im * b
        y[k] = re * b + im * a
    return 0


def spin_solved(re: float, im: float, w: ptr, x: ptr, y: ptr, spare: ptr) -> int:
    """x + i y (4,) becomes c (1 + c/2 W(w)) / (1 + c^2 |w|^2 / 4) of it, c = re + i im. 0."""
    size = 0.25 * (w[0] * w[0] + w[1] * w[1] + w[2] * w[2])
    dr, di = 1.0 + size * (re * re - im * im), 2.0 * size * re * im
    one = 1.0 / (dr * dr + di * di)
    spun(x, w, 0.5, spare)
    spun(y, w, 0.5, spare + 4)
    times(4, re, im, spare, spare + 4)
    for k in range(4):
        x[k] = x[k] + spare[k]
        y[k] = y[k] + spare[4 + k]
    times(4, (re * dr + im * di) * one, (im * dr - re * di) * one, x, y)
    return 0


def crossed(d: ptr, u: ptr, r: ptr) -> int:
    """r (3,) += d x u. 0."""
    r[0] = r[0] + d[1] * u[2] - d[2] * u[1]
    r[1] = r[1] + d[2] * u[0] - d[0] * u[2]
    r[2] = r[2] + d[0] * u[1] - d[1] * u[0]
    return 0


def motion_without_rates(env: words, re: float, im: float, y: ptr, x: ptr, z: ptr, dx: ptr, dz: ptr, spare: ptr) -> int:
    """Motion dx + i dz (nv,) along the rates that the right-hand sides x + i z (nq,) of the coordinates make. 0."""
    v, pairs, at = y + env[NQ], count_at(env[NUMBERS]), count_at(env[TURNS])
    for k in range(env[NUMBER_COUNT]):
        i, j = pairs[2 * k], pairs[2 * k + 1]
        dx[j] = re * x[i] - im * z[i]
        dz[j] = re * z[i] + im * x[i]
    for j in range(env[TURNING]):
        i, place, angular, linear = at[4 * j], at[4 * j + 1], at[4 * j + 2], at[4 * j + 3]
        e, kr, ki = y + i, spare + 8, spare + 12
        for k in range(4):
            kr[k] = x[i + k]
            ki[k] = z[i + k]
        spin_solved(re, im, v + angular, kr, ki, spare)
        turned_by(e, kr, dx + angular)
        turned_by(e, ki, dz + angular)
        if place >= 0:
            carried_back(e, x + place, dx + linear, spare)
            carried_back(e, z + place, dz + linear, spare)
            crossed(dx + angular, v + linear, dx + linear)
            crossed(dz + angular, v + linear, dz + linear)
            times(3, re, im, dx + linear, dz + linear)
    return 0


def coordinates_solved(env: words, re: float, im: float, y: ptr, x: ptr, z: ptr, spare: ptr) -> int:
    """The right-hand sides x + i z of the coordinates become their changes, with changes of the rates behind them.
    0."""
    nq = env[NQ]
    v, pairs, at = y + nq, count_at(env[NUMBERS]), count_at(env[TURNS])
    for k in range(env[NUMBER_COUNT]):
        i, j = pairs[2 * k], pairs[2 * k + 1]
        a, b = x[i] + x[nq + j], z[i] + z[nq + j]
        x[i] = re * a - im * b
        z[i] = re * b + im * a
    for j in range(env[TURNING]):
        i, place, angular, linear = at[4 * j], at[4 * j + 1], at[4 * j + 2], at[4 * j + 3]
        e, d, s = y + i, spare + 16, spare + 20
        spun(e, x + nq + angular, 0.5, spare)
        spun(e, z + nq + angular, 0.5, spare + 4)
        for k in range(4):
            x[i + k] = x[i + k] + spare[k]
            z[i + k] = z[i + k] + spare[4 + k]
        spin_solved(re, im, v + angular, x + i, z + i, spare)
        if place >= 0:
            for part in range(2):
                r = x if part == 0 else z
                turned_by(e, r + i, d)
                for k in range(3):
                    s[k] = r[nq + linear + k]
                crossed(d, v + linear, s)
                carried(e, s, spare)
                for k in range(3):
                    r[place + k] = r[place + k] + spare[k]
            times(3, re, im, x + place, z + place)
    return 0


# ------------------------------------------------------------------------------------------------ both systems
def reduced(env: words, run: words, re: float, im: float, both: int, x: ptr, z: ptr) -> int:
    """Right-hand sides of rates (forces) and own states, with what the coordinates add to them, times c. 0."""
    nq, n, np = env[NQ], env[NV], env[NP]
    slopes, dx = doubles(run[S]), doubles(run[TURNED])
    dz = dx + n
    p_q = slopes + 3 * n * n + n * np
    motion_without_rates(env, re, im, doubles(run[Y]), x, z, dx, dz, dz + n)
    for i in range(n + np):
        row = slopes + i * n if i < n else p_q + (i - n) * n
        sign = -1.0 if i < n else 1.0
        a, b = 0.0, 0.0
        for k in range(n):
            a = fma(row[k], dx[k], a)
        if both == 1:
            for k in range(n):
                b = fma(row[k], dz[k], b)
        x[nq + i] = x[nq + i] + sign * a
        z[nq + i] = z[nq + i] + sign * b
    times(n + np, re, im, x + nq, z + nq)
    return 0


def real_solved(env: words, run: words, h: float, x: ptr, z: ptr) -> int:
    """x (size,) becomes the solution of (1/c - J) dy = x, c = h / mu, whose part of the rates is given as forces; z
    (size,) is spare. 0."""
    nq, size, tab = env[NQ], env[NV] + env[NP], doubles(run[TABLE])
    c = h / tab[MU]
    for k in range(nq + size):
        z[k] = 0.0
    reduced(env, run, c, 0.0, 0, x, z)
    solve(size, doubles(run[A]), count_at(run[PIVOTS]), x + nq)
    coordinates_solved(env, c, 0.0, doubles(run[Y]), x, z, doubles(run[SPARE]))
    return 0


def complex_solved(env: words, run: words, h: float, x: ptr, z: ptr) -> int:
    """The same for complex x + i z (size,) and c = h / (alpha + i beta). 0."""
    nq, size, tab, packed = env[NQ], env[NV] + env[NP], doubles(run[TABLE]), doubles(run[PACKED])
    a, b = tab[MU + 1], tab[MU + 2]
    one = h / (a * a + b * b)
    reduced(env, run, a * one, -b * one, 1, x, z)
    for k in range(size):
        packed[2 * k] = x[nq + k]
        packed[2 * k + 1] = z[nq + k]
    complex_solve(size, doubles(run[B]), count_at(run[COMPLEX_PIVOTS]), packed)
    for k in range(size):
        x[nq + k] = packed[2 * k]
        z[nq + k] = packed[2 * k + 1]
    coordinates_solved(env, a * one, -b * one, doubles(run[Y]), x, z, doubles(run[SPARE]))
    return 0


# ------------------------------------------------------------------------------------------------ stages
def stage_residual(env: words, run: words, t: float, h: float, i: int) -> float:
    """G_i for stage i; its part of the rates as forces. The power of its efforts is kept behind it. Zero if it is
    finite."""
    nq, n, size = env[NQ], env[NV], env[NQ] + env[NV] + env[NP]
    width, tab, y, spare = size + 1, doubles(run[TABLE]), doubles(run[Y]), doubles(run[SPARE])
    z, g, u, tau = doubles(run[Z]), doubles(run[G]) + i * width, doubles(run[U]), doubles(run[TAU])
    rate, b = doubles(run[DZ]), tab + INVERSE + 3 * i
    x = rate + width
    for k in range(size):
        x[k] = y[k] + z[i * width + k]
        rate[k] = (b[0] * z[k] + b[1] * z[width + k] + b[2] * z[2 * width + k]) / h
    unit(env, x, u)
    coordinate_rates(env, x, x + nq, g)
    at = t + h if i == 2 else t + tab[NODES + i] * h
    bad = residual(env, at, u, x + nq, x + nq + n, rate + nq, doubles(run[S]), g + nq, g + nq + n, tau, spare)
    power = 0.0
    for k in range(n):
        g[nq + k] = -g[nq + k]
        power = power + tau[k] * x[nq + k]
    for k in range(nq):
        g[k] = g[k] - rate[k]
    for k in range(nq + n, size):
        g[k] = g[k] - rate[k]
    g[size] = power
    return bad


def iteration(env: words, run: words, ctl: ptr, t: float, h: float) -> float:
    """One iteration: Z changes; size of the change in units of the tolerance, or NaN."""
    size = env[NQ] + env[NV] + env[NP]
    width, tab, g, z, dz = size + 1, doubles(run[TABLE]), doubles(run[G]), doubles(run[Z]), doubles(run[DZ])
    bad = 0.0
    for i in range(3):
        bad = bad + stage_residual(env, run, t, h, i)
    if bad != 0.0:
        return bad + 1e301
    w, x, y = doubles(run[REAL]), doubles(run[IMAGINARY]), doubles(run[IMAGINARY]) + width
    left, right, scale = tab + LEFT, tab + RIGHT, doubles(run[SCALE])
    for k in range(size):
        a, b, c = g[k], g[width + k], g[2 * width + k]
        w[k] = left[0] * a + left[1] * b + left[2] * c
        x[k] = left[3] * a + left[4] * b + left[5] * c
        y[k] = left[6] * a + left[7] * b + left[8] * c
    real_solved(env, run, h, w, dz)
    complex_solved(env, run, h, x, y)
    total = 0.0
    for i in range(3):
        a, b, c = right[i], 2.0 * right[3 + i], -2.0 * right[6 + i]
        for k in range(size):
            dz[k] = a * w[k] + b * x[k] + c * y[k]
            z[i * width + k] = z[i * width + k] + dz[k]
        change = weighted(size, dz, scale)
        total = total + change * change
    return total / 3.0


def worked(env: words, run: words, ctl: ptr, h: float) -> int:
    """Work of the efforts up to each stage, by the rule of the method. 0."""
    size = env[NQ] + env[NV] + env[NP]
    width, g, z, rule = size + 1, doubles(run[G]), doubles(run[Z]), doubles(run[TABLE]) + RULE
    for i in range(3):
        a = rule + 3 * i
        z[i * width + size] = h * (a[0] * g[size] + a[1] * g[width + size] + a[2] * g[2 * width + size])
    ctl[STEP_WORK] = z[2 * width + size]
    return 0
