"""Balanced reduction: the shapes that forces at the kept coordinates excite most.

For modes with damping ratio zeta, q_i'' + 2 zeta w_i q_i' + w_i^2 q_i = b_i f, the position Gramian P = sum over unit
impulses of the integral of q q^T [Meyer, Srinivasan, IEEE Trans. Autom. Control 41 (1996) 1632-1644] is known in closed
form,

    P_ij = b_i . b_j / (2 v_i v_j) (s / (s^2 + (v_i - v_j)^2) - s / (s^2 + (v_i + v_j)^2)),

s = zeta (w_i + w_j), v = w sqrt(1 - zeta^2). Where forces and measured displacements are at the same coordinates and
the matrices are symmetric, the Gramian of what is seen has the same directions; kept are those with most strain energy,
K^1/2 P K^1/2, and the equations are weighed with them, so that the reduced structure is one: symmetric and stable."""

from __future__ import annotations

import numpy as np

from gyrostat.finite_elements.component_modes import galerkin
from gyrostat.finite_elements.lowest_modes import lowest_modes
from gyrostat.finite_elements.reduction import Reduction
from gyrostat.finite_elements.sparse_algebra import Array
from gyrostat.finite_elements.structure_matrices import Partition

DAMPING = 0.01
"""Damping ratio of all modes."""
WIDTH = 6
"""Modes that the Gramian is computed over, for each shape that is kept."""


def balanced(partition: Partition, R: Array | None, modes: int) -> Reduction:
    """As many shapes as there are kept coordinates; rigid-body motions are always among them."""
    whole, m = partition.whole, len(partition.keep)
    found = lowest_modes(whole, min(WIDTH * m, whole.n - 1))
    w = np.sqrt(found.values[found.rigid :])
    b = found.V[partition.keep][:, found.rigid :].T
    P = position_gramian(w, b, DAMPING)
    energy = P * np.outer(w, w)
    W = np.linalg.eigh((energy + energy.T) / 2.0)[1][:, ::-1][:, : m - found.rigid]
    elastic = found.V[:, found.rigid :] @ (W / w[:, None])
    T = np.hstack([found.V[:, : found.rigid], elastic])
    T = T / np.sqrt(np.einsum("ij,ij->j", T, whole.M @ T))
    return galerkin("balanced", partition, T, R, f"Gramian over {len(found.values)} modes, damping ratio {DAMPING}")


def position_gramian(w: Array, b: Array, zeta: float) -> Array:
    """P (k, k) of k modes with frequencies w (k,) [rad/s] and inputs b (k, inputs)."""
    v, s = w * np.sqrt(1.0 - zeta * zeta), zeta * (w[:, None] + w[None, :])
    near, far = (v[:, None] - v[None, :]) ** 2, (v[:, None] + v[None, :]) ** 2
    return b @ b.T * (s / (s * s + near) - s / (s * s + far)) / (2.0 * np.outer(v, v))
