"""The pseudo-inertia of a body: positive semidefinite exactly where a distribution of mass exists [Wensing 2018].

P = [[tr(J)/2 1 - J, m c], [m c^T, m]] (4, 4),   pi = (m, m c, J_xx, J_xy, J_xz, J_yy, J_yz, J_zz) about the origin
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray
DIAGONAL, MIXED = (4, 7, 9), {(0, 1): 5, (0, 2): 6, (1, 2): 8}


def _basis() -> Array:
    P = np.zeros((4, 4, 10))
    for i, k in enumerate(DIAGONAL):
        P[i, i, list(DIAGONAL)] += 0.5
        P[i, i, k] -= 1.0
    for (i, j), k in MIXED.items():
        P[i, j, k] = P[j, i, k] = -1.0
    for i in range(3):
        P[i, 3, 1 + i] = P[3, i, 1 + i] = 1.0
    P[3, 3, 0] = 1.0
    return P


BASIS = _basis()
"""P = BASIS @ pi."""


def pseudo_inertia(pi: Array) -> Array:
    """P (..., 4, 4) of pi (..., 10)."""
    return np.einsum("ijk,...k->...ij", BASIS, pi)


def least_eigenvalues(pi: Array) -> Array:
    """(bodies,): least eigenvalue of each body's P, scaled to unit diagonal; not negative where mass exists."""
    P = pseudo_inertia(np.reshape(pi, (-1, 10)))
    d = np.sqrt(np.maximum(np.abs(np.einsum("bii->bi", P)), 1e-300))
    return np.linalg.eigvalsh(P / (d[:, :, None] * d[:, None, :]))[:, 0]


def mass_properties(pi: Array) -> tuple[float, Array, Array]:
    """m, centre c (3,), inertia about c (3, 3) of pi (10,)."""
    m, h = float(pi[0]), pi[1:4]
    J = np.zeros((3, 3))
    for i, k in enumerate(DIAGONAL):
        J[i, i] = pi[k]
    for (i, j), k in MIXED.items():
        J[i, j] = J[j, i] = pi[k]
    c = h / m
    return m, c, J - m * (c @ c * np.eye(3) - np.outer(c, c))
