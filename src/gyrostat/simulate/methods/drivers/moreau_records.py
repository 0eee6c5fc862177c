"""What a step tells of contacts: impacts, changes of phase, and forces where a sample is kept; numbers (t, candidate,
kind, three numbers) in a buffer that Python empties."""

from __future__ import annotations

from gyrostat.engine.drivers.words import count_at, doubles, words
from gyrostat.simulate.methods.drivers.moreau_memory import (
    BEFORE,
    CANDIDATE_COUNT,
    CONTACT_COUNT,
    CONTACT_NUMBERS,
    CONTACTS,
    FORCE,
    FREE,
    IMPULSE,
    IMPULSE_OF,
    K_NUMBERS,
    K_SPIN,
    K_WORDS,
    MOMENT,
    NO_SPIN,
    OPEN,
    PHASE,
    PHASES,
    PHASES_NOW,
    RECORD,
    RECORD_COUNT,
    RECORDS,
    SLIDE,
    SPEED,
    STICK,
)

STILL = 1e-7
"""Tangential speed [m/s] of a contact that sticks."""


def put_record(run: words, t: float, candidate: int, kind: int, x: float, y: float, z: float) -> int:
    r = doubles(run[RECORDS]) + RECORD * run[RECORD_COUNT]
    r[0] = t
    r[1] = candidate
    r[2] = kind
    r[3] = x
    r[4] = y
    r[5] = z
    run[RECORD_COUNT] = run[RECORD_COUNT] + 1
    return 0


def put_records(run: words, t: float, h: float) -> int:
    """Impacts and changes of phase of a step to t. An impact: a contact that closes, faster than the forces of the step
    drive it."""
    now, phases, contacts = count_at(run[PHASES_NOW]), count_at(run[PHASES]), count_at(run[CONTACTS])
    P, u, free = doubles(run[IMPULSE]), doubles(run[SPEED]), doubles(run[FREE])
    for c in range(run[CANDIDATE_COUNT]):
        now[c] = OPEN
    for b in range(run[CONTACT_COUNT]):
        p, w, c = P + 3 * b, u + 3 * b, contacts[K_WORDS * b]
        if p[0] > 0.0:
            now[c] = SLIDE if w[1] * w[1] + w[2] * w[2] > STILL * STILL else STICK
            num = doubles(run[CONTACT_NUMBERS]) + K_NUMBERS * b
            if -num[BEFORE] > abs(free[3 * b] - num[BEFORE]) + STILL:
                put_record(run, t, c, IMPULSE_OF, p[0], p[1], p[2])
    for c in range(run[CANDIDATE_COUNT]):
        if now[c] != phases[c]:
            phases[c] = now[c]
            put_record(run, t - h, c, PHASE, now[c], 0.0, 0.0)
    return 0


def put_forces(run: words, t: float, h: float) -> int:
    """Mean forces [N] and moments [N m] of the step to t, behind a record of its length."""
    P, contacts = doubles(run[IMPULSE]), count_at(run[CONTACTS])
    put_record(run, t, -1, FORCE, h, 0.0, 0.0)
    for b in range(run[CONTACT_COUNT]):
        p = P + 3 * b
        if p[0] > 0.0:
            put_record(run, t, contacts[K_WORDS * b], FORCE, p[0] / h, p[1] / h, p[2] / h)
            if contacts[K_WORDS * b + K_SPIN] != NO_SPIN:
                m = P + 3 * run[CONTACT_COUNT] + contacts[K_WORDS * b + K_SPIN]
                put_record(run, t, contacts[K_WORDS * b], MOMENT, m[0] / h, m[1] / h, m[2] / h)
    return 0
