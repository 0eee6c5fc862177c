"""How contact forces change with the problem: the natural map at its solution, differentiated (implicit functions).

Every row keeps its phase (open, at a bound, sticking, sliding), and with u = G P + c, e = dG P + dc

* at a bound, open:       dP = 0;
* active, sticking:       G dP = -e;
* sliding, d = z/\\|z\\|:    dP - mu d dP_n - T (dP - G dP) = -T e + d P_n dmu,  T = (r/\\|z\\|) (1 - d d^T), z = P - u,

in scaled rows: K dP = D dmu - E e. Where a phase is about to change (grazing, the edge of the cone) the derivative is
that of one side. Redundant rows: the least change of forces; du is unique."""

from __future__ import annotations

from typing import Any

import numpy as np

from gyrostat.algorithms.contact.cone_layout import Array, ConeLayout, force_set
from gyrostat.algorithms.contact.cone_problem import ConeSolution, checked
from gyrostat.algorithms.contact.cone_scaling import ScaledProblem, scaled

REDUNDANT = 1e-9
"""Singular values of K, relative to the largest, that count as zero."""


class ConeSensitivity:
    """Derivatives of forces and velocities at a solution of :func:`~.cone_problem.solve_cones`, same arguments."""

    def __init__(
        self,
        solution: ConeSolution,
        G: Any,
        c: Any,
        layout: ConeLayout,
        mu: Any,
        *,
        torsional: Any = 0.0,
        rolling: Any = 0.0,
        bounds: Any = None,
    ):
        where = "ConeSensitivity"
        self.G, c, self.P = checked(G, c, layout, solution.P, where)
        self.layout = layout
        problem = scaled(self.G, c, force_set(layout, mu, torsional, rolling, bounds, where))
        K, E, D = _differentiated(problem, self.P * problem.scale, layout)
        inverse = np.linalg.pinv(K, rcond=REDUNDANT)
        s = problem.scale
        self.by_c: Array = -(inverse @ E) / s[:, None] / s
        """dP/dc (m, m)."""
        self.by_mu: Array = (inverse @ D) / s[:, None]
        """dP/dmu (m, contacts)."""

    def tangent(self, dG: Any = 0.0, dc: Any = 0.0, dmu: Any = 0.0) -> tuple[Array, Array]:
        """dP and du (m,) for changes dG (m, m), dc (m,) and dmu of each contact (k,)."""
        e = np.asarray(dG, dtype=float) * np.ones_like(self.G) @ self.P + np.asarray(dc, dtype=float)
        dP = self.by_c @ e + self.by_mu @ np.broadcast_to(np.asarray(dmu, dtype=float), (self.by_mu.shape[1],))
        return dP, e + self.G @ dP

    def adjoint(self, gP: Any, gu: Any = 0.0) -> tuple[Array, Array, Array]:
        """Gradients by G (m, m), c (m,) and mu (k,) of a number whose gradient by P is ``gP`` (m,), and by u ``gu``."""
        gu = np.broadcast_to(np.asarray(gu, dtype=float), self.P.shape)
        forces = np.asarray(gP, dtype=float) + self.G.T @ gu
        by_c = self.by_c.T @ forces + gu
        return np.outer(by_c, self.P), by_c, self.by_mu.T @ forces


def _differentiated(problem: ScaledProblem, P: Array, layout: ConeLayout) -> tuple[Array, Array, Array]:
    """K (m, m), E (m, m) and D (m, contacts) in scaled rows."""
    m, A, forces = len(P), problem.A, problem.forces
    u = A @ P + problem.c
    z = P - u
    bound = np.clip(z, forces.low, forces.high)
    K, E, D = A.copy(), np.eye(m), np.zeros((m, len(layout.sizes)))
    contact = {n: i for i, n in enumerate(layout.normals)}

    def fixed(rows: Any) -> None:
        K[rows], E[rows] = np.eye(m)[rows], 0.0

    for k in np.flatnonzero((bound != z) | problem.dead):
        fixed(k)
    for disc in forces.discs:
        rows, n = disc.rows, disc.normal
        radius, length = disc.ratio * P[n] + disc.base, float(np.linalg.norm(z[rows]))
        if problem.dead[n] or bound[n] != z[n]:
            fixed(rows)
        elif length > radius:
            d = z[rows] / length
            T = radius / length * (np.eye(disc.size) - np.outer(d, d))
            K[rows], E[rows] = T @ A[rows], 0.0
            K[rows, rows] += np.eye(disc.size) - T
            K[rows, n] -= disc.ratio * d
            E[rows, rows] = T
            if disc.first == n + 1:  # mu = ratio scale_n / scale_t
                D[rows, contact[n]] = d * P[n] * problem.scale[disc.first] / problem.scale[n]
    return K, E, D
