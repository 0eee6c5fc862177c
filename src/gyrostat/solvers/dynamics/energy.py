"""Kinetic and potential energy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.matrices.body_jacobians import bodies, rotors
from gyrostat.algorithms.recursions.frame_forces import frame_force_energy
from gyrostat.algorithms.recursions.kinematics import sweep_motion
from gyrostat.algorithms.recursions.rne import Loads, own_inertia, spin_momentum
from gyrostat.algorithms.shafts.elements import element_energy, element_inertia
from gyrostat.algorithms.stored_energy import stored_energy
from gyrostat.algorithms.user_components.component_equations import equations, foreign, own_state
from gyrostat.graph.network import Network
from gyrostat.solvers.machinery.call_signatures import of_configuration, of_motion
from gyrostat.solvers.machinery.state_solver import Array, StateSolver
from gyrostat.spatial.gravity import Gravity
from gyrostat.spatial.inertia import SpatialInertia
from gyrostat.spatial.representation import Motion, Pose, representation

WEIGHTLESS = Setting(representation("body"), Gravity(np.zeros(3)))


class KineticEnergy(StateSolver):
    """T = 1/2 sum of V^T M V (...) [J], rotors of drives included: I (w_r^2 / 2 + w_r z . w) above what their carrier
    has. The constant momentum of gyrostats does no work and is left out."""

    loops = "any"
    name = "kinetic_energy"
    state = ("q", "v")
    __call__ = of_motion
    result = "T"

    def compute(self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads) -> Mapping[str, Any]:
        motions = sweep_motion(net, on, x["q"], x["v"], np.zeros(net.model.nv))
        T: Any = 0.0
        for c in bodies(net):
            motion = motions[c.inport]  # type: ignore[index]
            T = T + 0.5 * (motion.V @ (own_inertia(c, on, motion) @ motion.V))
        for c in foreign(net):
            motion, own = motions[c.inport], own_state(net, c, x["q"], x["v"])  # type: ignore[index]
            V = np.concatenate([motion.V, own.v])
            T = T + 0.5 * (V @ (equations(c, on, motion, own.q, own.v).whole @ V))
        every = net.transmission.at(x["q"]).rates(x["v"])
        for c in rotors(net):
            motion, rate = motions[c.inport], every[c.v_at.start]  # type: ignore[index]
            T = T + (spin_momentum(c, on, motion) @ motion.V + 0.5 * c["inertia"] * rate) * rate
        still = element_inertia(net, x["q"], x["v"])[0] if net.transmission.elements else {}
        for (j, k), inertia in still.items():
            T = T + 0.5 * inertia * x["v"][j] * x["v"][k]
        return {"T": T}


def _masses(net: Network, motions: Mapping[int, Motion], q: Array) -> Iterator[tuple[Pose, SpatialInertia]]:
    """Every body with the pose of its frame, its inertia in that frame."""
    rest = np.zeros(net.model.nv)
    for c in bodies(net):
        yield motions[c.inport].pose, SpatialInertia.at_centre(c["mass"], c["com"], c["inertia"])  # type: ignore[index]
    for c in foreign(net):
        pose, own = motions[c.inport].pose, own_state(net, c, q, rest)  # type: ignore[index]
        still = equations(c, WEIGHTLESS, Motion(pose, np.zeros(6), np.zeros(6)), own.q, own.v)
        if not still.massless:
            yield pose, still.body


class PotentialEnergy(StateSolver):
    """U (...) [J] of gravity, -m g . p summed over bodies in uniform gravity, in fields the potential whose derivatives
    are the weights and gradient torques of extended bodies; and of springs, on shafts and between frames."""

    loops = "any"
    name = "potential_energy"
    state = ("q",)
    __call__ = of_configuration
    needs = ("rigid", "energy", "weighs")
    result = "U"

    def compute(self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads) -> Mapping[str, Any]:
        rest = np.zeros(net.model.nv)
        motions = sweep_motion(net, on, x["q"], rest, rest)
        U: Any = element_energy(net, x["q"]) + frame_force_energy(net, on, motions)
        for c in foreign(net):
            if any(kind in stored_energy.rows for kind in c.kind.__mro__):
                own = own_state(net, c, x["q"], rest)
                U = U + stored_energy.of(c)(c, on, motions[c.inport], own.q)  # type: ignore[index]
        for pose, M in _masses(net, motions, x["q"]):
            U = U + on.gravity.energy_of(pose, M)
        return {"U": U}
