"""Dynamics with loops that stay constraints (AS (3)): the coordinates are those of a tree, and

    M a + h = tau + J^T f,    J a + b + k1 dg/dt + k2 g = 0

with the multipliers f, the forces that keep the loops closed. k1 = k2 = 0 unless drift is to be controlled [Baumgarte
1972]. Two ways to the same numbers, of which the one with fewer operations is taken, by counting, once for a model:

    kkt             M by composite bodies, [[M, J^T], [J, 0]] = L D L^T with its zeros: short loops, many of them
    articulated     M^-1 J^T and J M^-1 J^T by articulated bodies [H04 (3.64)]: one loop that is long

Projections to the loop use the metric of M: of all displacements that close it the one of least kinetic energy is
taken, which does not depend on the units of the coordinates, and they share the factors of the same matrix."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.constrained.loop_equations import loop_equations, loop_residual
from gyrostat.algorithms.constrained.loop_numbers import resting
from gyrostat.algorithms.constrained.loop_structure import loop_structure
from gyrostat.algorithms.constrained.sparse_ldl import Single, SparseFactors, product, sparse_factors
from gyrostat.algorithms.recursions.articulated_dynamics import sweep_articulated
from gyrostat.algorithms.recursions.crba import composite_mass_matrix
from gyrostat.algorithms.recursions.rne import Loads, no_loads, sweep_forces
from gyrostat.configuration.model_cache import cached_on
from gyrostat.engine.tracing.record import record
from gyrostat.graph.network import Network, network
from gyrostat.spatial.algebra import Array
from gyrostat.spec.model import Model

__all__ = [
    "WAYS",
    "ConstrainedMotion",
    "cheaper_way",
    "constrained_accelerations",
    "kkt_factors",
    "loop_residual",
    "loop_structure",
    "position_step",
    "row_margins",
    "velocity_projection",
]
WAYS = ("kkt", "articulated")
LEAST = 12
"""Operations at least, of articulated bodies, for one rate and one right-hand side."""


class ConstrainedMotion(NamedTuple):
    """``a`` (nv,) and ``multipliers`` (m,) [N, N m], zero for rows that say nothing new."""

    a: Array
    multipliers: Array


Margins = Mapping[int, Any]
"""How far rows are from depending on those before, by their number: between 0 and 1."""


def kkt_factors(network: Network, on: Setting, q: Array, J: Array, safe: bool = False) -> SparseFactors:
    """Factors of [[M, J^T], [J, 0]] with the rows that say something new; ``safe``: in the order that has pivots at
    every state whose loops are not singular."""
    structure = loop_structure(network)
    M = composite_mass_matrix(network, on, q)
    n, m = J.shape[1], J.shape[0]
    K = np.zeros((n + m, n + m), dtype=object)
    K[...] = 0.0
    K[:n, :n] = M
    K[n:, :n], K[:n, n:] = J, J.T
    return sparse_factors(K, structure.safe if safe else structure.order, n)


def constrained_accelerations(
    network: Network,
    on: Setting,
    q: Array,
    v: Array,
    tau: Array,
    loads: Loads = no_loads,
    baumgarte: tuple[float, float] = (0.0, 0.0),
    way: str | None = None,
    safe: bool = False,
) -> ConstrainedMotion:
    """a and f for q (nq,), v (nv,) and tau (nv,) [N m, N]; ``loads``: external forces at ports; ``baumgarte``: k1
    [1/s], k2 [1/s^2]. The state is taken as it is, whether its loops are closed or not. ``way``: one of
    :data:`WAYS`, by default the cheaper one; ``safe`` as in :func:`kkt_factors`."""
    found = loop_equations(network, q, v)
    k1, k2 = baumgarte
    asked = -found.bias
    if k1 != 0.0:
        asked = asked - product(found.J, v) * k1
    if k2 != 0.0:
        asked = asked - found.g * k2
    solve = _by_articulated_bodies if (way or cheaper_way(network.model)) == "articulated" else _by_kkt
    return solve(_Task(network, on, q, v, tau, loads, found.J, asked, safe))[0]


def row_margins(network: Network, on: Setting, q: Array, way: str | None = None, safe: bool = False) -> Margins:
    """How near the loops are to a singular position, from the same factors."""
    J, rest = loop_equations(network, q).J, np.zeros(network.model.nv)
    solve = _by_articulated_bodies if (way or cheaper_way(network.model)) == "articulated" else _by_kkt
    return solve(_Task(network, on, q, rest, rest, no_loads, J, np.zeros(len(J)), safe))[1]


class _Task(NamedTuple):
    network: Network
    on: Setting
    q: Array
    v: Array
    tau: Array
    loads: Loads
    J: Array
    asked: Array
    safe: bool


def _by_kkt(task: _Task) -> tuple[ConstrainedMotion, Margins]:
    n = len(task.v)
    factors = kkt_factors(task.network, task.on, task.q, task.J, task.safe)
    h = sweep_forces(task.network, task.on, task.q, task.v, np.zeros(n), task.loads)[0]
    x = factors.solve(np.concatenate([task.tau - h, task.asked]))
    return ConstrainedMotion(x[:n], -x[n:]), {k - n: margin for k, margin in factors.margins.items()}


def _by_articulated_bodies(task: _Task) -> tuple[ConstrainedMotion, Margins]:
    rows = list(loop_structure(task.network).rows)
    J = task.J[rows]
    right = np.concatenate([task.tau[:, None], J.T], axis=1)
    response = sweep_articulated(task.network, task.on, task.q, task.v, right, task.loads).a
    free, Y = response[:, 0], response[:, 1:]
    A = np.zeros((len(rows), len(rows)), dtype=object)
    for i in range(len(rows)):
        A[i, i:] = A[i:, i] = product(Y[:, i:].T, J[i])
    factors = sparse_factors(A, range(len(rows)), len(rows))
    own = factors.solve(task.asked[rows] - product(J, free))
    f = np.zeros(len(task.J), dtype=object)
    f[...] = 0.0
    f[rows] = own
    margins = {
        rows[step.k]: 1.0 / (step.inverse * A[step.k, step.k]) for step in factors.steps if isinstance(step, Single)
    }
    return ConstrainedMotion(free + product(Y, own), f), margins


# ------------------------------------------------------------------------------------------------ projections
def position_step(network: Network, on: Setting, q: Array) -> Array:
    """One Newton step dv (nv,) along the rates towards the closed loop: J dv = -g, least in the metric of M."""
    found = loop_equations(network, q)
    factors = kkt_factors(network, on, q, found.J)
    return factors.solve(np.concatenate([np.zeros(found.J.shape[1]), -found.g]))[: found.J.shape[1]]


def velocity_projection(network: Network, on: Setting, q: Array, v: Array) -> Array:
    """The velocity (nv,) nearest to v, in the metric of M, with J v = 0."""
    found = loop_equations(network, q)
    factors = kkt_factors(network, on, q, found.J)
    return v + factors.solve(np.concatenate([np.zeros(len(v)), -product(found.J, v)]))[: len(v)]


# ------------------------------------------------------------------------------------------------ the cheaper way
def cheaper_way(model: Model) -> str:
    """Which of :data:`WAYS` needs fewer operations; found once for a model object."""
    kept = cached_on(model)
    if "loop way" not in kept:
        kept["loop way"] = _counted(network(model))
    return kept["loop way"]


def _counted(net: Network) -> str:
    n, rows = net.model.nv, len(loop_structure(net).rows)
    on = resting(net)

    def operations(way: str) -> int:
        def function(q: Array, v: Array, tau: Array) -> dict[str, Array]:
            return {"a": constrained_accelerations(net, on, q, v, tau, way=way).a}

        return sum(record(function, {"q": (net.model.nq,), "v": (n,), "tau": (n,)}).counts().values())

    kkt = operations("kkt")
    if LEAST * n * rows > kkt or loop_structure(net).massless:
        return "kkt"
    return min(("kkt", kkt), ("articulated", operations("articulated")), key=lambda pair: pair[1])[0]
