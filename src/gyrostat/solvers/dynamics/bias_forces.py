"""Generalised forces without acceleration: bias, and what carries the weight."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.matrices.jacobian_equations import gravity_forces
from gyrostat.algorithms.recursions.rne import Loads, sweep_forces
from gyrostat.graph.network import Network
from gyrostat.solvers.machinery.call_signatures import of_configuration, of_motion
from gyrostat.solvers.machinery.state_solver import StateSolver


class Bias(StateSolver):
    """Generalised forces (..., nv) that are needed without any acceleration: C v + G, and what force elements and a
    moving base add. tau = M a + bias."""

    loops = "closed"
    name = "bias"
    state = ("q", "v")
    __call__ = of_motion
    result = "bias"

    def compute(self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads) -> Mapping[str, Any]:
        return {"bias": sweep_forces(net, on, x["q"], x["v"], np.zeros(net.model.nv))[0]}


class GravityForces(StateSolver):
    """G(q) (..., nv): what holds the robot at rest against its weight; force elements do not count."""

    loops = "closed"
    name = "gravity"
    state = ("q",)
    __call__ = of_configuration
    result = "G"

    def compute(self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads) -> Mapping[str, Any]:
        return {"G": gravity_forces(net, on, x["q"])}
