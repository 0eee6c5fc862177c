"""The impulses of one step: compression, and expansion by Poisson's law where something hits.

Compression: u_n >= -max(gap, 0)/h, for impacts u_n >= 0. Expansion: every impact gives back at least e times the normal
impulse of its compression [Pfeiffer, Glocker 1996]; e is reduced by the part of the closing speed that comes from the
forces of this step, so that a resting contact does not bounce. Energy never grows: with P the impulses of both phases,
the change of energy is P . (u + J v_t)/2 beside the work of forces along h (v0 + v1)/2, and P . (u + J v_free)/2
against free motion (v_t: v0 turned by gyroscopic forces, which do no work); the expansion is shortened until neither is
positive."""

from __future__ import annotations

from gyrostat.engine.drivers.words import copy, count_at, doubles, fma, ptr, words
from gyrostat.simulate.methods.drivers.moreau_cones import put_u
from gyrostat.simulate.methods.drivers.moreau_memory import (
    ALLOWED,
    BEFORE,
    C_NUMBERS,
    CANDIDATE_COUNT,
    CANDIDATE_NUMBERS,
    COMPRESSION,
    CONTACT_COUNT,
    CONTACT_NUMBERS,
    CONTACTS,
    FREE_SPEED,
    GAP,
    IMPACTS,
    IMPULSE,
    K_NUMBERS,
    K_WORDS,
    KEPT,
    LOW,
    MU,
    MU_DYNAMIC,
    MU_STATIC,
    OPEN,
    PHASES,
    RESTITUTION,
    RUBS,
    S_ALLOWED,
    S_BEFORE,
    S_E,
    S_GAP,
    S_HIGH,
    S_LOW,
    S_NUMBERS,
    S_WORDS,
    SCALAR_COUNT,
    SCALAR_NUMBERS,
    SCALARS,
    SLIDE,
    SPARE,
    SPEED,
    STRIDE,
    E,
)
from gyrostat.simulate.methods.drivers.moreau_rounds import solve_rows

CLOSED = 4e-9
"""Gap [m, rad] that closes no more: what displacements out of a penetration leave of corners beside it."""
RESTING = 1e-9
"""Closing speed [m/s, rad/s] that is no impact."""
STEADY = 1e-3
"""Tangential speed [m/s] of a new contact below which its friction is static."""


def hits(e: float, before: float, free: float, gap: float, h: float) -> int:
    """Whether a row that closes bounces: it would reach its end in this step, faster than forces alone drive it."""
    if e == 0.0 or before >= -RESTING or gap + h * free >= 0.0:
        return 0
    return 1 if -before > abs(free - before) else 0


def allowed_speed(gap: float, h: float) -> float:
    """Speed with which a row may close."""
    return gap / h if gap > CLOSED else 0.0


def put_laws(box: words, h: float, before: ptr, free: ptr) -> int:
    """Friction, restitution and allowed speeds of all rows; c = u_free + allowed; impulses of the last step. How many
    rows hit."""
    laws, phases, count = doubles(box[CANDIDATE_NUMBERS]), count_at(box[PHASES]), 0
    contacts, kept, P = count_at(box[CONTACTS]), doubles(box[KEPT]), doubles(box[IMPULSE])
    nb = box[CONTACT_COUNT]
    for b in range(nb):
        word, num, r = contacts + K_WORDS * b, doubles(box[CONTACT_NUMBERS]) + K_NUMBERS * b, 3 * b
        law, phase = laws + C_NUMBERS * word[0], phases[word[0]]
        slip = before[r + 1] * before[r + 1] + before[r + 2] * before[r + 2]
        slides = 1 if phase == SLIDE or (phase == OPEN and slip > STEADY * STEADY) else 0
        num[MU] = law[MU_DYNAMIC] if slides == 1 else law[MU_STATIC]
        num[E] = law[RESTITUTION]
        num[BEFORE] = before[r]
        num[LOW] = 0.0
        word[1] = hits(num[E], before[r], free[r], num[GAP], h)
        num[ALLOWED] = allowed_speed(num[GAP], h) if word[1] == 0 else 0.0
        count = count + word[1]
        copy(3, kept + 3 * word[0], P + r)
    for s in range(box[SCALAR_COUNT]):
        word, num, r = count_at(box[SCALARS]) + S_WORDS * s, doubles(box[SCALAR_NUMBERS]) + S_NUMBERS * s, 3 * nb + s
        num[S_BEFORE] = before[r]
        word[1] = hits(num[S_E], before[r], free[r], num[S_GAP], h)
        num[S_ALLOWED] = allowed_speed(num[S_GAP], h) if word[1] == 0 else 0.0
        count = count + word[1]
        P[r] = kept[word[0]]
    for r in range(3 * nb + box[SCALAR_COUNT], box[STRIDE]):
        P[r] = 0.0
    return count


def put_free(box: words, rows: int, free: ptr, sign: float) -> int:
    """c = u_free and allowed speeds, times a sign."""
    c, nb = doubles(box[FREE_SPEED]), box[CONTACT_COUNT]
    copy(rows, free, c)
    for b in range(nb):
        num = doubles(box[CONTACT_NUMBERS]) + K_NUMBERS * b
        c[3 * b] = c[3 * b] + sign * num[ALLOWED]
    for s in range(box[SCALAR_COUNT]):
        num = doubles(box[SCALAR_NUMBERS]) + S_NUMBERS * s
        c[3 * nb + s] = c[3 * nb + s] + sign * num[S_ALLOWED]
    return 0


