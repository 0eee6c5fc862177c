"""Torsional and rolling friction of contacts: three rows more, the angular velocity of a against b about the contact
axes (n, t1, t2) [rad/s], and their moments [N m s]

    |P_spin| <= torsional P_n,    |P_roll| <= rolling P_n,    each against its speed where that is not zero.

The rows stand first among those beside contacts, in blocks of three."""

from __future__ import annotations

from gyrostat.engine.drivers.words import count_at, doubles, fma, ptr, sqrt, words
from gyrostat.simulate.kernels.environment import LOOP_COUNT
from gyrostat.simulate.methods.drivers.moreau_memory import (
    AXES,
    BOX_COUNT,
    C_NUMBERS,
    C_WORDS,
    CANDIDATE_COUNT,
    CANDIDATE_NUMBERS,
    CANDIDATES,
    CHAIN,
    CHAIN_FIRST,
    CONTACT_COUNT,
    CONTACT_NUMBERS,
    CONTACTS,
    DELASSUS,
    FACTORS,
    IMPULSE,
    K_NUMBERS,
    K_SPIN,
    K_WORDS,
    LIMIT_COUNT,
    NO_SPIN,
    ROLLING,
    SCREWS,
    SPEED,
    SPIN_COUNT,
    STRIDE,
    TORSIONAL,
)

IMMOBILE_SPIN = 1e-14
"""Inverse inertia [1/(kg m^2)] of a moment that turns nothing."""


def count_spins(box: words) -> int:
    """Which contacts have rows of spin, and how many do."""
    contacts, laws, count = count_at(box[CONTACTS]), doubles(box[CANDIDATE_NUMBERS]), 0
    for b in range(box[CONTACT_COUNT]):
        word = contacts + K_WORDS * b
        law = laws + C_NUMBERS * word[0]
        word[K_SPIN] = NO_SPIN
        if law[TORSIONAL] > 0.0 or law[ROLLING] > 0.0:
            word[K_SPIN] = 3 * count
            count = count + 1
    box[SPIN_COUNT] = count
    return count


def kept_spins(env: words, box: words) -> int:
    """Where the kept moments begin."""
    return 3 * box[CANDIDATE_COUNT] + box[LIMIT_COUNT] + env[LOOP_COUNT] + box[BOX_COUNT]


def put_spin_rows(box: words, b: int, skip: int, Y: ptr) -> int:
    """Rows (nv, 4) of the angular velocity of a against b about the axes of contact b; Y holds zeros."""
    contacts, axes = count_at(box[CONTACTS]), doubles(box[CONTACT_NUMBERS]) + K_NUMBERS * b + AXES
    word = count_at(box[CANDIDATES]) + C_WORDS * contacts[K_WORDS * b]
    add_spins(box, word[1], skip, 1.0, axes, Y)
    return add_spins(box, word[2], skip, -1.0, axes, Y)


def add_spins(box: words, port: int, skip: int, sign: float, axes: ptr, Y: ptr) -> int:
    first, chain, S, f = count_at(box[CHAIN_FIRST]), count_at(box[CHAIN]), doubles(box[SCREWS]), doubles(box[FACTORS])
    for k in range(first[port] + skip, first[port + 1]):
        s, y = S + 6 * chain[3 * k + 1], Y + 4 * chain[3 * k]
        by = sign * f[chain[3 * k + 2]]
        for i in range(3):
            e = axes + 3 * i
            y[i] = fma(by, fma(e[0], s[0], fma(e[1], s[1], e[2] * s[2])), y[i])
    return 0


def spins_into_sets(box: words) -> int:
    """Moments within what the normal impulses allow."""
    P, nb, contacts = doubles(box[IMPULSE]), box[CONTACT_COUNT], count_at(box[CONTACTS])
    for b in range(nb):
        word = contacts + K_WORDS * b
        if word[K_SPIN] != NO_SPIN:
            law, x = doubles(box[CANDIDATE_NUMBERS]) + C_NUMBERS * word[0], P + 3 * nb + word[K_SPIN]
            most, radius = law[TORSIONAL] * P[3 * b], law[ROLLING] * P[3 * b]
            x[0] = min(most, max(-most, x[0]))
            size = x[1] * x[1] + x[2] * x[2]
            if size > radius * radius:
                s = radius / sqrt(size)
                x[1] = s * x[1]
                x[2] = s * x[2]
    return 0


def spin_residual(box: words) -> float:
    """The largest of the natural map of these rows [rad/s]."""
    G, stride, P, u = doubles(box[DELASSUS]), box[STRIDE], doubles(box[IMPULSE]), doubles(box[SPEED])
    nb, contacts, worst = box[CONTACT_COUNT], count_at(box[CONTACTS]), 0.0
    for b in range(nb):
        word = contacts + K_WORDS * b
        if word[K_SPIN] == NO_SPIN:
            continue
        r, law = 3 * nb + word[K_SPIN], doubles(box[CANDIDATE_NUMBERS]) + C_NUMBERS * word[0]
        g, x, w = G + r * stride + r, P + r, u + r
        a, most, radius = g[0], law[TORSIONAL] * P[3 * b], law[ROLLING] * P[3 * b]
        if a > IMMOBILE_SPIN and law[TORSIONAL] > 0.0:
            worst = max(worst, abs(x[0] - min(most, max(-most, x[0] - w[0] / a))) * a)
        d, e, f = g[stride + 1], g[stride + 2], g[2 * stride + 2]
        half = 0.5 * (d - f)
        largest = 0.5 * (d + f) + sqrt(half * half + e * e)
        if largest > IMMOBILE_SPIN and law[ROLLING] > 0.0:
            y, z = x[1] - w[1] / largest, x[2] - w[2] / largest
            size = y * y + z * z
            s = radius / sqrt(size) if size > radius * radius else 1.0
            worst = max(worst, (abs(x[1] - s * y) + abs(x[2] - s * z)) * largest)
    return worst
