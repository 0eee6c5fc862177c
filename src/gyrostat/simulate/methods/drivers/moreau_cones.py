"""Impulses of contacts with exact Coulomb cones beside rows with bounds, as drivers: sweeps from row to row.

    u = G P + c;    contact: P_n >= low, u_n >= 0, (P_n - low) u_n = 0, |P_t| <= mu P_n, P_t = -mu P_n u_t/|u_t| where
    it slides;      others: low <= P <= high, u = 0 between them.

The residual is that of the natural map P - proj(P - r u) times 1/r, in [m/s, rad/s], with r = 1/G_nn of a normal, 1/
(largest eigenvalue of G_tt) of a tangent."""

from __future__ import annotations

from gyrostat.engine.drivers.words import copy, doubles, fma, ptr, sqrt, words
from gyrostat.simulate.methods.drivers.moreau_memory import (
    ALONG_T,
    CONTACT_COUNT,
    CONTACT_NUMBERS,
    DELASSUS,
    FREE_SPEED,
    IMPULSE,
    INVERSE,
    K_NUMBERS,
    LOW,
    MOBILE,
    MU,
    REGULAR,
    S_HIGH,
    S_LOW,
    S_NUMBERS,
    SCALAR_COUNT,
    SCALAR_NUMBERS,
    SPARE,
    SPEED,
    SPIN_COUNT,
    STRIDE,
    SWEEPS,
)
from gyrostat.simulate.methods.drivers.moreau_spins import spin_residual, spins_into_sets

TOLERANCE = 1e-10
"""Residual [m/s, rad/s] that ends the iteration."""
LOCAL = 8
"""Turns of normal and tangent of a contact that slides, in a sweep."""
IMMOBILE, SINGULAR = 1e-14, 1e-10
"""G_nn [1/kg] of a row that nothing moves; relative to what moves the tangents: the normal is a dead centre."""
MERIT = 3
"""Place in SPARE: the sum of squares of the natural map [J]."""


def prepare_blocks(box: words) -> int:
    """Inverse of the 3 x 3 block of each contact, and its tangent step."""
    G, stride = doubles(box[DELASSUS]), box[STRIDE]
    for b in range(box[CONTACT_COUNT]):
        num = doubles(box[CONTACT_NUMBERS]) + K_NUMBERS * b
        g = G + 3 * b * stride + 3 * b
        a, d, e, f = g[0], g[1], g[2], g[stride + 1]
        m, k = g[stride + 2], g[2 * stride + 2]
        half = 0.5 * (f - k)
        largest = 0.5 * (f + k) + sqrt(half * half + m * m)
        num[ALONG_T] = 1.0 / largest if largest > IMMOBILE else 0.0
        c00, c01, c02 = f * k - m * m, e * m - d * k, d * m - e * f
        det = a * c00 + d * c01 + e * c02
        num[REGULAR] = 0.0
        num[MOBILE] = 1.0 if a > IMMOBILE and a > SINGULAR * (f + k) else 0.0
        if det > 1e-9 * a * f * k and a > IMMOBILE:
            one, v = 1.0 / det, num + INVERSE
            num[REGULAR] = 1.0
            v[0] = c00 * one
            v[1] = c01 * one
            v[2] = c02 * one
            v[3] = v[1]
            v[4] = (a * k - e * e) * one
            v[5] = (d * e - a * m) * one
            v[6] = v[2]
            v[7] = v[5]
            v[8] = (a * f - d * d) * one
    return 0


def put_u(box: words, rows: int) -> int:
    """u = G P + c."""
    G, stride, P = doubles(box[DELASSUS]), box[STRIDE], doubles(box[IMPULSE])
    u = doubles(box[SPEED])
    copy(rows, doubles(box[FREE_SPEED]), u)
    contacts = 3 * box[CONTACT_COUNT]
    for r in range(0, contacts, 3):
        if P[r] != 0.0 or P[r + 1] != 0.0 or P[r + 2] != 0.0:
            add_three_rows(rows, P[r], P[r + 1], P[r + 2], G + r * stride, stride, u)
    for r in range(contacts, rows):
        if P[r] != 0.0:
            add_one_row(rows, P[r], G + r * stride, u)
    return 0


