"""Backward differences of a multistep method, as drivers.

D_i (i = 0, 1, ...), rows of ``width`` numbers: differences of order i of y at t, t - h, t - 2 h, ... The polynomial
through the last k + 1 of these is, with s from 0 to 1 over the last step,

    y(s) = sum_{i <= k} D_i prod_{j < i} (s - 1 + j) / (j + 1)."""

from __future__ import annotations

from gyrostat.engine.drivers.words import doubles, fma, ptr, words
from gyrostat.simulate.kernels.environment import NP, NQ, NV
from gyrostat.simulate.kernels.harvest import DEGREE, POLYNOMIAL

HIGHEST = 5
ROWS = HIGHEST + 3
"""Rows of D: the highest order, and two more for estimates."""


def differenced(order: int, width: int, D: ptr) -> int:
    """Rows 0 to ``order`` of D hold y at t, t - h, ...; differences take their place. 0."""
    for level in range(1, order + 1):
        for i in range(order, level - 1, -1):
            row, before = D + i * width, D + (i - 1) * width
            for k in range(width):
                row[k] = before[k] - row[k]
    return 0


def rescaled(order: int, factor: float, width: int, D: ptr, spare: ptr) -> int:
    """Differences for steps of ``factor`` h of the same polynomial; ``spare`` (order + 1, width). D_0 stays as it is,
    so that nothing is lost by rounding. 0."""
    for k in range(width):
        spare[k] = 0.0
    for j in range(1, order + 1):
        row = spare + j * width
        weight = 1.0
        for k in range(width):
            row[k] = 0.0
        for i in range(1, order + 1):
            weight = weight * ((i - 1.0 - factor * j) / i)
            d = D + i * width
            for k in range(width):
                row[k] = fma(weight, d[k], row[k])
    differenced(order, width, spare)
    for k in range(width, (order + 1) * width):
        D[k] = spare[k]
    return 0


def appended(order: int, width: int, D: ptr, d: ptr) -> int:
    """One step further: d (width,) is the new y less the one that D predicts. 0."""
    last, last_but_one = D + (order + 2) * width, D + (order + 1) * width
    for k in range(width):
        last[k] = d[k] - last_but_one[k]
        last_but_one[k] = d[k]
    for i in range(order, -1, -1):
        row = D + i * width
        for k in range(width):
            row[k] = row[k] + row[width + k]
    return 0


def integrated(order: int, width: int, D: ptr, weights: ptr, h: float) -> float:
    """Integral of the last of the numbers over the last step; ``weights`` (order + 1,) are those of Adams and
    Moulton."""
    total = 0.0
    for i in range(order + 1):
        total = fma(weights[i], D[i * width + width - 1], total)
    return h * total


def interpolated(env: words, io: words, order: int, D: ptr, basis: ptr, h: float) -> int:
    """The polynomial of the last step for samples: q, v, p, and the integral of the last number of D. ``basis``
    (6, 6): coefficients of the products above. 0."""
    width = env[NQ] + env[NV] + env[NP] + 1
    C, degree = doubles(io[POLYNOMIAL]), io[DEGREE]
    for k in range((degree + 1) * width):
        C[k] = 0.0
    for i in range(order + 1):
        row = D + i * width
        for d in range(i + 1):
            weight, c = basis[i * 6 + d], C + d * width
            for k in range(width - 1):
                c[k] = fma(weight, row[k], c[k])
            c[2 * width - 1] = fma(weight * h / (d + 1.0), row[width - 1], c[2 * width - 1])
    return 0
