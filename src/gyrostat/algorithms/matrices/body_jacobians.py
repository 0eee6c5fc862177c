"""The equations of motion from the Jacobians of all bodies (WM15 (8)-(27), G13 (3)-(12)): every entry by itself.

V_i = (w_i, velocity of the centre of mass), in the world's axes, as in WM15 but angular part first. Jacobians come
from unit velocities sent through the kinematics (H04 3.2.2.1), their rates from numbers with a rate. Components from
elsewhere come with what is read off their two rows, at the port by which they are met."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting, defined_by
from gyrostat.algorithms.foreign.component_equations import (
    coriolis_and_damping,
    dissipation,
    equations,
    foreign,
    own_state,
    run,
)
from gyrostat.algorithms.recursions.frame_forces import with_frame_forces
from gyrostat.algorithms.recursions.kinematics import Own, sweep_motion, world_motion
from gyrostat.algorithms.recursions.rne import Loads, no_loads, sweep_forces
from gyrostat.algorithms.shafts.elements import element_inertia, element_torques
from gyrostat.configuration.tangent import coordinate_rates
from gyrostat.engine.tracing.dual import rates_of, values_of, with_rates
from gyrostat.graph.bases import DrivenBase
from gyrostat.graph.network import Component, Network
from gyrostat.graph.transmission import Ties
from gyrostat.spatial.algebra import Array, cross, join, skew, tilde
from gyrostat.spatial.base_motion import BaseState, base_state
from gyrostat.spatial.gravity import Gravity
from gyrostat.spatial.representation import Motion, Representation, representation
from gyrostat.spec.rigid_body import RigidBody
from gyrostat.spec.rotor import RotorInertia

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
    """Components that are rigid bodies and nothing else."""
    return [c for c in network.components if defined_by(c) is RigidBody]


def rotors(network: Network) -> list[Component]:
    return [c for c in network.components if defined_by(c) is RotorInertia]


def _of_centre(c: Component, motion: Motion, V: Array) -> Array:
    """(w, velocity of the centre of mass) of a body, from its V in inertial representation; V itself for the carrier of
    a rotor and for components from elsewhere."""
    if defined_by(c) is not RigidBody:
        return V
    return join(V[:3], V[3:] + cross(V[:3], motion.pose.R @ c["com"]))


def body_jacobians(network: Network, on: Setting, q: Array) -> dict[str, Array]:
    """(w, velocity of the centre of mass) = J v, (6, nv), for every body; w alone counts for the carriers of rotors;
    components from elsewhere have V of their inport. A base that moves by itself stands still."""
    still, rest = weightless(at_rest(network, on)), np.zeros(network.model.nv)
    chosen = [*bodies(network), *rotors(network), *foreign(network)]

    def velocities(v: Array) -> Array:
        motions = sweep_motion(network, still, q, v, rest)
        return np.concatenate([_of_centre(c, motions[c.inport], motions[c.inport].V) for c in chosen])  # type: ignore[index]

    if not chosen:
        return {}
    if not len(rest):
        return {c.name: np.zeros((6, 0)) for c in chosen}
    stack = pseudo_velocities(velocities, len(rest)).reshape(len(chosen), 6, len(rest))
    return {c.name: stack[i] for i, c in enumerate(chosen)}


def own_rates(c: Component, n: int) -> Array:
    """T (rates of a component, n) with its own rates = T v."""
    T = [tied_row(ties, n) for ties in c.ties]
    return np.array(T) if T else np.zeros((0, n))


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
    for c in rotors(network):  # I (t + w)^T (t + w), without I w^T w, which the carrier has
        t, w = spin_row(c, n), (motions[c.inport].pose.R @ c["axis"]) @ jacobians[c.name][:3]  # type: ignore[index]
        D = D + (np.outer(t, t) + np.outer(t, w) + np.outer(w, t)) * c["inertia"]
    for c in foreign(network):
        own = own_state(network, c, q, np.zeros(n))
        still = equations(c, weightless(on), motions[c.inport], own.q, own.v)  # type: ignore[index]
        moved = np.concatenate([jacobians[c.name], own_rates(c, n)])
        D = D + moved.T @ still.whole @ moved
    for (j, k), x in element_inertia(network, q, np.zeros(n))[0].items() if network.transmission.elements else ():
        D = D + np.outer(np.eye(n)[j], np.eye(n)[k]) * x
    return D


def tied_row(ties: Ties, n: int) -> Array:
    """t (n,) with a rate of a component = t v."""
    row = np.zeros(n, dtype=object)
    for k, factor in ties:
        row[k] = row[k] + factor
    return row if any(not isinstance(x, float) for x in row) else row.astype(float)


def spin_row(c: Component, n: int) -> Array:
    """t (n,) with the rate of a rotor against its carrier = t v."""
    return tied_row(c.ties[0], n)


def velocity_matrix(network: Network, on: Setting, q: Array, v: Array) -> Array:
    """C = H^T Phi^T (M Phi (B' Phi H + H') - Omega Phi H) (25), a base that moves by itself at rest."""
    C = np.zeros((len(v), len(v)))
    for s in stacks(network, on, q, v):
        C = C + s.J.T @ (s.M @ s.J_rate - s.Omega @ s.J)
    still = weightless(at_rest(network, on))
    if rotors(network):
        C = C + _rotor_velocity_matrix(network, still, q, v)
    if foreign(network):
        C = C + _foreign_velocity_matrix(network, still, q, v)
    return C


def _foreign_velocity_matrix(network: Network, on: Setting, q: Array, v: Array) -> Array:
    """J^T (M dJ/dt + Omega J) of components from elsewhere, over V of their inport and their own rates."""
    n = len(v)
    jacobians = body_jacobians(network, on, with_rates(q, coordinate_rates(network.model, q, v), 1))
    motions = sweep_motion(network, on, q, v, np.zeros(n))
    C = np.zeros((n, n))
    for c in foreign(network):
        motion, own, J = motions[c.inport], own_state(network, c, q, v), jacobians[c.name]  # type: ignore[index]
        T = own_rates(c, n)
        moved, rate = np.concatenate([values_of(J, 1), T]), np.concatenate([rates_of(J, 1), T * 0.0])
        whole, turning = equations(c, on, motion, own.q, own.v).whole, coriolis_and_damping(c, on, motion, own.q, own.v)
        Omega = turning.coriolis + whole @ _bracket(network, c, motion, own.v) * 0.5
        C = C + moved.T @ (whole @ rate + Omega @ moved)
    return C


def _bracket(network: Network, c: Component, motion: Motion, v: Array) -> Array:
    """Of the velocities (V, v) of a component, see :mod:`~gyrostat.algorithms.matrices.coriolis_matrix`: with it
    dM/dt = Omega + Omega^T. Angular velocities in the world's axes have that of the other sign."""
    n = len(v)
    ad = np.full((6 + n, 6 + n), 0.0, dtype=np.result_type(np.asarray(motion.V), np.asarray(v), np.float64))
    ad[:3, :3] = -skew(motion.V[:3])
    if network.model.wiring.entities[c.name].quaternion_at is not None:
        ad[6:, 6:] = tilde(v) if n == 6 else skew(v)
    return ad


