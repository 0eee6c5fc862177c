"""Guarded steps of Newton's method for the impulses of a step, as drivers."""

from __future__ import annotations

from gyrostat.algorithms.contact.cone_driver_elimination import eliminated, wide_for
from gyrostat.engine.drivers.words import apart, copy, count_at, doubles, ptr, sqrt, words
from gyrostat.simulate.methods.drivers.moreau_cones import (
    IMMOBILE,
    MERIT,
    TOLERANCE,
    add_one_row,
    add_three_rows,
    feasible,
    put_u,
    residual,
)
from gyrostat.simulate.methods.drivers.moreau_memory import (
    ACTIVE,
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
    S_HIGH,
    S_LOW,
    S_NUMBERS,
    SCALAR_COUNT,
    SCALAR_NUMBERS,
    SPARE,
    SPEED,
    STRIDE,
)

ENOUGH = 5e-9
"""Residual [m/s, rad/s] that ends the iteration after FEW steps."""
FEW, MEMORY = 3, 12
"""Steps of Newton's method; among how many of the last ones the largest sum of squares must be undercut."""
PROXIMAL, NEAREST = 1e-8, 1.0
"""Part of the diagonal that is added for redundant rows: at first, and at most."""


def active_rows(box: words, list_: words, kinds: words) -> int:
    """Numbers of the rows that Newton's method changes, and their kinds: 0 speed is to vanish, 1 and 2 first and second
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
            list_[count] = r
            kinds[count] = 0
            count = count + 1
        elif num[LOW] == 0.0:
            continue
        if num[MU] == 0.0 or ct == 0.0:
            continue
        y1, y2, radius = p[1] - ct * w[1], p[2] - ct * w[2], num[MU] * p[0]
        slides = 1 if y1 * y1 + y2 * y2 > radius * radius else 0
        list_[count] = r + 1
        list_[count + 1] = r + 2
        kinds[count] = slides
        kinds[count + 1] = 2 * slides
        count = count + 2
    for s in range(box[SCALAR_COUNT]):
        r = 3 * nb + s
        num, a = doubles(box[SCALAR_NUMBERS]) + S_NUMBERS * s, G[r * stride + r]
        if a > IMMOBILE:
            x = P[r] - u[r] / a
            if x > num[S_LOW] and x < num[S_HIGH]:
                list_[count] = r
                kinds[count] = 0
                count = count + 1
    return count


def newton_matrix(box: words, m: int, wide: int, list_: words, kinds: words, K: ptr, near: float) -> int:
    """K (m, m), rows ``wide`` apart, and the right-hand side in column m, of a Newton step for the rows in the list."""
    G, stride, P, u = doubles(box[DELASSUS]), box[STRIDE], doubles(box[IMPULSE]), doubles(box[SPEED])
    for i in range(m):
        r = list_[i]
        g, row = G + r * stride, K + i * wide
        if kinds[i] == 0:
            gather(m, list_, g, row)
            row[i] = row[i] + near * g[r]
            row[m] = -u[r]
        for j in range(m + 1, wide):
            row[j] = 0.0
    for i in range(m):
        if kinds[i] == 1:
            num = doubles(box[CONTACT_NUMBERS]) + K_NUMBERS * (list_[i] // 3)
            sliding_rows(m, wide, list_, i, num, G, stride, P, u, K)
    return 0


@apart
def gather(m: int, list_: words, g: ptr, row: ptr) -> int:
    """Entries of a row of G, one behind the other."""
    for j in range(m):
        row[j] = g[list_[j]]
    return 0


def sliding_rows(m: int, wide: int, list_: words, i: int, num: ptr, G: ptr, stride: int, P: ptr, u: ptr, K: ptr) -> int:
    """Rows i and i + 1, the tangents of a contact that slides: with z = P_t - r u_t, d = z/|z|, R = mu P_n

    (dP_t - mu d dP_n - (R/|z|) (1 - d d^T) (dP_t - r du_t))/r = (R d - P_t)/r."""
    r = list_[i]
    n, ct, mu = r - 1, num[ALONG_T], num[MU]
    z1, z2 = P[r] - ct * u[r], P[r + 1] - ct * u[r + 1]
    size = max(sqrt(z1 * z1 + z2 * z2), 1e-300)
    d1, d2, s = z1 / size, z2 / size, min(1.0, mu * P[n] / size)
    t11, t12, t22 = s * (1.0 - d1 * d1), -s * d1 * d2, s * (1.0 - d2 * d2)
    g1, g2, one, two = G + r * stride, G + (r + 1) * stride, K + i * wide, K + (i + 1) * wide
    by = 1.0 / ct
    for j in range(m):
        c = list_[j]
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


def newton_step_of_rows(box: words, rows: int, allowed: float, near: float) -> float:
    """A step of Newton's method, or a shorter one, whose sum of squares is less than what is allowed: the residual, or
    a negative number if there is none, and everything is as it was. Where redundant rows have no solution in which all
    of them stick, the step leads far away along forces that move nothing: ``near``, a part of the diagonal that is
    added to it, keeps it near."""
    list_, K, P = count_at(box[ACTIVE]), doubles(box[LAW_MATRIX]), doubles(box[IMPULSE])
    told = doubles(box[SPARE])
    old, middle, rhs = told + 4, told + 4 + rows, told + 4 + 2 * rows
    box[NEWTONS] = box[NEWTONS] + 1
    copy(rows, P, old)
    m = active_rows(box, list_, list_ + rows)
    to_bounds(box, rows)
    copy(rows, P, middle)
    wide = wide_for(m)
    newton_matrix(box, m, wide, list_, list_ + rows, K, near)
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
        r = list_[i]
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
