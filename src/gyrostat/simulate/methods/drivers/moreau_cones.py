"""Impulses of contacts with exact Coulomb cones beside rows with bounds, as drivers: sweeps from row to row, which go
on from the impulses of the last step, and a guarded Newton's method where they are slow.

    u = G P + c;    contact: P_n >= low, u_n >= 0, (P_n - low) u_n = 0, |P_t| <= mu P_n, P_t = -mu P_n u_t/|u_t| where
    it slides;      others: low <= P <= high, u = 0 between them.

The residual is that of the natural map P - proj(P - r u) times 1/r, in [m/s, rad/s], with r = 1/G_nn of a normal, 1/
(largest eigenvalue of G_tt) of a tangent."""

from __future__ import annotations

from gyrostat.engine.drivers.linear_algebra import lu, solve
from gyrostat.engine.drivers.words import copy, count_at, doubles, fma, ptr, sqrt, words
from gyrostat.simulate.methods.drivers.moreau_hard_rows import solve_hard_rows
from gyrostat.simulate.methods.drivers.moreau_memory import (
    ALONG_T,
    CONTACT_COUNT,
    CONTACT_NUMBERS,
    DELASSUS,
    FREE_SPEED,
    HARD,
    IMPULSE,
    INVERSE,
    K_NUMBERS,
    LAW_MATRIX,
    LOW,
    MOBILE,
    MU,
    NEWTONS,
    PIVOTS,
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
FIRST_SWEEPS, NEWTON_STEPS, ROUNDS = 10, 5, 3
"""Sweeps before Newton's method, more from round to round and none in the first, its steps at most, and rounds of both;
what is left then is a hard problem."""
LOCAL = 8
"""Turns of normal and tangent of a contact that slides, in a sweep."""
IMMOBILE, SINGULAR = 1e-14, 1e-10
"""G_nn [1/kg] of a row that nothing moves; relative to what moves the tangents: the normal is a dead centre."""
PROXIMAL, NEAR_BY = 1e-8, 1e-3
"""Part of the diagonal that is added for redundant rows, at first and where that does not help."""


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
    for r in range(rows):
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
    """The largest of the natural map, in speeds."""
    G, stride, P, u = doubles(box[DELASSUS]), box[STRIDE], doubles(box[IMPULSE]), doubles(box[SPEED])
    nb, most = box[CONTACT_COUNT], 0.0
    for b in range(nb):
        r = 3 * b
        num, p, w = doubles(box[CONTACT_NUMBERS]) + K_NUMBERS * b, P + r, u + r
        a, ct = G[r * stride + r], num[ALONG_T]
        if num[MOBILE] == 0.0:
            continue
        if a > IMMOBILE:
            most = max(most, abs(p[0] - max(num[LOW], p[0] - w[0] / a)) * a)
        if ct > 0.0 and num[MU] > 0.0:
            y1, y2 = p[1] - ct * w[1], p[2] - ct * w[2]
            size, radius = y1 * y1 + y2 * y2, num[MU] * p[0]
            s = radius / sqrt(size) if size > radius * radius else 1.0
            most = max(most, (abs(p[1] - s * y1) + abs(p[2] - s * y2)) / ct)
    for s in range(3 * box[SPIN_COUNT], box[SCALAR_COUNT]):
        r = 3 * nb + s
        num, a = doubles(box[SCALAR_NUMBERS]) + S_NUMBERS * s, G[r * stride + r]
        if a > IMMOBILE:
            most = max(most, abs(P[r] - min(num[S_HIGH], max(num[S_LOW], P[r] - u[r] / a))) * a)
    return max(most, spin_residual(box)) if box[SPIN_COUNT] > 0 else most


def active_rows(box: words, list_: words) -> int:
    """Numbers of the rows that Newton's method changes; 4 r + kind: 0 speed is to vanish, 1 and 2 first and second
    tangent that slides."""
    G, stride, P, u = doubles(box[DELASSUS]), box[STRIDE], doubles(box[IMPULSE]), doubles(box[SPEED])
    nb, count = box[CONTACT_COUNT], 0
    for b in range(nb):
        r = 3 * b
        num, p, w = doubles(box[CONTACT_NUMBERS]) + K_NUMBERS * b, P + r, u + r
        a, ct = G[r * stride + r], num[ALONG_T]
        if num[MOBILE] == 0.0:
            continue
        if p[0] - w[0] / a > num[LOW]:
            list_[count] = 4 * r
            count = count + 1
        elif num[LOW] == 0.0:
            continue
        if num[MU] == 0.0 or ct == 0.0:
            continue
        y1, y2, radius = p[1] - ct * w[1], p[2] - ct * w[2], num[MU] * p[0]
        slides = 1 if y1 * y1 + y2 * y2 > radius * radius else 0
        list_[count] = 4 * (r + 1) + slides
        list_[count + 1] = 4 * (r + 2) + 2 * slides
        count = count + 2
    for s in range(box[SCALAR_COUNT]):
        r = 3 * nb + s
        num, a = doubles(box[SCALAR_NUMBERS]) + S_NUMBERS * s, G[r * stride + r]
        if a > IMMOBILE:
            x = P[r] - u[r] / a
            if x > num[S_LOW] and x < num[S_HIGH]:
                list_[count] = 4 * r
                count = count + 1
    return count


def newton_matrix(box: words, m: int, list_: words, K: ptr, rhs: ptr, near: float) -> int:
    """K (m, m) and right-hand side (m,) of a Newton step for the rows in the list."""
    G, stride, P, u = doubles(box[DELASSUS]), box[STRIDE], doubles(box[IMPULSE]), doubles(box[SPEED])
    for i in range(m):
        r, kind = list_[i] // 4, list_[i] % 4
        g, row = G + r * stride, K + i * m
        if kind == 0:
            for j in range(m):
                row[j] = g[list_[j] // 4]
            row[i] = row[i] + near * g[r]
            rhs[i] = -u[r]
    for i in range(m):
        if list_[i] % 4 == 1:
            sliding_rows(
                m, list_, i, doubles(box[CONTACT_NUMBERS]) + K_NUMBERS * (list_[i] // 12), G, stride, P, u, K, rhs
            )
    return 0


def sliding_rows(m: int, list_: words, i: int, num: ptr, G: ptr, stride: int, P: ptr, u: ptr, K: ptr, rhs: ptr) -> int:
    """Rows i and i + 1, the tangents of a contact that slides: with z = P_t - r u_t, d = z/|z|, R = mu P_n

    (dP_t - mu d dP_n - (R/|z|) (1 - d d^T) (dP_t - r du_t))/r = (R d - P_t)/r."""
    r = list_[i] // 4
    n, ct, mu = r - 1, num[ALONG_T], num[MU]
    z1, z2 = P[r] - ct * u[r], P[r + 1] - ct * u[r + 1]
    size = sqrt(z1 * z1 + z2 * z2)
    d1, d2, s = z1 / size, z2 / size, mu * P[n] / size
    t11, t12, t22 = s * (1.0 - d1 * d1), -s * d1 * d2, s * (1.0 - d2 * d2)
    g1, g2, one, two = G + r * stride, G + (r + 1) * stride, K + i * m, K + (i + 1) * m
    by = 1.0 / ct
    for j in range(m):
        c = list_[j] // 4
        one[j] = t11 * g1[c] + t12 * g2[c]
        two[j] = t12 * g1[c] + t22 * g2[c]
        if c == n:
            one[j] = one[j] - mu * d1 * by
            two[j] = two[j] - mu * d2 * by
    one[i] = one[i] + (1.0 - t11) * by
    one[i + 1] = one[i + 1] - t12 * by
    two[i] = two[i] - t12 * by
    two[i + 1] = two[i + 1] + (1.0 - t22) * by
    rhs[i] = (mu * P[n] * d1 - P[r]) * by
    rhs[i + 1] = (mu * P[n] * d2 - P[r + 1]) * by
    return 0


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


def newton_step_of_rows(box: words, rows: int, before: float, near: float) -> float:
    """A step of Newton's method, shortened until the residual becomes smaller: the residual, or a negative number if it
    does not, and everything is as it was. Where redundant rows have no solution in which all of them stick, the step
    leads far away along forces that move nothing: then it ends where the first of them slides or opens; and ``near``,
    a part of the diagonal that is added to it, keeps it near."""
    list_, K, P = count_at(box[PIVOTS]), doubles(box[LAW_MATRIX]), doubles(box[IMPULSE])
    old = doubles(box[SPARE]) + 4
    middle, rhs = old + rows, old + 2 * rows
    box[NEWTONS] = box[NEWTONS] + 1
    copy(rows, P, old)
    opened(box, rows)
    copy(rows, P, middle)
    m = active_rows(box, list_)
    newton_matrix(box, m, list_, K, rhs, near)
    if lu(m, K, list_ + m) == 0:
        solve(m, K, list_ + m, rhs)
        reach = first_border(box, m, list_, rhs)
        share = 1.0
        for turn in range(3):
            after = stepped(box, rows, m, list_, middle, rhs, share)
            if after < 0.8 * before:
                return after
            if turn == 0 and reach > 1e-9 and reach < 0.1:
                after = stepped(box, rows, m, list_, middle, rhs, reach * (1.0 + 1e-9))
                if after <= 1.5 * before:
                    return after
            share = 0.4 * share
    copy(rows, old, P)
    put_u(box, rows)
    return -1.0


def stepped(box: words, rows: int, m: int, list_: words, start: ptr, d: ptr, share: float) -> float:
    """P = start + share d, made feasible, with its u: the residual."""
    P = doubles(box[IMPULSE])
    copy(rows, start, P)
    for i in range(m):
        r = list_[i] // 4
        P[r] = start[r] + share * d[i]
    feasible(box)
    put_u(box, rows)
    return residual(box)


def first_border(box: words, m: int, list_: words, d: ptr) -> float:
    """The share of the change d (m,) of the rows in the list at which the first contact that sticks slides, or the
    first normal impulse vanishes; 1e300 if none does."""
    P, least = doubles(box[IMPULSE]), 1e300
    for i in range(m):
        r, kind = list_[i] // 4, list_[i] % 4
        if kind == 0 and r < 3 * box[CONTACT_COUNT] and r % 3 == 0:
            num = doubles(box[CONTACT_NUMBERS]) + K_NUMBERS * (r // 3)
            if d[i] < 0.0:
                least = min(least, (num[LOW] - P[r]) / d[i])
            if i + 2 < m and list_[i + 1] == 4 * (r + 1) and list_[i + 2] == 4 * (r + 2):
                mu2 = num[MU] * num[MU]
                a = d[i + 1] * d[i + 1] + d[i + 2] * d[i + 2] - mu2 * d[i] * d[i]
                b = P[r + 1] * d[i + 1] + P[r + 2] * d[i + 2] - mu2 * P[r] * d[i]
                c = min(0.0, P[r + 1] * P[r + 1] + P[r + 2] * P[r + 2] - mu2 * P[r] * P[r])
                square = b * b - a * c
                if square >= 0.0 and (a > 0.0 or b > 0.0):
                    least = min(least, -c / (b + sqrt(square)) if b > 0.0 else (sqrt(square) - b) / a)
    return least


def opened(box: words, rows: int) -> int:
    """Contacts that open lose their impulse."""
    G, stride, P, u = doubles(box[DELASSUS]), box[STRIDE], doubles(box[IMPULSE]), doubles(box[SPEED])
    for b in range(box[CONTACT_COUNT]):
        r, num = 3 * b, doubles(box[CONTACT_NUMBERS]) + K_NUMBERS * b
        a, p = G[r * stride + r], P + r
        if num[MOBILE] == 1.0 and num[LOW] == 0.0 and p[0] > 0.0 and p[0] * a <= u[r]:
            add_three_rows(rows, -p[0], -p[1], -p[2], G + r * stride, stride, u)
            p[0] = 0.0
            p[1] = 0.0
            p[2] = 0.0
    return 0


def solve_rows(box: words, rows: int, first: int) -> float:
    """P and u from the P that is there: the residual. ``first``: 1 if blocks are new."""
    if first == 1:
        prepare_blocks(box)
    if box[SPIN_COUNT] > 0:
        return solve_whole(box, rows)
    feasible(box)
    put_u(box, rows)
    left = residual(box)
    for turn in range(ROUNDS):
        most = 0 if turn == 0 else FIRST_SWEEPS * turn
        for k in range(most):
            change = sweep(box, rows)
            if change <= 10.0 * TOLERANCE or k == most - 1:
                left = residual(box)
            if left <= TOLERANCE:
                return left
        for _ in range(NEWTON_STEPS):
            if left <= TOLERANCE:
                return left
            after = newton_step_of_rows(box, rows, left, PROXIMAL)
            if after < 0.0:
                left = after if after >= 0.0 else left
                after = newton_step_of_rows(box, rows, left, NEAR_BY)
            if after < 0.0:
                break
            left = after
    if left > 100.0 * TOLERANCE:
        box[HARD] = box[HARD] + 1
        left = solve_whole(box, rows)
    return left


def solve_whole(box: words, rows: int) -> float:
    """The problem by the solver of all contact problems, which torsional and rolling friction need: the residual."""
    solve_hard_rows(box)
    feasible(box)
    put_u(box, rows)
    return residual(box)
