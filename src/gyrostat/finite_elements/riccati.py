"""L of L G11 - G22 L - L G12 L + G21 = 0, G = M^-1 K [AS (17), (18)], by inverse iteration and Newton's method.

The columns of T = [1; -L] span an invariant subspace of G: K T = M T X with X = G11 - G12 L. The solution that is
wanted belongs to the lowest eigenvalues. The plain iteration L <- G22^-1 (L G11 - L G12 L + G21) [Anderson, Hallauer,
AIAA Journal 19 (1981) 796-800] need not converge. Two steps do, and need neither G nor M^-1:

* L <- (G22 + L G12)^-1 (G21 + L G11) is T <- A T (A T)_1^-1 with A = K^-1 M: inverse iteration, safe, with the rate
  lambda_m / lambda_m+1; with guard vectors beside T, from whose span the lowest m are taken, lambda_m / lambda_m+g+1;
* Newton's method on (17): D X - (G22 + L G12) D = -(residual), a Sylvester equation. With A T = T Y + R, Y = (A T)_1,
  it reads, in eigenvectors of Y, (y_i - P A) d_i = r_i, P = 1 - T (.)_1: matrices whose eigenvalues lie in
  [y_i - y_m+1, y_i], so that GMRES solves them with the factors that are there.

A step of Newton's method is taken back where it does not lower the residual, and inverse iteration goes on. A shift,
A = (K + s M)^-1 M, lets structures move freely: K is then singular."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gyrostat.errors import ReductionError
from gyrostat.finite_elements.gmres import gmres
from gyrostat.finite_elements.sparse_algebra import Array, factor, symmetric_eigenvectors
from gyrostat.finite_elements.structure_matrices import Partition

EXACT = 1e-12
"""Relative residual that is not improved upon."""
ENOUGH = 1e-9
"""Relative residual at which an iteration may stop where rounding lets it come no further."""
READY = 1e-4
"""Relative residual from which Newton's method is tried."""
INVERSE_STEPS, NEWTON_STEPS = 200, 8
BLIND = 1e10
"""Condition of the kept rows above which they do not tell the modes apart."""


@dataclass(frozen=True)
class RiccatiSolution:
    """T = [1; -L] (n, m); how many steps of each kind it took; the relative residual of A T = T Y."""

    T: Array
    inverse_steps: int
    newton_steps: int
    residual: float

    @property
    def converged(self) -> bool:
        return self.residual <= ENOUGH


def solve_riccati(partition: Partition, start: Array | None = None) -> RiccatiSolution:
    """The solution for the lowest eigenvalues, from T = [1; Gamma^T] (Guyan) or from ``start`` (n, m)."""
    iteration = _Iteration(partition, free_shift(partition))
    span = iteration.guarded(partition.joined(partition.Gamma.T) if start is None else start)
    inverse_steps = newton_steps = wait = 0
    while True:
        span, shapes = iteration.inverse_step(span)
        inverse_steps, wait = inverse_steps + 1, wait - 1
        state = iteration.at(shapes)
        while EXACT < state.residual < READY and wait <= 0 and newton_steps < NEWTON_STEPS:
            newton_steps += 1
            trial = iteration.at(iteration.newton(state))
            wait = 4 if trial.residual > 0.5 * state.residual else 0
            state = trial if trial.residual < state.residual else state
        if state.residual <= ENOUGH or inverse_steps == INVERSE_STEPS:
            return RiccatiSolution(state.T, inverse_steps, newton_steps, state.residual)


def free_shift(partition: Partition) -> float:
    """Zero if the structure is held; else an eigenvalue of its first elastic modes, from static condensation."""
    T = partition.joined(partition.Gamma.T)
    values = symmetric_eigenvectors(partition.K_bar, T.T @ (partition.whole.M @ T))[0]
    elastic = values[values > 1e-7 * values[-1]]
    return 0.0 if len(elastic) == len(values) else float(elastic[0]) if len(elastic) else float(abs(values[-1]))


def scaled(T: Array, keep: Array) -> Array:
    """T T_1^-1, whose kept rows are 1."""
    T1 = T[keep]
    condition = np.linalg.cond(T1 / np.linalg.norm(T1, axis=0)) if np.all(np.any(T1, axis=0)) else np.inf
    if not condition < BLIND:
        raise ReductionError(
            f"reduce_fe: the kept coordinates do not tell the first {len(keep)} modes apart, the condition of their "
            f"rows is {condition:.0e}. Hint: keep={len(keep)} lets the coordinates be chosen"
        )
    T = np.linalg.solve(T1.T, T.T).T
    T[keep] = np.eye(len(keep))
    return T


@dataclass(frozen=True)
class _State:
    """T with kept rows 1 and A T = T Y + R."""

    T: Array
    Y: Array
    R: Array
    residual: float


class _Iteration:
    """A = (K + s M)^-1 M and what is done with it; residuals are measured in the norm of M."""

    def __init__(self, partition: Partition, shift: float):
        self.M, self.keep = partition.whole.M, partition.keep
        K = (partition.whole.K + shift * self.M).tocsc() if shift else partition.whole.K
        self.factor = factor(K, "reduce_fe: the stiffness")

    def guarded(self, T: Array) -> Array:
        """T and as many guard vectors."""
        rng = np.random.default_rng(0)
        n, m = T.shape
        return np.hstack([T, rng.normal(size=(n, min(m + 4, n - m)))])

    def inverse_step(self, span: Array) -> tuple[Array, Array]:
        """A span, and the m lowest of the modes in it: (A Q)^T (K + s M) (A Q) = (A Q)^T M Q."""
        MQ = self.M @ span
        AQ = self.factor.quick(MQ)
        scale = 1.0 / np.sqrt(np.einsum("ij,ij->j", AQ, self.M @ AQ))
        AQ, MQ = AQ * scale, MQ * scale
        stiff, mass = AQ.T @ MQ, AQ.T @ (self.M @ AQ)
        span = AQ @ _ritz_vectors(stiff, mass)
        return span, span[:, : len(self.keep)]

    def at(self, shapes: Array) -> _State:
        T = scaled(shapes, self.keep)
        AT = self.factor(self.M @ T)
        Y = AT[self.keep]
        R = AT - T @ Y
        return _State(T, Y, R, float((self._norms(R) / np.maximum(self._norms(AT), 1e-300)).max()))

    def _norms(self, X: Array) -> Array:
        return np.sqrt(np.maximum(np.einsum("ij,ij->j", X, self.M @ X), 0.0))

    def newton(self, state: _State) -> Array:
        """T + D with kept rows of D zero: P A D - D Y = -R, one column for each eigenvalue of Y."""
        y, W = np.linalg.eig(state.Y)
        if np.iscomplexobj(y) or np.linalg.cond(W) > 1e8:
            return state.T  # no step: inverse iteration goes on
        T = state.T

        def sylvester(X: Array) -> Array:
            AX = self.factor.quick(self.M @ X)
            return X * y - (AX - T @ AX[self.keep])

        D = gmres(sylvester, state.R @ W, tolerance=max(state.residual, 1e-9))
        D[self.keep] = 0.0
        return T + np.linalg.solve(W.T, D.T).T


def _ritz_vectors(stiff: Array, mass: Array) -> Array:
    """Lowest first; directions that the span holds twice are left out."""
    size, Q = np.linalg.eigh((mass + mass.T) / 2.0)
    Q = Q[:, size > 1e-13 * size[-1]] / np.sqrt(size[size > 1e-13 * size[-1]])
    return Q @ np.linalg.eigh(Q.T @ ((stiff + stiff.T) / 2.0) @ Q)[1]
