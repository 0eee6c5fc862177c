"""Derivatives of constrained dynamics, exact in every column.

With H_q = M a + h - tau - J^T f = 0 and H_c = J a + b = 0, small changes of the state change accelerations and
multipliers by

    [[M, J^T], [J, 0]] (da; -df) = -(dH_q; dH_c)

where dH is that at constant a and f: the derivatives of inverse dynamics of the tree, of J^T f and of J a + b. The last
two come from the equations of each loop on numbers with a rate, one column for each rate in it. A displacement may open
the loop: then a is that of (3a, b) at the open position."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gyrostat.algorithms.constrained.loop_equations import loop_equations
from gyrostat.algorithms.constrained.sparse_ldl import SparseFactors, product
from gyrostat.configuration.tangent import coordinate_rates
from gyrostat.engine.tracing.dual import rates_of, with_rates
from gyrostat.graph.network import Network
from gyrostat.spatial.algebra import Array

LEVEL = 1


class LoopSlopes(NamedTuple):
    """d(J^T f)/dq (nv, nv); d(J a + b)/dq and d(J a + b)/dv (m, nv), at constant a and f."""

    force_dq: Array
    acceleration_dq: Array
    acceleration_dv: Array


def loop_slopes(network: Network, q: Array, v: Array, a: Array, multipliers: Array) -> LoopSlopes:
    """Along displacements on the manifold, one for each rate."""
    n, m = len(v), len(multipliers)
    force, with_q, with_v = (_zeros(rows, n) for rows in (n, m, m))
    at = 0
    for number, closure in enumerate(network.closures):
        rows = slice(at, at + len(closure.equations))
        at = rows.stop
        for k in rates_in(network, number):
            unit = np.eye(n)[k]
            moved = with_rates(q, coordinate_rates(network.model, q, unit), LEVEL)
            found = loop_equations(network, moved, v, [number])
            force[:, k] += rates_of(product(found.J.T, multipliers[rows]), LEVEL)
            with_q[rows, k] = rates_of(product(found.J, a) + found.bias, LEVEL)
            with_v[rows, k] = rates_of(loop_equations(network, q, with_rates(v, unit, LEVEL), [number]).bias, LEVEL)
    return LoopSlopes(force, with_q, with_v)


def rates_in(network: Network, number: int) -> list[int]:
    """Rates of the model that move what is in a loop."""
    moved = network.transmission
    return sorted(
        {
            k
            for c in network.closures[number].components
            for i in range(c.v_at.start, c.v_at.stop)
            for k, _ in moved.ties(i)
        }
    )


def solved_columns(factors: SparseFactors, top: Array, bottom: Array) -> Array:
    """The first part (nv, columns) of K^-1 (top; bottom)."""
    n = len(top)
    columns = [factors.solve(np.concatenate([x, y]))[:n] for x, y in zip(top.T, bottom.T, strict=True)]
    return np.stack(columns, axis=1) if columns else np.zeros((n, 0))


def symmetric_response(factors: SparseFactors, n: int, m: int) -> Array:
    """da/dtau (nv, nv); of two equal entries the one that needs fewer operations."""
    X = solved_columns(factors, np.eye(n), np.zeros((m, n)))
    last = {k: place for place, k in enumerate(factors.numbers)}
    for i in range(n):
        for j in range(i):
            X[i, j] = X[j, i] = X[i, j] if last[j] > last[i] else X[j, i]
    return X


def _zeros(rows: int, columns: int) -> Array:
    found = np.zeros((rows, columns), dtype=object)
    found[...] = 0.0
    return found
