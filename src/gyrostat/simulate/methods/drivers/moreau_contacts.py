"""Which of the candidate pairs touch, or may within a step: a loop over a table, each pair by its closed form."""

from __future__ import annotations

from gyrostat.engine.drivers.words import copy, count_at, doubles, fma, ptr, sqrt, words
from gyrostat.simulate.methods.drivers.moreau_memory import (
    ANSWER,
    ANSWERS,
    AT,
    AXES,
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
    FACTORS,
    G_NOW,
    G_NUMBERS,
    GAP,
    K_NUMBERS,
    K_WORDS,
    MOST_CONTACTS,
    NEAR,
    NEAR_COUNT,
    NEAR_NUMBERS,
    PATCH,
    PORT_COUNT,
    POSES,
    SCREWS,
    SEGMENT_COUNT,
    SEGMENT_NUMBERS,
    SEGMENT_PORTS,
    SEGMENTS,
    SEGMENTS_NOW,
    SOLID_COUNT,
    SOLID_PAIRS,
    SOLIDS,
    TWISTS,
)
from gyrostat.simulate.methods.drivers.moreau_shapes import (
    dot3,
    on_plane,
    put_direction,
    put_point,
    put_tangents,
    segments,
)

SLACK, NEARBY = 0.02, 2.0
"""Speeds [m/s] beyond that of free motion with which a pair may close within a step: it is a contact from the
beginning; it is looked at when the impulses are known."""


def put_segments(box: words, h: float) -> int:
    """Where all segments are, and how far they reach within h."""
    ports, numbers, now = count_at(box[SEGMENT_PORTS]), doubles(box[SEGMENT_NUMBERS]), doubles(box[SEGMENTS_NOW])
    for k in range(box[SEGMENT_COUNT]):
        num, s, pose = numbers + G_NUMBERS * k, now + G_NOW * k, doubles(box[POSES]) + 12 * ports[k]
        T, m = doubles(box[TWISTS]) + 6 * ports[k], now + G_NOW * k + 6
        put_point(pose, num, s)
        put_direction(pose, num + 3, s + 3)
        for i in range(3):
            m[i] = fma(0.5, s[3 + i], s[i])
        vx, vy, vz = (
            T[3] + T[1] * m[2] - T[2] * m[1],
            T[4] + T[2] * m[0] - T[0] * m[2],
            T[5] + T[0] * m[1] - T[1] * m[0],
        )
        speed = sqrt(vx * vx + vy * vy + vz * vz) + num[7] * sqrt(dot3(T, T))
        s[9] = num[6]
        s[10] = num[7] + h * (0.5 * NEARBY + speed)
    return 0


def apart_by(a: ptr, b: ptr) -> float:
    """Whether two segments cannot meet within the step: positive then."""
    x, y, z, r = a[6] - b[6], a[7] - b[7], a[8] - b[8], a[10] + b[10]
    return x * x + y * y + z * z - r * r


def put_twists(box: words, v: ptr, twists: ptr) -> int:
    """Velocities (ports, 6) of the bodies about the world's origin for the rates v (nv,)."""
    first, chain, S, f = count_at(box[CHAIN_FIRST]), count_at(box[CHAIN]), doubles(box[SCREWS]), doubles(box[FACTORS])
    for p in range(box[PORT_COUNT]):
        T = twists + 6 * p
        for i in range(6):
            T[i] = 0.0
        for k in range(first[p], first[p + 1]):
            s = S + 6 * chain[3 * k + 1]
            x = v[chain[3 * k]] * f[chain[3 * k + 2]]
            for i in range(6):
                T[i] = fma(x, s[i], T[i])
    return 0


def closing(Ta: ptr, Tb: ptr, x: ptr, n: ptr) -> float:
    """Rate of the gap at x along n for two velocities about the world's origin."""
    wx, wy, wz = Ta[0] - Tb[0], Ta[1] - Tb[1], Ta[2] - Tb[2]
    vx = Ta[3] - Tb[3] + wy * x[2] - wz * x[1]
    vy = Ta[4] - Tb[4] + wz * x[0] - wx * x[2]
    vz = Ta[5] - Tb[5] + wx * x[1] - wy * x[0]
    return fma(vx, n[0], fma(vy, n[1], vz * n[2]))


def put_answer(answer: ptr, out: ptr) -> int:
    """Gap, point and axes of a point of two solids: 1 if there is one."""
    if answer[0] == 0.0:
        return 0
    out[GAP] = answer[1]
    copy(3, answer + 2, out + AT)
    copy(3, answer + 5, out + AXES)
    put_tangents(out + AXES)
    return 1


