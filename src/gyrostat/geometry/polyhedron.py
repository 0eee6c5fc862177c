"""Volume, centre and second moments of a closed surface of triangles, exactly; and whether it is closed.

The divergence theorem cuts the solid into tetrahedra from a point o to each triangle (a, b, c), with signed volumes
V_k = det(a, b, c) / 6, seen from o. Over one of them integral r dV = V_k s / 4 and integral r r^T dV =
V_k / 20 (s s^T + a a^T + b b^T + c c^T) with s = a + b + c. The sums do not depend on o; the middle of the corners
keeps their digits."""

from __future__ import annotations

import numpy as np

from gyrostat.errors import MeshError
from gyrostat.geometry.solids import VolumeMoments

Array = np.ndarray

SAME = 1e-9
"""Corners that are nearer to each other than this part of the mesh's extent are one."""


def polyhedron(vertices: Array, faces: Array) -> VolumeMoments:
    """Moments of the solid inside a surface: ``vertices`` (n, 3) [m], ``faces`` (m, 3), counterclockwise from outside.

    :class:`MeshError` if the surface is not closed, is not oriented, or is turned inside out.
    """
    points, faces = _welded(vertices, faces)
    _expect_closed(faces)
    origin = (points.min(axis=0) + points.max(axis=0)) / 2.0
    a, b, c = np.moveaxis((points - origin)[faces], 1, 0)
    V = np.einsum("ki,ki->k", a, np.cross(b, c)) / 6.0
    volume, scale = float(V.sum()), float(np.abs(V).sum())
    if abs(volume) <= 1e-12 * scale:
        raise MeshError("encloses no volume")
    if volume < 0.0:
        raise MeshError("is inside out: its triangles run clockwise seen from outside. Hint: flip its normals")
    s = a + b + c
    first = V @ s / 4.0 / volume
    K = sum(np.einsum("k,ki,kj->ij", V, x, x) for x in (s, a, b, c)) / 20.0 - volume * np.outer(first, first)
    return VolumeMoments(volume, origin + first, np.trace(K) * np.eye(3) - K)


def _welded(vertices: Array, faces: Array) -> tuple[Array, Array]:
    """Corners that are equal, as STL files repeat them, made one; triangles without area left out."""
    extent = float(np.ptp(vertices, axis=0).max())
    step = extent * SAME if extent > 0.0 else 1.0
    _, first, number = np.unique(
        np.round((vertices - vertices.min(axis=0)) / step), axis=0, return_index=True, return_inverse=True
    )
    faces = number.reshape(-1)[faces]
    i, j, k = faces.T
    return vertices[first], faces[(i != j) & (j != k) & (k != i)]


def _expect_closed(faces: Array) -> None:
    """Every edge belongs to as many triangles in one direction as in the other."""
    if not len(faces):
        raise MeshError("has no triangles")
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    low, high = edges.min(axis=1), edges.max(axis=1)
    _, number = np.unique(np.stack([low, high], axis=1), axis=0, return_inverse=True)
    number = number.reshape(-1)
    balance = np.bincount(number, weights=np.where(edges[:, 0] == low, 1.0, -1.0))
    count = np.bincount(number)
    loose = int(np.count_nonzero(count % 2))
    if loose:
        raise MeshError(f"is not closed: {loose} of {len(count)} edges have no neighbour. Hint: fill its holes")
    turned = int(np.count_nonzero(balance))
    if turned:
        message = f"is not oriented: at {turned} of {len(count)} edges the triangles disagree about the outside"
        raise MeshError(f"{message}. Hint: make its normals consistent")
