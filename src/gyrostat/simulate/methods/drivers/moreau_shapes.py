"""Nearest points in closed form, as drivers: a ball, the rim of a disc and an ellipsoid on a plane, two segments with
radii."""

from __future__ import annotations

from gyrostat.engine.drivers.words import fma, ptr, sqrt
from gyrostat.simulate.methods.drivers.moreau_memory import (
    A_AXES,
    A_FIRST,
    A_LAST,
    A_RADIUS,
    AT,
    AXES,
    B_FIRST,
    B_LAST,
    B_TANGENT,
    BALL,
    GAP,
    RIM,
)

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


def segments(p: ptr, o: ptr, out: ptr) -> float:
    """Gap between two segments with radii [Ericson, Real-Time Collision Detection, 5.1.9]; point and normal of the
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
    return out[GAP]
