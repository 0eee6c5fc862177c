"""Guarded steps of Newton's method for the impulses of a step, as drivers."""

from __future__ import annotations

from gyrostat.engine.drivers.linear_algebra import lu, solve
from gyrostat.engine.drivers.words import copy, count_at, doubles, ptr, sqrt, words
from gyrostat.simulate.methods.drivers.moreau_cones import IMMOBILE, add_three_rows, feasible, put_u, residual
from gyrostat.simulate.methods.drivers.moreau_memory import (
    ALONG_T,
    CONTACT_COUNT,
    CONTACT_NUMBERS,
    DELASSUS,
    IMPULSE,
    K_NUMBERS,
    LAW_MATRIX,
    LOW,
    MOBILE,
    MU,
    NEWTONS,
    PIVOTS,
    S_HIGH,
    S_LOW,
    S_NUMBERS,
    SCALAR_COUNT,
    SCALAR_NUMBERS,
    SPARE,
    SPEED,
    STRIDE,
)


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
