"""Which of the candidate pairs touch, or may within a step: a loop over a table, each pair by its closed form."""

from __future__ import annotations

from gyrostat.engine.drivers.words import copy, count_at, doubles, fma, ptr, sqrt, words
from gyrostat.simulate.methods.drivers.moreau_memory import (
    A_AXES,
    A_FIRST,
    A_LAST,
    A_RADIUS,
    ANSWER,
    ANSWERS,
    AT,
    AXES,
    B_FIRST,
    B_LAST,
    B_TANGENT,
    BALL,
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
    RIM,
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

SLACK, NEARBY = 0.02, 2.0
"""Speeds [m/s] beyond that of free motion with which a pair may close within a step: it is a contact from the
beginning; it is looked at when the impulses are known."""
TOO_CLOSE, NOTHING = 1e-12, 1e-24
"""Distance [m] of two points that has no direction, and its square."""


def put_point(pose: ptr, x: ptr, y: ptr) -> int:
    """y = R x + p."""
    for i in range(3):
        y[i] = fma(pose[3 * i], x[0], fma(pose[3 * i + 1], x[1], fma(pose[3 * i + 2], x[2], pose[9 + i])))
    return 0


def put_direction(pose: ptr, x: ptr, y: ptr) -> int:
    """y = R x."""
    for i in range(3):
        y[i] = fma(pose[3 * i], x[0], fma(pose[3 * i + 1], x[1], pose[3 * i + 2] * x[2]))
    return 0


def put_cross(a: ptr, b: ptr, c: ptr) -> int:
    """c = a x b."""
    x, y, z = a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]
    c[0] = x
    c[1] = y
    c[2] = z
    return 0


def dot3(a: ptr, b: ptr) -> float:
    return fma(a[0], b[0], fma(a[1], b[1], a[2] * b[2]))


def put_tangents(axes: ptr) -> int:
    """t1, t2 beside a normal [Duff et al. 2017], as in :mod:`~gyrostat.spatial.contact_geometry`."""
    n, t1, t2 = axes, axes + 3, axes + 6
    s = 1.0 if n[2] >= 0.0 else -1.0
    c = -1.0 / (s + n[2])
    d = n[0] * n[1] * c
    t1[0] = s * n[0] * n[0] * c + 1.0
    t1[1] = s * d
    t1[2] = -s * n[0]
    t2[0] = d
    t2[1] = s + n[1] * n[1] * c
    t2[2] = -n[1]
    return 0


def on_plane(kind: int, a: ptr, b: ptr, num: ptr, out: ptr) -> float:
    """Gap of the lowest point of a above the half-space of b; point and axes of the contact at out."""
    x, n, t = out + AT, out + AXES, out + AXES + 3
    put_point(a, num + A_FIRST, x)
    put_direction(b, num + B_LAST, n)
    if kind == BALL:
        for i in range(3):
            x[i] = fma(-num[A_RADIUS], n[i], x[i])
    elif kind == RIM:
        lowest_of_rim(a, num, n, t, x)
    else:
        lowest_of_ellipsoid(a, num, n, t, x)
    put_point(b, num + B_FIRST, t)
    g = (x[0] - t[0]) * n[0] + (x[1] - t[1]) * n[1] + (x[2] - t[2]) * n[2]
    put_direction(b, num + B_TANGENT, t)
    put_cross(n, t, out + AXES + 6)
    out[GAP] = g
    return g


def lowest_of_rim(a: ptr, num: ptr, n: ptr, t: ptr, x: ptr) -> int:
    """x (3,) becomes the lowest point of a circle around it; where that is parallel to the plane, the one on its x."""
    put_direction(a, num + A_LAST, t)
    c = dot3(n, t)
    for i in range(3):
        t[i] = c * t[i] - n[i]
    square = dot3(t, t)
    if square <= NOTHING:
        put_direction(a, num + A_AXES, t)
        square = 1.0
    s = num[A_RADIUS] / sqrt(square)
    for i in range(3):
        x[i] = fma(s, t[i], x[i])
    return 0


def lowest_of_ellipsoid(a: ptr, num: ptr, n: ptr, t: ptr, x: ptr) -> int:
    """x (3,), its centre, becomes its lowest point: -A^2 n/|A n| in its axes."""
    total = 0.0
    for i in range(3):
        put_direction(a, num + A_AXES + 3 * i, t)
        y = dot3(n, t) * num[A_LAST + i]
        total = fma(y, y, total)
    one = 1.0 / sqrt(total)
    for i in range(3):
        put_direction(a, num + A_AXES + 3 * i, t)
        s = dot3(n, t) * num[A_LAST + i] * num[A_LAST + i] * one
        for j in range(3):
            x[j] = fma(-s, t[j], x[j])
    return 0


def clamped(x: float) -> float:
    return min(1.0, max(0.0, x))


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


def segments(p: ptr, o: ptr, out: ptr) -> float:
    """Gap between two segments with radii [Ericson, Real-Time Collision Detection, 5.1.9]; point and axes of the
    contact at out."""
    d, e = p + 3, o + 3
    rx, ry, rz = p[0] - o[0], p[1] - o[1], p[2] - o[2]
    dd, ee, de = dot3(d, d), dot3(e, e), dot3(d, e)
    dr, er = d[0] * rx + d[1] * ry + d[2] * rz, e[0] * rx + e[1] * ry + e[2] * rz
    s, t = 0.0, 0.0
    if dd > 0.0 and ee > 0.0:
        det = dd * ee - de * de
        if det > 1e-12 * dd * ee:
            s = clamped((de * er - dr * ee) / det)
        else:  # parallel: the middle of the stretch that both share
            first, last = -dr / dd, (de - dr) / dd
            s = 0.5 * (clamped(min(first, last)) + clamped(max(first, last)))
        t = clamped((de * s + er) / ee)
        s = clamped((de * t - dr) / dd)
    elif dd > 0.0:
        s = clamped(-dr / dd)
    elif ee > 0.0:
        t = clamped(er / ee)
    x, y, z = rx + s * d[0] - t * e[0], ry + s * d[1] - t * e[1], rz + s * d[2] - t * e[2]
    distance = sqrt(x * x + y * y + z * z)
    n, at = out + AXES, out + AT
    n[0] = 0.0
    n[1] = 0.0
    n[2] = 1.0
    if distance > TOO_CLOSE:
        n[0] = x / distance
        n[1] = y / distance
        n[2] = z / distance
    out[GAP] = distance - p[9] - o[9]
    for i in range(3):
        at[i] = p[i] + s * d[i] - p[9] * n[i]
    put_tangents(n)
    return out[GAP]


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
    """Pairs whose gap may close within h, for the velocities of free motion, and those that impulses might close; gaps
    are those of the middle of the step. 0; 1 if there are more than places."""
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
        left = out[GAP] + h * closing(twists + 6 * word[1], twists + 6 * word[2], out + AT, out + AXES)
        if left > h * NEARBY:
            continue
        if count + 1 >= box[MOST_CONTACTS] or near + 1 >= box[MOST_CONTACTS]:
            return 1
        if left > h * SLACK:
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
