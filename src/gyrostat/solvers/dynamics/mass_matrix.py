"""Mass matrix, its inverse, and its factors along the tree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.forward_dynamics import MASS_MATRIX
from gyrostat.algorithms.recursions.articulated_dynamics import inverse_mass_matrix
from gyrostat.algorithms.recursions.rne import Loads
from gyrostat.graph.network import Network
from gyrostat.solvers.dynamics.locked_joints import free_inertia_factors, symmetric_inverse
from gyrostat.solvers.machinery.call_signatures import of_configuration
from gyrostat.solvers.machinery.state_solver import Array, StateSolver
from gyrostat.spec.model import Model


class MassMatrix(StateSolver):
    """M(q) (..., nv, nv), symmetric, both halves filled.

    ``algorithm``: ``"crba"`` composite bodies [H04 1.1], ``"walker-orin"`` column by column, ``"mrnea"`` with the bias
    in one pass [KV], ``"newton-euler"`` row by row [G13 (12)], ``"operators"`` sum of J^T M J [WM15 (24)]."""

    loops = "any"
    name = "crba"
    state = ("q",)
    __call__ = of_configuration
    result = "M"
    algorithms = tuple(MASS_MATRIX)

    def __init__(
        self,
        model: Model,
        algorithm: str = "crba",
        representation: str = "body",
        rules: Iterable[str] | None = None,
        live: Sequence[str] = (),
        mode: str = "auto",
    ):
        super().__init__(model, representation, rules, live, mode, algorithm)

    def compute(self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads) -> Mapping[str, Any]:
        return {"M": MASS_MATRIX[self.algorithm](net, on, x["q"])}


class InverseMassMatrix(StateSolver):
    """M(q)^-1 (..., nv, nv) from the articulated bodies, without M and without inverting it [H04 (3.6)]."""

    loops_hint = "da_dtau of gs.aba_derivatives is what forces do to the closed robot"
    name = "inverse_mass_matrix"
    state = ("q",)
    __call__ = of_configuration
    result = "M_inverse"
    inverts = True

    def compute(self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads) -> Mapping[str, Any]:
        if self.locked:
            return {"M_inverse": symmetric_inverse(free_inertia_factors(net, on, x["q"], self.locked), net.model.nv)}
        return {"M_inverse": inverse_mass_matrix(net, on, x["q"])}


class InnovationsFactors(NamedTuple):
    """M = L^T D L: ``L`` (..., nv, nv), 1 + K Phi H of (3.5), unit triangular along the tree; ``D`` (..., nv)
    articulated inertias about the joint axes."""

    L: Array
    D: Array


class Innovations(StateSolver):
    """Factors of the innovations form M = (1 + K Phi H)^T D (1 + K Phi H) [H04 (3.5), (3.8)].

    A joint with several rates lets them go one after the other, so D is diagonal."""

    loops_hint = "they are those of articulated bodies without loops"
    name = "innovations"
    state = ("q",)
    __call__ = of_configuration
    Result = InnovationsFactors
    inverts = True

    def compute(self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads) -> Mapping[str, Any]:
        n = net.model.nv
        factors = free_inertia_factors(net, on, x["q"], self.locked)
        L = np.full((n, n), 0.0, dtype=np.result_type(np.asarray(x["q"]), np.float64))
        for k in range(n):
            L[k, k] = 1.0
        for (k, j), value in factors.L.items():
            L[k, j] = value
        return {"L": L, "D": np.array([1.0 / factors.inverse[k] for k in range(n)])}
