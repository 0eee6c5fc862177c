"""Support polygon: the convex hull of the points that a robot stands on; and how far the centre of mass is inside."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.recursions.crba import total_inertia
from gyrostat.algorithms.recursions.kinematics import sweep_motion
from gyrostat.algorithms.recursions.rne import Loads
from gyrostat.configuration.packing import coordinates, names_of, real_array
from gyrostat.engine.tracing.choose import both, minimum, where
from gyrostat.errors import FrameError, GyrostatError, NonFiniteError, ShapeError, clipped
from gyrostat.geometry.convex_hull import area, convex_hull, signed_distance
from gyrostat.graph.network import Network, network
from gyrostat.solvers.dynamics.center_of_mass import ABSOLUTE, centre_of
from gyrostat.solvers.dynamics.ground_plane import GroundPlane, ground_plane
from gyrostat.solvers.kinematics.forward_kinematics import ForwardKinematics
from gyrostat.solvers.machinery.call_signatures import of_configuration
from gyrostat.solvers.machinery.solver_cache import cached_solver
from gyrostat.solvers.machinery.state_solver import Array, StateSolver
from gyrostat.spec.check import expect_model
from gyrostat.spec.context import UniformGravity
from gyrostat.spec.model import Model

FAR = 1e30  # [m]


@dataclass(frozen=True)
class SupportPolygon:
    """``vertices`` (k, 2), anticlockwise, in the axes of the plane; k = 2 for a line, 1 for a point. ``corners`` (k,
    3): the same in the world."""

    vertices: Array
    plane: GroundPlane

    @property
    def corners(self) -> Array:
        return self.vertices @ self.plane.axes + np.array(self.plane.normal) * self.plane.height

    @property
    def area(self) -> float:
        """[m^2]."""
        return area(self.vertices)

    def margin(self, p: Any) -> float | Array:
        """Distance [m] of points (..., 3) of the world, seen along the normal, from the edge: positive inside."""
        points = real_array(p, "support_polygon", "p")
        if points.ndim == 0 or points.shape[-1] != 3:
            raise ShapeError(f"support_polygon: p has shape {points.shape}, expected (..., 3), a point of the world")
        if not np.isfinite(points).all():
            raise NonFiniteError(f"support_polygon: p is not finite, got {clipped(points.tolist())}")
        flat = points.reshape(-1, 3) @ self.plane.axes.T
        found = np.array([signed_distance(self.vertices, x) for x in flat]).reshape(points.shape[:-1])
        return float(found) if found.ndim == 0 else found


def support_polygon(
    model: Model, q: Any, points: Sequence[str], *, normal: Any = (0.0, 0.0, 1.0), height: float = 0.0
) -> SupportPolygon:
    """Convex hull of the origins of frames ``points`` at q (nq,), seen along the normal of the ground.

    Exact: the same corners whatever their order, none on an edge. Points that coincide, or lie on a line, are a hull,
    too. Feet that are areas are named by their corners."""
    who = "support_polygon"
    expect_model(model, who)
    plane = ground_plane(normal, height, who)
    names = _points(model, points, who)
    where_q = coordinates(model, q, who)
    if where_q.ndim != 1:
        raise ShapeError(f"{who}: q has shape {where_q.shape}, expected one configuration. Hint: gs.stability_margin")
    motions = cached_solver(model, ForwardKinematics, frames=names)(where_q)
    flat = np.stack([motions[name].p for name in names]) @ plane.axes.T
    return SupportPolygon(convex_hull(flat), plane)


def _points(model: Model, points: Any, who: str) -> tuple[str, ...]:
    names = names_of(points, who, "points")
    if not names:
        raise FrameError(f"{who}: no point is named. Hint: points=['left_foot.toe_left', ...]")
    net = network(model)
    return tuple(net.port(name) for name in names)


class StabilityMargin(StateSolver):
    """Distance [m] of the centre of mass, seen along gravity, from the edge of the support polygon of ``points``
    (frames, such as corners of feet): positive inside, negative outside. A robot at rest stands where it is positive.

    The hull is part of the machine code: of all lines through two points, those with no point to their right are its
    edges. ``height`` [m]: of the ground along ``normal``; the centre of mass is moved onto it along gravity."""

    loops = "any"
    name = "stability_margin"
    state = ("q",)
    __call__ = of_configuration
    needs = ("rigid",)
    result = "margin"
    rate_axes = (("margin", ()),)

    def __init__(
        self,
        model: Model,
        points: Sequence[str],
        normal: Any = (0.0, 0.0, 1.0),
        height: float = 0.0,
        rules: Iterable[str] | None = None,
        live: Sequence[str] = (),
        mode: str = "auto",
    ):
        super().__init__(model, "absolute", rules, live, mode)
        self.points = _points(model, points, self.name)
        self.plane = ground_plane(normal, height, self.name)
        g = model.context.gravity
        down = np.array(g.g) if isinstance(g, UniformGravity) else np.zeros(3)
        if not down @ np.array(self.plane.normal) < 0.0:
            raise GyrostatError(
                f"{self.name}: gravity of '{model.name}' does not press against the ground. Hint: uniform gravity, and "
                "a normal that points away from the ground"
            )
        self.down = down

    def options(self) -> dict[str, Any]:
        kept = {k: v for k, v in super().options().items() if k != "representation"}
        return kept | {"points": self.points, "normal": self.plane.normal, "height": self.plane.height}

    def compute(self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads) -> Mapping[str, Any]:
        on = Setting(ABSOLUTE, on.gravity, on.t)
        rest, n, axes = np.zeros(net.model.nv), np.array(self.plane.normal), self.plane.axes
        motions = sweep_motion(net, on, x["q"], rest, rest)
        places = [net.located[name] for name in self.points]
        corners = [axes @ motions[at].pose.then(*place).p for at, place in places]
        c = centre_of(total_inertia(net, on, x["q"])[0], self)
        down = -on.gravity.acceleration if on.gravity.field is None else self.down
        fallen = c + down * ((self.plane.height - n @ c) / (n @ down))
        return {"margin": hull_margin(corners, axes @ fallen)}


def stability_margin(
    model: Model,
    q: Any,
    *,
    points: Sequence[str],
    normal: Any = (0.0, 0.0, 1.0),
    height: float = 0.0,
    **options: Any,
) -> Array:
    """Distance (...) [m] of the centre of mass from the edge of the support polygon; see :class:`StabilityMargin`."""
    who = StabilityMargin.name
    expect_model(model, who)
    plane, names = ground_plane(normal, height, who), _points(model, points, who)
    return cached_solver(model, StabilityMargin, points=names, normal=plane.normal, height=plane.height)(q, **options)


def hull_margin(corners: Sequence[Array], p: Array) -> Any:
    """:func:`~gyrostat.geometry.convex_hull.signed_distance` to the hull of points (2,), without branches."""
    inside, outside = FAR, FAR
    for i, a in enumerate(corners):
        r = p - a
        outside = minimum(outside, r @ r)
        for j, b in enumerate(corners):
            if i == j:
                continue
            along = b - a
            square = along @ along
            there = square > 0.0
            safe = where(there, square, 1.0)
            edge: Any = there
            for k, c in enumerate(corners):
                if k not in (i, j):
                    to = c - a
                    edge = both(edge, along[0] * to[1] - along[1] * to[0] >= 0.0)
            left = (along[0] * r[1] - along[1] * r[0]) / np.sqrt(safe)
            inside = where(edge, minimum(inside, left), inside)
            if j > i:
                share = (along @ r) / safe
                on_edge = both(there, both(share >= 0.0, share <= 1.0))
                outside = where(on_edge, minimum(outside, left * left), outside)
    some = both(inside > 0.0, inside < FAR)
    return where(some, inside, -np.sqrt(outside))
