"""Problems that sweeps and Newton's method of a step do not end: they go to the solver of all contact problems
(:func:`~gyrostat.algorithms.contact.cone_driver_rounds.cone_solve_within`), which has ways out of its own."""

from __future__ import annotations

from gyrostat.algorithms.contact.cone_driver_rounds import cone_solve_within
from gyrostat.engine.drivers.words import copy, count_at, doubles, fma, words
from gyrostat.simulate.methods.drivers.moreau_memory import (
    CONE_G,
    CONE_MEMORY,
    CONE_NUMBERS,
    CONE_UNITS,
    CONE_VECTORS,
    CONTACT_COUNT,
    CONTACT_NUMBERS,
    DELASSUS,
    FREE_SPEED,
    HARD,
    IMPULSE,
    K_NUMBERS,
    LOW,
    MU,
    S_HIGH,
    S_LOW,
    S_NUMBERS,
    SCALAR_COUNT,
    SCALAR_NUMBERS,
    STRIDE,
)

CLOSE_TO = 1e-8
"""Residual, relative to the speeds, that is asked for."""


def solve_hard_rows(box: words, rounds: int, ways: int) -> int:
    """P of the problem, from the P that is there, by so many rounds and ways out; normal impulses are counted from
    their least ones."""
    nb, ns = box[CONTACT_COUNT], box[SCALAR_COUNT]
    m, stride = 3 * nb + ns, (3 * nb + ns + 3) // 4 * 4
    G, A, P = doubles(box[DELASSUS]), doubles(box[CONE_G]), doubles(box[IMPULSE])
    c = doubles(box[CONE_VECTORS])
    x, u = c + stride, c + 2 * stride
    units, numbers = count_at(box[CONE_UNITS]), doubles(box[CONE_NUMBERS])
    for r in range(m):
        copy(m, G + r * box[STRIDE], A + r * stride)
        for k in range(m, stride):
            A[r * stride + k] = 0.0
    copy(m, doubles(box[FREE_SPEED]), c)
    copy(m, P, x)
    for b in range(nb):
        num, law = doubles(box[CONTACT_NUMBERS]) + K_NUMBERS * b, numbers + 6 * b
        low = num[LOW]
        units[2 * b] = 3
        units[2 * b + 1] = 3 * b
        for k in range(6):
            law[k] = 0.0
        law[0] = num[MU]
        law[3] = num[MU] * low
        x[3 * b] = max(0.0, x[3 * b] - low)
        if low > 0.0:
            for k in range(m):
                c[k] = fma(low, A[3 * b * stride + k], c[k])
    for s in range(ns):
        num, law = doubles(box[SCALAR_NUMBERS]) + S_NUMBERS * s, numbers + 6 * (nb + s)
        units[2 * (nb + s)] = 1
        units[2 * (nb + s) + 1] = 3 * nb + s
        for k in range(6):
            law[k] = 0.0
        law[0] = num[S_LOW]
        law[1] = num[S_HIGH]
    for k in range(m, stride):
        c[k] = 0.0
    box[HARD] = box[HARD] + 1
    cone_solve_within(m, nb + ns, A, c, units, numbers, x, u, CLOSE_TO, doubles(box[CONE_MEMORY]), rounds, ways)
    for b in range(nb):
        num = doubles(box[CONTACT_NUMBERS]) + K_NUMBERS * b
        x[3 * b] = x[3 * b] + num[LOW]
    copy(m, x, P)
    return 0
