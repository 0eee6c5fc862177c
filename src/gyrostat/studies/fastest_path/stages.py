"""Reachability along a path, stage by stage, in machine code.

With x = s'^2 and u = s'' every stage i has rows low <= a u + b x(s) <= high at some points of the interval, where
x(s) = x_i + 2 (s - s_i) u. Backwards, the speeds from which the end can be reached are an interval [L_i, K_i]:

    K_i, L_i = max, min x   with   the rows, and L_(i+1) <= x + 2 (s_(i+1) - s_i) u <= K_(i+1),

forwards, each stage takes the largest u that stays inside [Pham, Pham, IEEE T-RO 34, 2018, 645]. For fixed x the rows
bound u from both sides; the gap between the greatest lower and the least upper bound is concave and piecewise linear in
x, so that Newton's method ends exactly, in finitely many steps, at the edge."""

from __future__ import annotations

from gyrostat.engine.drivers.words import ptr

FEASIBLE, NO_ROOM, STUCK = -1, 1, 2
TINY = 1e-14
"""Rows whose part of u is smaller than this, beside that of x, bound x alone."""
SLACK = 1e-12
"""Relative gap that counts as none: rounding."""
ROUNDING = 1e-15
"""Of a difference of two x."""
ROUNDS = 100
LO, UP, LO_SLOPE, UP_SLOPE, LO_ROW, UP_ROW, X_LOW, X_HIGH, X_LOW_ROW, X_HIGH_ROW, LO_0, UP_0 = range(12)
PLACES = 12
HUGE = 1e300


