"""Steps of Newton as drivers: the equations of :mod:`~gyrostat.algorithms.contact.cone_newton` on active rows only.

Rows that go to a bound are moved there first. The others, ``active`` (n,), have a system K (n, n + 1), rows ``wide``
apart, with its right-hand side in column n; ``place`` (m,): where a row stands in it, -1 if it does not."""

from __future__ import annotations

from gyrostat.algorithms.contact.cone_driver_elimination import eliminated
from gyrostat.algorithms.contact.cone_driver_sweeps import LAW, LIVE, add_one
from gyrostat.engine.drivers.words import ptr, sqrt, words

PROXIMAL = 1e-10


def moved_to(k: int, value: float, stride: int, A: ptr, P: ptr, u: ptr, place: words) -> int:
    """Force of row k set, velocities after it; the row leaves the system. 0."""
    place[k] = -1
    change = value - P[k]
    if change != 0.0:
        P[k] = value
        add_one(stride, A + k * stride, change, u)
    return 0


def bounds_met(count: int, stride: int, units: words, laws: ptr, A: ptr, P: ptr, u: ptr, place: words) -> int:
    """Rows whose z = P - u lies beyond a bound go there; the others have place 0. Decided before anything moves. 0."""
    for i in range(count):
        law, size, k = laws + i * LAW, units[2 * i], units[2 * i + 1]
        z = P[k] - u[k]
        for j in range(k, k + size):
            place[j] = 0
        if size == 1:
            if law[2] == 0.0 or z > law[1]:
                place[k] = -2
            if law[2] == 0.0 or z < law[0]:
                place[k] = -1
        elif law[LIVE] == 0.0 or z < 0.0:
            for j in range(k, k + size):
                place[j] = -1 if j == k or law[3] + law[4] + law[5] == 0.0 else 0
    for i in range(count):
        law, size, k = laws + i * LAW, units[2 * i], units[2 * i + 1]
        if size == 1 and place[k] < 0:
            x = law[0] if place[k] == -1 else law[1]
            moved_to(k, 0.0 if law[2] == 0.0 else x, stride, A, P, u, place)
        if size > 1:
            for j in range(k, k + size):
                if place[j] < 0:
                    moved_to(j, 0.0, stride, A, P, u, place)
    return 0


def gathered(m: int, stride: int, wide: int, A: ptr, u: ptr, active: words, place: words, K: ptr) -> int:
    """Rows A dP = -u of what is active. n."""
    n = 0
    for k in range(m):
        if place[k] == 0:
            active[n] = k
            place[k] = n
            n += 1
    for r in range(n):
        row, of = K + r * wide, A + active[r] * stride
        for s in range(n):
            row[s] = of[active[s]]
        row[n] = -u[active[r]]
        for s in range(n + 1, wide):
            row[s] = 0.0
        row[r] = row[r] + PROXIMAL
    return n


def slide_two(
    n: int, wide: int, k: int, normal: int, ratio: float, radius: float, P: ptr, u: ptr, place: words, K: ptr
) -> int:
    """Rows of a disc that slides in the place of those that stick. 0."""
    y, z = P[k] - u[k], P[k + 1] - u[k + 1]
    square = y * y + z * z
    if square <= radius * radius:
        return 0
    length = sqrt(square)
    y, z, turn = y / length, z / length, radius / length
    xx, xy, yy = turn * z * z, -turn * y * z, turn * y * y
    a, b = K + place[k] * wide, K + place[k + 1] * wide
    for j in range(n):
        f, g = a[j], b[j]
        a[j] = xx * f + xy * g
        b[j] = xy * f + yy * g
    r = place[k]
    a[r] = a[r] + 1.0 - xx
    a[r + 1] = a[r + 1] - xy
    b[r] = b[r] - xy
    b[r + 1] = b[r + 1] + 1.0 - yy
    if place[normal] >= 0:
        a[place[normal]] = a[place[normal]] - ratio * y
        b[place[normal]] = b[place[normal]] - ratio * z
    a[n] = radius * y - P[k]
    b[n] = radius * z - P[k + 1]
    return 0


def slide_one(
    n: int, wide: int, k: int, normal: int, ratio: float, radius: float, P: ptr, u: ptr, place: words, K: ptr
) -> int:
    """The same for torsion, which has one row."""
    z = P[k] - u[k]
    if abs(z) <= radius:
        return 0
    d = 1.0 if z > 0.0 else -1.0
    a = K + place[k] * wide
    for j in range(n):
        a[j] = 0.0
    a[place[k]] = 1.0
    if place[normal] >= 0:
        a[place[normal]] = -ratio * d
    a[n] = radius * d - P[k]
    return 0


def cone_newton_step(
    m: int,
    count: int,
    stride: int,
    wide: int,
    units: words,
    laws: ptr,
    A: ptr,
    P: ptr,
    u: ptr,
    memory: ptr,
    dP: ptr,
    active: words,
    place: words,
) -> int:
    """Rows at bounds moved in P and u, and what the others move by in dP (m,). 1; 0 if there is no step. ``memory``:
    K and its solution."""
    K, x = memory + wide, memory
    bounds_met(count, stride, units, laws, A, P, u, place)
    n = gathered(m, stride, wide, A, u, active, place, K)
    for i in range(count):
        law, size, k = laws + i * LAW, units[2 * i], units[2 * i + 1]
        if size > 1 and place[k + 1] >= 0:
            slide_two(n, wide, k + 1, k, law[0], law[0] * P[k] + law[3], P, u, place, K)
            if size > 3:
                slide_one(n, wide, k + 3, k, law[1], law[1] * P[k] + law[4], P, u, place, K)
            if size > 4:
                slide_two(n, wide, k + 4, k, law[2], law[2] * P[k] + law[5], P, u, place, K)
    if eliminated(n, wide, K, x) == 0:
        return 0
    for k in range(m):
        dP[k] = 0.0
    for r in range(n):
        dP[active[r]] = x[r]
    return 1
