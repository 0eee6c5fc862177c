"""Forces and stiffness of a robot that stands still, along the motions that loops and locked joints leave it.

    F = Z^T (tau - h(q)),      K = -dF/dq Z,      h: generalised forces that hold the tree, with external wrenches

Without loops K = Z^T (dh/dq) Z. With loops that stay constraints, forces in the loops turn with them: F = Z^T M a and
K = -Z^T M (da/dq) Z with the accelerations a of the closed robot hold at rest, where a = 0."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.algorithms.constrained.loop_numbers import loop_numbers
from gyrostat.graph.network import kept_network
from gyrostat.solvers.dynamics.actuator_efforts import null_space
from gyrostat.solvers.dynamics.derivatives import ForwardDynamicsDerivatives, InverseDynamicsDerivatives
from gyrostat.solvers.dynamics.forward_dynamics import ForwardDynamics
from gyrostat.solvers.dynamics.inverse_dynamics import InverseDynamics
from gyrostat.solvers.dynamics.mass_matrix import MassMatrix
from gyrostat.solvers.machinery.solver_cache import cached_solver
from gyrostat.spec.model import Model

Array = np.ndarray


@dataclass(frozen=True)
class Local:
    """At one configuration: a (nv,), forces F (d,) and stiffness K (d, d) of motions Z, their mass M (d, d), and the
    efforts (nv,) on what is locked."""

    q: Array
    a: Array
    Z: Array
    F: Array
    K: Array
    M: Array
    held: Array


class StaticForces:
    """Of a model with locked rates; ``at(q, tau, wrenches)``."""

    def __init__(self, model: Model, locked: Sequence[int]):
        self.model, self.locked = model, list(locked)
        self.free = [k for k in range(model.nv) if k not in set(self.locked)]
        self.closed = bool(kept_network(model).closures)
        self.rest = np.zeros(model.nv)
        self.mass = cached_solver(model, MassMatrix, algorithm="crba", representation="body")

    def at(self, q: Array, tau: Array, wrenches: Mapping[str, Any] | None) -> Local:
        return self._of_loops(q, tau, wrenches) if self.closed else self._of_tree(q, tau, wrenches)

    def _of_tree(self, q: Array, tau: Array, wrenches: Mapping[str, Any] | None) -> Local:
        model, free = self.model, self.free
        forces = cached_solver(model, InverseDynamics, representation="body")
        slopes = cached_solver(model, InverseDynamicsDerivatives, method="auto")
        F = tau - forces(q, self.rest, self.rest, wrenches)
        K = slopes(q, self.rest, self.rest, wrenches).dtau_dq[free][:, free]
        Z = np.eye(model.nv)[:, free]
        M, held, a = self.mass(q)[free][:, free], np.zeros(model.nv), np.zeros(model.nv)
        a[free], held[self.locked] = np.linalg.solve(M, F[free]), -F[self.locked]
        return Local(q, a, Z, F[free], K, M, held)

    def _of_loops(self, q: Array, tau: Array, wrenches: Mapping[str, Any] | None) -> Local:
        model, locked = self.model, self.locked
        forward = cached_solver(model, ForwardDynamics, algorithm="aba", representation="body")
        derivatives = cached_solver(model, ForwardDynamicsDerivatives, method="auto")
        Z = null_space(np.concatenate([loop_numbers(model)(q).J, np.eye(model.nv)[locked]]), model.nv)
        M, held = self.mass(q), np.zeros(model.nv)
        slopes, a = derivatives(q, self.rest, tau, wrenches), forward(q, self.rest, tau, wrenches)
        if locked:
            B = slopes.da_dtau[:, locked]
            held[locked] = -np.linalg.lstsq(B[locked], a[locked], rcond=1e-12)[0]
            slopes = derivatives(q, self.rest, tau + held, wrenches)
            a = forward(q, self.rest, tau + held, wrenches)
        return Local(q, a, Z, Z.T @ M @ a, -Z.T @ M @ slopes.da_dq @ Z, Z.T @ M @ Z, held)
