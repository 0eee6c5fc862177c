"""Projected sweeps as drivers: the velocities u follow every change of a force, so that open contacts cost nothing.

A *unit* is a row by itself or a contact: ``units`` (count, 2) tells its rows (1, 3, 4 or 6) and the first of them,
``laws`` (count, LAW) what it may do, in scaled rows:

* row: low, high, 1/A_kk (zero: dead);
* contact: ratios of friction, torsion, rolling; bases of the three; the inverse of its own first three rows (xx, xy,
  xz, yy, yz, zz); 1/curvature of the three discs; 1/A_nn (zero: dead).

``A`` is symmetric, its rows ``stride`` apart, a multiple of four, zeros from m on."""

from __future__ import annotations

from gyrostat.engine.drivers.words import fma, ptr, sqrt, words

LAW = 16
LIVE = 15
RIDGE_OF_CONTACT = 1e-12


def add_one(stride: int, a: ptr, x: float, u: ptr) -> int:
    """u (stride,) += a x."""
    for j in range(0, stride, 4):
        b, c, d, e = (
            fma(a[j], x, u[j]),
            fma(a[j + 1], x, u[j + 1]),
            fma(a[j + 2], x, u[j + 2]),
            fma(a[j + 3], x, u[j + 3]),
        )
        u[j] = b
        u[j + 1] = c
        u[j + 2] = d
        u[j + 3] = e
    return 0


def add_two(stride: int, a: ptr, x: float, y: float, u: ptr) -> int:
    """u (stride,) += two rows of A, from a on, times x and y."""
    f = a + stride
    for j in range(0, stride, 4):
        b, c, d, e = (
            fma(a[j], x, u[j]),
            fma(a[j + 1], x, u[j + 1]),
            fma(a[j + 2], x, u[j + 2]),
            fma(a[j + 3], x, u[j + 3]),
        )
        b, c, d, e = fma(f[j], y, b), fma(f[j + 1], y, c), fma(f[j + 2], y, d), fma(f[j + 3], y, e)
        u[j] = b
        u[j + 1] = c
        u[j + 2] = d
        u[j + 3] = e
    return 0


def add_three(stride: int, a: ptr, x: float, y: float, z: float, u: ptr) -> int:
    """u (stride,) += three rows of A, from a on, times x, y and z."""
    f, g = a + stride, a + 2 * stride
    for j in range(0, stride, 4):
        b, c, d, e = (
            fma(a[j], x, u[j]),
            fma(a[j + 1], x, u[j + 1]),
            fma(a[j + 2], x, u[j + 2]),
            fma(a[j + 3], x, u[j + 3]),
        )
        b, c, d, e = fma(f[j], y, b), fma(f[j + 1], y, c), fma(f[j + 2], y, d), fma(f[j + 3], y, e)
        b, c, d, e = fma(g[j], z, b), fma(g[j + 1], z, c), fma(g[j + 2], z, d), fma(g[j + 3], z, e)
        u[j] = b
        u[j + 1] = c
        u[j + 2] = d
        u[j + 3] = e
    return 0


def shrink(x: float, y: float, radius: float) -> float:
    """By what (x, y) is multiplied to lie in a disc."""
    square = x * x + y * y
    if square <= radius * radius:
        return 1.0
    return radius / sqrt(square)


