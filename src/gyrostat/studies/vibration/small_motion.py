"""Small motions about a pose at rest, with the controller: what frequencies and responses are computed from.

With Z (nv, k) the motions that loops allow, d = Z y, w = Z y':

    M y'' + D y' + K y = Z^T (u + T_q d + T_v w + T_p p),      p' = P_q d + P_v w + P_p p                      (1)

M = Z^T M Z, K = -Z^T M (da/dq) Z, D = -Z^T M (da/dv) Z with the accelerations of the closed robot, so that forces in
loops and those that hold the pose are in K."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gyrostat.algorithms.constrained.loop_equations import row_names
from gyrostat.errors import GyrostatError, LoopError
from gyrostat.graph.network import kept_network
from gyrostat.simulate.plant.derivatives import SourceDerivatives
from gyrostat.solvers.dynamics.constrained_linearisation import free_motions, rows_at
from gyrostat.solvers.dynamics.derivatives import ForwardDynamicsDerivatives, InverseDynamicsDerivatives
from gyrostat.solvers.dynamics.mass_matrix import MassMatrix
from gyrostat.solvers.machinery.solver_cache import cached_solver
from gyrostat.spec.model import Model

Array = np.ndarray


class SmallMotion(NamedTuple):
    """``M``, ``D``, ``K`` (k, k) without, ``law`` the slopes of the controller; ``Z`` (nv, k)."""

    M: Array
    D: Array
    K: Array
    Z: Array
    law: SourceDerivatives

    @property
    def closed(self) -> tuple[Array, Array]:
        """D and K with what the controller does at once, without its own states."""
        Z = self.Z
        return self.D - Z.T @ self.law.tau_v @ Z, self.K - Z.T @ self.law.tau_q @ Z

    def state_space(self) -> tuple[Array, Array]:
        """A (2 k + np, ..) and B (2 k + np, nv) of x = (y, y', p) and generalised forces u."""
        k, m, Z = len(self.M), len(self.law.p_p), self.Z
        D, K = self.closed
        A, B = np.zeros((2 * k + m, 2 * k + m)), np.zeros((2 * k + m, len(Z)))
        forces = np.concatenate([-K, -D, Z.T @ self.law.tau_p, Z.T], axis=1)
        accelerations = np.linalg.solve(self.M, forces)
        A[:k, k : 2 * k] = np.eye(k)
        A[k : 2 * k], B[k : 2 * k] = accelerations[:, : 2 * k + m], accelerations[:, 2 * k + m :]
        A[2 * k :] = np.concatenate([self.law.p_q @ Z, self.law.p_v @ Z, self.law.p_p], axis=1)
        return A, B


def small_motion(
    model: Model,
    q: Array,
    held: Array,
    free: list[int],
    law: SourceDerivatives,
    who: str,
    method: str = "auto",
    wrenches: Any = None,
) -> SmallMotion:
    """At one pose q (nq,), held by constant efforts (nv,); ``free``: numbers of the rates that are not locked."""
    M, K, D, Z = second_order(model, q, held, free, who, method, wrenches)
    return SmallMotion(M, D, K, Z, law)


def second_order(
    model: Model,
    q: Array,
    held: Array,
    free: list[int],
    who: str,
    method: str = "auto",
    wrenches: Any = None,
    **options: Any,
) -> tuple[Array, Array, Array, Array]:
    """M, K, D (..., k, k) and Z (..., nv, k)."""
    rest = np.zeros(model.nv)
    M = cached_solver(model, MassMatrix, algorithm="crba", representation="body")(q)
    if not kept_network(model).closures:
        K, D, _ = cached_solver(model, InverseDynamicsDerivatives, method=method)(q, rest, rest, wrenches, **options)
        Z = np.broadcast_to(np.eye(model.nv)[:, free], (*K.shape[:-2], model.nv, len(free)))
        return *(X[..., free, :][..., :, free] for X in (M, K, D)), Z
    parts = [_constrained(model, q[k], held[k], M[k], free, who, method, wrenches) for k in np.ndindex(q.shape[:-1])]
    if len({part[0].shape for part in parts}) > 1:
        raise LoopError(f"{who}: not all of these poses of '{model.name}' have the same freedom. Hint: one by one")
    return tuple(np.reshape(x, (*q.shape[:-1], *x[0].shape)) for x in zip(*parts, strict=True))  # type: ignore[return-value]


def _constrained(
    model: Model, q: Array, held: Array, M: Array, free: list[int], who: str, method: str, wrenches: Any
) -> tuple[Array, Array, Array, Array]:
    """Of a model whose loops stay constraints."""
    for closure, i in row_names(kept_network(model)):
        if not closure.equations[i].holonomic:
            raise LoopError(
                f"{who}: '{closure.name}' of '{model.name}' rolls: it has a loop of rates that no displacement closes. "
                "Hint: gs.linearise(model, q, v) has the eigenvalues of such motions",
                [closure.loop.entities],
            )
    rest = np.zeros(model.nv)
    locked = np.delete(np.eye(model.nv), free, axis=0)
    Z = free_motions(np.concatenate([rows_at(model, q, rest).J, locked]), model.nv)
    slopes = cached_solver(model, ForwardDynamicsDerivatives, method=method)(q, rest, held, wrenches)
    return Z.T @ M @ Z, -Z.T @ M @ slopes.da_dq @ Z, -Z.T @ M @ slopes.da_dv @ Z, Z


def cholesky(M: Array, who: str) -> Array:
    """L (..., k, k) of mass matrices."""
    try:
        return np.linalg.cholesky(M)
    except np.linalg.LinAlgError:
        raise GyrostatError(
            f"{who}: the mass matrix is singular, something without inertia can move. Hint: see gs.check"
        ) from None
