"""The equations of motion from the Jacobians of all bodies (WM15 (8)-(27), G13 (3)-(12)): every entry by itself.

V_i = (w_i, velocity of the centre of mass), in the world's axes, as in WM15 but angular part first. Jacobians come
from unit velocities sent through the kinematics (H04 3.2.2.1), their rates from numbers with a rate: no component is
known here but bodies with mass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.kinematics import sweep_motion, world_motion
from gyrostat.algorithms.rne import Loads, no_loads, sweep_forces
from gyrostat.algorithms.tangent import coordinate_rates
from gyrostat.engine.dual import rates_of, values_of, with_rates
from gyrostat.graph.bases import DrivenBase
from gyrostat.graph.network import Component, Network
from gyrostat.spatial.algebra import Array, cross, join, skew
from gyrostat.spatial.base_motion import BaseState, base_state
from gyrostat.spatial.gravity import Gravity
from gyrostat.spatial.representation import Motion, Representation, representation
from gyrostat.spec.rigid_body import RigidBody

INERTIAL = representation("inertial")


def pseudo_velocities(velocity: Callable[[Array], Array], n: int) -> Array:
    """The Jacobian (..., n) of any velocity kinematics V(v): V(e_1), ..., V(e_n) [H04 (3.48)]."""
    columns = [velocity(unit) for unit in np.eye(n)]
    return np.stack(columns, axis=-1) if columns else np.zeros((6, 0))


def at_rest(network: Network, on: Setting) -> Setting:
    """The same with a base that stands still, where it is at this time."""
    for c in network.components:
        if c.kind is DrivenBase:
            R, p, *_ = base_state(c["motion"], on.t)
            return Setting(on.representation, on.gravity, BaseState(R, p, np.zeros(6), np.zeros(6)))
    return on


def bodies(network: Network) -> list[Component]:
    return [c for c in network.components if issubclass(c.kind, RigidBody)]


def _of_centre(c: Component, motion: Motion, V: Array) -> Array:
    """(w, velocity of the centre of mass) of a body, from its V in inertial representation."""
    return join(V[:3], V[3:] + cross(V[:3], motion.pose.R @ c["com"]))


def body_jacobians(network: Network, on: Setting, q: Array) -> dict[str, Array]:
    """(w, velocity of the centre of mass) = J v, (6, nv), for every body; a base that moves by itself stands still."""
    still, rest = weightless(at_rest(network, on)), np.zeros(network.model.nv)
    chosen = bodies(network)

    def velocities(v: Array) -> Array:
        motions = sweep_motion(network, still, q, v, rest)
        return np.concatenate([_of_centre(c, motions[c.inport], motions[c.inport].V) for c in chosen])  # type: ignore[index]

    if not chosen:
        return {}
    if not len(rest):
        return {c.name: np.zeros((6, 0)) for c in chosen}
    stack = pseudo_velocities(velocities, len(rest)).reshape(len(chosen), 6, len(rest))
    return {c.name: stack[i] for i, c in enumerate(chosen)}


def weightless(on: Setting, rep: Representation = INERTIAL) -> Setting:
    """The same without gravity."""
    return Setting(rep, Gravity(np.zeros(3)), on.t)


@dataclass(frozen=True)
class Stack:
    """Of one body: J, dJ/dt (6, nv), M_i (6, 6) about its centre of mass, Omega_i (6, 6) with f = M V' - Omega V."""

    J: Array
    J_rate: Array
    M: Array
    Omega: Array


def stacks(network: Network, on: Setting, q: Array, v: Array) -> list[Stack]:
    """All bodies of a network at a state."""
    on = weightless(at_rest(network, on))
    moving = with_rates(q, coordinate_rates(network.model, q, v), 1)
    jacobians = body_jacobians(network, on, moving)
    motions = sweep_motion(network, on, q, v, np.zeros(len(v)))
    found: list[Stack] = []
    zero = np.zeros((3, 3))
    for c in bodies(network):
        motion = motions[c.inport]  # type: ignore[index]
        R = motion.pose.R
        J_c, w = R @ c["inertia"] @ R.T, motion.V[:3]
        M = np.block([[J_c, zero], [zero, c["mass"] * np.eye(3)]])
        Omega = np.block([[skew(R @ c["momentum"]) - skew(w) @ J_c, zero], [zero, zero]])
        found.append(Stack(values_of(jacobians[c.name], 1), rates_of(jacobians[c.name], 1), M, Omega))
    return found


