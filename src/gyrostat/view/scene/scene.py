"""What is drawn for a model: solids on the parts that move as one. Plain data; no browser, no mesh is opened here."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gyrostat.configuration.manifold import neutral
from gyrostat.errors import SpecError
from gyrostat.graph.height_fields import height_field_of
from gyrostat.graph.lower import Values, rotation
from gyrostat.solvers.kinematics.forward_kinematics import ForwardKinematics
from gyrostat.spatial.algebra import compose
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model
from gyrostat.spec.rigid_body import RigidBody
from gyrostat.spec.shape import Shape
from gyrostat.view.scene.bent_beams import with_stations
from gyrostat.view.scene.mesh_places import find_mesh
from gyrostat.view.scene.rigid_parts import RigidPart, rigid_parts
from gyrostat.view.scene.solid import Color, Placement, Solid, seen_from, upward
from gyrostat.view.scene.sticks import sticks

Array = np.ndarray

PLAIN = (0.72, 0.74, 0.78, 1.0)
COLLISION = (0.90, 0.30, 0.25, 0.35)
INERTIA = (0.25, 0.52, 0.80, 0.20)
MASS = (0.96, 0.76, 0.10, 1.0)


@dataclass(frozen=True)
class Link:
    """Bodies that move as one, drawn in the frame of ``port``. ``frames``: named places on it."""

    name: str
    port: str
    solids: tuple[Solid, ...]
    frames: Mapping[str, Placement]


@dataclass(frozen=True)
class Scene:
    """``up``: against gravity; ``low``, ``high``: corners of a box around the robot at rest [m]; ``missing``: what
    could not be drawn, and why. Where ``drawn``, bodies have pictures of their own; else all is made of sticks."""

    model: Model
    links: tuple[Link, ...]
    up: Array
    low: Array
    high: Array
    drawn: bool
    missing: tuple[str, ...] = ()
    _solver: Any = field(default=None, repr=False)

    @property
    def extent(self) -> float:
        """Diagonal of the box around the robot [m]."""
        return float(np.linalg.norm(self.high - self.low))

    def placements(self, q: Any, t: Any = None) -> tuple[Array, Array]:
        """R (..., links, 3, 3) and p (..., links, 3) of every link in the world for q (..., nq)."""
        solver: ForwardKinematics = self._solver
        motions = solver(q, t=(0.0 if t is None else t) if solver.network.driven else None)
        frames = [motions[link.port] for link in self.links]
        return np.stack([m.R for m in frames], axis=-3), np.stack([m.p for m in frames], axis=-2)


def scene(model: Model, roots: Sequence[str | os.PathLike[str]] = ()) -> Scene:
    """What is drawn for a model: its visual shapes; for parts that have none, sticks between joints.

    Every body also has a ball at its centre of mass and a box of the same mass and inertia; collision shapes are there
    too. ``roots``: folders in which meshes are looked for, besides that of the model's file.
    """
    expect_model(model, "scene")
    given, (model, pieces) = model, with_stations(model)
    parts = [part for part in rigid_parts(model) if part.port not in pieces]
    rest = _at_rest(model)
    missing: list[str] = []
    shapes = [_shapes(model, part, rest, roots, missing) for part in parts]
    drawn = any(solid.role == "visual" for solids in shapes for solid in solids)
    drawings = sticks(model, parts, rest, [any(s.role == "visual" for s in solids) for solids in shapes])
    links = []
    for part, solids, drawing in zip(parts, shapes, drawings, strict=True):
        frames = {name: seen_from(rest, part.port, name) for name in part.named}
        links.append(Link(part.name, part.port, (*solids, *drawing, *_masses(model, part, rest)), frames))
    links += [Link(port, port, (piece,), {}) for port, piece in pieces.items()]
    low, high = _box(rest, links)
    solver = ForwardKinematics(model, [link.port for link in links])
    return Scene(
        given,
        _scaled(links, float(np.linalg.norm(high - low))),
        upward(model),
        low,
        high,
        drawn,
        tuple(missing),
        solver,
    )


def _at_rest(model: Model) -> Mapping[str, Placement]:
    """Every port in the world where all coordinates are zero."""
    solver = ForwardKinematics(model, mode="interpret")
    motions = solver(neutral(model), t=0.0 if solver.network.driven else None)
    return {name: (motions[name].R, motions[name].p) for name in motions}


def _shapes(
    model: Model, part: RigidPart, rest: Mapping[str, Placement], roots: Sequence[Any], missing: list[str]
) -> list[Solid]:
    solids: list[Solid] = []
    for body in part.bodies:
        entity = model.wiring.entities[body]
        for k, shape in enumerate(entity.shapes if isinstance(entity, RigidBody) else ()):
            file, triangles = None, None
            if shape.kind == "height-field":
                try:
                    triangles = height_field_of(model, body, shape).closed_surface()
                except SpecError as error:
                    missing.append(f"{body}: {error.problems[0].message}")
                    continue
            if shape.kind == "mesh":
                file, why = find_mesh(model, body, shape.file, roots)
                if file is None:
                    missing.append(f"{body}: the mesh '{shape.file}' {why}")
                    continue
            own = rotation(Values(f"{body}.shapes", shape.rotation, {}), []), np.array(shape.translation)
            R, p = compose(*seen_from(rest, part.port, f"{body}.origin"), *own)
            look = _color(shape), shape.role, file, triangles
            solids.append(Solid(f"{body}/{k}", shape.kind, shape.size, R, p, *look))
    return solids


def _color(shape: Shape) -> Color | None:
    if shape.role == "collision":
        return COLLISION
    return shape.color if shape.color is not None or shape.kind == "mesh" else PLAIN


def _masses(model: Model, part: RigidPart, rest: Mapping[str, Placement]) -> list[Solid]:
    """A ball (of radius 1, scaled later) at each centre of mass, and the box of equal inertia."""
    solids: list[Solid] = []
    for body in part.bodies:
        entity: Any = model.wiring.entities[body]
        if entity.mass <= 0.0:
            continue
        R, p = seen_from(rest, part.port, f"{body}.origin")
        centre = p + R @ np.array(entity.com)
        solids.append(Solid(f"{body}/com", "sphere", (entity.mass ** (1 / 3),), np.eye(3), centre, MASS, "com"))
        lengths, axes = equal_box(entity.mass, np.array(entity.inertia))
        if max(lengths) > 0.0:
            size = tuple(max(x, 0.02 * max(lengths)) for x in lengths)
            solids.append(Solid(f"{body}/inertia", "box", size, R @ axes, centre, INERTIA, "inertia"))
    return solids


def equal_box(mass: float, inertia: Array) -> tuple[tuple[float, ...], Array]:
    """Lengths (3,) [m] and axes R (3, 3) of the homogeneous box with this mass and these moments [kg m^2].

    Principal moments I_k = m (l_i^2 + l_j^2) / 12 give l_k^2 = 6 (I_i + I_j - I_k) / m; where no such box exists the
    length is zero.
    """
    moments, axes = np.linalg.eigh((inertia + inertia.T) / 2.0)
    if np.linalg.det(axes) < 0.0:
        axes = axes * np.array([1.0, 1.0, -1.0])
    squares = 6.0 * (moments.sum() - 2.0 * moments) / mass
    return tuple(float(x) for x in np.sqrt(np.maximum(squares, 0.0))), axes


def _scaled(links: list[Link], extent: float) -> tuple[Link, ...]:
    """Balls of centres of mass: volumes as masses, none too large or too small to be seen."""
    heaviest = max((s.size[0] for link in links for s in link.solids if s.role == "com"), default=1.0)
    done: list[Link] = []
    for link in links:
        solids = [
            s
            if s.role != "com"
            else Solid(s.name, s.kind, (0.022 * extent * max(s.size[0] / heaviest, 0.3),), s.R, s.p, s.color, s.role)
            for s in link.solids
        ]
        done.append(Link(link.name, link.port, tuple(solids), link.frames))
    return tuple(done)


def _box(rest: Mapping[str, Placement], links: Sequence[Link]) -> tuple[Array, Array]:
    points = [p for _, p in rest.values()]
    for link in links:
        R, p = rest[link.port]
        for s in link.solids:
            if s.role in ("visual", "stick", "joint", "com") and s.kind != "mesh":
                reach = max(s.size) / 2.0 if s.role != "com" else 0.0
                points += [p + R @ s.p - reach, p + R @ s.p + reach]
    corners = np.array(points)
    low, high = corners.min(axis=0), corners.max(axis=0)
    if np.linalg.norm(high - low) < 1e-6:
        low, high = low - 0.1, high + 0.1
    return low, high
