"""Inverse dynamics with a reference velocity, for passivity-based control."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.matrices.body_jacobians import at_rest
from gyrostat.algorithms.matrices.coriolis_matrix import coriolis_matrix
from gyrostat.algorithms.recursions.rne import Loads, sweep_forces
from gyrostat.graph.network import Network
from gyrostat.solvers.machinery.state_solver import Array, StateSolver


class ReferenceDynamics(StateSolver):
    """tau = M(q) a_r + C(q, v) v_r + G(q): inverse dynamics with a reference velocity, for passivity-based control
    [Slotine, Li 1987]. C is that of :class:`Coriolis`. All of q, v, v_r, a_r may be batches; force elements count."""

    loops = "closed"
    name = "rnea_reference"
    needs = ("inertial",)
    result = "tau"
    state = ("q", "v", "v_r", "a_r")

    def __call__(
        self,
        q: Any,
        v: Any,
        v_r: Any,
        a_r: Any,
        *,
        t: Any = None,
        out: Any = None,
        threads: int = 1,
        nonfinite: str = "raise",
    ) -> Array:
        """tau for q, v, v_r, a_r."""
        return self.serve((q, v, v_r, a_r), None, t, out, threads, nonfinite)

    def compute(self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads) -> Mapping[str, Any]:
        q, v = x["q"], x["v"]
        with_v = sweep_forces(net, on, q, v, x["a_r"])[0]
        return {"tau": with_v + coriolis_matrix(net, at_rest(net, on), q, v) @ (x["v_r"] - v)}
