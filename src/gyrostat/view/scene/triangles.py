"""Simple solids as triangles, with vertices doubled at edges so that they are lit well."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Array = np.ndarray
Triangles = tuple[Array, Array]
"""Vertices (n, 3) [m], and the corners (m, 3) of each triangle, counterclockwise from outside."""

AROUND = 32
"""Corners of a circle."""


def solid(kind: str, size: Sequence[float]) -> Triangles:
    """The triangles of a box, cylinder, capsule, sphere or ellipsoid; sizes as in :class:`Shape`.

    >>> vertices, faces = solid("box", (1, 2, 3))
    >>> vertices.shape, faces.shape
    ((24, 3), (12, 3))
    """
    if kind == "box":
        return _box(np.asarray(size))
    if kind == "cylinder":
        return _cylinder(size[0], size[1])
    if kind == "capsule":
        return _round(np.full(3, size[0]), size[1])
    radii = np.full(3, size[0]) if kind == "sphere" else np.asarray(size, dtype=float)
    return _round(radii, 0.0)


def _box(size: Array) -> Triangles:
    vertices, faces = [], []
    for axis in range(3):
        for side in (-1.0, 1.0):
            u, v = np.eye(3)[(axis + 1) % 3], np.eye(3)[(axis + 2) % 3]
            centre = side * np.eye(3)[axis]
            first = len(vertices)
            vertices += [centre - u - v, centre + u - v, centre + u + v, centre - u + v]
            corners = ((0, 1, 2), (0, 2, 3)) if side > 0 else ((0, 2, 1), (0, 3, 2))
            faces += [[first + k for k in corner] for corner in corners]
    return np.array(vertices) * size / 2.0, np.array(faces)


def _circle(radius: float, z: float) -> Array:
    angle = np.linspace(0.0, 2.0 * np.pi, AROUND, endpoint=False)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle), np.full(AROUND, z)], axis=1)


def _cylinder(radius: float, length: float) -> Triangles:
    low, high = _circle(radius, -length / 2.0), _circle(radius, length / 2.0)
    faces = _wall(0, AROUND)
    vertices = [low, high]
    for side, ring in ((-1.0, low), (1.0, high)):
        first = sum(map(len, vertices))
        vertices += [np.array([[0.0, 0.0, side * length / 2.0]]), ring]
        around = np.arange(AROUND)
        next_one = (around + 1) % AROUND
        corners = (around, next_one) if side > 0 else (next_one, around)
        faces = np.concatenate([faces, np.stack([np.full(AROUND, first), *(first + 1 + c for c in corners)], axis=1)])
    return np.concatenate(vertices), faces


def _wall(low: int, high: int) -> Array:
    """Triangles between two rings that begin at these vertices."""
    around = np.arange(AROUND)
    next_one = (around + 1) % AROUND
    one = np.stack([low + around, low + next_one, high + next_one], axis=1)
    two = np.stack([low + around, high + next_one, high + around], axis=1)
    return np.concatenate([one, two])


def _round(radii: Array, length: float) -> Triangles:
    """A sphere or ellipsoid, cut at the equator and drawn apart along z by ``length``."""
    half = AROUND // 4
    polar = np.linspace(-np.pi / 2.0, np.pi / 2.0, 2 * half + 1)
    rings = [(p, -length / 2.0) for p in polar[: half + 1]]
    rings += [(p, length / 2.0) for p in (polar[half:] if length > 0.0 else polar[half + 1 :])]
    vertices = [_circle(np.cos(p), np.sin(p)) * radii + np.array([0.0, 0.0, shift]) for p, shift in rings]
    faces = [_wall(k * AROUND, (k + 1) * AROUND) for k in range(len(rings) - 1)]
    return np.concatenate(vertices), np.concatenate(faces)
