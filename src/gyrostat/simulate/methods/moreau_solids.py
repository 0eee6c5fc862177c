"""Pairs of shapes without nearest points in closed form, in Moreau's steps: machine code asks in the middle of a step
where they touch, as soon as the spheres about them may meet; coal finds the nearest points, and
:mod:`~gyrostat.algorithms.contact.contact_patches` the corners of flat patches;
:mod:`~gyrostat.algorithms.contact.field_contacts` those of bodies on height fields. Each corner is a contact of its
own, ``"crate|shelf.0"`` to ``"crate|shelf.7"``; from step to step a corner keeps its number while it stays nearest to
where it was."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gyrostat.algorithms.contact.contact_faces import Faces, faces_of
from gyrostat.algorithms.contact.contact_kinematics import place_of
from gyrostat.algorithms.contact.contact_normals import (
    Extent,
    extent_of,
    farthest_of_ellipsoid,
)
from gyrostat.algorithms.contact.contact_patches import contact_patch
from gyrostat.algorithms.contact.field_contacts import FieldContacts
from gyrostat.algorithms.contact.nearest_points import Solids, fitting_points, solids_of
from gyrostat.graph.contacts import Candidate
from gyrostat.graph.network import Network
from gyrostat.simulate.methods.drivers import moreau_memory as at
from gyrostat.spatial.representation import Pose
from gyrostat.spec.model import Model

Array = np.ndarray
APART = 1.0
"""Gap [m] of a corner that has gone."""
NEAR = 0.01
"""Gap [m] up to which facets are looked for at the end of a step."""
SLOW = "nearest points"
"""What the part in Python is called in counters."""


@dataclass(frozen=True)
class SolidPair:
    """A candidate; coal's shapes, their faces and extents; port and placement of both surfaces."""

    candidate: Candidate
    solids: Solids
    faces: tuple[Faces, Faces]
    extents: tuple[Extent, Extent]
    places: tuple[tuple[int, Pose], tuple[int, Pose]]

    @classmethod
    def of(cls, model: Model, net: Network, c: Candidate, ports: Sequence[int | None]) -> SolidPair:
        solids = solids_of(model, c)
        both = tuple(zip((c.a, c.b), solids, strict=True))
        faces = [faces_of(s.kind, s.size, solid) for s, (solid, _) in both]
        places = [(ports.index(port), Pose(R, p)) for port, R, p in (place_of(net, s) for s in (c.a, c.b))]
        extents = [extent_of(s.kind, s.size, solid) for s, (solid, _) in both]
        return cls(c, solids, (faces[0], faces[1]), (extents[0], extents[1]), (places[0], places[1]))

    def touching(self, poses: Array, within: float) -> tuple[Pose, Array, Array, Array]:
        """Pose of b; normal (3,), points (k, 3) and gaps (k,) for the ``poses`` (ports, 12) of bodies."""
        a, b = (_placed(poses[port], place) for port, place in self.places)
        _, n, on_a, on_b, _ = fitting_points(self.candidate, self.solids, self.extents, a, b, np.inf)
        both = self.candidate.a, self.candidate.b
        if both[0].kind == "ellipsoid":
            on_a = farthest_of_ellipsoid(both[0].size, a, -n)
        if both[1].kind == "ellipsoid":
            on_b = farthest_of_ellipsoid(both[1].size, b, n)
        return b, *contact_patch(self.faces[0], a, self.faces[1], b, n, on_a, on_b)


@dataclass(frozen=True)
class FieldPair:
    """The same of a body on a height field; normals are those of its facets and edges, one for each point."""

    candidate: Candidate
    solids: Solids
    field: FieldContacts
    places: tuple[tuple[int, Pose], tuple[int, Pose]]

    @classmethod
    def of(cls, model: Model, net: Network, c: Candidate, ports: Sequence[int | None]) -> FieldPair:
        field = FieldContacts.of(model, c)
        places = [(ports.index(port), Pose(R, p)) for port, R, p in (place_of(net, s) for s in (c.a, c.b))]
        return cls(c, ((field.solid, field.reach), (None, field.field.reach)), field, (places[0], places[1]))

    def touching(self, poses: Array, within: float) -> tuple[Pose, Array, Array, Array]:
        """Pose of b; normals, points (k, 3) and gaps (k,) up to ``within`` [m]."""
        a, b = (_placed(poses[port], place) for port, place in self.places)
        x, n, gaps = self.field.touching(a, b, within)
        return b, n, x, gaps