def swept(count: int, stride: int, units: words, laws: ptr, A: ptr, P: ptr, u: ptr) -> int:
    """One sweep over all units; P and u change. 0."""
    for i in range(count):
        law, size, k = laws + i * LAW, units[2 * i], units[2 * i + 1]
        own = A + k * stride
        if size == 1:
            x = P[k]
            y = min(max(x - u[k] * law[2], law[0]), law[1])
            if y != x:
                P[k] = y
                add_one(stride, own, y - x, u)
            continue
        if law[LIVE] == 0.0 or (P[k] == 0.0 and u[k] >= 0.0 and law[3] + law[4] + law[5] == 0.0):
            continue  # feasible forces: the others of the contact are zero too
        p, q, r, a, b, c = P[k], P[k + 1], P[k + 2], u[k], u[k + 1], u[k + 2]
        x = p - (law[6] * a + law[7] * b + law[8] * c)
        y = q - (law[7] * a + law[9] * b + law[10] * c)
        z = r - (law[8] * a + law[10] * b + law[11] * c)
        radius = law[0] * x + law[3]
        if not (x >= 0.0 and y * y + z * z <= radius * radius):
            x = max(p - a * law[LIVE], 0.0)
            y = q - fma(own[k + 1], x - p, b) * law[12]
            z = r - fma(own[k + 2], x - p, c) * law[12]
            s = shrink(y, z, law[0] * x + law[3])
            y, z = y * s, z * s
        if x != p or y != q or z != r:
            P[k] = x
            P[k + 1] = y
            P[k + 2] = z
            add_three(stride, own, x - p, y - q, z - r, u)
        if size > 3:
            p = P[k + 3]
            radius = law[1] * x + law[4]
            y = min(max(p - u[k + 3] * law[13], -radius), radius)
            P[k + 3] = y
            add_one(stride, own + 3 * stride, y - p, u)
        if size > 4:
            p, q = P[k + 4], P[k + 5]
            y, z = p - u[k + 4] * law[14], q - u[k + 5] * law[14]
            s = shrink(y, z, law[2] * x + law[5])
            P[k + 4] = y * s
            P[k + 5] = z * s
            add_two(stride, own + 4 * stride, y * s - p, z * s - q, u)
    return 0


def made_feasible(count: int, units: words, laws: ptr, P: ptr) -> int:
    """Normal forces to their bounds, then discs of their radius; dead units give nothing. 0."""
    for i in range(count):
        law, size, k = laws + i * LAW, units[2 * i], units[2 * i + 1]
        if size == 1:
            P[k] = 0.0 if law[2] == 0.0 else min(max(P[k], law[0]), law[1])
        else:
            x = max(P[k], 0.0) if law[LIVE] != 0.0 else 0.0
            P[k] = x
            s = shrink(P[k + 1], P[k + 2], law[0] * x + law[3])
            P[k + 1] = P[k + 1] * s
            P[k + 2] = P[k + 2] * s
            if size > 3:
                P[k + 3] = P[k + 3] * shrink(P[k + 3], 0.0, law[1] * x + law[4])
            if size > 4:
                s = shrink(P[k + 4], P[k + 5], law[2] * x + law[5])
                P[k + 4] = P[k + 4] * s
                P[k + 5] = P[k + 5] * s
    return 0


def disc_map(p: float, q: float, a: float, b: float, radius: float, merit: ptr) -> float:
    """Larger entry of the natural map of a disc: forces (p, q), velocities (a, b); squares are added to merit[0]."""
    y, z = p - a, q - b
    s = shrink(y, z, radius)
    y, z = p - y * s, q - z * s
    merit[0] = merit[0] + y * y + z * z
    return max(abs(y), abs(z))


def natural_map(count: int, units: words, laws: ptr, P: ptr, u: ptr, merit: ptr) -> float:
    """Largest entry of P - proj(P - u); merit[0]: the sum of all squares."""
    worst = 0.0
    merit[0] = 0.0
    for i in range(count):
        law, size, k = laws + i * LAW, units[2 * i], units[2 * i + 1]
        x = P[k]
        y = x - min(max(x - u[k], law[0]), law[1]) if size == 1 else x - max(x - u[k], 0.0)
        merit[0] = merit[0] + y * y
        worst = max(worst, abs(y))
        if size > 1:
            worst = max(worst, disc_map(P[k + 1], P[k + 2], u[k + 1], u[k + 2], law[0] * x + law[3], merit))
        if size > 3:
            worst = max(worst, disc_map(P[k + 3], 0.0, u[k + 3], 0.0, law[1] * x + law[4], merit))
        if size > 4:
            worst = max(worst, disc_map(P[k + 4], P[k + 5], u[k + 4], u[k + 5], law[2] * x + law[5], merit))
    return worst
