"""Penetration at the end of a step that is taken back within it, as a driver: a displacement of its own, which changes
no rate; what it lifts is paid by :mod:`~gyrostat.simulate.methods.drivers.moreau_energy`.

Displacements x = G P of the rows, P those of normals, stops and loops alone: x >= -gap where rows are open, and the
depth of the others, for gaps where the step has led to. What turns within a step makes them; a second round finds what
the first one left."""

from __future__ import annotations

from gyrostat.engine.drivers.words import apart, count_at, doubles, fma, kernel, ptr, words
from gyrostat.simulate.kernels.environment import WORK
from gyrostat.simulate.methods.drivers.moreau_cones import IMMOBILE
from gyrostat.simulate.methods.drivers.moreau_memory import (
    ANSWER,
    ANSWERS,
    AT,
    AXES,
    BEFORE_SPEED,
    C_NUMBERS,
    C_WORDS,
    CANDIDATE_NUMBERS,
    CANDIDATES,
    CONTACT_COUNT,
    CONTACT_NUMBERS,
    CONTACTS,
    CORRECTED,
    DELASSUS,
    END_GAP,
    G_NUMBERS,
    GAP,
    GAPS_OF_SOLIDS,
    K_NUMBERS,
    K_WORDS,
    LAW_MATRIX,
    MOBILE,
    PLACE,
    POSES,
    POSES_NOW,
    PUSHES,
    RUBS,
    S_END_GAP,
    S_GAP,
    S_NUMBERS,
    S_WORDS,
    SCALAR_COUNT,
    SCALAR_NUMBERS,
    SCALARS,
    SEGMENT_NUMBERS,
    SEGMENTS,
    SOLID_GAPS,
    SOLIDS,
    SPARE,
    SPEED,
    STRIDE,
)
from gyrostat.simulate.methods.drivers.moreau_rows import ENDLESS
from gyrostat.simulate.methods.drivers.moreau_shapes import on_plane, put_direction, put_point, segments

DEPTH = 1e-9
"""Penetration [m, rad] that is left as it is."""
BACK, LITTLE = 0.25, 8e-9
"""Part of the penetration of a start that one step takes back; what it takes back at once [m, rad]."""
FASTEST_BACK = 1.0
"""Speed [m/s, rad/s] with which penetration is taken back at most."""
TURNS = 30
STILL = 1e-6
"""Change of a pose up to which points of solids go with their bodies, and Python is not asked again."""


def put_gaps_at_the_end(env: words, box: words) -> float:
    """Gaps of all contacts for the bodies at POSES_NOW: the deepest penetration of all rows [m, rad], or NaN."""
    contacts, table, worst = count_at(box[CONTACTS]), count_at(box[CANDIDATES]), 0.0
    now, asked = doubles(box[POSES_NOW]), 0
    for b in range(box[CONTACT_COUNT]):
        word, num = table + C_WORDS * contacts[K_WORDS * b], doubles(box[CONTACT_NUMBERS]) + K_NUMBERS * b
        if word[0] == SOLIDS:
            if asked == 0 and has_moved(box, word[1], word[2]) == 1:
                asked = 1
                if kernel(box[GAPS_OF_SOLIDS])(now, doubles(box[SOLID_GAPS]), doubles(env[WORK])) != 0.0:
                    return num[GAP] / 0.0 - num[GAP] / 0.0
            gaps = doubles(box[SOLID_GAPS])
            num[END_GAP] = gaps[word[5]] if asked == 1 else carried_gap(box, word, num)
        else:
            num[END_GAP] = gap_there(box, contacts[K_WORDS * b], word, now)
        worst = max(worst, -num[END_GAP])
    for s in range(box[SCALAR_COUNT]):
        row = doubles(box[SCALAR_NUMBERS]) + S_NUMBERS * s
        worst = max(worst, -row[S_END_GAP])
    return worst


