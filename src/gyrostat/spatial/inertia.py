"""Spatial inertia M of a rigid body about any frame (H04 2.1.2.1), kept as mass, first and second moment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.spatial.algebra import Array, cross, join, skew


@dataclass(frozen=True)
class SpatialInertia:
    """M = [[J, h~], [-h~, m 1]]: mass ``m``, first moment ``h = m c`` (3,), inertia ``J`` about the frame's origin
    (3, 3)."""

    m: Any
    h: Array
    J: Array

    @staticmethod
    def at_centre(m: Any, com: Array, J_c: Array) -> SpatialInertia:
        """From mass, centre of mass in the frame, and inertia about the centre of mass, in the frame's axes."""
        return SpatialInertia(m, m * com, J_c + m * steiner(com))

    def __add__(self, other: SpatialInertia) -> SpatialInertia:
        if not isinstance(other, SpatialInertia):
            return NotImplemented  # an articulated inertia
        return SpatialInertia(self.m + other.m, self.h + other.h, self.J + other.J)

    @staticmethod
    def from_second_moment(m: Any, h: Array, K: Array) -> SpatialInertia:
        """From K = integral r r^T dm about the frame's origin: J = tr(K) - K; zeros of K stay exact."""
        return SpatialInertia(m, h, np.eye(3) * np.trace(K) - K)

    @property
    def second_moment(self) -> Array:
        """K = integral r r^T dm = tr(J)/2 - J."""
        return np.eye(3) * (0.5 * np.trace(self.J)) - self.J

    def __matmul__(self, V: Array) -> Array:
        """Momentum M V, (6,)."""
        w, v = V[:3], V[3:]
        return join(self.J @ w + cross(self.h, v), self.m * v - cross(self.h, w))

    def moved(self, R_ab: Array, p_ab: Array) -> SpatialInertia:
        """The inertia, given in b, about the origin of a and in the axes of a [H04: M_a = phi_{b,a}^T M_b
        phi_{b,a}]."""
        h, p = R_ab @ self.h, p_ab
        hp = np.outer(h, p)
        # J_a = R J R^T - p~ h~ - h~ p~ - m p~ p~
        J = R_ab @ self.J @ R_ab.T + self.m * steiner(p) + 2.0 * (h @ p) * np.eye(3) - hp - hp.T
        return SpatialInertia(self.m, h + self.m * p, J)

    @staticmethod
    def from_matrix(M: Array) -> SpatialInertia:
        """From M (6, 6) of a rigid body."""
        return SpatialInertia(M[3, 3], np.array([M[2, 4], M[0, 5], M[1, 3]]), M[:3, :3])

    def matrix(self) -> Array:
        """M as (6, 6)."""
        H = skew(self.h)
        return np.block([[self.J, H], [-H, self.m * np.eye(3)]])


def steiner(c: Array) -> Array:
    """-c~ c~ = (c.c) 1 - c c^T."""
    return (c @ c) * np.eye(3) - np.outer(c, c)
