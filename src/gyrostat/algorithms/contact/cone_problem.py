"""Contact forces within exact friction cones: complementarity with Coulomb's law, on Delassus' matrix.

    u = G P + c;    normals and limits: P >= 0, u >= 0, P u = 0;    bilateral: u = 0;
    friction: \\|P_t\\| <= mu P_n, and where u_t is not zero P_t = -mu P_n u_t/\\|u_t\\|;    boxes likewise.

P: impulses and u: velocities after them, or forces and accelerations. Each row is scaled by the root of its diagonal, so
that P and u have the same unit (root of energy) and A = S^-1 G S^-1 has ones on its diagonal. Sweeps find out which contacts are open, stick and slide; Newton's
method finishes, where it lowers the residual. [Acary, Brogliato: Numerical Methods for Nonsmooth Dynamical Systems, 13]"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.algorithms.contact.cone_layout import Array, ConeLayout, Disc, ForceSet, force_set
from gyrostat.algorithms.contact.cone_newton import newton_step
from gyrostat.algorithms.contact.cone_sweeps import Sweeps
from gyrostat.errors import NonFiniteError, ShapeError

NEGLIGIBLE = 1e-14
"""Rows with a smaller diagonal, relative to the largest, move nothing: their force stays zero."""


@dataclass(frozen=True)
class ConeSolution:
    """Forces ``P`` (m,) and velocities ``u`` = G P + c (m,). ``residual``: largest entry of the natural map in scaled
    rows, relative to that of c; ``iterations``: sweeps and steps of Newton; ``converged``: residual <= tolerance."""

    P: Array
    u: Array
    residual: float
    iterations: int
    converged: bool


@dataclass(frozen=True)
class ScaledProblem:
    """The problem with a unit diagonal: ``scale`` (m,) with P' = scale P, u' = u/scale; ``dead`` rows move nothing."""

    A: Array
    c: Array
    forces: ForceSet
    scale: Array
    dead: Array
    size: float

    def residual(self, P: Array) -> float:
        """Largest entry of the natural map at scaled, feasible forces, relative to c."""
        return float(np.abs(self.forces.natural_map(P, self.A @ P + self.c)).max(initial=0.0)) / self.size


def solve_cones(
    G: Any,
    c: Any,
    layout: ConeLayout,
    mu: Any,
    start: Any = None,
    tolerance: float = 1e-10,
    *,
    torsional: Any = 0.0,
    rolling: Any = 0.0,
    bounds: Any = None,
    effort: int = 30,
) -> ConeSolution:
    """Forces of the rows of ``layout`` for G = J M^-1 J^T (m, m) and c (m,).

    ``mu``, ``torsional`` [m], ``rolling`` [m]: one for all contacts or (k,); ``bounds`` (boxes, 2): low and high.
    ``start`` (m,): forces to begin with. Redundant rows: the velocities are unique where those of the problem are, the
    forces are one of many. Ends after ``effort`` rounds; ``converged`` says how."""
    G, c, P = checked(G, c, layout, start, "solve_cones")
    problem = scaled(G, c, force_set(layout, mu, torsional, rolling, bounds))
    P, residual, count = solved(problem, P * problem.scale, tolerance, effort)
    P = P / problem.scale
    return ConeSolution(P, G @ P + c, residual, count, residual <= tolerance)


def checked(G: Any, c: Any, layout: ConeLayout, start: Any, where: str) -> tuple[Array, Array, Array]:
    """Arrays of the right shape, finite."""
    m = layout.rows
    G, c = np.asarray(G, dtype=float), np.asarray(c, dtype=float)
    P = np.zeros(m) if start is None else np.asarray(start, dtype=float)
    for name, x, shape in (("G", G, (m, m)), ("c", c, (m,)), ("start", P, (m,))):
        if x.shape != shape:
            raise ShapeError(f"{where}: {name} has shape {x.shape}, expected {shape}: the layout has {m} rows")
        if not np.isfinite(x).all():
            raise NonFiniteError(f"{where}: {name} holds NaN or infinity")
    return G, c, P


def scaled(G: Array, c: Array, forces: ForceSet) -> ScaledProblem:
    """Rows with a unit diagonal; the two of a disc have one scale."""
    diagonal = np.diag(G).copy()
    for disc in forces.discs:
        diagonal[disc.rows] = diagonal[disc.rows].mean()
    least = NEGLIGIBLE * diagonal.max(initial=0.0)
    dead = diagonal <= least
    scale = np.sqrt(np.maximum(diagonal, least)) if least > 0.0 else np.ones(len(c))
    low, high = forces.low * scale, forces.high * scale
    discs = tuple(
        Disc(
            d.first,
            d.size,
            d.normal,
            min(d.ratio * scale[d.first] / scale[d.normal], 1e100),
            d.offset * scale[d.normal],
        )
        for d in forces.discs
    )
    c = c / scale
    size = float(np.abs(c).max(initial=0.0))
    return ScaledProblem(G / np.outer(scale, scale), c, ForceSet(low, high, discs), scale, dead, size or 1.0)


def solved(problem: ScaledProblem, P: Array, tolerance: float, effort: int = 30) -> tuple[Array, float, int]:
    """Scaled forces, their residual, and how many sweeps and steps it took."""
    A, c, forces = problem.A, problem.c, problem.forces
    sweeps = Sweeps.of(np.where(problem.dead[:, None], 0.0, A), forces)
    P = forces.feasible(np.where(problem.dead, 0.0, P))
    residual, count, patience = problem.residual(P), 0, 4
    for _ in range(effort):
        if residual <= tolerance:
            break
        for _ in range(patience):
            P = sweeps.swept(P, c)
        residual = problem.residual(P)
        count += patience
        P, residual, steps = refined(problem, P, residual, tolerance)
        count += steps
        patience = min(patience + 2, 50)
    return P, residual, count


def refined(problem: ScaledProblem, P: Array, residual: float, tolerance: float) -> tuple[Array, float, int]:
    """Steps of Newton as long as each lowers the residual, shorter ones where the whole does not."""
    for step in range(10):
        if residual <= tolerance:
            return P, residual, step
        dP = newton_step(problem.A, problem.c, problem.forces, P, problem.dead)
        for length in (1.0, 0.5, 0.25, 0.1):
            trial = problem.forces.feasible(P + length * dP)
            new = problem.residual(trial)
            if new < residual:
                break
        else:
            return P, residual, step + 1
        P, residual = trial, new
    return P, residual, 10
