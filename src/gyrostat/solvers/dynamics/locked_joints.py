"""Joints that are held: at rest whatever acts on them, so that their rows leave the equations of motion.

With s the rates that are free and h the held ones, a_h = 0 and M_ss a_s = tau_s - b_s. The matrix with M_ss and ones in
the place of M_hh, and nothing between them, gives a_s along the tree like any mass matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.matrices.ltdl import Factors, factorise, inboard_rates
from gyrostat.algorithms.recursions.crba import composite_mass_matrix
from gyrostat.algorithms.recursions.rne import Loads, sweep_forces
from gyrostat.graph.network import Network

Array = np.ndarray


def at_rest(x: Array, held: Sequence[int]) -> Array:
    """x (nv, ...) with zeros for held rates."""
    if not len(held):
        return x
    still = np.array(x)
    still[list(held)] = 0.0
    return still


def inertia_factors(net: Network, on: Setting, q: Array, held: Sequence[int]) -> Factors:
    """Factors of the mass matrix, that of the free rates beside ones for the held."""
    M = np.array(composite_mass_matrix(net, on, q))
    held = list(held)
    M[held, :], M[:, held] = 0.0, 0.0
    M[held, held] = 1.0
    return factorise(inboard_rates(net), M)


def accelerations(
    net: Network, on: Setting, q: Array, v: Array, tau: Array, given: Loads, held: Sequence[int]
) -> tuple[Array, Factors]:
    """a (nv,) with a_h = 0, and the factors that it was solved with."""
    factors = inertia_factors(net, on, q, held)
    bias: Any = sweep_forces(net, on, q, v, np.zeros(net.model.nv), given)[0]
    return at_rest(factors.solve(tau - bias), held), factors


def symmetric_inverse(factors: Factors, n: int) -> Array:
    """M^-1 from its factors; of two equal entries the one that needs fewer operations."""
    found = factors.solve(np.eye(n))
    order = {k: place for place, k in enumerate(factors.inboard)}
    return np.array(
        [
            [found[min(j, k, key=order.__getitem__), max(j, k, key=order.__getitem__)] for k in range(n)]
            for j in range(n)
        ]
    ).reshape(n, n)
