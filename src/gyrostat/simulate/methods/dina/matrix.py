"""The matrix S of AS (7) that is kept for many steps, and how far it is from what it should be.

    S^-1 = (1 - b) M + h/2 dH/dv + h^2/4 dH/dq at a configuration q*,

with a share b = BIAS of the mass matrix left out. Its error against the same matrix at another configuration q is
bounded by the eigenvalues e of S (M(q) - (1 - b) M(q*)), in all directions at once. At q* they are about b; S serves
while they stay within LEAST and MOST."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from gyrostat.simulate.methods.acceptance import Forces

Array = np.ndarray
BIAS = 0.13
"""Share of the mass matrix that is left out. One Newton step with a matrix that is too large makes undamped vibrations
grow, by up to 5 % a step where it is off by 5 %; with one that is too small by up to a quarter it does not. With this
share the mass matrix may change by as much to either side."""
LEAST, MOST = -0.005, 0.3
"""Eigenvalues e between which S serves."""


class KeptMatrix:
    """S (n + np, n + np) for steps of h [s], made from the matrix A of Newton's method and the mass matrix M (n, n).

    ``served``: steps so far; ``q`` (nq,): where it was made; ``start``: how much of it was used at its first step;
    ``forces``: what the residuals of its steps are compared with."""

    def __init__(self, A: Array, M: Array, h: float):
        n, self._whole = len(M), A.copy()
        self.forces = Forces.of(A, M, h)
        A[:n, :n] -= BIAS * M
        self.S, self.h, self.served = np.linalg.inv(A), h, 0
        self.start, self.q = 0.0, np.zeros(0)
        self._part, self._mass = self.S[:n, :n], (1.0 - BIAS) * M
        try:
            self._root: Array | None = np.linalg.cholesky(0.5 * (self._part + self._part.T))
        except np.linalg.LinAlgError:  # strongly unsymmetric, by a controller
            self._root = None
        self._low, self._high = self._errors(M)

    @cached_property
    def whole(self) -> Array:
        """The same without a bias, for steps that iterate: S (n + np, n + np) of Newton's method itself."""
        return np.linalg.inv(self._whole)

    def _errors(self, M: Array) -> tuple[float, float]:
        change, root = M - self._mass, self._root
        e = np.linalg.eigvals(self._part @ change).real if root is None else np.linalg.eigvalsh(root.T @ change @ root)
        return float(e.min()), float(e.max())

    def used(self, M: Array) -> float:
        """How far S is from its limits where the mass matrix is one of M (..., n, n): 0 where it was made, 1 at the
        limits."""
        low, high = self._errors(M)
        return max((self._low - low) / max(self._low - LEAST, 1e-3), (high - self._high) / max(MOST - self._high, 1e-3))


def change_of_mass(M: Array, other: Array) -> float:
    """Largest relative change of the mass matrix from M to another one, in any direction."""
    root = np.linalg.inv(np.linalg.cholesky(M))
    return float(np.max(np.abs(np.linalg.eigvalsh(root @ other @ root.T) - 1.0)))