def _rotor_velocity_matrix(network: Network, on: Setting, q: Array, v: Array) -> Array:
    """I (J_w^T (w x z) t + t^T z^T dJ_w/dt) of every rotor: the torque on its carrier, and its own."""
    n = len(v)
    jacobians = body_jacobians(network, on, with_rates(q, coordinate_rates(network.model, q, v), 1))
    motions = sweep_motion(network, on, q, v, np.zeros(n))
    C = np.zeros((n, n))
    for c in rotors(network):
        motion, J = motions[c.inport], jacobians[c.name]  # type: ignore[index]
        z, J_w, J_rate = motion.pose.R @ c["axis"], values_of(J, 1)[:3], rates_of(J, 1)[:3]
        turned = cross(motion.V[:3], z)
        t = spin_row(c, n)
        C = C + (np.outer(turned @ J_w, t) + np.outer(t, z @ J_rate)) * c["inertia"]
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
    t, t_rate, t_rate2 = (network.transmission.rates(x) for x in (np.eye(len(v)), v, a))
    for c in rotors(network):
        motion, r = motions[c.inport], c.v_at.start  # type: ignore[index]
        h = (motion.pose.R @ c["axis"]) * c["inertia"]
        moment = h * t_rate2[r] + cross(motion.V[:3], h) * t_rate[r]
        own = h @ motion.A[:3] + t_rate2[r] * c["inertia"]
        for n, k in enumerate(rates):
            totals[n] = totals[n] + jacobians[c.name][:3, k] @ moment + own * t[r][k]
    for c in foreign(network):
        motion, own = motions[c.inport], own_state(network, c, q, v, a)  # type: ignore[index]
        needed = np.concatenate(run(c, here, motion, own)[1:]) - _applied(c, weightless(here), motion, own)
        moved = np.concatenate([jacobians[c.name], own_rates(c, len(v))])
        for n, k in enumerate(rates):
            totals[n] = totals[n] + moved[:, k] @ needed
    given = np.array(totals) if totals else np.zeros(0)
    inertial = element_inertia(network, q, v)[0] if network.transmission.elements else {}
    for (j, k), x in inertial.items():
        given = np.array([g + x * a[k] if rates[n] == j else g for n, g in enumerate(given)])
    return given + applied_forces(network, on, q, loads, v)[list(rates)]


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


