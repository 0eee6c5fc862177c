"""Where two surfaces are nearest, in closed form, on floats, recorded numbers and numbers with a rate alike.

Contact axes: the normal n points from b to a, t1 and t2 are tangents, (t1, t2, n) is right-handed; all in the world's
axes. On a plane they are its x, y and z axes; elsewhere they follow from n alone [Duff et al. 2017], and jump where its
world z component changes its sign (lengths and forces across the normal do not). The contact point x is that of the
surface a. For surfaces that cut into each other, the gap is minus the depth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from gyrostat.engine.tracing.choose import where
from gyrostat.spatial.algebra import Array, cross
from gyrostat.spatial.representation import Pose

ROUND = ("point", "sphere", "capsule")
"""Surfaces at a constant distance from a point or a segment."""
ON_A_PLANE = ("point", "sphere", "rim", "ellipsoid")
"""Surfaces of which one point is the nearest to a plane."""
NOTHING = 1e-24
"""Squares of lengths [m^2] below which a direction is not defined."""


class Touch(NamedTuple):
    """``gap`` [m]; ``axes`` (3, 3): rows n, t1, t2; ``x`` (3,) the contact point [m]; in the world's axes."""

    gap: Any
    axes: Array
    x: Array


def closed_form(a: str, b: str) -> bool:
    """Whether two kinds of surfaces have their nearest points in closed form."""
    return (b == "plane" and a in ON_A_PLANE) or (a in ROUND and b in ROUND and {a, b} != {"point"})


def touch(a: str, size_a: Sequence[Any], at_a: Pose, b: str, size_b: Sequence[Any], at_b: Pose) -> Touch:
    """The nearest points of surface a at pose ``at_a`` and surface b."""
    return on_plane(a, size_a, at_a, at_b) if b == "plane" else between_round(a, size_a, at_a, b, size_b, at_b)


# ------------------------------------------------------------------------------------------------ on a plane
def on_plane(kind: str, size: Sequence[Any], at: Pose, plane: Pose) -> Touch:
    """The lowest point of a surface above the plane z = 0 of a frame."""
    t1, t2, n = plane.R[:, 0], plane.R[:, 1], plane.R[:, 2]
    x = LOWEST[kind](size, at, n)
    return Touch(n @ (x - plane.p), np.array([n, t1, t2]), x)


def _of_point(size: Sequence[Any], at: Pose, n: Array) -> Array:
    return at.p


def _of_sphere(size: Sequence[Any], at: Pose, n: Array) -> Array:
    """size: radius."""
    return at.p - n * size[0]


def _of_rim(size: Sequence[Any], at: Pose, n: Array) -> Array:
    """size: radius of a circle in the plane z = 0. Where it is parallel to the plane, the point on its x axis."""
    down = at.R[:, 2] * (n @ at.R[:, 2]) - n
    square = down @ down
    tilted = square > NOTHING
    direction = where(tilted, down, at.R[:, 0]) / np.sqrt(where(tilted, square, 1.0))
    return at.p + direction * size[0]


def _of_ellipsoid(size: Sequence[Any], at: Pose, n: Array) -> Array:
    """size: three radii; x = -A^2 n / |A n| in its axes."""
    scaled = (at.R.T @ n) * np.array(size)
    return at.p - at.R @ (scaled * np.array(size) / np.sqrt(scaled @ scaled))


LOWEST: dict[str, Callable[[Sequence[Any], Pose, Array], Array]] = {
    "point": _of_point,
    "sphere": _of_sphere,
    "rim": _of_rim,
    "ellipsoid": _of_ellipsoid,
}


# ------------------------------------------------------------------------------------------------ round surfaces
def between_round(a: str, size_a: Sequence[Any], at_a: Pose, b: str, size_b: Sequence[Any], at_b: Pose) -> Touch:
    """Spheres and capsules: the distance of points or segments less both radii; where these meet, n is z."""
    one, two = _nearest(_segment(a, size_a, at_a), _segment(b, size_b, at_b))
    d = one - two
    square = d @ d
    apart = square > NOTHING
    distance = np.sqrt(where(apart, square, 1.0))
    n = where(apart, d / distance, np.array([0.0, 0.0, 1.0]))
    gap = where(apart, distance, 0.0) - _radius(a, size_a) - _radius(b, size_b)
    return Touch(gap, axes_about(n), one - n * _radius(a, size_a))


def axes_about(n: Array) -> Array:
    """Rows n, t1, t2, right-handed and of unit length, from n alone [Duff et al. 2017]."""
    s = where(n[2] >= 0.0, 1.0, -1.0)
    c = -1.0 / (s + n[2])
    d = n[0] * n[1] * c
    t1 = np.array([s * n[0] * n[0] * c + 1.0, s * d, -s * n[0]])
    t2 = np.array([d, s + n[1] * n[1] * c, -n[1]])
    return np.array([n, t1, t2])


def _radius(kind: str, size: Sequence[Any]) -> Any:
    return 0.0 if kind == "point" else size[0]


def _segment(kind: str, size: Sequence[Any], at: Pose) -> tuple[Array, Array | None]:
    """Middle, and half of its length as a vector; None for a point."""
    return at.p, (at.R[:, 2] * (size[1] * 0.5) if kind == "capsule" else None)


def _nearest(one: tuple[Array, Array | None], two: tuple[Array, Array | None]) -> tuple[Array, Array]:
    """The nearest points of two segments m + s h, -1 <= s <= 1 [Ericson 2005, 5.1.9]; of parallel ones, those in the
    middle of what they have beside each other."""
    (m1, h1), (m2, h2) = one, two
    if h1 is None or h2 is None:
        p = m1 if h1 is None else m1 + h1 * _clipped(h1 @ (m2 - m1) / (h1 @ h1), 1.0)
        return p, (m2 if h2 is None else m2 + h2 * _clipped(h2 @ (m1 - m2) / (h2 @ h2), 1.0))
    r, a, b, e = m1 - m2, h1 @ h1, h1 @ h2, h2 @ h2
    c, f = h1 @ r, h2 @ r
    cut = cross(h1, h2)
    determinant = cut @ cut
    skew = determinant > 1e-12 * (a * e)
    s = _clipped(where(skew, (b * f - c * e) / where(skew, determinant, 1.0), _beside(a, b, c, e)), 1.0)
    t = _clipped((b * s + f) / e, 1.0)
    s = _clipped((b * t - c) / a, 1.0)
    return m1 + h1 * s, m2 + h2 * t


def _beside(a: Any, b: Any, c: Any, e: Any) -> Any:
    """Of parallel segments: the middle of the part of the first one that is beside the second one."""
    middle, half = -c / a, abs(b) / a
    low, high = _clipped(middle - half, 1.0), _clipped(middle + half, 1.0)
    return (low + high) * 0.5


def _clipped(x: Any, most: float) -> Any:
    """Between -most and most; without a rate outside."""
    return where(x > most, most, where(x < -most, -most, x))
