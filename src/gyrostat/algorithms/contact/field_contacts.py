"""Points at which a body touches a height field: contacts of its facets, and of the edges along which it is convex.

* A *facet* meets what the body is on a plane (corners, ends, rims, ellipsoids; :mod:`~gyrostat.graph.contacts`): the
  lowest point x along the facet's normal n, at the gap n . (x - p), if x is over this facet (of a sphere, the foot of
  its centre, so that the gap is its distance). Facets beside it meet it too, where x comes over them within the step
  and their plane is below the surface at x: in a valley both sides hold.
* An *edge* meets the body at its nearest point p, with the normal n there, if the plane through p across n leaves all
  facets about p below it. Edges inside a plane, and along valleys, have no such normals: nothing catches on them, and a
  flat field is a plane to rounding. The border is an edge whose far side goes straight down; side walls and base do not
  touch.

Spheres and capsules on edges are closed forms; others are found by coal, apart (where it is exact to 1e-10): an edge
within the body is lowered until it is out of it, and the gap counted back along the normal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gyrostat.algorithms.contact.contact_faces import Face, Faces, faces_of
from gyrostat.algorithms.contact.contact_patches import contact_patch, spread
from gyrostat.algorithms.contact.nearest_points import SHARP, by_coal, coal_package, reach_of, solid_of
from gyrostat.errors import GyrostatError
from gyrostat.geometry.height_field import HeightField
from gyrostat.graph.contacts import Candidate, Surface, on_a_plane
from gyrostat.graph.height_fields import height_field_of
from gyrostat.spatial.contact_geometry import LOWEST, ROUND, between_round
from gyrostat.spatial.representation import Pose
from gyrostat.spec.model import Model

Array = np.ndarray
POINTS = 8
"""Points of contact, at most."""
SUPPORT = {True: 1e-9, False: 1e-5}
"""Sine of the angle by which facets may be above the plane of a contact at an edge: closed form, by coal."""
SAME = 1e-6
"""Distance [m] of points, and difference of normals, of one contact."""
APART = 1e-7
"""Gap [m] from which nearest points of coal are taken as they are."""
AT_END = 1e-6
"""Share of an edge from its end, up to which a point is at the end."""
HERE = Pose(np.eye(3), np.zeros(3))
Touching = tuple[Array, Array, Array]
"""Points (k, 3) on the body, normals (k, 3) and gaps (k,)."""


class FieldContacts:
    """A body ``a`` (its simple surfaces on a plane in its own frame, coal's shape, faces, and the radius that holds it)
    on a height field."""

    def __init__(self, name: str, field: HeightField, a: Surface, parts: Sequence[Surface], solid: Any, faces: Faces):
        self.name, self.field, self.a, self.parts = name, field, a, tuple(parts)
        self.solid, self.faces, self.reach = solid[0], faces, float(solid[1])

    @classmethod
    def of(cls, model: Model, c: Candidate) -> FieldContacts:
        """Of a candidate whose surface b is a height field."""
        grid = height_field_of(model, c.b.entity, c.surfaces[1].shape)  # type: ignore[arg-type]
        own = replace(c.a, R=np.eye(3), p=np.zeros(3))
        solid = solid_of(model, c, 0) if c.a.kind not in ROUND else (None, reach_of(c.a.kind, c.a.size))
        faces = faces_of(c.a.kind, c.a.size, solid[0])
        return cls(c.name, grid, c.a, on_a_plane(model, c.surfaces[0], own), solid, faces)

    def touching(self, a: Pose, b: Pose, within: float) -> Touching:
        """All contacts with gaps up to ``within`` [m], of the body at pose a and the field at pose b, in the world."""
        at = Pose(b.R.T @ a.R, b.R.T @ (a.p - b.p))
        found = [x for part in self.parts for x in self._on_facets(part, at.then(part.R, part.p), within)]
        if self.a.kind != "point":
            found += [x for k in self.field.edges_near(at.p, self.reach + within) for x in self._on_edge(k, at, within)]
        x, n, gaps = _chosen(found)
        return x @ b.R.T + b.p, n @ b.R.T, gaps

    # ------------------------------------------------------------------ facets
    def _on_facets(self, part: Surface, at: Pose, within: float) -> list[tuple[Array, Array, float]]:
        field, size = self.field, part.size
        extent = max(size, default=0.0) + within
        numbers = field.cells(at.p[:2] - extent, at.p[:2] + extent)
        if not len(numbers):
            return []
        corners = field.vertices[field.facets[numbers]]
        if at.p[2] - extent > corners[..., 2].max():
            return []
        n = field.normals[numbers]
        x = _lowest(part.kind, size, at, n)
        gaps = ((x - corners[:, 0]) * n).sum(axis=1)
        foot = np.where((gaps + size[0] > 0.0)[:, None], x - gaps[:, None] * n, x) if part.kind == "sphere" else x
        owner = field.under(foot)
        over = owner >= 0
        m, p = field.normals[owner], field.vertices[field.facets[owner, 0]]
        plane = ((foot - corners[:, 0]) * n).sum(axis=1) / n[:, 2]
        above = plane - ((foot - p) * m).sum(axis=1) / m[:, 2]  # of the surface at the foot above the facet's plane
        little = SUPPORT[True] * (extent + max(field.steps))
        same = (owner == numbers) | ((np.abs(m - n).max(axis=1) < SUPPORT[True]) & (np.abs(above) < little))
        beside = (above > little) & (_beside(corners, foot) <= within)
        kept = over & (same | beside) & (gaps <= within) & (x[:, 2] > -field.size[2])
        return [(x[k], n[k], float(gaps[k])) for k in np.flatnonzero(kept)]

    # ------------------------------------------------------------------ edges
    def _on_edge(self, k: int, at: Pose, within: float) -> list[tuple[Array, Array, float]]:
        p, q = ends = self.field.vertices[self.field.convex_edges.ends[k]]
        closed = self.a.kind in ROUND
        nearest = self._round(at, p, q) if closed else self._by_coal(at, p, q)
        n, points, gaps = contact_patch(self.faces, at, lambda d: Face(ends), HERE, *nearest)
        turns = 0.0 if self.a.kind == "sphere" else within / self.reach  # before it touches, as a line or face turns
        return [
            (x + 0.5 * gap * n, n, float(gap))
            for x, gap in zip(points, gaps, strict=True)
            if gap <= within
            and self._supports(k, x - 0.5 * gap * n, n, max(SUPPORT[closed], turns if gap > 0.0 else 0.0))
        ]

    def _round(self, at: Pose, p: Array, q: Array) -> tuple[Array, Array, Array]:
        """Normal, and nearest points of a sphere or capsule and an edge."""
        length = float(np.linalg.norm(q - p))
        edge = Pose(_axes((q - p) / length), 0.5 * (p + q))
        t = between_round(self.a.kind, self.a.size, at, "capsule", (0.0, length), edge)
        return t.axes[0], t.x, t.x - t.axes[0] * t.gap

    def _by_coal(self, at: Pose, p: Array, q: Array) -> tuple[Array, Array, Array]:
        """The same by coal, for an edge that is lowered until it is apart from the body."""
        length, lowered = float(np.linalg.norm(q - p)), np.zeros(3)
        segment, R = coal_package().Capsule(0.0, length), _axes((q - p) / length)
        for _ in range(24):
            gap, n, _, on_b = by_coal(self.solid, segment, at, Pose(R, 0.5 * (p + q) - lowered), SHARP)
            if gap > APART:
                on_edge = on_b + lowered
                return n, on_edge + n * (gap - n @ lowered), on_edge
            lowered = np.array([0.0, 0.0, max(2.0 * lowered[2], 1e-5 * self.reach)])
        raise GyrostatError(
            f"contact '{self.name}': an edge of the height field is deeper within the body than that is large. "
            "Hint: does it start inside the terrain?"
        )

    def _supports(self, k: int, x: Array, n: Array, sure: float) -> bool:
        """Whether the facets about the point x of an edge are below the plane through it across n."""
        ends, sides = self.field.convex_edges.ends[k], self.field.convex_edges.sides[k]
        p, q = self.field.vertices[ends]
        s = float((x - p) @ (q - p) / ((q - p) @ (q - p)))
        if min(s, 1.0 - s) < AT_END:
            end = int(ends[0] if s < 0.5 else ends[1])
            around = self.field.ring(end) - self.field.vertices[end]
        else:
            around = sides - p
        return bool(n[2] > 0.0 and (around @ n <= sure * np.sqrt((around * around).sum(axis=1))).all())


def _lowest(kind: str, size: Sequence[float], at: Pose, n: Array) -> Array:
    """The lowest points (k, 3) of a simple surface along normals (k, 3)."""
    if kind in ("point", "sphere"):
        return at.p - (size[0] if size else 0.0) * n
    return np.array([LOWEST[kind](size, at, m) for m in n])


def _beside(corners: Array, x: Array) -> Array:
    """How far points (k, 3) are beside triangles (k, 3, 3), seen from above; at least."""
    following = np.roll(corners, -1, axis=1) - corners
    lengths = np.hypot(following[..., 0], following[..., 1])
    off = x[:, None] - corners
    outward = (following[..., 1] * off[..., 0] - following[..., 0] * off[..., 1]) / lengths
    return outward.max(axis=1)


def _axes(z: Array) -> Array:
    """A rotation (3, 3) whose third column is z."""
    x = np.cross(np.eye(3)[int(np.abs(z).argmin())], z)
    x /= np.sqrt(x @ x)
    return np.stack([x, np.cross(z, x), z], axis=1)


def _chosen(found: Sequence[tuple[Array, Array, float]]) -> Touching:
    """Each contact once; of more than there is room for those that are deepest, spread over the body."""
    kept: list[tuple[Array, Array, float]] = []
    for x, n, gap in sorted(found, key=lambda one: one[2]):
        if not any(np.abs(x - y).max() < SAME and np.abs(n - m).max() < SAME for y, m, _ in kept):
            kept.append((x, n, gap))
    kept = kept[: 2 * POINTS]
    if not kept:
        return np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0)
    x, n, gaps = (np.array([one[i] for one in kept]) for i in range(3))
    chosen = spread(x, 0) if len(kept) > POINTS else list(range(len(kept)))
    return x[chosen], n[chosen], gaps[chosen]
