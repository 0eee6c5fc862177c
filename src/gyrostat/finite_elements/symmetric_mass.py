"""A symmetric mass matrix beside K_bar that keeps frequencies and rigid-body inertia.

M_bar of [AS (16)] is unsymmetric. Half the sum of it and its transpose moves frequencies and may be indefinite. Here
the kept rows V1 of the modes are changed as little as K_bar asks for: V = V1 C with V^T K_bar V = diag(lambda), then

    M = V^-T V^-1,    K_bar V = M V diag(lambda).

For elastic modes, with B = Lambda^-1/2 V1^T K_bar V1 Lambda^-1/2, C = Lambda^-1/2 B^-1/2 Lambda^1/2; B is nearly 1 for
the first modes, whose shapes static condensation has right. Rigid-body modes stay: K_bar V1 is zero for them."""

from __future__ import annotations

import numpy as np

from gyrostat.finite_elements.sparse_algebra import Array


def symmetric_mass(K_bar: Array, V1: Array, values: Array, rigid: int) -> tuple[Array, Array]:
    """M (m, m), and the modes V (m, m) that it has with K_bar: V^T M V = 1, V^T K_bar V = diag(values)."""
    V, root = V1.copy(), np.sqrt(values[rigid:])
    elastic = V1[:, rigid:]
    B = elastic.T @ K_bar @ elastic / np.outer(root, root)
    b, Q = np.linalg.eigh((B + B.T) / 2.0)
    V[:, rigid:] = elastic @ ((Q / np.sqrt(b)) @ Q.T * (root[None, :] / root[:, None]))
    inverse = np.linalg.inv(V)
    M = inverse.T @ inverse
    return (M + M.T) / 2.0, V
