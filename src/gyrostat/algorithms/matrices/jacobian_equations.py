"""The terms of the equations of motion from the Jacobians of all bodies [WM15 (23)-(27)]: D a + C v + G + Q = T.

Velocities (w, velocity of the centre of mass) are in the world's axes, as in WM15 but angular part first. Shapes: D, C
(nv, nv); G, Q (nv,) [N m, N]. Cost O(n^2) for each body."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.matrices.body_jacobians import (
    at_rest,
    bodies,
    body_jacobians,
    own_rates,
    own_tie_rates,
    rotors,
    spin_row,
    weightless,
)
from gyrostat.algorithms.recursions.frame_forces import with_frame_forces
from gyrostat.algorithms.recursions.kinematics import sweep_motion
from gyrostat.algorithms.recursions.rne import Loads, no_loads, sweep_forces
from gyrostat.algorithms.shafts.element_derivatives import element_coriolis
from gyrostat.algorithms.shafts.elements import element_inertia, element_torques
from gyrostat.algorithms.user_components.component_equations import (
    coriolis_and_damping,
    dissipation,
    equations,
    foreign,
    own_state,
)
from gyrostat.configuration.tangent import coordinate_rates
from gyrostat.engine.tracing.dual import rates_of, values_of, with_rates
from gyrostat.graph.network import Component, Network
from gyrostat.spatial.algebra import Array, cross, skew, tilde
from gyrostat.spatial.representation import Motion


@dataclass(frozen=True)
class BodyTerms:
    """Of one body: J, dJ/dt (6, nv), M_i (6, 6) about its centre of mass, Omega_i (6, 6) with f = M V' - Omega V."""

    J: Array
    J_rate: Array
    M: Array
    Omega: Array


def body_terms(network: Network, on: Setting, q: Array, v: Array) -> list[BodyTerms]:
    """All bodies of a network at a state."""
    on = weightless(at_rest(network, on))
    moving = with_rates(q, coordinate_rates(network.model, q, v), 1)
    jacobians = body_jacobians(network, on, moving)
    motions = sweep_motion(network, on, q, v, np.zeros(len(v)))
    terms: list[BodyTerms] = []
    zero = np.zeros((3, 3))
    for c in bodies(network):
        motion = motions[c.inport]  # type: ignore[index]
        R = motion.pose.R
        J_c, w = R @ c["inertia"] @ R.T, motion.V[:3]
        M = np.block([[J_c, zero], [zero, c["mass"] * np.eye(3)]])
        Omega = np.block([[skew(R @ c["momentum"]) - skew(w) @ J_c, zero], [zero, zero]])
        terms.append(BodyTerms(values_of(jacobians[c.name], 1), rates_of(jacobians[c.name], 1), M, Omega))
    return terms


def mass_matrix(network: Network, on: Setting, q: Array) -> Array:
    """D = H^T Phi^T M Phi H = sum of J^T M J (24)."""
    n = network.model.nv
    network = network.at(q)
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


def coriolis_from_jacobians(network: Network, on: Setting, q: Array, v: Array) -> Array:
    """C = H^T Phi^T (M Phi (B' Phi H + H') - Omega Phi H) (25), a base that moves by itself at rest."""
    C = np.zeros((len(v), len(v)))
    for s in body_terms(network, on, q, v):
        C = C + s.J.T @ (s.M @ s.J_rate - s.Omega @ s.J)
    still = weightless(at_rest(network, on))
    if rotors(network):
        C = C + _rotor_coriolis(network, still, q, v)
    if foreign(network):
        C = C + _foreign_coriolis(network, still, q, v)
    for (j, k), x in element_coriolis(network, q, v).items():
        C = C + np.outer(np.eye(len(v))[j], np.eye(len(v))[k]) * x
    return C