def gap_there(box: words, candidate: int, word: words, poses: ptr) -> float:
    """Of a candidate in closed form."""
    out = doubles(box[PLACE])
    if word[0] == SEGMENTS:
        p, o = out + 16, out + 28
        put_segment(box, word[3], poses + 12 * word[1], p)
        put_segment(box, word[4], poses + 12 * word[2], o)
        return segments(p, o, out)
    numbers = doubles(box[CANDIDATE_NUMBERS]) + C_NUMBERS * candidate
    return on_plane(word[0], poses + 12 * word[1], poses + 12 * word[2], numbers, out)


def put_segment(box: words, k: int, pose: ptr, s: ptr) -> int:
    """Begin, vector and radius of a segment."""
    num = doubles(box[SEGMENT_NUMBERS]) + G_NUMBERS * k
    put_point(pose, num, s)
    put_direction(pose, num + 3, s + 3)
    s[9] = num[6]
    return 0


def has_moved(box: words, a: int, b: int) -> int:
    """Whether one of two bodies has moved since its points were found."""
    for k in range(12):
        for i in range(2):
            at = 12 * (a if i == 0 else b) + k
            was, now = doubles(box[POSES]) + at, doubles(box[POSES_NOW]) + at
            if abs(now[0] - was[0]) > STILL:
                return 1
    return 0


def carried_gap(box: words, word: words, num: ptr) -> float:
    """Of a point of two solids that goes with both of them, along the normal."""
    was, now, out = doubles(box[POSES]), doubles(box[POSES_NOW]), doubles(box[PLACE])
    answer = doubles(box[ANSWERS]) + ANSWER * word[5]
    put_shift(was + 12 * word[1], now + 12 * word[1], num + AT, out)
    put_shift(was + 12 * word[2], now + 12 * word[2], num + AT, out + 3)
    n, g = num + AXES, answer[1]
    for i in range(3):
        g = fma(n[i], out[i] - out[3 + i], g)
    return g


def put_shift(was: ptr, now: ptr, x: ptr, d: ptr) -> int:
    """d = R1 R0^T (x - p0) + p1 - x."""
    a, b, c = x[0] - was[9], x[1] - was[10], x[2] - was[11]
    u = was[0] * a + was[3] * b + was[6] * c
    v = was[1] * a + was[4] * b + was[7] * c
    w = was[2] * a + was[5] * b + was[8] * c
    for i in range(3):
        d[i] = fma(now[3 * i], u, fma(now[3 * i + 1], v, fma(now[3 * i + 2], w, now[9 + i] - x[i])))
    return 0


def put_ends_of_stops(box: words, h: float) -> int:
    """Gaps of rows beside contacts at the end of the step: their coordinates go straight."""
    u, nb = doubles(box[SPEED]), box[CONTACT_COUNT]
    for s in range(box[SCALAR_COUNT]):
        row = doubles(box[SCALAR_NUMBERS]) + S_NUMBERS * s
        row[S_END_GAP] = fma(0.5 * h, u[3 * nb + s], row[S_GAP]) if kind_of(box, s) == PUSHES else 0.0
    return 0


def put_starts_of_stops(box: words, h: float) -> int:
    """As :func:`put_ends_of_stops`, where the step begins."""
    u, nb = doubles(box[BEFORE_SPEED]), box[CONTACT_COUNT]
    for s in range(box[SCALAR_COUNT]):
        row = doubles(box[SCALAR_NUMBERS]) + S_NUMBERS * s
        row[S_END_GAP] = fma(-0.5 * h, u[3 * nb + s], row[S_GAP]) if kind_of(box, s) == PUSHES else 0.0
    return 0


def depth_left(owed: float, h: float) -> float:
    """Depth [m, rad] that the end of a step may leave of that of a start."""
    return max((1.0 - BACK) * owed, owed - FASTEST_BACK * h) if owed > LITTLE else 0.0


