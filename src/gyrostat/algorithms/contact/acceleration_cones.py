"""Contact forces at an instant: contacts that slide have friction of a known direction, others stick or start to slide.

    u = G f + c: accelerations of the rows;    at rest: Coulomb's cone with mu_static between f and u;
    sliding: f_t = -mu_dynamic f_n w_t/\\|w_t\\|, f_n >= 0, u_n >= 0, f_n u_n = 0.

With f = B x (x: normal forces of the sliding contacts, all rows of the others) the problem is u = A x + c, A = S G B,
which is unsymmetric: friction may press a contact more than its force lifts it (Painleve 1895). Then there may be no
solution, or several: whether, is found out by trying the sliding contacts, on or off, if A is not positive definite or
nothing is found. With more than eight of them, what is not found is said not to have converged, and no more."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Literal

import numpy as np

from gyrostat.algorithms.contact.cone_layout import Array, ConeLayout, Disc, ForceSet, force_set
from gyrostat.algorithms.contact.cone_problem import ConeSolution, checked
from gyrostat.algorithms.contact.cone_rounds import rounds, solved
from gyrostat.algorithms.contact.cone_scaling import ScaledProblem, scaled
from gyrostat.errors import ShapeError

REDUNDANT = 1e-9
"""Eigenvalues below this one, in scaled rows, count as zero."""
MOST_TRIED = 8
"""Sliding contacts that are tried on and off: 256 cases."""


@dataclass(frozen=True)
class PainleveSituation:
    """Rigid contact with friction has no solution ("inconsistent": an impact without collision) or several
    ("indeterminate"); ``contacts``: those that slide, and whose forces differ if there are several; ``others``: further
    forces (m,) that solve the problem."""

    kind: Literal["inconsistent", "indeterminate"]
    contacts: tuple[int, ...]
    others: tuple[Array, ...] = ()


@dataclass(frozen=True)
class AccelerationSolution(ConeSolution):
    """Forces and accelerations of all rows, with the certificate (residual), and the situation if it is Painleve's."""

    situation: PainleveSituation | None = None


@dataclass(frozen=True)
class _Reduced:
    """x -> f = B x, rows ``kept`` of u; ``slides``: contact and row of x for each one that slides."""

    B: Array
    kept: Array
    slides: tuple[tuple[int, int], ...]
    forces: ForceSet


def solve_acceleration_cones(
    G: Any,
    c: Any,
    layout: ConeLayout,
    mu_static: Any,
    mu_dynamic: Any,
    slip: Any,
    start: Any = None,
    tolerance: float = 1e-10,
    *,
    torsional: Any = 0.0,
    rolling: Any = 0.0,
    bounds: Any = None,
) -> AccelerationSolution:
    """Forces f (m,) as ``P`` and accelerations ``u``; ``slip`` (k, 2): velocities (t1, t2) of the contacts [m/s], zero
    for those at rest. A solution with the fewest forces is taken where there are several."""
    where = "solve_acceleration_cones"
    G, c, f = checked(G, c, layout, start, where)
    slip = np.asarray(slip, dtype=float)
    if slip.shape != (len(layout.sizes), 2) or not np.isfinite(slip).all():
        raise ShapeError(f"{where}: slip has shape {slip.shape}, expected ({len(layout.sizes)}, 2), finite")
    at_rest = force_set(layout, mu_static, torsional, rolling, bounds, where)
    moving = force_set(layout, mu_dynamic, torsional, rolling, bounds, where)
    reduced = _reduced(at_rest, moving, layout, slip)
    problem = scaled(G[reduced.kept] @ reduced.B, c[reduced.kept], reduced.forces, np.diag(G)[reduced.kept])
    x = problem.forces.feasible(f[reduced.kept] * problem.scale)
    return _answer(G, c, reduced, problem, x, tolerance)


