"""Dynamics with loops that stay constraints (AS (3)): the coordinates are those of a tree, and

    M a + h = tau + J^T f,    J a + b + k1 dg/dt + k2 g = 0

with the multipliers f, the forces that keep the loops closed. k1 = k2 = 0 unless drift is to be controlled [Baumgarte
1972]. Projections to the loop use the metric of M: of all displacements that close it the one of least kinetic energy
is taken, which does not depend on the units of the coordinates, and they share the factors of the same matrix."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.constrained.loop_equations import loop_equations, loop_residual
from gyrostat.algorithms.constrained.loop_structure import loop_structure
from gyrostat.algorithms.constrained.sparse_ldl import SparseFactors, product, sparse_factors
from gyrostat.algorithms.recursions.crba import composite_mass_matrix
from gyrostat.algorithms.recursions.rne import Loads, no_loads, sweep_forces
from gyrostat.graph.network import Network
from gyrostat.spatial.algebra import Array

__all__ = [
    "ConstrainedMotion",
    "constrained_accelerations",
    "kkt_factors",
    "loop_residual",
    "loop_structure",
    "position_step",
    "velocity_projection",
]


class ConstrainedMotion(NamedTuple):
    """a (nv,) and multipliers (m,) [N, N m], zero for rows that say nothing new."""

    a: Array
    multipliers: Array


def kkt_factors(network: Network, on: Setting, q: Array, J: Array) -> SparseFactors:
    """Factors of [[M, J^T], [J, 0]] with the rows that say something new."""
    structure = loop_structure(network)
    M = composite_mass_matrix(network, on, q)
    n, m = J.shape[1], J.shape[0]
    K = np.zeros((n + m, n + m), dtype=object)
    K[...] = 0.0
    K[:n, :n] = M
    K[n:, :n], K[:n, n:] = J, J.T
    return sparse_factors(K, structure.order)


def constrained_accelerations(
    network: Network,
    on: Setting,
    q: Array,
    v: Array,
    tau: Array,
    loads: Loads = no_loads,
    baumgarte: tuple[float, float] = (0.0, 0.0),
) -> ConstrainedMotion:
    """a and f for q (nq,), v (nv,) and tau (nv,) [N m, N]; ``loads``: external forces at ports; ``baumgarte``: k1
    [1/s], k2 [1/s^2]. The state is taken as it is, whether its loops are closed or not."""
    n = len(v)
    found = loop_equations(network, q, v)
    factors = kkt_factors(network, on, q, found.J)
    h = sweep_forces(network, on, q, v, np.zeros(n), loads)[0]
    k1, k2 = baumgarte
    asked = -found.bias
    if k1 != 0.0:
        asked = asked - product(found.J, v) * k1
    if k2 != 0.0:
        asked = asked - found.g * k2
    x = factors.solve(np.concatenate([tau - h, asked]))
    return ConstrainedMotion(x[:n], -x[n:])


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
