"""Recursive Newton-Euler inverse dynamics (H04 3.1.2, Tables 3.4-3.8): kinematics outward, forces inward.

Protocol <RNE,6D>: the motion of <RKIN,6D>, its acceleration with gravity in it where the context asks for that; the
spatial force f that the base side exerts on the far side through a port. Protocol <RNE,1D>: the generalised force u =
S^T f of each rate.

A row is ``row(c, on, motion, memo) -> action``: outward, it gets the component, the setting, the motion at its inport
and the memo of its kinematics row; inward, ``action(forces at its outports by name) -> (force at its inport,
generalised forces)``. What needs only the motion is computed outward: few values are then kept between the sweeps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Algorithm, Setting, expect_shape, watched
from gyrostat.algorithms.flexible.beam_newton_euler import flexible_beam_force
from gyrostat.algorithms.flexible.beam_strain import strain_energy
from gyrostat.algorithms.flexible.modal_body_newton_euler import body_strain_energy, flexible_body_force
from gyrostat.algorithms.recursions.frame_forces import with_frame_forces
from gyrostat.algorithms.recursions.kinematics import Own, Spin, sweep_motion, world_motion
from gyrostat.algorithms.shafts.elements import with_elements
from gyrostat.algorithms.stored_energy import stored_energy
from gyrostat.errors import RowError
from gyrostat.graph.network import Component, Network
from gyrostat.graph.reference_frames import DrivenBase, FixedBase, FreeBase
from gyrostat.graph.sweep import inward
from gyrostat.spatial.algebra import Array, cross, force_to_child, join
from gyrostat.spatial.inertia import SpatialInertia
from gyrostat.spatial.representation import Motion, Shift
from gyrostat.spec.displacement import DHDisplacement, Displacement
from gyrostat.spec.flexible_beam import FlexibleBeam
from gyrostat.spec.flexible_body import FlexibleBody
from gyrostat.spec.force_element import ForceElement
from gyrostat.spec.joint import Joint
from gyrostat.spec.rigid_body import RigidBody
from gyrostat.spec.rotor import LockedRotor, RotorInertia

NONE = np.zeros(0)
Forces = Mapping[str, Array]
Action = Callable[[Forces], tuple[Array, Array]]
RneRow = Callable[[Component, Setting, Motion, Any], Action]


def _examine(c: Component, action: Any) -> Any:
    """What a row from elsewhere returns, and what its action returns."""
    who = f"recursive Newton-Euler: the row for '{c.name}'"
    if not callable(action):
        raise RowError(f"{who} must return a function of the forces, got {type(action).__name__}. Hint: return action")

    def checked(forces: Forces) -> tuple[Array, Array]:
        answer = action(forces)
        if not isinstance(answer, tuple) or len(answer) != 2:
            raise RowError(
                f"{who}: its action must return (force, generalised forces), got {type(answer).__name__}. Hint: (f, u)"
            )
        f, u = answer
        expect_shape(f, (6,), f"{who}: the force")
        expect_shape(u, (c.v_at.stop - c.v_at.start,), f"{who}: the generalised forces")
        return f, u

    return watched(checked, who)


rne: Algorithm[RneRow] = Algorithm("recursive Newton-Euler", _examine, defining=True)
rne.row(FlexibleBeam)(flexible_beam_force)
stored_energy.row(FlexibleBeam)(strain_energy)
rne.row(FlexibleBody)(flexible_body_force)
stored_energy.row(FlexibleBody)(body_strain_energy)


@rne.row(FixedBase, DrivenBase, Displacement, DHDisplacement)
def transmit(c: Component, on: Setting, motion: Motion, memo: Any) -> Action:
    """f_1 = phi^T f_2."""
    return lambda forces: (inboard(forces, memo, np.zeros(6)), NONE)


def inboard(forces: Forces, shifts: Mapping[str, Shift], own: Array) -> Array:
    """own + sum of phi^T f."""
    for name, f in forces.items():
        own = own + shifts[name].force(f)
    return own


@rne.row(Joint, FreeBase)
def across(c: Component, on: Setting, motion: Motion, memo: Any) -> Action:
    """f_1 = phi^T f_2 and u = S^T f_2."""

    def action(forces: Forces) -> tuple[Array, Array]:
        (f,) = forces.values()
        return memo.shift.force(f), memo.S.T @ f

    return action


@rne.row(RigidBody, LockedRotor)
def gyrostat(c: Component, on: Setting, motion: Motion, memo: Any) -> Action:
    """f_1 = M A - V~^T (M V + l) - weight + sum of phi^T f at the other ports [H04 (2.15), (2.24), (2.27)]."""
    own = own_force(c, on, motion, own_inertia(c, on, motion))
    return lambda forces: (inboard(forces, memo, own), NONE)


def own_inertia(c: Component, on: Setting, motion: Motion) -> SpatialInertia:
    """M of a body, in the representation."""
    local = c.props.get("regrouped") or SpatialInertia.at_centre(c["mass"], c["com"], c["inertia"])
    return on.representation.inertia(motion.pose, local)


def own_force(c: Component, on: Setting, motion: Motion, M: SpatialInertia) -> Array:
    """Force that a body needs for its motion, without its weight in a field."""
    rep, pose = on.representation, motion.pose
    momentum = rep.force(pose, join(c["momentum"], np.zeros(3)))
    weight = rep.force(pose, on.gravity.weight(pose, c["mass"], c["com"], c["inertia"]))
    return rep.newton_euler(M, momentum, motion.V, motion.A) - weight


@rne.row(RotorInertia)
def spinning(c: Component, on: Setting, motion: Motion, memo: Spin) -> Action:
    """f = I z a_r + (w x I z v_r, 0), u = I (a_r + z . dw/dt): a rotor in its carrier [H04 (2.7), (3.34)]."""
    h = spin_momentum(c, on, motion)
    own = h * memo.a + join(cross(motion.V[:3], h[:3]) * memo.v, np.zeros(3))
    u = np.array([h @ motion.A + c["inertia"] * memo.a])
    return lambda forces: (own, u)


def spin_momentum(c: Component, on: Setting, motion: Motion) -> Array:
    """Angular momentum (6,) of a rotor at unit rate, in the representation: a pure torque."""
    return on.representation.force(motion.pose, join(c["axis"] * c["inertia"], np.zeros(3)))


@rne.row(ForceElement)
def given_wrench(c: Component, on: Setting, motion: Motion, memo: Any) -> Action:
    own = -wrench_at(on, motion, c["wrench"], c["expressed_in"])
    return lambda forces: (own, NONE)


def wrench_at(on: Setting, motion: Motion, w: Array, expressed_in: str) -> Array:
    """A wrench, acting at a port, in the representation: ``local``, ``aligned`` or ``world`` as in
    :class:`ForceElement`."""
    pose = motion.pose
    if expressed_in == "aligned":
        w = join(pose.R.T @ w[:3], pose.R.T @ w[3:])
    elif expressed_in == "world":
        w = force_to_child(pose.R, pose.p, w)
    return on.representation.force(pose, w)


Loads = Callable[[Mapping[int, Motion]], Mapping[int, Array]]


def no_loads(motions: Mapping[int, Motion]) -> Mapping[int, Array]:
    return {}


def sweep_forces(
    network: Network, on: Setting, q: Array, v: Array, a: Array, loads: Loads = no_loads
) -> tuple[Array, dict[int, Array], dict[int, Motion]]:
    """Generalised forces (nv,), forces and motions at every port; ``loads`` gives external forces once motions are
    known."""
    network = network.at(q, v)
    actions: dict[str, Action] = {}

    def begin(c: Component, motion: Motion, memo: Any, own: Own) -> None:
        actions[c.name] = rne.of(c)(c, on, motion, memo)

    motions = sweep_motion(network, on, q, v, a, world_motion(on.gravity.acceleration), begin)
    u: dict[str, Array] = {}

    def step(c: Component, forces: Forces) -> Array:
        f, u[c.name] = actions[c.name](forces)
        return f

    forces = inward(network, np.zeros(6), step, with_frame_forces(network, on, motions, loads(motions)))
    gathered = network.transmission.gathered(network.in_order(u))
    return with_elements(network, q, v, a, gathered), forces, motions