def add_one_row(rows: int, x: float, g: ptr, u: ptr) -> int:
    for s in range(rows):
        u[s] = fma(x, g[s], u[s])
    return 0


def add_three_rows(rows: int, x: float, y: float, z: float, g: ptr, stride: int, u: ptr) -> int:
    """u + x g_0 + y g_1 + z g_2 for three rows."""
    e, f = g + stride, g + 2 * stride
    for s in range(0, rows, 4):
        a, b, c, d = u[s], u[s + 1], u[s + 2], u[s + 3]
        a, b, c, d = fma(x, g[s], a), fma(x, g[s + 1], b), fma(x, g[s + 2], c), fma(x, g[s + 3], d)
        a, b, c, d = fma(y, e[s], a), fma(y, e[s + 1], b), fma(y, e[s + 2], c), fma(y, e[s + 3], d)
        a, b, c, d = fma(z, f[s], a), fma(z, f[s + 1], b), fma(z, f[s + 2], c), fma(z, f[s + 3], d)
        u[s] = a
        u[s + 1] = b
        u[s + 2] = c
        u[s + 3] = d
    return 0


def contact_change(num: ptr, g: ptr, stride: int, p: ptr, w: ptr, d: ptr) -> float:
    """Change d (3,) of the impulse p of a contact, all others held, for its speed w: how much speed it is."""
    low, mu, inv = num[LOW], num[MU], num + INVERSE
    a00, a01, a02, a11 = g[0], g[1], g[2], g[stride + 1]
    a12, a22 = g[stride + 2], g[2 * stride + 2]
    d[0] = 0.0
    d[1] = 0.0
    d[2] = 0.0
    if num[MOBILE] == 0.0 or (low == 0.0 and p[0] == 0.0 and w[0] >= 0.0):
        return 0.0
    u0, u1, u2 = w[0], w[1], w[2]
    x0, x1, x2 = p[0], p[1], p[2]
    if num[REGULAR] == 1.0:
        y0 = x0 - fma(inv[0], u0, fma(inv[1], u1, inv[2] * u2))
        y1 = x1 - fma(inv[3], u0, fma(inv[4], u1, inv[5] * u2))
        y2 = x2 - fma(inv[6], u0, fma(inv[7], u1, inv[8] * u2))
        if y0 >= low and y1 * y1 + y2 * y2 <= mu * mu * y0 * y0:
            d[0] = y0 - x0
            d[1] = y1 - x1
            d[2] = y2 - x2
            return max(abs(u0), max(abs(u1), abs(u2)))
    ct, most = num[ALONG_T], 0.0
    for _ in range(LOCAL):
        y0 = max(low, x0 - u0 / a00)
        e = y0 - x0
        u0, u1, u2, x0 = fma(a00, e, u0), fma(a01, e, u1), fma(a02, e, u2), y0
        y1, y2 = x1 - ct * u1, x2 - ct * u2
        size, radius = y1 * y1 + y2 * y2, mu * x0
        if size > radius * radius:
            s = radius / sqrt(size)
            y1 = y1 * s
            y2 = y2 * s
        f, m = y1 - x1, y2 - x2
        u0 = fma(a01, f, fma(a02, m, u0))
        u1 = fma(a11, f, fma(a12, m, u1))
        u2 = fma(a12, f, fma(a22, m, u2))
        x1 = y1
        x2 = y2
        change = abs(e) * a00
        if ct > 0.0:
            change = max(change, (abs(f) + abs(m)) / ct)
        most = max(most, change)
        if change <= 0.01 * most or change <= 0.1 * TOLERANCE:
            break
    d[0] = x0 - p[0]
    d[1] = x1 - p[1]
    d[2] = x2 - p[2]
    return most