def energy_gained(rows: int, P: ptr, u: ptr, before: ptr) -> float:
    """P . (u + J v_t)/2 [J]: with displacements h (v0 + v1)/2, forces do their work, and this is left."""
    total = 0.0
    for r in range(rows):
        total = fma(0.5 * P[r], u[r] + before[r], total)
    return total


def bounced(e: float, before: float, free: float, P: float) -> float:
    """Least impulse of the expansion: e P, by the part of the closing speed that was there before the step."""
    return e * P * min(1.0, before / free) if free < before else e * P


def expand(box: words, rows: int, before: ptr, free: ptr) -> float:
    """The expansion behind a compression: P becomes the sum of both. The residual."""
    P, first, c, u = doubles(box[IMPULSE]), doubles(box[COMPRESSION]), doubles(box[FREE_SPEED]), doubles(box[SPEED])
    nb, contacts = box[CONTACT_COUNT], count_at(box[CONTACTS])
    copy(rows, P, first)
    copy(rows, u, c)  # with allowed speeds
    for b in range(nb):
        num, p = doubles(box[CONTACT_NUMBERS]) + K_NUMBERS * b, P + 3 * b
        num[LOW] = 0.0
        if contacts[K_WORDS * b + 1] == 1 and p[0] > 0.0:
            num[LOW] = bounced(num[E], num[BEFORE], free[3 * b], p[0])
        p[0] = num[LOW]
        p[1] = 0.0
        p[2] = 0.0
    for s in range(box[SCALAR_COUNT]):
        num, word, r = doubles(box[SCALAR_NUMBERS]) + S_NUMBERS * s, count_at(box[SCALARS]) + S_WORDS * s, 3 * nb + s
        if word[2] == RUBS:
            num[S_LOW] = num[S_LOW] - P[r]
            num[S_HIGH] = num[S_HIGH] - P[r]
        if word[1] == 1 and P[r] > 0.0:
            num[S_LOW] = bounced(num[S_E], num[S_BEFORE], free[r], P[r])
        P[r] = max(0.0, num[S_LOW])
    left = solve_rows(box, rows, 0)
    return max(left, joined(box, rows, before, free))


def joined(box: words, rows: int, before: ptr, free: ptr) -> float:
    """P = compression + s expansion, with the largest s up to 1 that does not gain energy; u without allowed speeds.
    0."""
    P, first, u, c = doubles(box[IMPULSE]), doubles(box[COMPRESSION]), doubles(box[SPEED]), doubles(box[FREE_SPEED])
    other = doubles(box[SPARE]) + 4
    copy(rows, P, other)  # the expansion
    copy(rows, free, c)
    for r in range(rows):
        P[r] = first[r] + other[r]
    put_u(box, rows)
    gain, other_gain = energy_gained(rows, P, u, before), energy_gained(rows, P, u, free)
    if gain > 0.0 or other_gain > 0.0:
        copy(rows, first, P)
        put_u(box, rows)
        s = min(
            largest_share(rows, gain, P, other, u, before, free),
            largest_share(rows, other_gain, P, other, u, free, free),
        )
        for r in range(rows):
            P[r] = fma(s, other[r], first[r])
        put_u(box, rows)
    return 0.0


def largest_share(rows: int, gain: float, P: ptr, other: ptr, u: ptr, before: ptr, free: ptr) -> float:
    """The largest s up to 1 for which P + s other gains no more energy, against the speeds ``before``, than P with its
    speeds u, or none: a parabola in s, which is ``gain`` at s = 1."""
    if gain <= 0.0:
        return 1.0
    start, slope = energy_gained(rows, P, u, before), 0.0
    for r in range(rows):
        slope = fma(other[r], u[r] + 0.5 * (before[r] - free[r]), slope)
    bend, allowed, low, high = gain - start - slope, max(start, 0.0), 0.0, 1.0
    for _ in range(60):
        s = 0.5 * (low + high)
        if start + s * (slope + s * bend) <= allowed:
            low = s
        else:
            high = s
    return low


def solve_impulses(box: words, rows: int, h: float, before: ptr, free: ptr) -> float:
    """P (rows,) of the step, and u without allowed speeds: the residual [m/s]."""
    count = put_laws(box, h, before, free)
    put_free(box, rows, free, 1.0)
    left = solve_rows(box, rows, 1)
    if count > 0:
        left = max(left, expand(box, rows, before, free))
        box[IMPACTS] = box[IMPACTS] + count
        return left
    copy(rows, free, doubles(box[FREE_SPEED]))
    put_u(box, rows)
    return left


def keep_impulses(box: words, rows: int) -> int:
    """For the next step."""
    kept, P, contacts = doubles(box[KEPT]), doubles(box[IMPULSE]), count_at(box[CONTACTS])
    for k in range(3 * box[CANDIDATE_COUNT]):
        kept[k] = 0.0
    for b in range(box[CONTACT_COUNT]):
        copy(3, P + 3 * b, kept + 3 * contacts[K_WORDS * b])
    for s in range(box[SCALAR_COUNT]):
        word = count_at(box[SCALARS]) + S_WORDS * s
        kept[word[0]] = P[3 * box[CONTACT_COUNT] + s]
    return 0
