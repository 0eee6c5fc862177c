"""The Coriolis matrix: C(q, v) v the Coriolis, centrifugal and gyroscopic forces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.matrices.body_jacobians import at_rest
from gyrostat.algorithms.matrices.coriolis_matrix import coriolis_matrix
from gyrostat.algorithms.recursions.rne import Loads
from gyrostat.graph.network import Network
from gyrostat.solvers.machinery.call_signatures import of_motion
from gyrostat.solvers.machinery.state_solver import StateSolver


class Coriolis(StateSolver):
    """C(q, v) (..., nv, nv) with C v the Coriolis, centrifugal and gyroscopic forces, and dM/dt = C + C^T.

    So dM/dt - 2 C is skew, as passivity-based controllers need it; a base that moves by itself is not in it
    [Echeandia, Wensing 2021; (3.52) halved]."""

    loops = "any"
    name = "coriolis"
    state = ("q", "v")
    __call__ = of_motion
    needs = ("inertial",)
    result = "C"

    def compute(self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads) -> Mapping[str, Any]:
        return {"C": coriolis_matrix(net, at_rest(net, on), x["q"], x["v"])}
