"""Kinetic and potential energy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.matrices.energies import kinetic_energy_of, potential_energy_of
from gyrostat.algorithms.recursions.kinematics import sweep_motion
from gyrostat.algorithms.recursions.rne import Loads
from gyrostat.graph.network import Network
from gyrostat.solvers.machinery.call_signatures import of_configuration, of_motion
from gyrostat.solvers.machinery.state_solver import StateSolver


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
        return {"T": kinetic_energy_of(net, on, motions, x["q"], x["v"])}


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
        return {"U": potential_energy_of(net, on, motions, x["q"])}