def mass_matrix(network: Network, on: Setting, q: Array) -> Array:
    """D = H^T Phi^T M Phi H = sum of J^T M J (24)."""
    n = network.model.nv
    jacobians = body_jacobians(network, on, q)
    motions = sweep_motion(network, weightless(on), q, np.zeros(n), np.zeros(n))
    D = np.zeros((n, n))
    for c in bodies(network):
        R, J = motions[c.inport].pose.R, jacobians[c.name]  # type: ignore[index]
        half = np.concatenate([(R @ c["inertia"] @ R.T) @ J[:3], J[3:] * c["mass"]])
        D = D + J.T @ half
    return D


def velocity_matrix(network: Network, on: Setting, q: Array, v: Array) -> Array:
    """C = H^T Phi^T (M Phi (B' Phi H + H') - Omega Phi H) (25), a base that moves by itself at rest."""
    C = np.zeros((len(v), len(v)))
    for s in stacks(network, on, q, v):
        C = C + s.J.T @ (s.M @ s.J_rate - s.Omega @ s.J)
    return C


def one_by_one(
    network: Network, on: Setting, q: Array, v: Array, a: Array, rates: Sequence[int], loads: Loads
) -> Array:
    """Generalised forces of chosen rates, each by itself [G13 (3)-(12)]: the moments that the inertial forces of all
    bodies outboard, and given wrenches, have about the one joint; J^T f of that rate alone."""
    jacobians = body_jacobians(network, on, q)
    world = world_motion(on.gravity.acceleration)
    here = Setting(INERTIAL, on.gravity, on.t)
    motions = sweep_motion(network, here, q, v, a, world)
    totals: list[Any] = [0.0] * len(rates)
    for c in bodies(network):
        f = _force_at_centre(c, here, motions[c.inport])  # type: ignore[index]
        for n, k in enumerate(rates):
            totals[n] = totals[n] + jacobians[c.name][:, k] @ f
    given = np.array(totals) if totals else np.zeros(0)
    return given + applied_forces(network, on, q, loads)[list(rates)]


def _force_at_centre(c: Component, on: Setting, motion: Motion) -> Array:
    """(moment about the centre of mass, force) that the motion of a body needs [G13 (4)], its weight in a field
    subtracted."""
    R = motion.pose.R
    r, J, w, dw = R @ c["com"], R @ c["inertia"] @ R.T, motion.V[:3], motion.A[:3]
    a = motion.A[3:] + cross(dw, r) + cross(w, cross(w, r))
    weight = on.gravity.weight(motion.pose, c["mass"], c["com"], c["inertia"])
    f = R @ weight[3:]
    n = R @ weight[:3] - cross(r, f)
    return join(J @ dw + cross(w, J @ w + R @ c["momentum"]) - n, c["mass"] * a - f)


def applied_forces(network: Network, on: Setting, q: Array, loads: Loads = no_loads) -> Array:
    """Q = -H^T Phi^T F_Q (27): generalised forces that balance force elements and external wrenches."""
    rest = np.zeros(network.model.nv)
    return sweep_forces(network, weightless(at_rest(network, on), on.representation), q, rest, rest, loads)[0]


def gravity_forces(network: Network, on: Setting, q: Array) -> Array:
    """G = -H^T Phi^T F_G (26): what holds the robot, at rest, against its weight alone."""
    rest = np.zeros(network.model.nv)
    still = at_rest(network, on)
    light = weightless(still, on.representation)
    return sweep_forces(network, still, q, rest, rest)[0] - sweep_forces(network, light, q, rest, rest)[0]
