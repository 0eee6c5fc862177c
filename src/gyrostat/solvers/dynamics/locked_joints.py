"""Locked joints: at rest whatever acts on them, so that their rows leave the equations of motion.

With s the rates that are free and h the locked ones, a_h = 0 and M_ss a_s = tau_s - b_s. The matrix with M_ss and ones
in the place of M_hh, and nothing between them, gives a_s along the tree like any mass matrix."""

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


def without_locked(x: Array, locked: Sequence[int]) -> Array:
    """x (nv, ...) with zeros for locked rates."""
    if not len(locked):
        return x
    free = np.array(x)
    free[list(locked)] = 0.0
    return free


def free_inertia_factors(net: Network, on: Setting, q: Array, locked: Sequence[int]) -> Factors:
    """Factors of the mass matrix, that of the free rates beside ones for the locked."""
    M = np.array(composite_mass_matrix(net, on, q))
    locked = list(locked)
    M[locked, :], M[:, locked] = 0.0, 0.0
    M[locked, locked] = 1.0
    return factorise(inboard_rates(net), M)


def free_accelerations(
    net: Network, on: Setting, q: Array, v: Array, tau: Array, given: Loads, locked: Sequence[int]
) -> tuple[Array, Factors]:
    """a (nv,) with a_h = 0, and the factors that it was solved with."""
    factors = free_inertia_factors(net, on, q, locked)
    bias: Any = sweep_forces(net, on, q, v, np.zeros(net.model.nv), given)[0]
    return without_locked(factors.solve(tau - bias), locked), factors


def symmetric_inverse(factors: Factors, n: int) -> Array:
    """M^-1 from its factors; of two equal entries the one that needs fewer operations."""
    inverse = factors.solve(np.eye(n))
    order = {k: place for place, k in enumerate(factors.inboard)}
    return np.array(
        [
            [inverse[min(j, k, key=order.__getitem__), max(j, k, key=order.__getitem__)] for k in range(n)]
            for j in range(n)
        ]
    ).reshape(n, n)
