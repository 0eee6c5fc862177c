"""The rate of a spatial inertia that moves [H04 (3.57)]: B = 2 M-check, of one body or of a composite body.

It transforms like an inertia, adds up like one, and needs twelve numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gyrostat.spatial.algebra import Array, cross, join, skew
from gyrostat.spatial.inertia import SpatialInertia


@dataclass(frozen=True)
class InertiaRate:
    """B x = V~* M x - M V~ x + x~* M V = 2 integral (r x (x_w x u), x_w x u) dm, u the velocity at r: 2 M-check (3.57).

    Only the angular part of x counts: B x = (E x_w, x_w x b)."""

    E: Array
    b: Array

    @staticmethod
    def of(M: SpatialInertia, V: Array) -> InertiaRate:
        w, v = V[:3], V[3:]
        b = (M.m * v + cross(w, M.h)) * 2.0
        E = (np.eye(3) * (M.h @ v) - np.outer(v, M.h) - skew(w) @ M.second_moment) * 2.0
        return InertiaRate(E, b)

    def __add__(self, other: InertiaRate) -> InertiaRate:
        return InertiaRate(self.E + other.E, self.b + other.b)

    def __matmul__(self, x: Array) -> Array:
        return join(self.E @ x[:3], cross(x[:3], self.b))

    def transposed(self, x: Array) -> Array:
        """B^T x: a pure torque (6,)."""
        return join(self.E.T @ x[:3] + cross(self.b, x[3:]), np.zeros(3))

    def moved(self, R: Array, p: Array) -> InertiaRate:
        """The same about the origin of a and in the axes of a; R, p place the present frame in a."""
        b = R @ self.b
        return InertiaRate(R @ self.E @ R.T + np.eye(3) * (p @ b) - np.outer(b, p), b)


NO_RATE = InertiaRate(np.zeros((3, 3)), np.zeros(3))
