"""Contact forces within exact friction cones: complementarity with Coulomb's law, on Delassus' matrix.

    u = G P + c;    normals and limits: P >= 0, u >= 0, P u = 0;    bilateral: u = 0;
    friction: \\|P_t\\| <= mu P_n, and where u_t is not zero P_t = -mu P_n u_t/\\|u_t\\|;    boxes likewise.

P: impulses and u: velocities after them, or forces and accelerations. Sweeps find out which contacts are open, stick
and slide; Newton's method finishes. [Acary, Brogliato: Numerical Methods for Nonsmooth Dynamical Systems, 2008, 13]"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.algorithms.contact.cone_layout import Array, ConeLayout, force_set
from gyrostat.algorithms.contact.cone_rounds import solved
from gyrostat.algorithms.contact.cone_scaling import scaled
from gyrostat.errors import NonFiniteError, ShapeError


@dataclass(frozen=True)
class ConeSolution:
    """Forces ``P`` (m,) and velocities ``u`` = G P + c (m,). ``residual``: largest entry of the natural map in scaled
    rows, relative to that of c; ``iterations``: sweeps and steps of Newton; ``converged``: residual <= tolerance."""

    P: Array
    u: Array
    residual: float
    iterations: int
    converged: bool


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
) -> ConeSolution:
    """Forces of the rows of ``layout`` for G = J M^-1 J^T (m, m) and c (m,).

    ``mu``, ``torsional`` [m], ``rolling`` [m]: one for all contacts or (k,); ``bounds`` (boxes, 2): low and high.
    ``start`` (m,): forces to begin with. Redundant rows: the velocities are unique where those of the problem are, the
    forces are one of many. It always ends; ``converged`` says how."""
    G, c, P = checked(G, c, layout, start, "solve_cones")
    problem = scaled(G, c, force_set(layout, mu, torsional, rolling, bounds))
    P, residual, count = solved(problem, P * problem.scale, tolerance)
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
