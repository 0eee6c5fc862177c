"""Jacobians of all bodies: (w, velocity of the centre of mass) = J v, in the world's axes [WM15 (8)-(22), angular part
first; H04 3.2.2.1].

Their columns are unit velocities sent through the kinematics, their rates come from numbers with a rate. Components
from elsewhere have the velocity of the port by which they are met."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gyrostat.algorithms.algorithm import Setting, defined_by
from gyrostat.algorithms.recursions.kinematics import sweep_motion
from gyrostat.algorithms.user_components.component_equations import (
    foreign,
)
from gyrostat.graph.network import Component, Network
from gyrostat.graph.reference_frames import DrivenBase
from gyrostat.graph.transmission import Ties
from gyrostat.spatial.algebra import Array, cross, join
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
    """T (rates of a component, n) with its own rates = T v; of a network at a state."""
    T = [tied_row(ties, n) for ties in c.ties]
    return np.array(T) if T else np.zeros((0, n))


def own_tie_rates(c: Component, n: int) -> Array:
    """dT/dt (rates of a component, n); zero where no curve is followed."""
    if not any(c.tie_rates):
        return np.zeros((len(c.ties), n))
    return np.array([tied_row(ties, n) for ties in c.tie_rates])


def weightless(on: Setting, rep: Representation = INERTIAL) -> Setting:
    """The same without gravity."""
    return Setting(rep, Gravity(np.zeros(3)), on.t)


def tied_row(ties: Ties, n: int) -> Array:
    """t (n,) with a rate of a component = t v."""
    row = np.zeros(n, dtype=object)
    for k, factor in ties:
        row[k] = row[k] + factor
    return row if any(not isinstance(x, float) for x in row) else row.astype(float)


def spin_row(c: Component, n: int) -> Array:
    """t (n,) with the rate of a rotor against its carrier = t v."""
    return tied_row(c.ties[0], n)