def gathered(m: int, columns: int, a: ptr, b: ptr, low: ptr, high: ptr, offsets: ptr, rows: ptr, found: ptr) -> int:
    """Bounds u >= lo + k x, u <= up + k x of m rows into ``rows``, as (m, lo), (m, up), (m, k); rows without u bound x
    at once. 0, or 1 + the row that nothing can satisfy."""
    lo, up, k = rows, rows + m, rows + 2 * m
    found[X_LOW] = 0.0
    found[X_HIGH] = HUGE
    found[X_LOW_ROW] = -1.0
    found[X_HIGH_ROW] = -1.0
    for r in range(m):
        offset = offsets[r // columns]
        beta = b[r]
        alpha = a[r] + offset * beta
        lo[r] = -HUGE
        up[r] = HUGE
        k[r] = 0.0
        if abs(alpha) > TINY * abs(beta):
            one = 1.0 / alpha
            first, second = low[r] * one, high[r] * one
            lo[r] = min(first, second)
            up[r] = max(first, second)
            k[r] = -beta * one
        elif beta != 0.0:
            one = 1.0 / beta
            first, second = low[r] * one, high[r] * one
            if min(first, second) > found[X_LOW]:
                found[X_LOW] = min(first, second)
                found[X_LOW_ROW] = 1.0 * r
            if max(first, second) < found[X_HIGH]:
                found[X_HIGH] = max(first, second)
                found[X_HIGH_ROW] = 1.0 * r
        elif low[r] > 0.0 or high[r] < 0.0:
            return 1 + r
    return 0


def gap_at(m: int, rows: ptr, x: float, step: float, next_low: float, next_high: float, found: ptr) -> float:
    """Upper minus lower bound of u at x; the bounds, their slopes and rows into ``found``; row m is the next stage."""
    lo, up, k = rows, rows + m, rows + 2 * m
    one = 1.0 / step
    least, most = (next_high - x) * one, (next_low - x) * one
    least_row, most_row = m, m
    for r in range(m):
        kx = k[r] * x
        above, below = up[r] + kx, lo[r] + kx
        if above < least:
            least = above
            least_row = r
        if below > most:
            most = below
            most_row = r
    found[LO] = most
    found[UP] = least
    found[LO_ROW] = 1.0 * most_row
    found[UP_ROW] = 1.0 * least_row
    found[LO_SLOPE] = -one
    found[UP_SLOPE] = -one
    found[LO_0] = next_low * one
    found[UP_0] = next_high * one
    if most_row < m:
        found[LO_SLOPE] = k[most_row]
        found[LO_0] = lo[most_row]
    if least_row < m:
        found[UP_SLOPE] = k[least_row]
        found[UP_0] = up[least_row]
    return least - most


def edge(
    m: int, rows: ptr, step: float, next_low: float, next_high: float, start: float, way: float, found: ptr
) -> float:
    """The x nearest to ``start`` at which the gap opens, searched downwards (way = -1) or upwards (way = 1); -1 if
    there is none."""
    x = start
    for _ in range(ROUNDS):
        gap = gap_at(m, rows, x, step, next_low, next_high, found)
        size = abs(found[LO]) + abs(found[UP]) + (abs(found[LO_SLOPE]) + abs(found[UP_SLOPE])) * x
        if gap >= -SLACK * size - ROUNDING * (x + next_high) / step:
            return x
        slope = found[UP_SLOPE] - found[LO_SLOPE]
        if slope * way <= 0.0:
            return -1.0
        x = (found[LO_0] - found[UP_0]) / slope  # not x - gap / slope, which cancels
        if x < found[X_LOW] or x > found[X_HIGH]:
            beyond = max(found[X_LOW] - x, x - found[X_HIGH])
            if beyond > SLACK * (abs(x) + 1e-6 * abs(start)) or (x < 0.0 and way > 0.0):
                return -1.0
            x = min(max(x, found[X_LOW]), found[X_HIGH])
    return -1.0


def backwards(
    first: int, count: int, points: int, columns: int, a: ptr, b: ptr, low: ptr, high: ptr, offsets: ptr, steps: ptr,
    floor: ptr, cap: ptr, rows: ptr, found: ptr, L: ptr, K: ptr,
) -> int:  # fmt: skip
    """L and K (count + 1,) from the end, whose own are given, down to stage ``first``. -1; or the stage in which no
    speed is possible."""
    m = points * columns
    for back in range(count - first):
        i = count - 1 - back
        at = i * m
        if gathered(m, columns, a + at, b + at, low + at, high + at, offsets + i * points, rows, found) > 0:
            return i
        top, bottom = min(cap[i], found[X_HIGH]), max(floor[i], found[X_LOW])
        if bottom > top * (1.0 + SLACK):
            return i
        x = edge(m, rows, steps[i], L[i + 1], K[i + 1], top, -1.0, found)
        if x < bottom * (1.0 - SLACK):
            return i
        K[i] = max(x, bottom)
        x = edge(m, rows, steps[i], L[i + 1], K[i + 1], bottom, 1.0, found)
        L[i] = K[i]
        if x >= 0.0 and x <= K[i]:
            L[i] = x
    return -1


def forwards(
    first: int, count: int, points: int, columns: int, a: ptr, b: ptr, low: ptr, high: ptr, offsets: ptr, steps: ptr,
    rows: ptr, found: ptr, L: ptr, K: ptr, x: ptr, u: ptr, active: ptr,
) -> int:  # fmt: skip
    """x (count + 1,) from x[first] on, u (count,), and the row that bounds u from above: its number, m where the next
    stage does; minus one minus that number where its lower limit is met. -1; or the stage in which rounding left no
    acceleration."""
    m = points * columns
    for i in range(first, count):
        at = i * m
        gathered(m, columns, a + at, b + at, low + at, high + at, offsets + i * points, rows, found)
        gap = gap_at(m, rows, x[i], steps[i], L[i + 1], K[i + 1], found)
        # rows that hardly depend on u bound it by differences of large numbers: what they leave open is no excess
        large = 2.0 * SLACK * (abs(found[LO_SLOPE]) + abs(found[UP_SLOPE])) * x[i]
        most = 1e-6 * (abs(found[LO]) + abs(found[UP])) + 1e-9 + 1e3 * ROUNDING * (x[i] + K[i + 1]) / steps[i] + large
        if gap < -most:
            return i
        ahead = x[i] + steps[i] * found[UP]
        ahead = min(max(ahead, L[i + 1]), K[i + 1])
        x[i + 1] = max(ahead, 0.0)
        u[i] = (x[i + 1] - x[i]) / steps[i]
        active[i] = found[UP_ROW]
    return -1