def applied_forces(network: Network, on: Setting, q: Array, loads: Loads = no_loads, v: Array | None = None) -> Array:
    """Q = -H^T Phi^T F_Q (27): generalised forces that balance force elements, springs, friction and external
    wrenches."""
    rest = np.zeros(network.model.nv)
    still = weightless(at_rest(network, on), on.representation)
    moving = rest if v is None else v
    between = _pair_loads(network, still, q, moving, loads)
    Q = sweep_forces(replace(network, pairs=()), still, q, rest, rest, between)[0]
    Q = Q + _dissipated(network, still, q, moving)
    slow, fast = (element_torques(network, q, x, rest) for x in (rest, moving))
    return np.array([x + fast[k] - slow[k] if k in fast else x for k, x in enumerate(Q)]) if fast else Q


def _applied(c: Component, on: Setting, motion: Motion, own: Own) -> Array:
    """Forces (6 + n,) of a component from elsewhere that are neither inertial nor its weight: at rest, and damping."""
    still = Motion(motion.pose, motion.V * 0.0, motion.A * 0.0)
    at_rest = np.concatenate(run(c, on, still, Own(own.q, own.v * 0.0, own.a * 0.0))[1:])
    return at_rest + dissipation(c, on, motion, own)


def _dissipated(network: Network, on: Setting, q: Array, v: Array) -> Array:
    """Generalised forces of components from elsewhere that go with the velocities and are not inertial."""
    total = np.zeros(len(v))
    on = weightless(on)
    there = foreign(network)
    motions = sweep_motion(network, on, q, v, np.zeros(len(v))) if there else {}
    jacobians = body_jacobians(network, on, q) if there else {}
    for c in there:
        own = own_state(network, c, q, v)
        rest = dissipation(c, on, motions[c.inport], own)  # type: ignore[index]
        total = total + np.concatenate([jacobians[c.name], own_rates(c, len(v))]).T @ rest
    return total


def _pair_loads(network: Network, on: Setting, q: Array, v: Array, loads: Loads) -> Loads:
    """External forces, with those between frames at their velocities."""
    if not network.pairs:
        return loads
    motions = sweep_motion(network, on, q, v, np.zeros(len(v)))
    return lambda resting: with_frame_forces(network, on, motions, loads(resting))


def gravity_forces(network: Network, on: Setting, q: Array) -> Array:
    """G = -H^T Phi^T F_G (26): what holds the robot, at rest, against its weight alone."""
    rest = np.zeros(network.model.nv)
    still = at_rest(network, on)
    light = weightless(still, on.representation)
    return sweep_forces(network, still, q, rest, rest)[0] - sweep_forces(network, light, q, rest, rest)[0]
