"""Forces between two frames: springs between points, bushings, compliant contacts. They act like external
wrenches that depend on the motion.

Protocol: two :class:`MovingFrame` in, one force [N] and one torque [N m] out, all in the world's axes. The wrench joins
the external forces at the ports that carry the frames, so it is in every algorithm that takes these.

A row is ``row(c, a, b) -> (force, torque)``: what pulls the origin of a towards b, in the world's axes, and the torque
on a; b gets the opposite. Those that store energy have a row in
:mod:`~gyrostat.algorithms.stored_energy`, too."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Algorithm, Setting
from gyrostat.algorithms.recursions.contact_forces import compliant_contact, compliant_contact_energy
from gyrostat.algorithms.recursions.moving_frame import MovingFrame
from gyrostat.algorithms.stored_energy import stored_energy
from gyrostat.graph.compliant_contacts import CompliantContact
from gyrostat.graph.network import Network, Pair
from gyrostat.spatial.algebra import Array, cross, force_to_child, join
from gyrostat.spatial.representation import Motion, Pose
from gyrostat.spatial.so3_recorded import smooth_log, smooth_right_jacobian_inverse
from gyrostat.spec.pair_forces import Bushing, PointSpring

FrameForceRow = Callable[[Pair, MovingFrame, MovingFrame], tuple[Array, Array]]
frame_forces: Algorithm[FrameForceRow] = Algorithm("forces between two frames")
frame_forces.row(CompliantContact)(compliant_contact)
stored_energy.row(CompliantContact)(compliant_contact_energy)


def _is_zero(value: Any) -> bool:
    return isinstance(value, float) and value == 0.0


@frame_forces.row(PointSpring)
def point_spring(c: Pair, a: MovingFrame, b: MovingFrame) -> tuple[Array, Array]:
    """Pull k (l - l_0) + d dl/dt along the line from a to b."""
    d = b.pose.p - a.pose.p
    if _is_zero(c["rest_length"]) and _is_zero(c["damping"]):
        return d * c["stiffness"], np.zeros(3)
    length = np.sqrt(d @ d)
    n = d / length
    pull = (length - c["rest_length"]) * c["stiffness"] + (n @ (b.u - a.u)) * c["damping"]
    return n * pull, np.zeros(3)


@stored_energy.row(PointSpring)
def point_spring_energy(c: Pair, a: MovingFrame, b: MovingFrame) -> Any:
    d = b.pose.p - a.pose.p
    if _is_zero(c["rest_length"]):
        return (d @ d) * (c["stiffness"] * 0.5)
    stretch = np.sqrt(d @ d) - c["rest_length"]
    return stretch * stretch * (c["stiffness"] * 0.5)


def _offset(a: MovingFrame, b: MovingFrame) -> tuple[Array, Array, Array, Array]:
    """Rotation vector and shift of b from a, and their rates as an observer on a sees them, in the axes of a."""
    R = a.pose.R
    d = b.pose.p - a.pose.p
    turn = smooth_log(R.T @ b.pose.R)
    rate = b.u - a.u - cross(a.w, d)
    return turn, R.T @ d, R.T @ (b.w - a.w), R.T @ rate


@frame_forces.row(Bushing)
def bushing(c: Pair, a: MovingFrame, b: MovingFrame) -> tuple[Array, Array]:
    """Torque B(r)^T K_r r + D_r w and force K_t d + D_t dd/dt; the force acts at the origin of b."""
    turn, shift, w, u = _offset(a, b)
    torque = smooth_right_jacobian_inverse(turn, c["stiffness"][:3] * turn) + c["damping"][:3] * w
    force = c["stiffness"][3:] * shift + c["damping"][3:] * u
    R, d = a.pose.R, b.pose.p - a.pose.p
    return R @ force, R @ torque + cross(d, R @ force)


@stored_energy.row(Bushing)
def bushing_energy(c: Pair, a: MovingFrame, b: MovingFrame) -> Any:
    turn, shift, *_ = _offset(a, b)
    both = join(turn, shift)
    return (c["stiffness"] * both) @ both * 0.5


def moving_frame(on: Setting, motions: Mapping[int, Motion], at: tuple[int | None, tuple[Array, Array]]) -> MovingFrame:
    """Placement and velocity of a frame that sits on an outport, or stands still in the world (None)."""
    port, (R, p) = at
    if port is None:
        return MovingFrame(Pose(R, p), np.zeros(3), np.zeros(3))
    motion = motions[port]
    local = on.representation.motion_local(motion.pose, motion.V)
    w = motion.pose.R @ local[:3]
    return MovingFrame(motion.pose.then(R, p), w, motion.pose.R @ (local[3:] + cross(local[:3], p)))


def with_frame_forces(
    network: Network, on: Setting, motions: Mapping[int, Motion], loads: Mapping[int, Array]
) -> Mapping[int, Array]:
    """External forces at the ports, with those between frames."""
    if not network.pairs:
        return loads
    total = dict(loads)
    for c in network.pairs:
        a, b = moving_frame(on, motions, c.a), moving_frame(on, motions, c.b)
        force, torque = frame_forces.of(c)(c, a, b)  # type: ignore[arg-type]
        world = join(torque + cross(a.pose.p, force), force)  # about the world's origin: b gets the opposite
        for (port, _), w in ((c.a, world), (c.b, -world)):
            if port is None:
                continue
            pose = motions[port].pose
            f = on.representation.force(pose, force_to_child(pose.R, pose.p, w))
            total[port] = total[port] + f if port in total else f
    return total


def frame_force_energy(network: Network, on: Setting, motions: Mapping[int, Motion]) -> Any:
    """Energy [J] that springs between frames hold."""
    total: Any = 0.0
    for c in network.pairs:
        if any(kind in stored_energy.rows for kind in c.kind.__mro__):
            total = total + stored_energy.of(c)(c, moving_frame(on, motions, c.a), moving_frame(on, motions, c.b))  # type: ignore[arg-type]
    return total
