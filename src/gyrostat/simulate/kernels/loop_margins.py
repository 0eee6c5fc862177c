"""Loops in closed form, as drivers: how near their unknowns are to the end of their reach, and whether a step passes
it.

What is under a root, relative to its largest value, is its margin m. At the end of the reach m = 0, and the motion goes
on with the other root: sqrt(m) changes its sign there, at a finite rate. Minimal coordinates keep one root, so that a
motion which arrives there must end. It would otherwise turn back, which no mechanism does. A step from a state with
margin m and rate dm/dt < 0 may use up a part of what is left,

    sqrt(m) + k h d(sqrt(m))/dt >= 0    <=>    2 m + k h dm/dt >= 0,

k = 6 where steps can be shortened: they become short before the end of the reach, and do not where m only has a small
minimum. Near the end, k = 4 is asked of all others: a minimum of sqrt(m) that lasts two steps is not resolved by them.

Memory: margins (k,), their rates (k,), both at the beginning of the step (2 k,), and whether they are known (1)."""

from __future__ import annotations

from gyrostat.engine.drivers.words import copy, doubles, kernel, ptr, where, words
from gyrostat.simulate.kernels.environment import LIVE, MARGIN_COUNT, MARGIN_MEMORY, MARGINS, TIME, WORK

LONG, NAN = 1e300, float("nan")
THE_END = 1e-10
"""Margin at which an unknown is at the end of its reach: a hundred thousandth of the way from its middle."""
NEAR_THE_END = 1e-3
"""Margin below which steps must be short."""


def margin_memory_size(count: int) -> int:
    """Doubles of the memory."""
    return 4 * count + 2


def margins_at(env: words, q: ptr, v: ptr) -> float:
    """Margins and their rates at a state; zero if they are finite."""
    m = doubles(env[MARGIN_MEMORY])
    return kernel(env[MARGINS])(
        doubles(env[TIME]), q, v, doubles(env[LIVE]), m, m + env[MARGIN_COUNT], doubles(env[WORK])
    )


def longest_inside(env: words, q: ptr, v: ptr) -> float:
    """The longest step [s] from a state that uses up a sixth of what is left."""
    if env[MARGINS] == 0:
        return LONG
    margins_at(env, q, v)
    m, count, most = doubles(env[MARGIN_MEMORY]), env[MARGIN_COUNT], LONG
    for k in range(count):
        if m[count + k] < 0.0:
            most = min(most, max(m[k], 0.0) / (-3.0 * m[count + k]))
    return most


def passed_the_end(env: words, h: float, q1: ptr, v1: ptr) -> int:
    """1 if a step of h to (q1, v1) is at the end of a reach, or has turned back behind it, else 0; what is known of its
    end serves the next step."""
    if env[MARGINS] == 0:
        return 0
    m, count = doubles(env[MARGIN_MEMORY]), env[MARGIN_COUNT]
    before, known, passed = m + 2 * count, m + 4 * count, 0
    margins_at(env, q1, v1)
    for k in range(count):
        if not (m[k] > THE_END) or (m[k] < NEAR_THE_END and m[k] + 2.0 * h * m[count + k] < 0.0):
            passed = 1
        if known[0] == 1.0 and 2.0 * before[k] + h * before[count + k] < 0.0 and not (m[count + k] <= 0.0):
            passed = 1
    copy(2 * count, m, before)
    known[0] = 1.0
    return passed


def ends_ahead(env: words, h: float, q: ptr, v: ptr) -> float:
    """Zero; NaN in lanes where a step of h would pass the end of a reach, or stands there."""
    if env[MARGINS] == 0:
        return 0.0
    bad = margins_at(env, q, v)
    m, count = doubles(env[MARGIN_MEMORY]), env[MARGIN_COUNT]
    for k in range(count):
        factor = where(m[k] < NEAR_THE_END, 2.0, 0.5)
        bad = bad + where(m[k] + factor * h * min(m[count + k], 0.0) > THE_END, 0.0, NAN)
    return bad