def part_owed(owed: float, left: float, deep: float) -> float:
    """Part of a lift from ``deep`` that is due to a start, which has left bodies ``owed`` within others; a little more
    than all of it where nothing else lifts, for what impulses do to bodies at rest by their rounding."""
    return min(owed - left + DEPTH, deep - left + DEPTH) / (deep - left) if owed > 0.0 and deep > left else 0.0


@apart
def add_row(count: int, d: float, g: ptr, x: ptr) -> int:
    """x (count,) + d g, eight at a time."""
    for j in range(0, count, 8):
        for c in range(j, j + 8):
            x[c] = fma(d, g[c], x[c])
    return 0


def correct_depth(box: words, rows: int, h: float, left: float) -> int:
    """SPARE + 4 (rows,): the impulses [N s^2, N m s^2] that take all depths back but for what is ``left``. Rows that
    push or hold are copied, so that others cost nothing; sweeps."""
    G, stride, nb = doubles(box[DELASSUS]), box[STRIDE], box[CONTACT_COUNT]
    P, m = doubles(box[SPARE]) + 4, nb + box[SCALAR_COUNT]
    wide = (m + 7) // 8 * 8
    x, N = P + rows, doubles(box[LAW_MATRIX])
    want, inverse, low, y = N + wide * m, N + wide * (m + 1), N + wide * (m + 2), N + wide * (m + 3)
    box[CORRECTED] = box[CORRECTED] + 1
    for b in range(m):
        r, g = 3 * b if b < nb else 2 * nb + b, N + wide * b
        at = G + r * stride
        for j in range(nb):
            g[j] = at[3 * j]
        for j in range(nb, wide):
            g[j] = at[2 * nb + j] if j < m else 0.0
        kind = PUSHES if b < nb else kind_of(box, b - nb)
        turns = 1 if at[r] > IMMOBILE and kind < RUBS and (b >= nb or mobile(box, b) == 1) else 0
        inverse[b] = 1.0 / at[r] if turns == 1 else 0.0
        low[b] = 0.0 if kind == PUSHES else -ENDLESS
        want[b] = least_displacement(end_gap_of(box, b), h, left) if kind == PUSHES else 0.0
    for k in range(wide):
        x[k] = 0.0
        y[k] = 0.0
    for _ in range(TURNS):
        most = 0.0
        for b in range(m):
            d = max(low[b], fma(want[b] - x[b], inverse[b], y[b])) - y[b]
            if d != 0.0:
                g = N + wide * b
                y[b] = y[b] + d
                add_row(wide, d, g, x)
                most = max(most, abs(d) * g[b])
        if most <= 0.1 * DEPTH:
            break
    for r in range(rows):
        P[r] = 0.0
    for b in range(m):
        P[3 * b if b < nb else 2 * nb + b] = y[b]
        if b >= nb:
            row = doubles(box[SCALAR_NUMBERS]) + S_NUMBERS * (b - nb)
            row[S_END_GAP] = row[S_END_GAP] + (x[b] if kind_of(box, b - nb) == PUSHES else 0.0)
    return 0


def least_displacement(gap: float, h: float, left: float) -> float:
    """Least displacement of a row."""
    return -gap if gap >= 0.0 else min(max(0.0, -gap - left), FASTEST_BACK * h)


def end_gap_of(box: words, b: int) -> float:
    """Of a contact, or of a row behind them, at the end of the step."""
    nb = box[CONTACT_COUNT]
    if b < nb:
        num = doubles(box[CONTACT_NUMBERS]) + K_NUMBERS * b
        return num[END_GAP]
    num = doubles(box[SCALAR_NUMBERS]) + S_NUMBERS * (b - nb)
    return num[S_END_GAP]


def mobile(box: words, b: int) -> int:
    """Whether the normal of a contact moves anything."""
    num = doubles(box[CONTACT_NUMBERS]) + K_NUMBERS * b
    return 1 if num[MOBILE] == 1.0 else 0


def kind_of(box: words, s: int) -> int:
    """Of a row beside contacts."""
    word = count_at(box[SCALARS]) + S_WORDS * s
    return word[2]
