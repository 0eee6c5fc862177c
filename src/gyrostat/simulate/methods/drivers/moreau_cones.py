"""Impulses of contacts with exact Coulomb cones beside rows with bounds, as drivers: sweeps from row to row, which go
on from the impulses of the last step, and a guarded Newton's method where they are slow.

    u = G P + c;    contact: P_n >= low, u_n >= 0, (P_n - low) u_n = 0, |P_t| <= mu P_n, P_t = -mu P_n u_t/|u_t| where
    it slides;      others: low <= P <= high, u = 0 between them.

The residual is that of the natural map P - proj(P - r u) times 1/r, in [m/s, rad/s], with r = 1/G_nn of a normal, 1/
(largest eigenvalue of G_tt) of a tangent."""

from __future__ import annotations

from gyrostat.algorithms.contact.cone_driver_newton import eliminated
from gyrostat.engine.drivers.words import copy, count_at, doubles, fma, ptr, sqrt, words
from gyrostat.simulate.methods.drivers.moreau_hard_rows import solve_hard_rows
from gyrostat.simulate.methods.drivers.moreau_memory import (
    ALONG_T,
    CONTACT_COUNT,
    CONTACT_NUMBERS,
    DELASSUS,
    FREE_SPEED,
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
    STRIDE,
    SWEEPS,
)

TOLERANCE, ENOUGH = 1e-10, 5e-9
"""Residual [m/s, rad/s] that ends the iteration, and that ends it after FEW steps."""
FEW, NEWTON_STEPS, LATER_STEPS, MEMORY = 3, 16, 30, 12
"""Steps of Newton's method: few, at most, at most in later tries; among how many of the last ones the largest sum of
squares must be undercut."""
TRIES, SWEEPS_BETWEEN = 3, 15
"""How often Newton's method begins, and sweeps before its last try; what is left then is a hard problem."""
FAR, NEAR_ROUNDS, FAR_ROUNDS = 1e-6, 4, 8
"""Residual [m/s, rad/s] above which a hard problem is worth everything; rounds of its solver below that, and above."""
LOCAL = 8
"""Turns of normal and tangent of a contact that slides, in a sweep."""
IMMOBILE, SINGULAR = 1e-14, 1e-10
"""G_nn [1/kg] of a row that nothing moves; relative to what moves the tangents: the normal is a dead centre."""
PROXIMAL, NEAR_BY, NEAREST = 1e-8, 1e-4, 1.0
"""Part of the diagonal that is added for redundant rows: at first, after a step that failed, and at most."""
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
    """The largest of the natural map, in speeds; the sum of its squares at MERIT."""
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
    for s in range(box[SCALAR_COUNT]):
        r = 3 * nb + s
        num, a = doubles(box[SCALAR_NUMBERS]) + S_NUMBERS * s, G[r * stride + r]
        if a > IMMOBILE:
            x = P[r] - min(num[S_HIGH], max(num[S_LOW], P[r] - u[r] / a))
            merit = fma(x * x, a, merit)
            most = max(most, abs(x) * a)
    told[MERIT] = merit
    return most


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