def _foreign_coriolis(network: Network, on: Setting, q: Array, v: Array) -> Array:
    """J^T (M dJ/dt + Omega J) of components from elsewhere, over V of their inport and their own rates."""
    n, network = len(v), network.at(q, v)
    jacobians = body_jacobians(network, on, with_rates(q, coordinate_rates(network.model, q, v), 1))
    motions = sweep_motion(network, on, q, v, np.zeros(n))
    C = np.zeros((n, n))
    for c in foreign(network):
        motion, own, J = motions[c.inport], own_state(network, c, q, v), jacobians[c.name]  # type: ignore[index]
        T = own_rates(c, n)
        moved, rate = np.concatenate([values_of(J, 1), T]), np.concatenate([rates_of(J, 1), own_tie_rates(c, n)])
        whole, turning = equations(c, on, motion, own.q, own.v).whole, coriolis_and_damping(c, on, motion, own.q, own.v)
        Omega = turning.coriolis + whole @ _bracket(c, motion, own.v) * 0.5
        C = C + moved.T @ (whole @ rate + Omega @ moved)
    return C


def _bracket(c: Component, motion: Motion, v: Array) -> Array:
    """Of the velocities (V, v) of a component, see :mod:`~gyrostat.algorithms.matrices.coriolis_matrix`: with it
    dM/dt = Omega + Omega^T. Angular velocities in the world's axes have that of the other sign."""
    n = len(v)
    ad = np.full((6 + n, 6 + n), 0.0, dtype=np.result_type(np.asarray(motion.V), np.asarray(v), np.float64))
    ad[:3, :3] = -skew(motion.V[:3])
    if c.entity is not None and c.entity.quaternion_at is not None:
        ad[6:, 6:] = tilde(v) if n == 6 else skew(v)
    return ad


def _rotor_coriolis(network: Network, on: Setting, q: Array, v: Array) -> Array:
    """I (J_w^T (w x z) t + t^T z^T dJ_w/dt + (t + z^T J_w)^T dt/dt) of every rotor: the torque on its carrier, its own,
    and what goes with a ratio that changes."""
    n, network = len(v), network.at(q, v)
    jacobians = body_jacobians(network, on, with_rates(q, coordinate_rates(network.model, q, v), 1))
    motions = sweep_motion(network, on, q, v, np.zeros(n))
    C = np.zeros((n, n))
    for c in rotors(network):
        motion, J = motions[c.inport], jacobians[c.name]  # type: ignore[index]
        z, J_w, J_rate = motion.pose.R @ c["axis"], values_of(J, 1)[:3], rates_of(J, 1)[:3]
        turned = cross(motion.V[:3], z)
        t = spin_row(c, n)
        C = C + (np.outer(turned @ J_w, t) + np.outer(t, z @ J_rate)) * c["inertia"]
        if any(c.tie_rates):
            C = C + np.outer(t + z @ J_w, own_tie_rates(c, n)[0]) * c["inertia"]
    return C


def applied_forces(network: Network, on: Setting, q: Array, loads: Loads = no_loads, v: Array | None = None) -> Array:
    """Q = -H^T Phi^T F_Q (27): generalised forces that balance force elements, springs, friction and external
    wrenches."""
    rest = np.zeros(network.model.nv)
    still = weightless(at_rest(network, on), on.representation)
    moving = rest if v is None else v
    network = network.at(q, moving)
    between = _pair_loads(network, still, q, moving, loads)
    Q = sweep_forces(replace(network, pairs=()), still, q, rest, rest, between)[0]
    Q = Q + _dissipated(network, still, q, moving)
    slow, fast = (element_torques(network, q, x, rest) for x in (rest, moving))
    for (j, k), x in element_coriolis(network, q, moving).items():
        fast[j] = fast[j] - x * moving[k]  # these are inertial
    return np.array([x + fast[k] - slow[k] if k in fast else x for k, x in enumerate(Q)]) if fast else Q


def _dissipated(network: Network, on: Setting, q: Array, v: Array) -> Array:
    """Generalised forces of components from elsewhere that go with the velocities and are not inertial."""
    total = np.zeros(len(v))
    on, network = weightless(on), network.at(q, v)
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
