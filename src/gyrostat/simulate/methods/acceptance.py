"""Whether a step of an implicit method is accepted: by its residual, relative to the forces in the step.

    |H_j| <= share (|tau_j| + |rnea_j| + sum_i |M_ji| |a_i|) + rounding_j,                     H = rnea - tau
    |p1 - p0 - h/2 (f0 + f1)| <= share h/2 (|f0| + |f1|) + rounding

What is accepted is the exact solution of the step for efforts that are wrong by that share at most, however poor the
matrix of Newton's method was. ``rounding_j`` is what a change of q and p by rounding makes of the residual."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

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
    h: Any

    @classmethod
    def of(cls, A: Array, M: Array, h: float) -> Forces:
        """From the matrix A (nv + np, nv + np) of Newton's method, whose part by a is M (nv, nv)."""
        n, slopes = len(M), A.copy()
        slopes[:n, :n] -= M
        slopes[n:, n:] -= np.eye(len(A) - n)
        return cls(np.abs(M), np.abs(slopes), h)

    def allowed(self, r: Array, q: Array, a: Array, tau: Array, p: Array, f: tuple[Array, Array], share: Any) -> Any:
        """Largest residuals (nv + np,) that are accepted. q, a, tau, p at the end of a step, where the residual is r,
        f = dp/dt at both ends. On numbers and recorded values."""
        n = len(self.mass)
        moving = np.abs(tau) + np.abs(r[:n] + tau) + self.mass @ np.abs(a)
        flowing = 0.5 * self.h * (np.abs(f[0]) + np.abs(f[1]))
        reach = (4.0 / self.h**2) * (1.0 + np.sum(np.abs(q))) * np.ones(n)
        rounding = self.slopes @ np.concatenate([reach, np.abs(p)])
        rounding = np.concatenate([rounding[:n], rounding[n:] + np.abs(p)])
        return share * np.concatenate([moving, flowing]) + ROUNDING * rounding
