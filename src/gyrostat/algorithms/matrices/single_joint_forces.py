"""The generalised force of one joint, independent of the others [G13 (3)-(12)]: closed-form Newton-Euler.

It is the moment that the inertial forces of all bodies outboard, and given wrenches, have about the one joint: J^T f
with the Jacobians of :mod:`body_jacobians`, in the world's axes. Any subset of rates can be asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.matrices.body_jacobians import (
    INERTIAL,
    bodies,
    body_jacobians,
    own_rates,
    rotors,
    weightless,
)
from gyrostat.algorithms.matrices.jacobian_equations import applied_forces
from gyrostat.algorithms.recursions.kinematics import Own, sweep_motion, world_motion
from gyrostat.algorithms.recursions.rne import Loads
from gyrostat.algorithms.shafts.element_derivatives import element_coriolis
from gyrostat.algorithms.shafts.elements import element_inertia
from gyrostat.algorithms.user_components.component_equations import dissipation, foreign, own_state, run
from gyrostat.graph.network import Component, Network
from gyrostat.spatial.algebra import Array, cross, join
from gyrostat.spatial.representation import Motion


def single_joint_forces(
    network: Network, on: Setting, q: Array, v: Array, a: Array, rates: Sequence[int], loads: Loads
) -> Array:
    """Generalised forces of chosen rates, each by itself [G13 (3)-(12)]: the moments that the inertial forces of all
    bodies outboard, and given wrenches, have about the one joint; J^T f of that rate alone."""
    network = network.at(q, v)
    jacobians = body_jacobians(network, on, q)
    world = world_motion(on.gravity.acceleration)
    here = Setting(INERTIAL, on.gravity, on.t)
    motions = sweep_motion(network, here, q, v, a, world)
    totals: list[Any] = [0.0] * len(rates)
    for c in bodies(network):
        f = _force_at_centre(c, here, motions[c.inport])  # type: ignore[index]
        for n, k in enumerate(rates):
            totals[n] = totals[n] + jacobians[c.name][:, k] @ f
    t, t_rate = (network.transmission.rates(x) for x in (np.eye(len(v)), v))
    t_rate2 = network.transmission.accelerations(a)
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
    for (j, k), x in element_coriolis(network, q, v).items():
        given = np.array([g + x * v[k] if rates[n] == j else g for n, g in enumerate(given)])
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


def _applied(c: Component, on: Setting, motion: Motion, own: Own) -> Array:
    """Forces (6 + n,) of a component from elsewhere that are neither inertial nor its weight: at rest, and damping."""
    still = Motion(motion.pose, motion.V * 0.0, motion.A * 0.0)
    at_rest = np.concatenate(run(c, on, still, Own(own.q, own.v * 0.0, own.a * 0.0))[1:])
    return at_rest + dissipation(c, on, motion, own)