def solids_are_near(box: words, h: float) -> int:
    """Whether Python must be asked: 1 if the spheres about two solids may meet within h. The points of others go."""
    pairs, now, near = count_at(box[SOLID_PAIRS]), doubles(box[SEGMENTS_NOW]), 0
    put_segments(box, h)
    for k in range(box[SOLID_COUNT]):
        pair = pairs + 3 * k
        if apart_by(now + G_NOW * pair[0], now + G_NOW * pair[1]) <= 0.0:
            near = 1
        else:
            for i in range(PATCH):
                answer = doubles(box[ANSWERS]) + ANSWER * (pair[2] + i)
                answer[0] = 0.0
    return near


def find_contacts(box: words, h: float) -> int:
    """Pairs whose gap may close within h, for the velocities of free motion, or that leave each other and are not yet
    apart at its end, and those that impulses might close; gaps are those of the middle of the step. 0; 1 if there are
    more than places."""
    table, numbers, count, near = count_at(box[CANDIDATES]), doubles(box[CANDIDATE_NUMBERS]), 0, 0
    poses, twists, now = doubles(box[POSES]), doubles(box[TWISTS]), doubles(box[SEGMENTS_NOW])
    contacts, found, others = count_at(box[CONTACTS]), doubles(box[CONTACT_NUMBERS]), count_at(box[NEAR])
    before = twists + 6 * box[PORT_COUNT]
    put_segments(box, h)
    for c in range(box[CANDIDATE_COUNT]):
        word, out = table + C_WORDS * c, found + K_NUMBERS * count
        if word[0] == SOLIDS:
            if put_answer(doubles(box[ANSWERS]) + ANSWER * word[5], out) == 0:
                continue
        elif word[0] == SEGMENTS:
            p, o = now + G_NOW * word[3], now + G_NOW * word[4]
            if apart_by(p, o) > 0.0:
                continue
            segments(p, o, out)
        else:
            on_plane(word[0], poses + 12 * word[1], poses + 12 * word[2], numbers + C_NUMBERS * c, out)
        out[GAP] = out[GAP] - 0.5 * h * closing(before + 6 * word[1], before + 6 * word[2], out + AT, out + AXES)
        rate = closing(twists + 6 * word[1], twists + 6 * word[2], out + AT, out + AXES)
        left, ends = out[GAP] + h * rate, out[GAP] + 0.5 * h * rate
        if left > h * NEARBY and ends >= 0.0:
            continue
        if word[0] == SEGMENTS:
            put_tangents(out + AXES)
        if count + 1 >= box[MOST_CONTACTS] or near + 1 >= box[MOST_CONTACTS]:
            return 1
        if left > h * SLACK and ends >= 0.0:
            others[near] = c
            copy(K_NUMBERS, out, doubles(box[NEAR_NUMBERS]) + K_NUMBERS * near)
            near = near + 1
        else:
            contacts[K_WORDS * count] = c
            count = count + 1
    box[CONTACT_COUNT] = count
    box[NEAR_COUNT] = near
    return 0


def add_contacts(box: words, h: float, v: ptr) -> int:
    """Pairs nearby that the rates v at the end of the step would close become contacts: how many; -1 if there are more
    than places."""
    table, others, twists, added, left = count_at(box[CANDIDATES]), count_at(box[NEAR]), doubles(box[TWISTS]), 0, 0
    if box[NEAR_COUNT] == 0:
        return 0
    put_twists(box, v, twists)
    for k in range(box[NEAR_COUNT]):
        c, num = others[k], doubles(box[NEAR_NUMBERS]) + K_NUMBERS * k
        word = table + C_WORDS * c
        if num[GAP] + h * closing(twists + 6 * word[1], twists + 6 * word[2], num + AT, num + AXES) < 0.0:
            if box[CONTACT_COUNT] + 1 >= box[MOST_CONTACTS]:
                return -1
            copy(K_NUMBERS, num, doubles(box[CONTACT_NUMBERS]) + K_NUMBERS * box[CONTACT_COUNT])
            contacts = count_at(box[CONTACTS])
            contacts[K_WORDS * box[CONTACT_COUNT]] = c
            box[CONTACT_COUNT] = box[CONTACT_COUNT] + 1
            added = added + 1
        else:
            if left < k:
                others[left] = c
                copy(K_NUMBERS, num, doubles(box[NEAR_NUMBERS]) + K_NUMBERS * left)
            left = left + 1
    box[NEAR_COUNT] = left
    return added
