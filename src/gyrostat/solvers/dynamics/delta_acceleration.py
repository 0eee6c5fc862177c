"""The change of the accelerations for small changes of the state, without any matrix."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.recursions.articulated_dynamics import forward_dynamics, sweep_articulated
from gyrostat.algorithms.recursions.rne import Loads, sweep_forces
from gyrostat.configuration.tangent import coordinate_rates
from gyrostat.engine.tracing.dual import rates_of, with_rates
from gyrostat.graph.network import Network
from gyrostat.solvers.dynamics.locked_joints import free_accelerations
from gyrostat.solvers.machinery.state_solver import Array, StateSolver


class DeltaAcceleration(StateSolver):
    """da (..., nv): the change of the accelerations for small changes dq (nv,), dv, dtau, without any matrix. Cost
    O(n).

    The recursive algorithm of H04 3.2.2.2 [Jain, Rodriguez 1993]: forward dynamics in three sweeps, the change of the
    forces that the true accelerations need in one more (numbers with a rate), and the articulated bodies' answer to
    it. dq is a displacement on the manifold."""

    loops_hint = "gs.aba_derivatives has the matrices of the closed robot"
    name = "delta_acceleration"
    result = "da"
    inverts = True
    state = ("q", "v", "tau", "dq", "dv", "dtau")

    def __call__(
        self,
        q: Any,
        v: Any,
        tau: Any,
        dq: Any,
        dv: Any,
        dtau: Any,
        *,
        t: Any = None,
        out: Any = None,
        threads: int = 1,
        nonfinite: str = "raise",
    ) -> Array:
        """da for the state and its changes."""
        return self.serve((q, v, tau, dq, dv, dtau), None, t, out, threads, nonfinite)

    def compute(self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads) -> Mapping[str, Any]:
        q, v = x["q"], x["v"]
        if not len(v):
            return {"da": np.zeros(0)}
        if self.locked:
            a, factors = free_accelerations(net, on, q, v, x["tau"], given, self.locked)
        else:
            a, factors = forward_dynamics(net, on, q, v, x["tau"]), None
        moved, faster = with_rates(q, coordinate_rates(net.model, q, x["dq"])), with_rates(v, x["dv"])
        needed = rates_of(sweep_forces(net, on, moved, faster, a)[0])
        if factors is not None:
            return {"da": factors.solve(x["dtau"] - needed)}
        right = np.stack([x["tau"], x["dtau"] - needed], axis=1)
        return {"da": sweep_articulated(net, on, q, v, right).a[:, 1]}