def sweep(box: words, rows: int) -> float:
    """All contacts, then all others, once: the largest change of a speed."""
    G, stride, P, u = doubles(box[DELASSUS]), box[STRIDE], doubles(box[IMPULSE]), doubles(box[SPEED])
    nb, d, most = box[CONTACT_COUNT], doubles(box[SPARE]), 0.0
    for b in range(nb):
        r = 3 * b
        g, num, p = G + r * stride, doubles(box[CONTACT_NUMBERS]) + K_NUMBERS * b, P + r
        change = contact_change(num, g + r, stride, p, u + r, d)
        if d[0] != 0.0 or d[1] != 0.0 or d[2] != 0.0:
            p[0] = p[0] + d[0]
            p[1] = p[1] + d[1]
            p[2] = p[2] + d[2]
            add_three_rows(rows, d[0], d[1], d[2], g, stride, u)
        most = max(most, change)
    for s in range(box[SCALAR_COUNT]):
        r = 3 * nb + s
        num, g = doubles(box[SCALAR_NUMBERS]) + S_NUMBERS * s, G + r * stride
        if g[r] > IMMOBILE:
            x = min(num[S_HIGH], max(num[S_LOW], P[r] - u[r] / g[r])) - P[r]
            if x != 0.0:
                P[r] = P[r] + x
                add_one_row(rows, x, g, u)
                most = max(most, abs(x) * g[r])
    box[SWEEPS] = box[SWEEPS] + 1
    return most


def residual(box: words) -> float:
    """The largest of the natural map, in speeds; the sum of its squares, without those of spins, at MERIT."""
    G, stride, P, u = doubles(box[DELASSUS]), box[STRIDE], doubles(box[IMPULSE]), doubles(box[SPEED])
    nb, most, merit, told = box[CONTACT_COUNT], 0.0, 0.0, doubles(box[SPARE])
    for b in range(nb):
        r = 3 * b
        num, p, w = doubles(box[CONTACT_NUMBERS]) + K_NUMBERS * b, P + r, u + r
        a, ct = G[r * stride + r], num[ALONG_T]
        if num[MOBILE] == 0.0:
            continue
        if a > IMMOBILE:
            x = min(p[0] - num[LOW], w[0] / a)
            merit = fma(x * x, a, merit)
            most = max(most, abs(x) * a)
        if ct > 0.0 and num[MU] > 0.0:
            y1, y2 = p[1] - ct * w[1], p[2] - ct * w[2]
            size, radius = y1 * y1 + y2 * y2, num[MU] * p[0]
            s, by = radius / sqrt(size) if size > radius * radius else 1.0, 1.0 / ct
            y1, y2 = p[1] - s * y1, p[2] - s * y2
            merit = fma(fma(y1, y1, y2 * y2), by, merit)
            most = max(most, (abs(y1) + abs(y2)) * by)
    for s in range(3 * box[SPIN_COUNT], box[SCALAR_COUNT]):
        r = 3 * nb + s
        num, a = doubles(box[SCALAR_NUMBERS]) + S_NUMBERS * s, G[r * stride + r]
        if a > IMMOBILE:
            x = P[r] - min(num[S_HIGH], max(num[S_LOW], P[r] - u[r] / a))
            merit = fma(x * x, a, merit)
            most = max(most, abs(x) * a)
    told[MERIT] = merit
    return max(most, spin_residual(box)) if box[SPIN_COUNT] > 0 else most


def feasible(box: words) -> int:
    """P into its sets: normals first, then tangents by their radius."""
    P, nb = doubles(box[IMPULSE]), box[CONTACT_COUNT]
    for b in range(nb):
        num, p = doubles(box[CONTACT_NUMBERS]) + K_NUMBERS * b, P + 3 * b
        p[0] = max(num[LOW], p[0]) if num[MOBILE] == 1.0 else 0.0
        size, radius = p[1] * p[1] + p[2] * p[2], num[MU] * p[0]
        if size > radius * radius:
            s = radius / sqrt(size)
            p[1] = s * p[1]
            p[2] = s * p[2]
    for s in range(3 * box[SPIN_COUNT], box[SCALAR_COUNT]):
        num, r = doubles(box[SCALAR_NUMBERS]) + S_NUMBERS * s, 3 * nb + s
        P[r] = min(num[S_HIGH], max(num[S_LOW], P[r]))
    if box[SPIN_COUNT] > 0:
        spins_into_sets(box)
    return 0
