"""Kinetic and potential energy of a network in motion."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.matrices.body_jacobians import bodies, rotors
from gyrostat.algorithms.recursions.frame_forces import frame_force_energy
from gyrostat.algorithms.recursions.rne import own_inertia, spin_momentum
from gyrostat.algorithms.shafts.elements import element_energy, element_inertia
from gyrostat.algorithms.stored_energy import stored_energy
from gyrostat.algorithms.user_components.component_equations import equations, foreign, own_state
from gyrostat.graph.network import Network
from gyrostat.spatial.gravity import Gravity
from gyrostat.spatial.inertia import SpatialInertia
from gyrostat.spatial.representation import Motion, Pose, representation

Array = np.ndarray
Motions = Mapping[int, Motion]
WEIGHTLESS = Setting(representation("body"), Gravity(np.zeros(3)))


def kinetic_energy_of(net: Network, on: Setting, motions: Motions, q: Array, v: Array) -> Any:
    """T = 1/2 sum of V^T M V + I (w_r^2/2 + w_r z . w) of rotors [J], for the ``motions`` at (q, v)."""
    T: Any = 0.0
    for c in bodies(net):
        motion = motions[c.inport]  # type: ignore[index]
        T = T + 0.5 * (motion.V @ (own_inertia(c, on, motion) @ motion.V))
    for c in foreign(net):
        motion, own = motions[c.inport], own_state(net, c, q, v)  # type: ignore[index]
        V = np.concatenate([motion.V, own.v])
        T = T + 0.5 * (V @ (equations(c, on, motion, own.q, own.v).whole @ V))
    every = net.transmission.at(q).rates(v)
    for c in rotors(net):
        motion, rate = motions[c.inport], every[c.v_at.start]  # type: ignore[index]
        T = T + (spin_momentum(c, on, motion) @ motion.V + 0.5 * c["inertia"] * rate) * rate
    still = element_inertia(net, q, v)[0] if net.transmission.elements else {}
    for (j, k), inertia in still.items():
        T = T + 0.5 * inertia * v[j] * v[k]
    return T


def potential_energy_of(net: Network, on: Setting, motions: Motions, q: Array) -> Any:
    """U [J] of weights, springs on shafts and between frames, and of components that store energy."""
    rest = np.zeros(net.model.nv)
    U: Any = element_energy(net, q) + frame_force_energy(net, on, motions)
    for c in foreign(net):
        if stores_energy(c.kind):
            own = own_state(net, c, q, rest)
            U = U + stored_energy.of(c)(c, on, motions[c.inport], own.q)  # type: ignore[index]
    for pose, M in _masses(net, motions, q):
        U = U + on.gravity.energy_of(pose, M)
    return U


def stores_energy(kind: type) -> bool:
    """Whether components of a kind have a stored energy."""
    return any(base in stored_energy.rows for base in kind.__mro__)


def _masses(net: Network, motions: Motions, q: Array) -> Iterator[tuple[Pose, SpatialInertia]]:
    """Every body with the pose of its frame, its inertia in that frame."""
    rest = np.zeros(net.model.nv)
    for c in bodies(net):
        yield motions[c.inport].pose, SpatialInertia.at_centre(c["mass"], c["com"], c["inertia"])  # type: ignore[index]
    for c in foreign(net):
        pose, own = motions[c.inport].pose, own_state(net, c, q, rest)  # type: ignore[index]
        still = equations(c, WEIGHTLESS, Motion(pose, np.zeros(6), np.zeros(6)), own.q, own.v)
        if not still.massless:
            yield pose, still.body
