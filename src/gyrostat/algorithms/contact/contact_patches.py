"""Points at which two convex shapes touch: the corners of the patch that their faces share, where they lie flat on each
other, beside the nearest points. One point would let a box on a box rock.

Faces and edges are clipped against each other along the normal [Ericson, Real-Time Collision Detection, 8.3.4]; each
corner has its own gap, measured along the normal between the two faces."""

from __future__ import annotations

import numpy as np

from gyrostat.algorithms.contact.contact_faces import Face, Faces
from gyrostat.spatial.representation import Pose

Array = np.ndarray
POINTS = 8
"""Points of a patch, at most."""
SNAP = 1e-4
"""Angle [rad] between a normal and that of a face, up to which they count as the same: nearest points come from an
iteration that knows the normal of touching shapes to 1e-6."""
PARALLEL = 0.02
"""Angle [rad] of two edges that lie along each other."""
DEEPER = 1e-7
"""By what [m] nearest points are closer than all corners, if they are not among these."""


def contact_patch(
    a: Faces, pose_a: Pose, b: Faces, pose_b: Pose, normal: Array, on_a: Array, on_b: Array
) -> tuple[Array, Array, Array]:
    """Normal (3,) from b to a, points (k, 3) in the middle between both shapes, gaps (k,), of shapes with nearest
    points on_a and on_b, 1 <= k <= POINTS, all in the world."""
    one, two = _placed(a(pose_a.R.T @ -normal), pose_a), _placed(b(pose_b.R.T @ normal), pose_b)
    n = _straightened(normal, one, two, on_a, on_b)
    points, gaps = _shared(one, two, n)
    depth = float(n @ (on_a - on_b))
    if not len(gaps) or depth < gaps.min() - DEEPER:
        points, gaps = np.concatenate([points, [(on_a + on_b) / 2]]), np.append(gaps, depth)
    if len(gaps) > POINTS:
        chosen = spread(points, int(gaps.argmin()))
        points, gaps = points[chosen], gaps[chosen]
    return n, points, gaps


def _placed(face: Face | None, pose: Pose) -> Face | None:
    if face is None:
        return None
    return Face(face.points @ pose.R.T + pose.p, None if face.normal is None else pose.R @ face.normal)


def _straightened(n: Array, one: Face | None, two: Face | None, on_a: Array, on_b: Array) -> Array:
    """The normal of the face that lies across n, if there is one: within SNAP of it, or between shapes as far apart
    along it as along n. The distance of convex shapes is the largest of all directions: no other one is nearer to the
    true normal, which nearest points that touch hardly tell."""
    tip_a, tip_b = (face.points if face else x[None] for face, x in ((one, on_a), (two, on_b)))
    sides = [(face.normal * sign) for face, sign in ((one, -1.0), (two, 1.0)) if face and face.normal is not None]
    best = max(sides, key=lambda m: float(m @ n), default=n)
    apart = float((tip_a @ best).min() - (tip_b @ best).max())
    return best if np.abs(best - n).max() < SNAP or apart > n @ (on_a - on_b) - DEEPER else n


def _shared(one: Face | None, two: Face | None, n: Array) -> tuple[Array, Array]:
    """Corners of the patch and their gaps; none where one shape has but a point there."""
    if one is None or two is None:
        return np.zeros((0, 3)), np.zeros(0)
    flat = [face.normal is not None for face in (one, two)]
    if not any(flat):
        return _along(one.points, two.points, n)
    upper = flat[0] and (not flat[1] or -one.normal @ n > two.normal @ n)  # type: ignore[operator]
    reference, other = (one, two) if upper else (two, one)
    corners = _clipped(other.points, reference.points, n)
    m = reference.normal
    below = (corners - reference.points[0]) @ m / (n @ m)  # height above the reference along n
    gaps = -below if upper else below
    return corners - 0.5 * below[:, None] * n, gaps


def _clipped(points: Array, polygon: Array, n: Array) -> Array:
    """The part of an edge or polygon that lies within another polygon, seen along n [Sutherland, Hodgman 1974]."""
    centre = polygon.mean(axis=0)
    for p, q in zip(polygon, np.roll(polygon, -1, axis=0), strict=True):
        inward = np.cross(n, q - p)
        inward = inward if inward @ (centre - p) >= 0.0 else -inward
        heights = (points - p) @ inward
        if heights.min(initial=0.0) >= 0.0:
            continue
        kept: list[Array] = []
        k = len(points)
        for i in range(k):
            if heights[i] >= 0.0:
                kept.append(points[i])
            j = (i + 1) % k
            if (heights[i] < 0.0) != (heights[j] < 0.0) and (k > 2 or i == 0):
                s = heights[i] / (heights[i] - heights[j])
                kept.append(points[i] + s * (points[j] - points[i]))
        points = np.array(kept).reshape(-1, 3)
        if not len(points):
            break
    return points


def _along(one: Array, two: Array, n: Array) -> tuple[Array, Array]:
    """Ends of the stretch that two parallel edges share."""
    d, e = one[1] - one[0], two[1] - two[0]
    length = float(np.sqrt(d @ d))
    d = d / length
    if np.linalg.norm(np.cross(d, e)) > PARALLEL * float(np.sqrt(e @ e)):
        return np.zeros((0, 3)), np.zeros(0)
    ends = np.sort((two - one[0]) @ d)
    low, high = max(0.0, ends[0]), min(length, ends[1])
    if low > high:
        return np.zeros((0, 3)), np.zeros(0)
    on_one = one[0] + np.outer([low, high], d)
    share = ((on_one - two[0]) @ e) / (e @ e)
    on_two = two[0] + np.outer(share, e)
    return 0.5 * (on_one + on_two), (on_one - on_two) @ n


def spread(points: Array, first: int) -> list[int]:
    """POINTS of them: the first, and again and again the one that is farthest from all chosen."""
    chosen, far = [first], np.linalg.norm(points - points[first], axis=1)
    while len(chosen) < POINTS:
        chosen.append(int(far.argmax()))
        far = np.minimum(far, np.linalg.norm(points - points[chosen[-1]], axis=1))
    return chosen
