"""The contact problem in rows of one unit, as drivers: see :mod:`~gyrostat.algorithms.contact.cone_scaling`. The laws
of units are those of :mod:`~gyrostat.algorithms.contact.cone_driver_sweeps`."""

from __future__ import annotations

from gyrostat.algorithms.contact.cone_driver_sweeps import LAW, LIVE, RIDGE_OF_CONTACT, add_one
from gyrostat.engine.drivers.words import copy, ptr, sqrt, words

NUMBERS = 6
"""Doubles of a unit that the caller gives: low, high; or mu, torsional, rolling, and a base of each (zero)."""
HEAD = 4
"""Doubles at the start of the memory that tell: residual, sweeps, steps of Newton, whether it converged."""
NEGLIGIBLE = 1e-22
LARGEST = 1e100


def scaled_rows(
    m: int, count: int, stride: int, G: ptr, c: ptr, units: words, A: ptr, scale: ptr, inverse: ptr, b: ptr
) -> float:
    """A (m, stride) = S^-1 G S^-1, ``scale`` (m,), ``inverse`` of it, b = S^-1 c; the largest of b. Numbers of
    G beside its rows are finite."""
    largest = 0.0
    for i in range(count):
        size, k = units[2 * i], units[2 * i + 1]
        for j in range(k, k + size):
            scale[j] = G[j * stride + j]
        if size > 1:
            x = (scale[k + 1] + scale[k + 2]) * 0.5
            scale[k + 1] = x
            scale[k + 2] = x
        if size > 4:
            x = (scale[k + 4] + scale[k + 5]) * 0.5
            scale[k + 4] = x
            scale[k + 5] = x
        for j in range(k, k + size):
            largest = max(largest, scale[j])
    least = NEGLIGIBLE * largest
    size_of_c = 0.0
    for k in range(m):
        d = scale[k]
        x = sqrt(d if d > least else largest) if largest > 0.0 else 1.0
        inverse[k] = 1.0 / x
        b[k] = c[k] * inverse[k]
        size_of_c = max(size_of_c, abs(b[k]))
        scale[k] = x
    for k in range(m, stride):
        inverse[k] = 0.0
    for k in range(m):
        row, of, x = A + k * stride, G + k * stride, inverse[k]
        for j in range(0, stride, 4):
            a, d, e, f = inverse[j] * x, inverse[j + 1] * x, inverse[j + 2] * x, inverse[j + 3] * x
            a, d, e, f = of[j] * a, of[j + 1] * d, of[j + 2] * e, of[j + 3] * f
            row[j] = a
            row[j + 1] = d
            row[j + 2] = e
            row[j + 3] = f
    return size_of_c


def dead_rows(count: int, stride: int, G: ptr, units: words, scale: ptr, laws: ptr) -> int:
    """What moves nothing, marked in the laws: zero where A_kk is meant to be inverted. 0."""
    for i in range(count):
        law, size, k = laws + i * LAW, units[2 * i], units[2 * i + 1]
        d = G[k * stride + k]
        x = 1.0 if d > 0.0 and d >= scale[k] * scale[k] * (1.0 - 1e-12) else 0.0
        law[2 if size == 1 else LIVE] = x
    return 0


def scaled_laws(count: int, units: words, numbers: ptr, scale: ptr, laws: ptr) -> int:
    """Bounds, ratios and bases in scaled rows. 0."""
    for i in range(count):
        law, given, size, k = laws + i * LAW, numbers + i * NUMBERS, units[2 * i], units[2 * i + 1]
        if size == 1:
            law[0] = given[0] * scale[k]
            law[1] = given[1] * scale[k]
        else:
            for j in range(3):
                first = k + 1 if j == 0 else k + 2 + j
                x = scale[min(first, k + size - 1)]
                law[j] = min(given[j], LARGEST) * x / scale[k]
                law[3 + j] = given[3 + j] * x
    return 0


def inverted_curvature(a: float, b: float, d: float) -> float:
    """One over the largest eigenvalue of ((a, b), (b, d))."""
    half = (a - d) * 0.5
    return 1.0 / max((a + d) * 0.5 + sqrt(half * half + b * b), RIDGE_OF_CONTACT)


def own_matrices(count: int, stride: int, units: words, A: ptr, laws: ptr) -> int:
    """Inverses of the contacts' own matrices, and of their discs' curvature. 0."""
    for i in range(count):
        law, size, k = laws + i * LAW, units[2 * i], units[2 * i + 1]
        M = A + k * stride + k
        if size == 1:
            if law[2] != 0.0:
                law[2] = 1.0 / M[0]
            continue
        if law[LIVE] != 0.0:
            law[LIVE] = 1.0 / M[0]
        a, d, f = M[0] + RIDGE_OF_CONTACT, M[stride + 1] + RIDGE_OF_CONTACT, M[2 * stride + 2] + RIDGE_OF_CONTACT
        b, c, e = M[1], M[2], M[stride + 2]
        p, q, r = d * f - e * e, c * e - b * f, b * e - c * d
        one = a * p + b * q + c * r
        one = 1.0 / one if abs(one) > 1e-40 else 0.0
        law[6] = p * one
        law[7] = q * one
        law[8] = r * one
        law[9] = (a * f - c * c) * one
        law[10] = (b * c - a * e) * one
        law[11] = (a * d - b * b) * one
        law[12] = inverted_curvature(M[stride + 1], e, M[2 * stride + 2])
        if size > 3:
            law[13] = 1.0 / max(M[3 * stride + 3], RIDGE_OF_CONTACT)
        if size > 4:
            law[14] = inverted_curvature(M[4 * stride + 4], M[4 * stride + 5], M[5 * stride + 5])
    return 0


def velocities(m: int, stride: int, A: ptr, b: ptr, P: ptr, u: ptr) -> int:
    """u = A P + b. 0."""
    copy(stride, b, u)
    for k in range(m):
        if P[k] != 0.0:
            add_one(stride, A + k * stride, P[k], u)
    return 0