def newton_matrix(box: words, m: int, wide: int, list_: words, K: ptr, near: float) -> int:
    """K (m, m), rows ``wide`` apart, and the right-hand side in column m, of a Newton step for the rows in the list."""
    G, stride, P, u = doubles(box[DELASSUS]), box[STRIDE], doubles(box[IMPULSE]), doubles(box[SPEED])
    for i in range(m):
        r, kind = list_[i] // 4, list_[i] % 4
        g, row = G + r * stride, K + i * wide
        if kind == 0:
            for j in range(m):
                row[j] = g[list_[j] // 4]
            row[i] = row[i] + near * g[r]
            row[m] = -u[r]
        for j in range(m + 1, wide):
            row[j] = 0.0
    for i in range(m):
        if list_[i] % 4 == 1:
            num = doubles(box[CONTACT_NUMBERS]) + K_NUMBERS * (list_[i] // 12)
            sliding_rows(m, wide, list_, i, num, G, stride, P, u, K)
    return 0


def sliding_rows(m: int, wide: int, list_: words, i: int, num: ptr, G: ptr, stride: int, P: ptr, u: ptr, K: ptr) -> int:
    """Rows i and i + 1, the tangents of a contact that slides: with z = P_t - r u_t, d = z/|z|, R = mu P_n

    (dP_t - mu d dP_n - (R/|z|) (1 - d d^T) (dP_t - r du_t))/r = (R d - P_t)/r."""
    r = list_[i] // 4
    n, ct, mu = r - 1, num[ALONG_T], num[MU]
    z1, z2 = P[r] - ct * u[r], P[r + 1] - ct * u[r + 1]
    size = max(sqrt(z1 * z1 + z2 * z2), 1e-300)
    d1, d2, s = z1 / size, z2 / size, min(1.0, mu * P[n] / size)
    t11, t12, t22 = s * (1.0 - d1 * d1), -s * d1 * d2, s * (1.0 - d2 * d2)
    g1, g2, one, two = G + r * stride, G + (r + 1) * stride, K + i * wide, K + (i + 1) * wide
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
    one[m] = (mu * P[n] * d1 - P[r]) * by
    two[m] = (mu * P[n] * d2 - P[r + 1]) * by
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
    for s in range(box[SCALAR_COUNT]):
        num, r = doubles(box[SCALAR_NUMBERS]) + S_NUMBERS * s, 3 * nb + s
        P[r] = min(num[S_HIGH], max(num[S_LOW], P[r]))
    return 0


def newton_step_of_rows(box: words, rows: int, allowed: float, near: float) -> float:
    """A step of Newton's method, or a shorter one, whose sum of squares is less than what is allowed: the residual, or
    a negative number if there is none, and everything is as it was. Where redundant rows have no solution in which all
    of them stick, the step leads far away along forces that move nothing: ``near``, a part of the diagonal that is
    added to it, keeps it near."""
    list_, K, P = count_at(box[PIVOTS]), doubles(box[LAW_MATRIX]), doubles(box[IMPULSE])
    told = doubles(box[SPARE])
    old, middle, rhs = told + 4, told + 4 + rows, told + 4 + 2 * rows
    box[NEWTONS] = box[NEWTONS] + 1
    copy(rows, P, old)
    m = active_rows(box, list_)
    to_bounds(box, rows)
    copy(rows, P, middle)
    wide = (m + 4) // 4 * 4
    newton_matrix(box, m, wide, list_, K, near)
    if eliminated(m, wide, K, rhs) == 1:
        share = 1.0
        for _ in range(2):
            after = stepped(box, rows, m, list_, middle, rhs, share)
            if told[MERIT] < allowed:
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


def to_bounds(box: words, rows: int) -> int:
    """Normals and other rows that do not act go to their bounds, speeds after them; contacts that open lose all of
    their impulse. Decided before anything moves."""
    G, stride, P, u = doubles(box[DELASSUS]), box[STRIDE], doubles(box[IMPULSE]), doubles(box[SPEED])
    nb, speeds = box[CONTACT_COUNT], doubles(box[SPARE]) + 4 + 2 * rows
    copy(rows, u, speeds)
    for b in range(nb):
        r, num = 3 * b, doubles(box[CONTACT_NUMBERS]) + K_NUMBERS * b
        a, p, low = G[r * stride + r], P + r, num[LOW]
        if num[MOBILE] == 1.0 and p[0] > low and (p[0] - low) * a <= speeds[r]:
            part = 1.0 if low == 0.0 else 0.0
            add_three_rows(rows, low - p[0], -part * p[1], -part * p[2], G + r * stride, stride, u)
            p[0] = low
            p[1] = p[1] - part * p[1]
            p[2] = p[2] - part * p[2]
    for s in range(box[SCALAR_COUNT]):
        r, num = 3 * nb + s, doubles(box[SCALAR_NUMBERS]) + S_NUMBERS * s
        a = G[r * stride + r]
        if a > IMMOBILE:
            x = P[r] - speeds[r] / a
            if x <= num[S_LOW] or x >= num[S_HIGH]:
                change = (num[S_LOW] if x <= num[S_LOW] else num[S_HIGH]) - P[r]
                if change != 0.0:
                    P[r] = P[r] + change
                    add_one_row(rows, change, G + r * stride, u)
    return 0


def damped_newton(box: words, rows: int, start: float, near_by: float, most: int) -> float:
    """Steps of Newton's method, the sum of squares below the largest of the last ones; steps that fail are tried again
    nearer by: the residual of the best P."""
    told, P = doubles(box[SPARE]), doubles(box[IMPULSE])
    best, last = told + 4 + 3 * rows, told + 4 + 4 * rows
    left, least, near, count = start, start, PROXIMAL, 1
    last[0] = told[MERIT]
    copy(rows, P, best)
    for step in range(most):
        if left <= TOLERANCE or (step >= FEW and left <= ENOUGH):
            return left
        allowed = 0.0
        for k in range(min(count, MEMORY)):
            allowed = max(allowed, last[k])
        after = newton_step_of_rows(box, rows, allowed, near)
        if after < 0.0:
            if near >= NEAREST:
                break
            near = min(NEAREST, max(near_by, 30.0 * near))
            continue
        near = max(PROXIMAL, 0.1 * near)
        last[count % MEMORY] = told[MERIT]
        count = count + 1
        left = after
        if left < least:
            least = left
            copy(rows, P, best)
    copy(rows, best, P)
    put_u(box, rows)
    residual(box)
    return least


def solve_rows(box: words, rows: int, first: int) -> float:
    """P and u from the P that is there: the residual. ``first``: 1 if blocks are new."""
    if first == 1:
        prepare_blocks(box)
    feasible(box)
    put_u(box, rows)
    left = damped_newton(box, rows, residual(box), NEAR_BY, NEWTON_STEPS)
    for turn in range(1, TRIES):
        if left <= ENOUGH:
            return left
        if turn == 2:
            for _ in range(SWEEPS_BETWEEN):
                sweep(box, rows)
            put_u(box, rows)
            left = residual(box)
        left = damped_newton(box, rows, left, 10.0 * NEAR_BY, LATER_STEPS)
    if left <= 2.0 * ENOUGH:
        return left
    return finished_hard_rows(box, rows, left)


def finished_hard_rows(box: words, rows: int, before: float) -> float:
    """What another solver makes of a hard problem, if that is better: the residual. Far from a solution it tries all
    it knows, near to one some rounds."""
    P, best = doubles(box[IMPULSE]), doubles(box[SPARE]) + 4 + 3 * rows
    copy(rows, P, best)
    solve_hard_rows(box, FAR_ROUNDS if before > FAR else NEAR_ROUNDS, 2 if before > FAR else 0)
    feasible(box)
    put_u(box, rows)
    left = residual(box)
    if left <= before:
        return left
    copy(rows, best, P)
    put_u(box, rows)
    return before
