"""Points of a mesh that stand for it on a plane."""

from __future__ import annotations

import numpy as np

from gyrostat.geometry.mesh_file import MeshPart

Array = np.ndarray
MOST = 64
"""How many points a mesh is at most on a plane."""


def support_points(parts: list[MeshPart], most: int = MOST) -> tuple[Array, float]:
    """Vertices (n, 3) [m] of which the lowest one is the lowest of the mesh, whichever way it is turned: all of them,
    if there are at most ``most``; else the farthest ones in so many directions, evenly over the sphere. And how far [m]
    another vertex is beyond these, at most, in 4096 directions."""
    vertices = np.unique(np.concatenate([part[0] for part in parts]), axis=0)
    if len(vertices) <= most:
        return vertices, 0.0
    chosen = np.unique(np.argmax(directions(most) @ vertices.T, axis=1))
    probe = directions(4096)
    reach = np.max(probe @ vertices.T, axis=1) - np.max(probe @ vertices[chosen].T, axis=1)
    return vertices[chosen], float(reach.max())


def directions(count: int) -> Array:
    """Unit vectors (count, 3), evenly over the sphere: a Fibonacci lattice."""
    k = np.arange(count) + 0.5
    z = 1.0 - 2.0 * k / count
    turn = np.pi * (1.0 + np.sqrt(5.0)) * k
    r = np.sqrt(1.0 - z * z)
    return np.stack([r * np.cos(turn), r * np.sin(turn), z], axis=1)