def pair_of(model: Model, net: Network, c: Candidate, ports: Sequence[int | None]) -> SolidPair | FieldPair:
    """How a candidate without closed form is asked."""
    return (FieldPair if c.b.kind == "height-field" else SolidPair).of(model, net, c, ports)


class SolidContacts:
    """All such pairs of a model: what they answer to machine code, in ``answers`` (pairs * PATCH, ANSWER)."""

    def __init__(self, pairs: Sequence[SolidPair | FieldPair]):
        self.pairs = tuple(pairs)
        self.answers = np.zeros((max(1, len(self.pairs) * at.PATCH), at.ANSWER))
        self.calls, self.seconds = 0, 0.0
        self.forget()

    @property
    def reaches(self) -> dict[str, float]:
        """Radii of spheres about the frames of all surfaces, by name."""
        return {
            s.name: float(reach)
            for pair in self.pairs
            for s, (_, reach) in zip((pair.candidate.a, pair.candidate.b), pair.solids, strict=True)
        }

    def forget(self) -> None:
        """Where corners were."""
        self._before = [np.full((at.PATCH, 3), np.inf) for _ in self.pairs]
        self.answers[:] = 0.0

    def answer(self, poses: Array, table: Array, segments: Array) -> None:
        """Points of all pairs whose spheres may meet: ``table`` (pairs, 3), ``segments`` as of this step."""
        begin = time.perf_counter()
        for k, pair in enumerate(self.pairs):
            one, two = segments[table[k, 0]], segments[table[k, 1]]
            rows = self.answers[at.PATCH * k : at.PATCH * (k + 1)]
            rows[:, 0] = 0.0
            if np.linalg.norm(one[6:9] - two[6:9]) > one[10] + two[10]:
                continue
            within = one[10] + two[10] - sum(reach for _, reach in pair.solids)
            b, n, points, gaps = pair.touching(poses, float(within))
            own = (points - b.p) @ b.R
            slots = _numbered(own, self._before[k])
            self._before[k] = np.full((at.PATCH, 3), np.inf)
            self._before[k][slots] = own
            rows[slots, 0], rows[slots, 1], rows[slots, 2:5], rows[slots, 5:8] = 1.0, gaps, points, n
            self.calls += 1
        self.seconds += time.perf_counter() - begin

    def gaps_at(self, poses: Array) -> Array:
        """Gaps (pairs * PATCH,) [m] of the same corners for other poses (ports, 12), APART where they are none."""
        begin = time.perf_counter()
        gaps = np.full(len(self.answers), APART)
        for k, pair in enumerate(self.pairs):
            rows = slice(at.PATCH * k, at.PATCH * (k + 1))
            if not self.answers[rows, 0].any():
                continue
            b, _, points, found = pair.touching(poses, NEAR)
            gaps[rows][_numbered((points - b.p) @ b.R, self._before[k])] = found
            self.calls += 1
        self.seconds += time.perf_counter() - begin
        return gaps


def _placed(pose: Array, place: Pose) -> Pose:
    return Pose(pose[:9].reshape(3, 3), pose[9:]).then(place.R, place.p)


def _numbered(points: Array, before: Array) -> list[int]:
    """A number for each of the points (k, 3): that of the nearest one of before, each once, nearest first."""
    with np.errstate(invalid="ignore"):
        far = np.linalg.norm(points[:, None] - before[None], axis=2)
    far = np.where(np.isfinite(far), far, 1e300)
    slots = [-1] * len(points)
    for flat in np.argsort(far, axis=None, kind="stable").tolist():
        i, j = divmod(flat, len(before))
        if slots[i] < 0 and j not in slots:
            slots[i] = j
    return slots


def points_of_pairs(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Candidates, those without closed form once for each corner that they may have."""
    found: list[Candidate] = []
    for c in candidates:
        found += [c] if c.closed_form else [replace(c, name=f"{c.name}.{k}") for k in range(at.PATCH)]
    return tuple(found)


def told(candidates: Sequence[Candidate]) -> str:
    """What is said of pairs that Python finds."""
    names = [c.name for c in candidates if not c.closed_form]
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    fields = all(c.b.kind == "height-field" for c in candidates if not c.closed_form)
    how = "" if fields else "by coal, "
    return (
        f"the nearest points of {', '.join(map(repr, names[:3]))}{more} have no closed form and are found in Python, "
        f"{how}whenever they are near, which is slower. Hint: spheres and capsules have one with each other, and "
        "all shapes with the ground"
    )
