"""Zero-moment point: where the ground must push so that nothing tilts; from the motion, or from forces of contacts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.recursions.crba import total_inertia
from gyrostat.algorithms.recursions.rne import Loads, sweep_forces
from gyrostat.configuration.packing import coordinates, real_array
from gyrostat.engine.tracing.choose import where
from gyrostat.errors import NonFiniteError, ShapeError, StateError, clipped
from gyrostat.graph.compliant_contacts import CompliantContact
from gyrostat.graph.network import Network
from gyrostat.solvers.dynamics.center_of_mass import ABSOLUTE
from gyrostat.solvers.dynamics.ground_plane import GroundPlane, ground_plane
from gyrostat.solvers.dynamics.ground_point import GroundPoint
from gyrostat.solvers.kinematics.forward_kinematics import ForwardKinematics
from gyrostat.solvers.machinery.call_signatures import of_acceleration
from gyrostat.solvers.machinery.solver_cache import cached_solver
from gyrostat.solvers.machinery.state_solver import Array
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model

WHO = "zero_moment_point"


def pressed_at(plane: GroundPlane, torque: Any, force: Any) -> Any:
    """Point p (3,) of the plane about which a wrench, given about the origin, has no torque across the normal n:
    p = (n x torque + force (n . p)) / (n . force)."""
    n = np.array(plane.normal)
    across = np.array([n[1] * torque[2] - n[2] * torque[1], n[2] * torque[0] - n[0] * torque[2],
                       n[0] * torque[1] - n[1] * torque[0]])  # fmt: skip
    return (across + force * plane.height) / (n @ force)


class ZeroMomentPoint(GroundPoint):
    """Point (..., 3) [m] of the ground, normal . p = height, about which the forces that the motion needs from it have
    no torque but along the normal [Vukobratovic]. It is the centre of pressure as long as it is inside the support
    polygon, and no contact pulls.

    Called with q, v, a, and ``wrenches`` that act besides the ground; forces of a compliant ground are the ground's.
    Where the motion needs no force along the normal (free fall), there is none, which is refused."""

    name = WHO
    state = ("q", "v", "a")
    __call__ = of_acceleration
    takes_wrenches = True

    def compute(self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads) -> Mapping[str, Any]:
        W = ground_wrench(net, Setting(ABSOLUTE, on.gravity, on.t), x["q"], x["v"], x["a"], given)
        n = np.array(self.plane.normal)
        force, down = W[3:], on.gravity.acceleration
        weight = total_inertia(net, Setting(ABSOLUTE, on.gravity, on.t), x["q"])[0].m * np.sqrt(down @ down)
        lifted = abs(n @ force) > FALLING * (weight + sum(abs(f) for f in force))
        return {"p": pressed_at(self.plane, W[:3], force) * where(lifted, 1.0, np.nan)}

    def examine(self, state: Sequence[Any], nonfinite: str = "raise") -> None:
        super().examine(state, nonfinite)
        if nonfinite == "raise":
            raise StateError(
                f"{self.name}: the motion needs no force along the normal {self.plane.normal}, there is no such point. "
                "Hint: a robot in free fall; or another normal"
            )


FALLING = 1e-11
"""Force along the normal, as a share of weight and force, below which there is none."""


def ground_wrench(net: Network, on: Setting, q: Array, v: Array, a: Array, given: Loads) -> Array:
    """Torque and force (6,) that a motion needs from the world, about its origin and in its axes; ``on``: absolute.
    Compliant contacts are part of what the ground gives; springs that are fixed to the world act besides it."""
    others = tuple(pair for pair in net.pairs if pair.kind is not CompliantContact)
    _, forces, _ = sweep_forces(replace(net, pairs=others), on, q, v, a, given)
    return sum((forces[port] for c in net.components if c.inport is None for port in c.outports.values()), np.zeros(6))


def zero_moment_point(
    model: Model,
    q: Any,
    v: Any,
    a: Any,
    wrenches: Any = None,
    *,
    normal: Any = (0.0, 0.0, 1.0),
    height: float = 0.0,
    **options: Any,
) -> Array:
    """Point (..., 3) [m] of the ground about which a motion needs no tilting torque; see :class:`ZeroMomentPoint`."""
    expect_model(model, WHO)
    plane = ground_plane(normal, height, WHO)
    solver = cached_solver(model, ZeroMomentPoint, normal=plane.normal, height=plane.height)
    return solver(q, v, a, wrenches, **options)


def center_of_pressure(
    model: Model,
    q: Any,
    forces: Mapping[str, Any],
    *,
    normal: Any = (0.0, 0.0, 1.0),
    height: float = 0.0,
) -> Array:
    """Point (..., 3) [m] of the ground about which the forces of contacts have no torque but along the normal.

    ``forces``: wrenches (..., 6) on the robot by frame, torque first, in the frame's axes and about its origin: what
    ``gs.ContactDynamics`` calls ``forces``. Equal to :func:`zero_moment_point` where nothing else acts."""
    who = "center_of_pressure"
    torque, force = contact_wrench(model, q, forces, who)
    plane = ground_plane(normal, height, who)
    n = np.array(plane.normal)
    along = force @ n
    if np.any(np.abs(along) <= FALLING * np.sum(np.abs(force), axis=-1)) or not np.all(np.isfinite(along)):
        raise StateError(
            f"{who}: the contacts do not press along the normal {plane.normal}. Hint: no contact, or flight"
        )
    return (np.cross(n, torque) + force * plane.height) / along[..., None]


def contact_wrench(model: Model, q: Any, forces: Mapping[str, Any], who: str) -> tuple[Array, Array]:
    """Torque about the world's origin and force (..., 3), world axes, of all contacts together."""
    torque, force = np.zeros(3), np.zeros(3)
    for _, p, w in placed_wrenches(model, q, forces, who):
        torque = torque + w[..., :3] + np.cross(p, w[..., 3:])
        force = force + w[..., 3:]
    return torque, force


def placed_wrenches(model: Model, q: Any, forces: Any, who: str) -> list[tuple[str, Array, Array]]:
    """Frame, its place (..., 3) and the wrench (..., 6) about it in the world's axes, for every contact."""
    expect_model(model, who)
    if not isinstance(forces, Mapping) or not forces:
        raise ShapeError(f"{who}: forces must map frames to wrenches (..., 6). Hint: {{'left_foot.sole': w}}")
    configuration = coordinates(model, q, who)
    motions, batch = cached_solver(model, ForwardKinematics)(configuration), configuration.shape[:-1]
    found = []
    for frame, given in forces.items():
        w = real_array(given, who, f"the force at '{frame}'")
        if w.ndim == 0 or w.shape[-1] != 6:
            raise ShapeError(
                f"{who}: the force at '{frame}' has shape {w.shape}, expected (..., 6): torque, then force"
            )
        if not np.isfinite(w).all():
            raise NonFiniteError(f"{who}: the force at '{frame}' is not finite, got {clipped(w.tolist())}")
        try:
            batch = np.broadcast_shapes(batch, w.shape[:-1])
        except ValueError:
            raise ShapeError(
                f"{who}: the force at '{frame}' has shape {w.shape}, which does not fit the batch {batch} of q and of "
                "the forces before. Hint: the same leading axes, or none"
            ) from None
        at = motions[frame]
        turned = [np.einsum("...ij,...j->...i", at.R, w[..., part]) for part in (slice(0, 3), slice(3, 6))]
        found.append((frame, at.p, np.concatenate(turned, axis=-1)))
    return found
