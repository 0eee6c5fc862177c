"""Convex hulls in a plane, exact: on which side of a line a point lies is decided without rounding.

A determinant in floating point is trusted where it is larger than its error can be; else it is computed again with
rational numbers, which floats are [Shewchuk 1997, in the simplest form]."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

Array = np.ndarray
ROUNDING = 4.0 * np.finfo(float).eps
"""Relative error that the determinant of differences may have."""


def side(a: Array, b: Array, c: Array) -> int:
    """1 if c (2,) lies to the left of the line from a to b, -1 to the right, 0 on it; exact."""
    left, right = (b[0] - a[0]) * (c[1] - a[1]), (b[1] - a[1]) * (c[0] - a[0])
    found = left - right
    if abs(found) > ROUNDING * (abs(left) + abs(right)):
        return 1 if found > 0.0 else -1
    (ax, ay), (bx, by), (cx, cy) = ([Fraction(float(x)) for x in p] for p in (a, b, c))
    exact = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
    return (exact > 0) - (exact < 0)


def convex_hull(points: Array) -> Array:
    """Vertices (k, 2) of the hull of points (n, 2), anticlockwise from the lowest x: no point on an edge, none twice.
    k = 0 without points, 1 where they coincide, 2 where they lie on a line [Andrew 1979]."""
    ordered = np.unique(np.asarray(points, dtype=float).reshape(-1, 2) + 0.0, axis=0)
    if len(ordered) < 3:
        return ordered
    chains: list[list[Array]] = []
    for way in (ordered, ordered[::-1]):
        chain: list[Array] = []
        for p in way:
            while len(chain) > 1 and side(chain[-2], chain[-1], p) <= 0:
                chain.pop()
            chain.append(p)
        chains.append(chain[:-1])
    return np.array([*chains[0], *chains[1]])


def area(vertices: Array) -> float:
    """Area of a polygon (k, 2), positive anticlockwise."""
    if len(vertices) < 3:
        return 0.0
    v = vertices - vertices[0]
    x, y = v[:, 0], v[:, 1]
    return float(0.5 * np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))


def signed_distance(vertices: Array, p: Array) -> float:
    """Distance of p (2,) from the edge of a convex polygon (k, 2), k from 1: positive inside, negative outside, where
    it is that to the nearest point; a line or a point has no inside."""
    p = np.asarray(p, dtype=float)
    if len(vertices) == 1:
        return -float(np.hypot(*(p - vertices[0])))
    ends = np.roll(vertices, -1, axis=0)
    along = ends - vertices
    lengths = np.hypot(along[:, 0], along[:, 1])
    r = p - vertices
    if len(vertices) > 2 and all(side(a, b, p) >= 0 for a, b in zip(vertices, ends, strict=True)):
        return float(np.min((along[:, 0] * r[:, 1] - along[:, 1] * r[:, 0]) / lengths))
    share = np.clip(np.sum(along * r, axis=1) / lengths**2, 0.0, 1.0)
    away = r - share[:, None] * along
    return -float(np.min(np.hypot(away[:, 0], away[:, 1])))
