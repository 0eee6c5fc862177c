"""The rows of one closed loop, in the axes that need the fewest operations.

Equations of directions are written in the axes of the frame at port a of what closes the loop, as
:mod:`~gyrostat.graph.loops.closure` has them. Those of points, p = 0 of a ball or hinge and |p| = l of a rod, may as
well be written in the axes of the body where the two ways round the loop part: with r_1, r_2 the origins of the two
frames,

    g = r_2 - r_1            J v = u_2 - u_1            dJ/dt v = du_2 - du_1 at constant rates
    g = (d . d - l^2)/2l     J v = d . (u_2 - u_1)/l    d = r_2 - r_1

Multipliers are components of the force along the axes that were taken, the same ones for all states."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.recursions.kinematics import JointMemo, kinematics
from gyrostat.algorithms.user_components.component_equations import equations
from gyrostat.configuration.model_cache import cached_on
from gyrostat.engine.tracing.record import record
from gyrostat.graph.loops.closure import ClosureRows, Distance, Equation, FrameMotion, Position, closure_rows
from gyrostat.graph.loops.ways import Closure, Step, Way, follow, joint_motion
from gyrostat.graph.network import Component, Network, network
from gyrostat.spatial.algebra import Array, cross, join
from gyrostat.spatial.gravity import Gravity
from gyrostat.spatial.joints import ZERO6, JointMotion
from gyrostat.spatial.representation import Motion, Pose, Representation, Shift, representation
from gyrostat.spec.joint import Joint
from gyrostat.spec.model import Model

BODY, INERTIAL = representation("body"), representation("inertial")
NO_RATES, NONE = np.zeros((6, 0)), np.zeros(0)


# ------------------------------------------------------------------------------------------------ along the ways
def step_in(rep: Representation) -> Step:
    """Through any component, as its row of kinematics says, in a representation."""
    on = Setting(rep, Gravity(np.zeros(3)))

    def step(c: Component, port: str, motion: Motion, q: Array, v: Array, a: Array) -> tuple[Motion, Shift, Array]:
        if port in c.places:
            return rep.through(motion, JointMotion(*c.places[port], NO_RATES, ZERO6), NONE, NONE)
        if issubclass(c.kind, Joint):
            return rep.through(motion, joint_motion(c, q, v), v, a)
        out, memo = kinematics.of(c)(c, on, motion, q, v, a)
        if isinstance(memo, JointMemo):
            return out[port], memo.shift, memo.S
        own = equations(c, on, motion, q, v)
        return out[port], own.shifts[port], own.S[port]

    return step


any_step = step_in(BODY)
_inertial_step = step_in(INERTIAL)


def follow_in_common_axes(way: Way, q: Array, v: Array | None) -> FrameMotion:
    """How the frame at the end of a way moves, its velocity and acceleration in the axes of the body where it
    begins."""
    motion, carried = Motion(Pose(np.eye(3), np.zeros(3)), np.zeros(6), np.zeros(6)), dict[int, Array]()
    for c, port in way.steps:
        rates = range(c.v_at.start, c.v_at.stop)
        own = np.zeros(len(rates)) if v is None else v[c.v_at]
        motion, shift, S = _inertial_step(c, port, motion, q[c.q_at], own, np.zeros(len(rates)))
        carried = {k: shift.motion(s) for k, s in carried.items()} | {k: S[:, i] for i, k in enumerate(rates)}
    motion, shift, _ = INERTIAL.through(motion, JointMotion(*way.place, NO_RATES, ZERO6), NONE, NONE)
    S = {k: shift.motion(s) for k, s in carried.items()}
    return FrameMotion(motion.pose.R, motion.pose.p, motion.V, motion.A, S)


# ------------------------------------------------------------------------------------------------ rows
class CutWrench(NamedTuple):
    """Wrenches (6,), torque then force, that what closes a loop exerts on the bodies at its ports a and b: each in the
    axes of the frame at that port, about its origin."""

    on_a: Array
    on_b: Array


def _points(closure: Closure) -> tuple[list[Equation], list[Equation]]:
    """Equations that may be written in common axes, and the others; the first ones come first in every kind."""
    rows = closure.equations
    if isinstance(rows[0], Distance):
        return rows, []
    if len(rows) >= 3 and all(isinstance(row, Position) for row in rows[:3]):
        return rows[:3], rows[3:]
    return [], rows


def closure_equations(closure: Closure, q: Array, v: Array | None, common: bool) -> ClosureRows:
    """g, J by the rates of components, and bias of one loop, for the coordinates and rates that components see."""
    points, others = _points(closure) if common else ([], closure.equations)
    parts: list[ClosureRows] = []
    if points:
        one, two = (follow_in_common_axes(way, q, v) for way in closure.ways)
        parts.append(_point_rows(points[0], one, two))
    if others:
        one, two = (follow(way, q, v, any_step) for way in closure.ways)
        parts.append(closure_rows(others, one, two))
    if len(parts) == 1:
        return parts[0]
    J = {k: np.concatenate([part.J[k] for part in parts]) for k in parts[0].J}
    return ClosureRows(np.concatenate([x.g for x in parts]), J, np.concatenate([x.bias for x in parts]))


def _point_rows(first: Equation, one: FrameMotion, two: FrameMotion) -> ClosureRows:
    d, u, du = two.p - one.p, two.V[3:] - one.V[3:], two.A[3:] - one.A[3:]
    J = {k: -S[3:] for k, S in one.S.items()}
    for k, S in two.S.items():
        J[k] = J[k] + S[3:] if k in J else S[3:]
    if not isinstance(first, Distance):
        return ClosureRows(d, J, du)
    over = 1.0 / first.length
    n = d * over
    bias = n @ du + (u @ u) * over
    return ClosureRows(
        np.array([(d @ d * over - first.length) * 0.5]), {k: np.array([n @ x]) for k, x in J.items()}, np.array([bias])
    )


def cut_wrench(closure: Closure, q: Array, multipliers: Array, common: bool) -> CutWrench:
    """The wrenches that multipliers (m,) of one loop stand for."""
    points, others = _points(closure) if common else ([], closure.equations)
    one, two = (follow(way, q, None, any_step) for way in closure.ways)
    R, p = one.R.T @ two.R, one.R.T @ (two.p - one.p)
    torque, force = np.zeros(3), np.zeros(3)
    if points:
        if isinstance(points[0], Distance):
            force = p * (multipliers[0] * (1.0 / points[0].length))
        else:
            force = one.R.T @ multipliers[:3]
    for equation, f in zip(others, multipliers[len(points) :], strict=True):
        row = equation.at(R, p)
        torque, force = torque + row.a * f, force + row.b * f
    return CutWrench(-join(torque + cross(p, force), force), join(R.T @ torque, R.T @ force))


# ------------------------------------------------------------------------------------------------ the choice
def common_axes(model: Model) -> tuple[bool, ...]:
    """For each loop that stays a constraint, whether its points are written in common axes: found once, by counting."""
    kept = cached_on(model)
    if "loop axes" not in kept:
        net = network(model)
        kept["loop axes"] = tuple(_cheaper(net, closure) for closure in net.closures)
    return kept["loop axes"]


def _cheaper(net: Network, closure: Closure) -> bool:
    moved = net.transmission
    count = max([moved.n, *(c.v_at.stop for c in closure.components)])
    size = max([net.model.nq, *(c.q_at.stop for c in closure.components)])

    def operations(common: bool) -> int:
        def rows(q: Array, v: Array) -> dict[str, Array]:
            found = closure_equations(closure, q, v, common)
            return {"g": found.g, "bias": found.bias} | {f"J{k}": x for k, x in found.J.items()}

        return sum(record(rows, {"q": (size,), "v": (count,)}).counts().values())

    return bool(_points(closure)[0]) and operations(True) < operations(False)
