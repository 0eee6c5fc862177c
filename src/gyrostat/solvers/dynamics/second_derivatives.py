"""Second derivatives of inverse dynamics on the configuration manifold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.recursions.rne import Loads
from gyrostat.configuration.tangent import coordinate_rates
from gyrostat.engine.tracing.dual import rates_of, with_rates
from gyrostat.graph.network import Network
from gyrostat.solvers.dynamics.derivatives import DerivativeSolver
from gyrostat.solvers.machinery.call_signatures import of_acceleration
from gyrostat.solvers.machinery.state_solver import Array


class SecondDerivatives(NamedTuple):
    """Of tau, each (..., nv, nv, nv); the first index is that of tau: d2tau_dqdq[i, j, k] is the derivative of
    dtau_dq[i, j] along q_k."""

    d2tau_dqdq: Array
    d2tau_dvdq: Array
    d2tau_dvdv: Array
    d2tau_dadq: Array


class InverseDynamicsSecondDerivatives(DerivativeSolver):
    """Second derivatives of tau(q, v, a) on the manifold: the closed forms of the first, on numbers with a rate.

    tau is linear in a and quadratic in v, so d2tau_dada and d2tau_dadv are zero. Along quaternions the order of two
    displacements matters: d2tau_dqdq is not symmetric in its last two indices there."""

    name = "rnea_second_derivatives"
    state = ("q", "v", "a")
    __call__ = of_acceleration
    Result = SecondDerivatives

    def compute(self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads) -> Mapping[str, Any]:
        q, v, a = x["q"], x["v"], x["a"]
        along_q = [with_rates(q, coordinate_rates(net.model, q, unit)) for unit in np.eye(len(v))]
        with_q = [[rates_of(d) for d in self.inverse_derivatives(net, on, moved, v, a, given)] for moved in along_q]
        with_v = [
            rates_of(self.inverse_derivatives(net, on, q, with_rates(v, unit), a, given)[1]) for unit in np.eye(len(v))
        ]
        stack = lambda matrices: np.stack(matrices, axis=-1) if matrices else np.zeros((0, 0, 0))  # noqa: E731
        return {
            "d2tau_dqdq": stack([d[0] for d in with_q]),
            "d2tau_dvdq": stack([d[1] for d in with_q]),
            "d2tau_dvdv": stack(with_v),
            "d2tau_dadq": stack([d[2] for d in with_q]),
        }
