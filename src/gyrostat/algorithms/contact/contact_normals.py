"""The normal of two convex shapes that touch. Nearest points of an iteration (GJK, EPA) tell it by their difference,
which is rounding where the gap is: of two equal boxes on each other it may lie in their faces.

The gap of convex shapes is the largest of all directions n [Ericson, Real-Time Collision Detection, 5.2.1]:

    gap = max over n of  -h_a(-n) - h_b(n),        h(d) = max over the points x of a shape of d . x.

A normal along which the shapes are less far apart than the nearest points say is not theirs; the best normal of a flat
face, or of two straight edges across each other, takes its place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.algorithms.contact.contact_faces import Face, flat_sides
from gyrostat.spatial.representation import Pose

Array = np.ndarray
WRONG = 1e-8
"""By what [m] shapes are less far apart along a normal than its nearest points, if it is not theirs."""
NEARLY = 1.0 - 5e-5
"""Cosine of 0.01 rad: the normal of a face so near is tried as well. What a round body leaves of a normal on a face is
1e-4 rad where they touch, which changes the gap by less than rounding, and pushes the body aside."""
EDGES = 24
"""Directions of edges of a mesh, at most: one with more is nearly round, and has a face near every normal."""
PARALLEL = 1e-6
"""Sine of the angle of edges that have no normal across both."""


@dataclass(frozen=True)
class Extent:
    """How far a shape reaches: ``support`` h (k,) of directions (k, 3); outward ``normals`` (m, 3) of its flat faces,
    and directions ``edges`` (l, 3) of straight edges; in its own axes."""

    support: Callable[[Array], Array]
    normals: Array
    edges: Array


def extent_of(kind: str, size: Sequence[float], hull: Any = None) -> Extent:
    """Of a shape; ``hull``: coal's, of a mesh."""
    none, z = np.zeros((0, 3)), np.array([[0.0, 0.0, 1.0]])
    s = np.asarray(size, float)
    if kind == "box":
        return Extent(lambda d: np.abs(d) @ s / 2, np.concatenate([np.eye(3), -np.eye(3)]), np.eye(3))
    if kind == "cylinder":
        return Extent(
            lambda d: s[0] * np.hypot(d[:, 0], d[:, 1]) + s[1] / 2 * np.abs(d[:, 2]), np.concatenate([z, -z]), z
        )
    if kind == "capsule":
        return Extent(lambda d: s[0] * np.linalg.norm(d, axis=1) + s[1] / 2 * np.abs(d[:, 2]), none, z)
    if kind == "mesh":
        vertices, sides = flat_sides(hull)
        return Extent(lambda d: (d @ vertices.T).max(axis=1), np.array([side.normal for side in sides]), _edges(sides))
    radii = {"ellipsoid": s, "sphere": np.repeat(s, 3)}.get(kind, np.zeros(3))
    return Extent(lambda d: np.linalg.norm(d * radii, axis=1), none, none)


def _edges(sides: Sequence[Face]) -> Array:
    """Directions of the edges of faces, each once; none of more than EDGES."""
    found = np.concatenate([np.roll(side.points, -1, axis=0) - side.points for side in sides])
    found /= np.linalg.norm(found, axis=1)[:, None]
    found *= np.where(found[np.arange(len(found)), np.abs(found).argmax(axis=1)] < 0.0, -1.0, 1.0)[:, None]
    once = np.unique(found.round(9), axis=0)
    return once if len(once) <= EDGES else once[:0]


def apart(a: Extent, pose_a: Pose, b: Extent, pose_b: Pose, n: Array) -> Array:
    """How far apart [m] shapes are along directions n (k, 3) from b to a in the world; negative if they overlap."""
    return n @ (pose_a.p - pose_b.p) - a.support(-n @ pose_a.R) - b.support(n @ pose_b.R)


def touching_normal(a: Extent, pose_a: Pose, b: Extent, pose_b: Pose, n: Array, gap: float) -> Array:
    """n (3,), or the normal along which shapes with this ``gap`` are farther apart, in the world."""
    along = float(apart(a, pose_a, b, pose_b, n[None])[0])
    others = np.concatenate([-a.normals @ pose_a.R.T, b.normals @ pose_b.R.T])
    if along >= gap - WRONG:
        return _best(a, pose_a, b, pose_b, n, along, others[others @ n > NEARLY])[0]
    best = _best(a, pose_a, b, pose_b, n, along, others)
    if best[1] >= gap - WRONG:
        return best[0]
    across = np.cross((a.edges @ pose_a.R.T)[:, None], (b.edges @ pose_b.R.T)[None]).reshape(-1, 3)
    sine = np.linalg.norm(across, axis=1)
    across = across[sine > PARALLEL] / sine[sine > PARALLEL, None]
    return _best(a, pose_a, b, pose_b, *best, np.concatenate([across, -across]))[0]


def farthest_of_ellipsoid(size: Sequence[float], pose: Pose, d: Array) -> Array:
    """The point (3,) of an ellipsoid that lies farthest along d, in the world. Nearest points of an iteration know it
    to the root of their tolerance only."""
    y = np.square(size) * (d @ pose.R)
    return pose.p + pose.R @ (y / np.sqrt(y @ (d @ pose.R)))


def _best(
    a: Extent, pose_a: Pose, b: Extent, pose_b: Pose, n: Array, along: float, others: Array
) -> tuple[Array, float]:
    """The direction along which shapes are farthest apart, n or one of the others, and how far."""
    if not len(others):
        return n, along
    found = apart(a, pose_a, b, pose_b, others)
    k = int(found.argmax())
    return (others[k], float(found[k])) if found[k] > along else (n, along)
