"""Whether a step of an implicit method is accepted: by its residual, relative to the forces in the step.

    |H_j| <= share (|tau_j| + |rnea_j| + sum_i |M_ji| |a_i|) + rounding_j,                     H = rnea - tau
    |p1 - p0 - h/2 (f0 + f1)| <= share h/2 (|f0| + |f1|) + rounding

What is accepted is the exact solution of the step for efforts that are wrong by that share at most, however poor the
matrix of Newton's method was. ``rounding_j`` is what a change of q and p by rounding makes of the residual."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

Array = np.ndarray
ROUNDING = 2e-15
"""Relative error of q, p and what is computed of them, that nothing can avoid."""


@dataclass(frozen=True)
class Forces:
    """What the residuals of steps of ``h`` [s] are compared with: ``mass`` |M| (nv, nv); ``slopes`` (nv + np, nv + np):
    absolute values of the matrix of Newton's method without M, and without the unit matrix of p."""

    mass: Array
    slopes: Array
    h: float

    @classmethod
    def of(cls, A: Array, M: Array, h: float) -> Forces:
        """From the matrix A (nv + np, nv + np) of Newton's method, whose part by a is M (nv, nv)."""
        n, slopes = len(M), A.copy()
        slopes[:n, :n] -= M
        slopes[n:, n:] -= np.eye(len(A) - n)
        return cls(np.abs(M), np.abs(slopes), h)

    def excess(self, r: Array, q: Array, a: Array, tau: Array, p: Array, f: tuple[Array, Array], share: float) -> Array:
        """Residuals r (..., nv + np) over what is allowed (...,): up to 1 a step is accepted. q, a, tau, p at its end,
        f = dp/dt at both ends."""
        n = len(self.mass)
        size = np.abs(r)
        moving = np.abs(tau) + np.abs(r[..., :n] + tau) + np.abs(a) @ self.mass.T
        flowing = 0.5 * self.h * (np.abs(f[0]) + np.abs(f[1]))
        reach = (4.0 / self.h**2) * (1.0 + np.max(np.abs(q), axis=-1, keepdims=True)) * np.ones(n)
        rounding = np.concatenate([reach, np.abs(p)], axis=-1) @ self.slopes.T
        rounding[..., n:] += np.abs(p)
        allowed = share * np.concatenate([moving, flowing], axis=-1) + ROUNDING * rounding
        return np.max(np.divide(size, allowed, out=np.where(size > 0.0, np.inf, 0.0), where=allowed > 0.0), axis=-1)
