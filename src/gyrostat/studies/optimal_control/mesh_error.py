"""How far a motion on a grid is from the equations of motion, and grids that follow from it.

Between points the states are the polynomials of the rule, so that what is left of the equations, r = f(x, u) - dx/dt,
can be integrated over each interval [Betts 2010, 4.7]: eta_k = int |r| dt. Weighted with the multipliers of the
equations it says what the cost would change by, to first order: dJ_k = int l dt - l_k - int lambda . r dt for each
interval. Their sum misses what the shape of the controls costs, and may cancel; the sum of |dJ_k| does not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.studies.optimal_control.hermite_simpson import HermiteSimpson
from gyrostat.studies.optimal_control.nonlinear_program import NonlinearProgram
from gyrostat.studies.optimal_control.program_solution import ProgramSolution
from gyrostat.studies.optimal_control.radau import radau_points

Array = np.ndarray
NODES, WEIGHTS = np.polynomial.legendre.leggauss(6)
NODES, WEIGHTS = 0.5 * (NODES + 1.0), 0.5 * WEIGHTS


@dataclass(frozen=True, eq=False)
class GridError:
    """Of each phase the errors (N, 2 nv) of the states over its intervals, and relative to their range plus one (N,);
    ``cost``: what they change in the cost; ``spread``: the same, summed without the signs of the intervals."""

    states: tuple[Array, ...]
    relative: tuple[Array, ...]
    cost: float
    spread: float

    @property
    def greatest(self) -> float:
        return float(max(r.max() for r in self.relative))


def grid_error(program: NonlinearProgram, solution: ProgramSolution) -> GridError:
    """The errors of a solution."""
    theta, states, relative, changes, row = solution.x[program.theta_at], [], [], [], 0
    for p in program.phases:
        z = p.z(solution.x, theta)
        weights = solution.rows[row : row + p.defects]
        row += p.rows
        eta, change = _of_phase(p, z, theta, weights)
        states.append(eta)
        relative.append((eta / (1.0 + np.abs(z[:, : p.n2]).max(axis=0))).max(axis=1))
        changes.append(change)
    cost = np.concatenate(changes)
    return GridError(tuple(states), tuple(relative), float(cost.sum()), float(np.abs(cost).sum()))


def _of_phase(p: Any, z: Array, theta: Array, weights: Array) -> tuple[Array, Array]:
    n2, grid = p.n2, p.rule.grid
    h, _ = grid.steps(theta)
    e, _ = p.flow.value(z, *p.data)
    eta, change = np.zeros((len(h), n2)), np.zeros(len(h))
    costates = _costates(p, weights.reshape(len(h), p.rule.stages, n2))
    for s, w in zip(NODES, WEIGHTS, strict=True):
        zs, rate = inside(p, z, e, h, float(s))
        es, _ = p.flow.value(zs, *grid.data(grid.edges[:-1] + s * grid.shares, zs))
        r = es[:, :n2] - rate
        eta += w * h[:, None] * np.abs(r)
        change += w * h * (es[:, -1] - (costates(grid.edges[:-1] + s * grid.shares) * r).sum(axis=1))
    with np.errstate(invalid="ignore"):  # a solution that is no motion: the solver says so
        return eta, change + p.rule.value(z, e, h)[:, -1, -1]


def _costates(p: Any, multipliers: Array) -> Any:
    """Multipliers (k, 2 nv) as straight lines in the fraction of the phase: those of Hermite-Simpson belong to the
    middles of intervals, sums over the stages of Radau to their starts."""
    grid, values = p.rule.grid, multipliers.sum(axis=1)
    at = grid.middles if isinstance(p.rule, HermiteSimpson) else grid.edges[:-1]

    def costates(s: Array) -> Array:
        if len(at) == 1:
            return np.broadcast_to(values[0], (len(s), values.shape[1]))
        k = np.clip(np.searchsorted(at, s) - 1, 0, len(at) - 2)
        x = ((s - at[k]) / (at[k + 1] - at[k]))[:, None]
        return (1.0 - x) * values[k] + x * values[k + 1]

    return costates


def inside(p: Any, z: Array, e: Array, h: Array, s: float) -> tuple[Array, Array]:
    """Points (N, nz) at the fraction s of each interval, and rates (N, 2 nv) of the polynomials there."""
    n2, rule = p.n2, p.rule
    if isinstance(rule, HermiteSimpson):
        x0, x1, f0, f1, k = z[:-1, :n2], z[1:, :n2], e[:-1, :n2], e[1:, :n2], h[:, None]
        x = (
            x0 * (1 + 2 * s) * (1 - s) ** 2
            + x1 * s * s * (3 - 2 * s)
            + k * (f0 * s * (1 - s) ** 2 - f1 * s * s * (1 - s))
        )
        rate = (x1 - x0) * 6 * s * (1 - s) / k + f0 * (1 - s) * (1 - 3 * s) + f1 * s * (3 * s - 2)
        zs = (1 - s) * z[:-1] + s * z[1:]
        zs[:, :n2] = x
        return zs, rate
    c = radau_points(rule.stages)
    at = rule.columns
    L, dL = _lagrange(np.append(0.0, c), s)
    x = np.einsum("j,kjx->kx", L, z[at, :n2])
    rate = np.einsum("j,kjx->kx", dL, z[at, :n2]) / h[:, None]
    own, _ = _lagrange(c, s)
    zs = np.einsum("j,kjx->kx", own, z[at[:, 1:]])
    zs[:, :n2] = x
    zs[:, p.nw :] = z[at[:, 0], p.nw :]
    return zs, rate


def _lagrange(c: Array, s: float) -> tuple[Array, Array]:
    """Values and slopes at s of the polynomials that are one at one of the points c."""
    powers = np.arange(len(c))
    inverse = np.linalg.inv(np.vander(c, increasing=True))
    slopes = np.where(powers > 0, powers * s ** np.maximum(powers - 1, 0), 0.0)
    return (s**powers) @ inverse, slopes @ inverse


def refined(program: NonlinearProgram, errors: GridError, tolerance: float, method: str) -> Sequence[Array]:
    """Grids with more intervals where the error is too large: as many as its order asks for, at most four each."""
    order = 5.0 if method == "hermite-simpson" else 2.0 * program.phases[0].rule.stages
    found = []
    for p, eta in zip(program.phases, errors.relative, strict=True):
        parts = np.clip(np.ceil((eta / tolerance) ** (1.0 / order)), 1, 4).astype(int)
        edges = p.rule.grid.edges
        pieces = [np.linspace(a, b, k + 1)[:-1] for a, b, k in zip(edges[:-1], edges[1:], parts, strict=True)]
        found.append(np.append(np.concatenate(pieces), 1.0))
    return found
