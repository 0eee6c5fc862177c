"""Flat faces and straight edges of convex shapes, in their own axes: what may lie on another shape with more than one
point. Faces and edges count that are within TILT of lying across a direction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray
TILT = 0.1
"""Angle [rad] up to which a face is taken for one that lies on the other shape; its points have gaps of their own."""
RIM = 8
"""Points of the rim of a cylinder's end."""
FLAT = 1e-6
"""Difference of the normals of triangles that are one face."""


@dataclass(frozen=True)
class Face:
    """Points (k, 3): 2 of an edge, or a convex polygon in order, with its outward ``normal`` (3,)."""

    points: Array
    normal: Array | None = None


Faces = Callable[[Array], Face | None]
"""The face or edge of a shape that is farthest out in a direction (3,), None if a point is."""


def faces_of(kind: str, size: Sequence[float], hull: Any = None) -> Faces:
    """Of a shape; ``hull``: coal's, of a mesh."""
    if kind == "box":
        return lambda d: _of_box(np.asarray(size) / 2, d)
    if kind == "cylinder":
        return lambda d: _of_cylinder(size[0], size[1] / 2, d)
    if kind == "capsule":
        return lambda d: _of_capsule(size[0], size[1] / 2, d)
    if kind == "mesh":
        vertices, sides = flat_sides(hull)
        return lambda d: _of_mesh(vertices, sides, d)
    return lambda d: None


def _of_box(half: Array, d: Array) -> Face | None:
    side = np.where(d < 0.0, -1.0, 1.0) * half
    i = int(np.abs(d).argmax())
    if abs(d[i]) >= np.cos(TILT):
        j, k = (i + 1) % 3, (i + 2) % 3
        points = np.tile(side, (4, 1))
        points[:, j], points[:, k] = half[j] * np.array([1, -1, -1, 1]), half[k] * np.array([1, 1, -1, -1])
        return Face(points, np.sign(side[i]) * np.eye(3)[i])
    k = int(np.abs(d).argmin())
    if abs(d[k]) > np.sin(TILT):
        return None
    points = np.tile(side, (2, 1))
    points[:, k] = -half[k], half[k]
    return Face(points)


def _of_cylinder(r: float, half: float, d: Array) -> Face | None:
    up, across = 1.0 if d[2] >= 0.0 else -1.0, float(np.hypot(d[0], d[1]))
    if abs(d[2]) >= np.cos(TILT):
        angles = 2 * np.pi * np.arange(RIM) / RIM + (np.arctan2(d[1], d[0]) if across > FLAT else 0.0)
        points = np.stack([r * np.cos(angles), r * np.sin(angles), np.full(RIM, up * half)], axis=1)
        return Face(points, np.array([0.0, 0.0, up]))
    if abs(d[2]) > np.sin(TILT):
        return None
    x, y = r * d[0] / across, r * d[1] / across
    return Face(np.array([[x, y, -half], [x, y, half]]))


def _of_capsule(r: float, half: float, d: Array) -> Face | None:
    if abs(d[2]) > np.sin(TILT):
        return None
    return Face(r * d + np.array([[0.0, 0.0, -half], [0.0, 0.0, half]]))


def _of_mesh(vertices: Array, sides: Sequence[Face], d: Array) -> Face | None:
    best = max(sides, key=lambda side: float(side.normal @ d))  # type: ignore[operator]
    if best.normal @ d >= np.cos(TILT):  # type: ignore[operator]
        return best
    height = vertices @ d
    top = int(height.argmax())
    far = np.linalg.norm(vertices - vertices[top], axis=1)
    slope = np.where(far > 0.0, (height[top] - height) / np.where(far > 0.0, far, 1.0), np.inf)
    other = int(slope.argmin())
    return Face(vertices[[top, other]]) if slope[other] <= np.sin(TILT) else None


def flat_sides(hull: Any) -> tuple[Array, list[Face]]:
    """Vertices (n, 3) of a hull of triangles, and its faces: triangles of one normal and distance together."""
    vertices = np.array([hull.point(i) for i in range(hull.num_points)])
    centre, size = vertices.mean(axis=0), float(np.ptp(vertices, axis=0).max())
    corners = np.array([[int(hull.polygons(k)[j]) for j in range(3)] for k in range(hull.num_polygons)])
    a, b, c = vertices[corners].transpose(1, 0, 2)
    n = np.cross(b - a, c - a)
    length = np.linalg.norm(n, axis=1)
    flat = length > FLAT * FLAT * size * size
    corners, a, n = corners[flat], a[flat], n[flat] / length[flat, None]
    n *= np.where(((a - centre) * n).sum(axis=1) >= 0.0, 1.0, -1.0)[:, None]
    at, left, sides = (n * a).sum(axis=1), np.ones(len(n), bool), list[Face]()
    for k, normal in enumerate(n):
        if left[k]:
            same = left & (np.abs(n - normal).max(axis=1) < FLAT) & (np.abs(at - at[k]) < FLAT * size)
            left &= ~same
            sides.append(Face(_around(vertices[np.unique(corners[same])], normal), normal))
    return vertices, sides


def _around(points: Array, n: Array) -> Array:
    """Points of a convex polygon in order about the normal n."""
    x = points - points.mean(axis=0)
    first = x[int((x * x).sum(axis=1).argmax())]
    return points[np.argsort(np.arctan2(np.cross(n, first) @ x.T, first @ x.T))]
