"""The modified recursive Newton-Euler algorithm [KV (4)-(36)]: mass matrix and bias in one pass.

KV writes every acceleration and force as a bias and a sum over the joint accelerations, (5), (9), (12), (16), and
carries the coefficients inward, (20)-(30). Here the numbers themselves do that: :class:`Affine` is c + sum of c_k a_k,
and the rows of Newton-Euler are run once on accelerations of this kind. So it works on any tree, for any joint, and
for any component that has a row; an external wrench is part of the bias."""

from __future__ import annotations

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.recursions.affine_number import Affine
from gyrostat.algorithms.recursions.rne import Loads, no_loads, sweep_forces
from gyrostat.graph.network import Network
from gyrostat.spatial.algebra import Array


def mass_matrix_and_bias(
    network: Network, on: Setting, q: Array, v: Array, loads: Loads = no_loads
) -> tuple[Array, Array]:
    """H (nv, nv) and u' (nv,) with u = H a + u' [KV (2)]."""
    n = len(v)
    a = np.array([Affine(0.0, {k: 1.0}) for k in range(n)] or [], dtype=object)
    forces = sweep_forces(network, on, q, v, a, loads)[0]
    kind = np.result_type(np.asarray(q), np.asarray(v), np.float64)
    H, bias = np.full((n, n), 0.0, dtype=kind), np.full(n, 0.0, dtype=kind)
    for j, f in enumerate(forces):
        if isinstance(f, Affine):
            bias[j] = f.c
            for k, x in f.terms.items():
                H[j, k] = x
        else:
            bias[j] = f
    return H, bias
