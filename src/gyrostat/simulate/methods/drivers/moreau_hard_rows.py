"""Problems that sweeps and Newton's method of a step do not end, or do not know: they go to the solver of all contact
problems (:func:`~gyrostat.algorithms.contact.cone_driver_rounds.cone_solve_within`), which has ways out of its own, and
takes torsional and rolling friction as rows of their contact."""

from __future__ import annotations

from gyrostat.algorithms.contact.cone_driver_rounds import cone_solve_within
from gyrostat.engine.drivers.words import count_at, doubles, fma, words
from gyrostat.simulate.methods.drivers.moreau_memory import (
    C_NUMBERS,
    CANDIDATE_NUMBERS,
    CONE_G,
    CONE_MEMORY,
    CONE_NUMBERS,
    CONE_ROWS,
    CONE_UNITS,
    CONE_VECTORS,
    CONTACT_COUNT,
    CONTACT_NUMBERS,
    CONTACTS,
    DELASSUS,
    FREE_SPEED,
    IMPULSE,
    K_NUMBERS,
    K_SPIN,
    K_WORDS,
    LOW,
    MU,
    NO_SPIN,
    ROLLING,
    S_HIGH,
    S_LOW,
    S_NUMBERS,
    SCALAR_COUNT,
    SCALAR_NUMBERS,
    SPIN_COUNT,
    STRIDE,
    TORSIONAL,
)

CLOSE_TO, CLOSER = 1e-8, 1e-12
"""Residual, relative to the speeds, that is asked for; with torsional or rolling friction, where nothing else was tried
before."""


def put_cone_rows(box: words) -> int:
    """Which row of the step each row of the solver is: contacts one after the other, each with its rows of spin, then
    all others. How many."""
    nb, contacts, rows, m = box[CONTACT_COUNT], count_at(box[CONTACTS]), count_at(box[CONE_ROWS]), 0
    units = count_at(box[CONE_UNITS])
    for b in range(nb):
        spin, size = contacts[K_WORDS * b + K_SPIN], 3
        for i in range(3):
            rows[m + i] = 3 * b + i
        if box[SPIN_COUNT] > 0:
            if spin != NO_SPIN:
                for i in range(3):
                    rows[m + 3 + i] = 3 * nb + spin + i
                size = 6
        units[2 * b] = size
        units[2 * b + 1] = m
        m = m + size
    others = 3 * box[SPIN_COUNT]
    for s in range(others, box[SCALAR_COUNT]):
        rows[m] = 3 * nb + s
        unit = units + 2 * (nb + s - others)
        unit[0] = 1
        unit[1] = m
        m = m + 1
    return m


def put_cone_laws(box: words, m: int, stride: int) -> int:
    """Coefficients and bounds; normal impulses of contacts are counted from their least ones. How many units."""
    nb, contacts, units, laws = (
        box[CONTACT_COUNT],
        count_at(box[CONTACTS]),
        count_at(box[CONE_UNITS]),
        box[CONE_NUMBERS],
    )
    A, c = doubles(box[CONE_G]), doubles(box[CONE_VECTORS])
    x, others = c + stride, 3 * box[SPIN_COUNT]
    for b in range(nb):
        num, law, r = doubles(box[CONTACT_NUMBERS]) + K_NUMBERS * b, doubles(laws) + 6 * b, units[2 * b + 1]
        given, low = doubles(box[CANDIDATE_NUMBERS]) + C_NUMBERS * contacts[K_WORDS * b], num[LOW]
        law[0] = num[MU]
        law[1] = given[TORSIONAL]
        law[2] = given[ROLLING]
        for k in range(3):
            law[3 + k] = law[k] * low
        x[r] = max(0.0, x[r] - low)
        if low > 0.0:
            for k in range(m):
                c[k] = fma(low, A[r * stride + k], c[k])
    for s in range(others, box[SCALAR_COUNT]):
        num, law = doubles(box[SCALAR_NUMBERS]) + S_NUMBERS * s, doubles(laws) + 6 * (nb + s - others)
        for k in range(6):
            law[k] = 0.0
        law[0] = num[S_LOW]
        law[1] = num[S_HIGH]
    return nb + box[SCALAR_COUNT] - others


def solve_hard_rows(box: words, close: float, rounds: int, ways: int) -> int:
    """P of the problem, from the P that is there, by at most so many rounds and ways out."""
    m, G, P = put_cone_rows(box), doubles(box[DELASSUS]), doubles(box[IMPULSE])
    stride, rows, free = (m + 3) // 4 * 4, count_at(box[CONE_ROWS]), doubles(box[FREE_SPEED])
    A, c, units = doubles(box[CONE_G]), doubles(box[CONE_VECTORS]), count_at(box[CONE_UNITS])
    x, u = c + stride, c + 2 * stride
    for r in range(m):
        g = G + rows[r] * box[STRIDE]
        for k in range(m):
            A[r * stride + k] = g[rows[k]]
        for k in range(m, stride):
            A[r * stride + k] = 0.0
        c[r] = free[rows[r]]
        x[r] = P[rows[r]]
    for k in range(m, stride):
        c[k] = 0.0
    count = put_cone_laws(box, m, stride)
    numbers, memory = doubles(box[CONE_NUMBERS]), doubles(box[CONE_MEMORY])
    cone_solve_within(m, count, A, c, units, numbers, x, u, close, memory, rounds, ways)
    for b in range(box[CONTACT_COUNT]):
        num, r = doubles(box[CONTACT_NUMBERS]) + K_NUMBERS * b, units[2 * b + 1]
        x[r] = x[r] + num[LOW]
    for r in range(m):
        P[rows[r]] = x[r]
    return 0