def _reduced(at_rest: ForceSet, moving: ForceSet, layout: ConeLayout, slip: Array) -> _Reduced:
    m = layout.rows
    keep, B = np.ones(m, dtype=bool), np.eye(m)
    sliding = dict[int, int]()
    for i, n in enumerate(layout.normals):
        speed = float(np.hypot(*slip[i]))
        if layout.sizes[i] > 1 and speed > 0.0:
            ratio = next(d.ratio for d in moving.discs if d.first == n + 1)
            B[n + 1 : n + 3, n] = -ratio * slip[i] / speed
            keep[n + 1 : n + 3] = False
            sliding[i] = n
    kept = np.flatnonzero(keep)
    place = np.cumsum(keep) - 1
    discs = tuple(
        Disc(int(place[d.first]), d.size, int(place[d.normal]), d.ratio, d.base) for d in at_rest.discs if keep[d.first]
    )
    slides = tuple((i, int(place[n])) for i, n in sliding.items())
    return _Reduced(B[:, kept], kept, slides, ForceSet(at_rest.low[kept], at_rest.high[kept], discs))


def _answer(
    G: Array, c: Array, reduced: _Reduced, problem: ScaledProblem, x: Array, tolerance: float
) -> AccelerationSolution:
    doubt = _doubt(problem, reduced, G)
    few = 0 < len(reduced.slides) <= MOST_TRIED
    every = list[Array]()
    x, residual, count = (x, np.inf, 0) if doubt and few else solved(problem, x, tolerance)
    if few and residual > tolerance:
        every, count = _all_solutions(problem, reduced, tolerance), count + 2 ** len(reduced.slides)
        x = every[0] if every else x
        residual = problem.residual(x)
    f = reduced.B @ (x / problem.scale)
    situation = None
    if len(every) > 1:
        others = tuple(reduced.B @ (y / problem.scale) for y in every[1:])
        differ = [i for i, k in reduced.slides if any(abs(y[k] - x[k]) > 1e-6 * problem.size for y in every[1:])]
        situation = PainleveSituation("indeterminate", tuple(differ), others)
    elif few and residual > tolerance:
        situation = PainleveSituation("inconsistent", tuple(i for i, _ in reduced.slides))
    return AccelerationSolution(f, G @ f + c, residual, count, residual <= tolerance, situation)


def _doubt(problem: ScaledProblem, reduced: _Reduced, G: Array) -> bool:
    """Whether sliding contacts with independent normals may have no solution or several: the symmetric part of A is not
    positive definite, seen from them alone (the others let go or held). Loads that redundant normals can share in many
    ways are no such case."""
    k = [row for _, row in reduced.slides]
    if not k:
        return False
    normals = reduced.kept[k]
    own = G[np.ix_(normals, normals)] / np.outer(problem.scale[k], problem.scale[k])
    if _least(own) <= REDUNDANT:
        return False
    rest = [i for i in range(len(problem.c)) if i not in set(k)]
    loose = problem.A[np.ix_(k, k)]
    inverse = np.linalg.pinv(problem.A[np.ix_(rest, rest)], rcond=1e-10)
    held = loose - problem.A[np.ix_(k, rest)] @ inverse @ problem.A[np.ix_(rest, k)]
    return min(_least(loose), _least(held)) <= REDUNDANT


def _least(A: Array) -> float:
    """Smallest eigenvalue of the symmetric part."""
    return float(np.linalg.eigvalsh((A + A.T) / 2)[0])


def _all_solutions(problem: ScaledProblem, reduced: _Reduced, tolerance: float) -> list[Array]:
    """Solutions that differ, those with the fewest contacts on first."""
    found = list[Array]()
    rows = [k for _, k in reduced.slides]
    for pattern in sorted(product((False, True), repeat=len(rows)), key=sum):
        x = _tried(problem, rows, pattern, tolerance)
        if x is not None and not any(np.abs(problem.A @ (x - y)).max() <= 1e-7 * problem.size for y in found):
            found.append(x)
    return found


def _tried(problem: ScaledProblem, rows: list[int], pattern: tuple[bool, ...], tolerance: float) -> Array | None:
    """The solution with these sliding contacts on (bilateral for the time being) and the others off, if it is one."""
    low, high = problem.forces.low.copy(), problem.forces.high.copy()
    low[rows] = [-np.inf if on else 0.0 for on in pattern]
    high[rows] = [np.inf if on else 0.0 for on in pattern]
    trial = replace(problem, forces=replace(problem.forces, low=low, high=high))
    x, residual, _ = rounds(trial, trial.forces.feasible(np.zeros(len(low))), tolerance)
    if residual > tolerance or (x[rows] < 0.0).any():
        return None
    return x if problem.residual(x) <= tolerance else None
