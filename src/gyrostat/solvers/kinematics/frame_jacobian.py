"""Jacobians of frames: with respect to the rates, their derivative in time, and with respect to kinematic
properties."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.constrained.loop_dynamics import kkt_factors
from gyrostat.algorithms.constrained.loop_equations import loop_equations
from gyrostat.algorithms.constrained.sparse_ldl import product
from gyrostat.algorithms.matrices.body_jacobians import pseudo_velocities
from gyrostat.algorithms.recursions.kinematics import sweep_motion
from gyrostat.algorithms.recursions.rne import Loads
from gyrostat.configuration.packing import names_of
from gyrostat.configuration.tangent import coordinate_rates
from gyrostat.engine.tracing.dual import rates_of, values_of, with_rates
from gyrostat.errors import FrameError, GyrostatError, SpecError, clipped, nearest
from gyrostat.graph.network import Network, network
from gyrostat.graph.reference_frames import DrivenBase
from gyrostat.solvers.kinematics.forward_kinematics import EXPRESSIONS
from gyrostat.solvers.machinery.call_signatures import of_configuration, of_motion
from gyrostat.solvers.machinery.live_properties import number_names, with_unit_rates
from gyrostat.solvers.machinery.state_solver import StateSolver
from gyrostat.spatial.algebra import Array, join, motion_to_child, motion_to_parent, skew
from gyrostat.spatial.base_motion import BaseState, base_state
from gyrostat.spatial.representation import Pose, representation
from gyrostat.spec.model import Model

ABSOLUTE = representation("absolute")


def check_expression(expressed_in: Any, who: str) -> str:
    if expressed_in not in EXPRESSIONS:
        raise FrameError(
            f"{who}: expressed_in must be one of {', '.join(EXPRESSIONS)}, got {expressed_in!r}. "
            f"Hint: {nearest(str(expressed_in), EXPRESSIONS)}"
        )
    return expressed_in


def expressed(V: Array, pose: Pose, expressed_in: str) -> Array:
    """A velocity in world axes about the world's origin, as it is asked for: see :class:`Jacobian`."""
    if expressed_in == "world":
        return V
    if expressed_in == "aligned":
        return motion_to_child(np.eye(3), pose.p, V)
    return motion_to_child(pose.R, pose.p, V)


class OfFrame(StateSolver):
    """Abstract: something of one frame."""

    loops = "any"

    def __init__(
        self,
        model: Model,
        frame: str,
        expressed_in: str = "world",
        rules: Iterable[str] | None = None,
        live: Sequence[str] = (),
        mode: str = "auto",
    ):
        super().__init__(model, "absolute", rules, live, mode)
        self.frame = self.network.port(frame)
        self.expressed_in = check_expression(expressed_in, self.name)

    def options(self) -> dict[str, Any]:
        options = {k: v for k, v in super().options().items() if k != "representation"}
        return options | {"frame": self.frame, "expressed_in": self.expressed_in}

    def frame_jacobian(self, net: Network, on: Setting, q: Array) -> Array:
        """J (6, nv) of the frame, as it is asked for."""
        return recorded_jacobian(net, on, q, self.frame, self.expressed_in)


def recorded_jacobian(net: Network, on: Setting, q: Array, frame: str, expressed_in: str) -> Array:
    """J (6, nv) of a located port: unit velocities through the kinematics [H04 3.2.2.1], of the joints between world
    and frame. Entries of all other rates are the number zero."""
    on = Setting(ABSOLUTE, on.gravity, on.t)
    at, place = net.located[frame]
    rest = np.zeros(net.model.nv)
    path = replace(net, components=tuple(c for c, _ in net.path(at)))
    rates = list(dict.fromkeys(k for c in path.components for ties in c.ties for k, _ in ties))

    def velocity(v: Array) -> Array:
        motion = sweep_motion(path, on, q, v, rest)[at]
        return expressed(motion.V, motion.pose.then(*place), expressed_in)

    columns = pseudo_velocities(lambda chosen: velocity(np.eye(len(rest))[:, rates] @ chosen), len(rates))
    J = np.full((6, len(rest)), 0.0, dtype=columns.dtype)
    J[:, rates] = columns - velocity(rest)[:, None] if net.driven else columns
    return J


