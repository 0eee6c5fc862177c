"""Newton's method on the natural map F(P) = P - proj(P - u), u = A P + c, which is smooth but for kinks.

With z = P - u each row is, at the current forces,

* at a bound (z beyond it):                  dP = bound - P;
* active (between its bounds), or sticking:  A dP + e dP = -u, with a small e: redundant rows keep what they have;
* sliding, d = z/\\|z\\|, r = ratio P_n:       dP - ratio d dP_n - (r/\\|z\\|) (1 - d d^T) (dP - du) = r d - P."""

from __future__ import annotations

import numpy as np

from gyrostat.algorithms.contact.cone_layout import Array, ForceSet

PROXIMAL = 1e-10
"""e: relative to the diagonal, which is one."""


def newton_step(A: Array, c: Array, forces: ForceSet, P: Array, dead: Array) -> Array:
    """dP (m,); what ``dead`` marks stays."""
    u = A @ P + c
    K, rhs = linearised(A, forces, P, u, dead)
    return np.linalg.solve(K, rhs)


def linearised(A: Array, forces: ForceSet, P: Array, u: Array, dead: Array) -> tuple[Array, Array]:
    """K (m, m) and the right-hand side (m,) of a step."""
    m = len(P)
    z = P - u
    K, rhs = A + PROXIMAL * np.eye(m), -u
    bound = np.clip(z, forces.low, forces.high)
    for k in np.flatnonzero((bound != z) | dead):
        K[k], rhs[k] = 0.0, 0.0 if dead[k] else bound[k] - P[k]
        K[k, k] = 1.0
    for disc in forces.discs:
        rows, n = disc.rows, disc.normal
        radius, length = disc.ratio * P[n] + disc.base, float(np.linalg.norm(z[rows]))
        if disc.base == 0.0 and (dead[n] or bound[n] != z[n]):  # the contact opens
            K[rows], rhs[rows] = np.eye(m)[rows], -P[rows]
        elif length > radius:
            d = z[rows] / length
            turned = (radius / length) * (np.eye(disc.size) - np.outer(d, d))
            K[rows] = turned @ A[rows]
            K[rows, rows] += np.eye(disc.size) - turned
            K[rows, n] -= disc.ratio * d
            rhs[rows] = radius * d - P[rows]
            # P - proj(P - u) is linearised at P: the terms turned (P - u) are in r d
    return K, rhs
