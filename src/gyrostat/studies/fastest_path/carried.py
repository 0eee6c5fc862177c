"""Things that a robot carries without holding them firmly: on a tray, or between the fingers of a gripper.

The support gives the wrench that the motion of the thing asks for, in the axes of the frame that carries it:

    f = m (a_c - g),    n = J alpha + omega x J omega + c x f   about the frame's origin,

which is linear in u and x. On a tray it must be a sum of contact forces inside friction cones at the given points
(pyramids of ``sides`` sides *inside* the cones): facets of the cone of all such wrenches, found once. A gripper of the
force F holds along its axis what is not more than F, and across it |f_t| + |n_axis| / r <= 2 mu F."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gyrostat.errors import SpecError, clipped
from gyrostat.simulate.trajectories.given import finite_array
from gyrostat.solvers.kinematics.forward_kinematics import ForwardKinematics
from gyrostat.solvers.machinery.solver_cache import cached_solver
from gyrostat.spec.context import UniformGravity
from gyrostat.spec.model import Model
from gyrostat.studies.study_data import StudyData

Array = np.ndarray
WHO = "time_optimal"


@dataclass(frozen=True, eq=False)
class Carried(StudyData):
    """A thing of ``mass`` [kg] that moves with ``frame``; ``com`` (3,) [m] and ``inertia`` (3, 3) or (3,) [kg m^2]
    about it, in the axes of the frame; ``friction`` coefficient. The robot does not feel its weight by this: attach a
    body to the model for that.

    On a tray: ``points`` (k, 3) [m] where it stands, three or more, ``normal`` (3,) out of the tray. In a gripper:
    ``grip`` [N], with ``normal`` the direction in which the fingers close, ``radius`` [m] of their pads, at ``centre``.
    """

    frame: str
    mass: float
    com: Any = (0.0, 0.0, 0.0)
    inertia: Any = (0.0, 0.0, 0.0)
    friction: float = 0.5
    points: Any = None
    normal: Any = (0.0, 0.0, 1.0)
    grip: float | None = None
    radius: float = 0.01
    centre: Any = (0.0, 0.0, 0.0)
    sides: int = 8

    def __post_init__(self) -> None:
        who = f"Carried on '{self.frame}'"
        for key in ("mass", "friction", "radius"):
            value = getattr(self, key)
            if isinstance(value, bool) or not isinstance(value, float | int) or not 0.0 < value < np.inf:
                raise SpecError.one(who, key, f"{key} is {clipped(value)}", "a positive number")
        for key in ("com", "normal", "centre"):
            value = finite_array(getattr(self, key), who, key)
            if value.shape != (3,) or (key == "normal" and not np.linalg.norm(value) > 0.0):
                raise SpecError.one(who, key, f"{key} is {clipped(getattr(self, key))}", "three numbers, not all zero")
        if isinstance(self.sides, bool) or not isinstance(self.sides, int) or not 3 <= self.sides <= 64:
            raise SpecError.one(who, "sides", f"sides is {clipped(self.sides)}", "a whole number from 3 to 64")
        J = finite_array(self.inertia, who, "inertia")
        J = np.diag(J) if J.shape == (3,) else J
        if J.shape != (3, 3) or not np.array_equal(J, J.T) or np.linalg.eigvalsh(J)[0] < -1e-12 * np.abs(J).max():
            raise SpecError.one(
                who, "inertia", f"inertia is {clipped(self.inertia)}", "(3,) or a symmetric (3, 3), not negative"
            )
        if (self.points is None) == (self.grip is None):
            message = "needs points (on a tray) or grip (in a gripper), one of them"
            raise SpecError.one(f"Carried on '{self.frame}'", "points", message, "points=[(x, y, z), ...]")
        if self.points is not None:
            points = finite_array(self.points, who, "points")
            if points.ndim != 2 or points.shape[1] != 3 or np.linalg.matrix_rank(points - points[0], 1e-9) < 2:
                message = f"points have shape {points.shape}: three or more that are not on a line are needed"
                raise SpecError.one(f"Carried on '{self.frame}'", "points", message, "the corners of its base")
        if self.grip is not None and not self.grip > 0.0:
            raise SpecError.one(
                f"Carried on '{self.frame}'", "grip", f"grip is {clipped(self.grip)}", "a force above 0 N"
            )

    @property
    def name(self) -> str:
        return f"{'tray' if self.grip is None else 'grip'} at {self.frame}"

    @property
    def words(self) -> list[str]:
        """What each facet says."""
        return [f"facet {k} of the friction cone" for k in range(len(self.facets[0]))]

    @cached_property
    def facets(self) -> tuple[Array, Array]:
        """H (k, 6), h (k,) with H w <= h for the wrenches w = (moment, force) that the support can give."""
        return self._grip_facets() if self.grip is not None else self._tray_facets()

    def _axes(self) -> Array:
        """(3, 3): two tangents and the normal, as rows."""
        z = np.asarray(self.normal, dtype=float)
        z = z / np.linalg.norm(z)
        x = np.cross(np.eye(3)[int(np.argmin(np.abs(z)))], z)
        x = x / np.linalg.norm(x)
        return np.array([x, np.cross(z, x), z])

    def _tray_facets(self) -> tuple[Array, Array]:
        from scipy.spatial import ConvexHull

        axes, points = self._axes(), np.asarray(self.points, dtype=float)
        size = float(np.abs(points - points.mean(axis=0)).max())
        angles = 2.0 * np.pi * np.arange(self.sides) / self.sides
        edges = np.array([axes[2] + self.friction * (np.cos(w) * axes[0] + np.sin(w) * axes[1]) for w in angles])
        middle = points.mean(axis=0)
        w = np.array([np.concatenate([np.cross(p - middle, e) / size, e]) for p in points for e in edges])
        equations = ConvexHull(np.vstack([np.zeros(6), w])).equations
        cone = equations[np.abs(equations[:, 6]) < 1e-9, :6]
        H = np.unique(np.round(cone, 12), axis=0)
        about = np.hstack([H[:, :3] / size, H[:, 3:] - np.cross(H[:, :3] / size, middle)])
        return about, np.zeros(len(H))

    def _grip_facets(self) -> tuple[Array, Array]:
        axes, centre = self._axes(), np.asarray(self.centre, dtype=float)
        most = 2.0 * self.friction * float(self.grip or 0.0)
        H, h = [], []
        for k in range(self.sides):
            w = 2.0 * np.pi * (k + 0.5) / self.sides
            across = np.cos(w) * axes[0] + np.sin(w) * axes[1]
            for turn in (-1.0, 1.0):
                H.append(np.concatenate([turn * axes[2] / self.radius, across]))
                h.append(most * np.cos(np.pi / self.sides))
        for way in (-1.0, 1.0):
            H.append(np.concatenate([np.zeros(3), way * axes[2]]))
            h.append(float(self.grip or 0.0))
        A = np.array(H)
        return np.hstack([A[:, :3], A[:, 3:] - np.cross(A[:, :3], centre)]), np.array(h)

    def rows(self, model: Model, q: Array, V: Array, Au: Array, Ax: Array) -> tuple[Array, Array, Array, Array]:
        """A, B, low, high (P, facets); V, Au, Ax (P, 6): velocity per s', acceleration per u and per x of the frame's
        origin, in its axes, (angular, linear)."""
        if not isinstance(model.context.gravity, UniformGravity):
            raise SpecError.one(self.name, "gravity", "gravity changes with the place", "a uniform gravity")
        R = cached_solver(model, ForwardKinematics, frames=(self.frame,))(q)[self.frame].R
        g = np.einsum("pij,i->pj", R, np.asarray(model.context.gravity.g, dtype=float))
        c, J = np.asarray(self.com, dtype=float), np.asarray(self.inertia, dtype=float)
        J = np.diag(J) if J.ndim == 1 else J
        omega = V[:, :3]
        u = self._wrench(c, J, Au[:, :3], Au[:, 3:] + np.cross(Au[:, :3], c))
        turning = np.cross(omega, np.cross(omega, c))
        # local: the rate of the linear velocity in turning axes lacks omega x v
        linear = Ax[:, 3:] + np.cross(omega, V[:, 3:]) + np.cross(Ax[:, :3], c) + turning
        x = self._wrench(c, J, Ax[:, :3], linear)
        x[:, :3] += np.cross(omega, omega @ J)
        weight = self._wrench(c, J, np.zeros_like(g), -g)
        H, h = self.facets
        return u @ H.T, x @ H.T, np.full((len(q), len(h)), -np.inf), h - weight @ H.T

    def _wrench(self, c: Array, J: Array, alpha: Array, a: Array) -> Array:
        f = self.mass * a
        return np.concatenate([alpha @ J + np.cross(c, f), f], axis=1)
