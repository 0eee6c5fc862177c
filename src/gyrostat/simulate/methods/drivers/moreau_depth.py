"""Penetration that is taken back, as a driver: a displacement of its own, which changes no rate.

With speeds x = G P over half a step, P the impulses of normals, stops and loops alone: u + x >= -2 gap/h of open rows,
and a part of each penetration of the others."""

from __future__ import annotations

from gyrostat.engine.drivers.words import apart, count_at, doubles, fma, ptr, words
from gyrostat.simulate.methods.drivers.moreau_cones import IMMOBILE
from gyrostat.simulate.methods.drivers.moreau_memory import (
    CONTACT_COUNT,
    CONTACT_NUMBERS,
    CORRECTED,
    DELASSUS,
    GAP,
    K_NUMBERS,
    LAW_MATRIX,
    MOBILE,
    PUSHES,
    RUBS,
    S_GAP,
    S_NUMBERS,
    S_WORDS,
    SCALAR_COUNT,
    SCALAR_NUMBERS,
    SCALARS,
    SPARE,
    SPEED,
    STRIDE,
)
from gyrostat.simulate.methods.drivers.moreau_rows import ENDLESS

DEPTH = 1e-9
"""Penetration [m, rad] that is left as it is."""
BACK, FASTEST_BACK = 0.25, 1.0
"""Part of a penetration that one step takes back, and the speed [m/s, rad/s] with which it does so at most."""
TURNS = 30


def depth_of(box: words) -> float:
    """The deepest penetration among the rows [m, rad]."""
    worst = 0.0
    for b in range(box[CONTACT_COUNT]):
        num = doubles(box[CONTACT_NUMBERS]) + K_NUMBERS * b
        worst = max(worst, -num[GAP])
    for s in range(box[SCALAR_COUNT]):
        num = doubles(box[SCALAR_NUMBERS]) + S_NUMBERS * s
        worst = max(worst, -num[S_GAP])
    return worst


def wanted_speed(gap: float, h: float, u: float) -> float:
    """Least speed of the displacement of a row."""
    return -2.0 * gap / h - u if gap >= 0.0 else max(0.0, min(-2.0 * BACK * gap / h, FASTEST_BACK) - u)


@apart
def add_row(count: int, d: float, g: ptr, x: ptr) -> int:
    """x (count,) + d g, eight at a time."""
    for j in range(0, count, 8):
        for c in range(j, j + 8):
            x[c] = fma(d, g[c], x[c])
    return 0


def correct_depth(box: words, rows: int, h: float) -> int:
    """SPARE + 4 (rows,): the impulses. Rows that push or hold are copied, so that others cost nothing; sweeps."""
    G, stride, u, nb = doubles(box[DELASSUS]), box[STRIDE], doubles(box[SPEED]), box[CONTACT_COUNT]
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
        want[b] = wanted_speed(gap_of(box, b), h, u[r]) if kind == PUSHES else 0.0
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
        if most * h <= 0.1 * DEPTH:
            break
    for r in range(rows):
        P[r] = 0.0
    for b in range(m):
        P[3 * b if b < nb else 2 * nb + b] = y[b]
    return 0


def gap_of(box: words, b: int) -> float:
    """Of a contact, or of a row behind them."""
    nb = box[CONTACT_COUNT]
    if b < nb:
        num = doubles(box[CONTACT_NUMBERS]) + K_NUMBERS * b
        return num[GAP]
    num = doubles(box[SCALAR_NUMBERS]) + S_NUMBERS * (b - nb)
    return num[S_GAP]


def mobile(box: words, b: int) -> int:
    """Whether the normal of a contact moves anything."""
    num = doubles(box[CONTACT_NUMBERS]) + K_NUMBERS * b
    return 1 if num[MOBILE] == 1.0 else 0


def kind_of(box: words, s: int) -> int:
    """Of a row beside contacts."""
    word = count_at(box[SCALARS]) + S_WORDS * s
    return word[2]