class Jacobian(OfFrame):
    """J(q) (..., 6, nv) with (angular, linear) velocity of a frame = J v.

    ``expressed_in``: ``"local"`` velocity of the frame's origin in its own axes; ``"aligned"`` of its origin, in the
    world's axes; ``"world"`` of the body point at the world's origin, in the world's axes. ``frame``: any port or
    entity. A base that moves by itself is not in it.

    ``constrained=True``: J P, with P the projection onto the motions that loops allow, J_c P = 0, in the metric of the
    mass matrix: P v is the velocity that a blow M v leaves behind in the closed robot. For motions of the closed robot
    it is the same as J; J P = J where there are no loops that stay constraints. q must be closed."""

    name = "jacobian"
    state = ("q",)
    __call__ = of_configuration
    result = "J"
    rate_axes = (("J", (1,)),)
    loops = "any"

    def __init__(
        self,
        model: Model,
        frame: str,
        expressed_in: str = "world",
        rules: Iterable[str] | None = None,
        live: Sequence[str] = (),
        mode: str = "auto",
        constrained: bool = False,
    ):
        if not isinstance(constrained, bool):
            raise GyrostatError(
                f"{self.name}: constrained must be True or False, got {clipped(constrained)}. Hint: True"
            )
        self.constrained = constrained
        self.loops = "solved" if constrained else "any"
        super().__init__(model, frame, expressed_in, rules, live, mode)

    def options(self) -> dict[str, Any]:
        return super().options() | ({"constrained": True} if self.constrained else {})

    def compute(self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads) -> Mapping[str, Any]:
        J = self.frame_jacobian(net, on, x["q"])
        if not (self.constrained and net.closures):
            return {"J": J}
        rows = loop_equations(net, x["q"]).J
        factors = kkt_factors(net, on, x["q"], rows, self.safe)
        n = J.shape[1]
        forces = [factors.solve(np.concatenate([row, np.zeros(len(rows))]))[n:] for row in J]
        return {"J": np.array([row - product(rows.T, f) for row, f in zip(J, forces, strict=True)])}


class JacobianRate(OfFrame):
    """dJ/dt (..., 6, nv): the rate of every number of :class:`Jacobian` while the robot moves with v, and its base by
    itself where that is driven."""

    name = "jacobian_rate"
    state = ("q", "v")
    __call__ = of_motion
    result = "dJ"
    rate_axes = (("dJ", (1,)),)

    def compute(self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads) -> Mapping[str, Any]:
        moving = with_rates(x["q"], coordinate_rates(net.model, x["q"], x["v"]))
        return {"dJ": rates_of(self.frame_jacobian(net, carried(net, on), moving))}


def carried(net: Network, on: Setting) -> Setting:
    """The same with a driven base whose placement has the rate of its motion: dR/dt = R w~, dp/dt = R v."""
    for c in net.components:
        if c.kind is DrivenBase:
            R, p, V, _ = base_state(c["motion"], on.t)
            placed = with_rates(R, R @ skew(V[:3])), with_rates(p, R @ V[3:])
            return replace(on, t=BaseState(*placed, np.zeros(6), np.zeros(6)))
    return on


class ParameterJacobian(OfFrame):
    """d placement / d kinematic properties (..., 6, m): rotation [rad] and translation [m] of a frame per unit of each
    number of ``parameters`` [H04 3.2.2.1], for calibration.

    ``parameters``: paths such as ``"forearm_offset.translation"`` or ``"elbow.axis"``; vectors count one column for
    each number, in order, see ``columns``. Axes are normalised: only changes across an axis count; a tilt by a small
    angle about a unit vector n perpendicular to it is the change n x axis. ``expressed_in`` as in :class:`Jacobian`:
    the columns are twists, unit changes play the part of unit velocities.

    q is given: masses and stiffnesses, which move the frame only by its deflection, have columns of zeros. With the
    deflection under gravity in it: ``gs.studies.StaticPoses(model, [frame], live).sensitivities``."""

    name = "parameter_jacobian"
    state = ("q",)
    __call__ = of_configuration
    result = "J"
    rate_axes = (("J", ()),)

    def __init__(
        self,
        model: Model,
        frame: str,
        parameters: Sequence[str],
        expressed_in: str = "world",
        rules: Iterable[str] | None = None,
        mode: str = "auto",
    ):
        paths = names_of(parameters, self.name, "parameters")
        if not paths:
            raise SpecError.one(
                self.name, "parameters", "no parameters are named", "name one, such as 'elbow.axis'", paths
            )
        super().__init__(model, frame, expressed_in, rules, paths, mode)
        self.parameters = paths
        self.columns = number_names(self._live)

    def options(self) -> dict[str, Any]:
        options = {k: v for k, v in super().options().items() if k != "live"}
        return options | {"parameters": self.parameters}

    def compute(self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads) -> Mapping[str, Any]:
        values = {path: np.asarray(x.get(path, self._live[path])) for path in self.live}
        columns = [self._column(on, x["q"], there) for _, there in with_unit_rates(values)]
        return {"J": np.stack(columns, axis=1)}

    def _column(self, on: Setting, q: Array, values: Mapping[str, Array]) -> Array:
        """Twist per unit of the one number that has a rate."""
        net = network(self.model, self._rules, live=values)
        at, place = net.located[self.frame]
        rest = np.zeros(net.model.nv)
        pose = sweep_motion(net, Setting(ABSOLUTE, on.gravity, on.t), q, rest, rest)[at].pose.then(*place)
        R, p = values_of(pose.R), values_of(pose.p)
        W = rates_of(pose.R) @ R.T
        twist = join(np.array([W[2, 1], W[0, 2], W[1, 0]]), rates_of(pose.p))
        about_origin = motion_to_parent(np.eye(3), p, twist)
        return expressed(about_origin, Pose(R, p), self.expressed_in)
