"""Articulated-body inertia P (H04 3.1.3): symmetric, but no longer of a rigid body's form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.spatial.algebra import Array, join, skew
from gyrostat.spatial.inertia import SpatialInertia


@dataclass(frozen=True)
class ArticulatedInertia:
    """P = [[A, B], [B^T, D]]: force = P @ motion; all blocks (3, 3), A and D symmetric."""

    A: Array
    B: Array
    D: Array

    @staticmethod
    def zero() -> ArticulatedInertia:
        return ArticulatedInertia(np.zeros((3, 3)), np.zeros((3, 3)), np.zeros((3, 3)))

    @staticmethod
    def of(M: SpatialInertia) -> ArticulatedInertia:
        return ArticulatedInertia(M.J, skew(M.h), np.eye(3) * M.m)

    @staticmethod
    def from_matrix(P: Array) -> ArticulatedInertia:
        """From a symmetric matrix (6, 6); what is below its diagonal is not looked at."""
        return ArticulatedInertia(_symmetric(P[:3, :3]), P[:3, 3:], _symmetric(P[3:, 3:]))

    def __add__(self, other: ArticulatedInertia | SpatialInertia) -> ArticulatedInertia:
        if isinstance(other, SpatialInertia):
            other = ArticulatedInertia.of(other)
        return ArticulatedInertia(self.A + other.A, self.B + other.B, self.D + other.D)

    __radd__ = __add__

    def __matmul__(self, V: Array) -> Array:
        """P V, (6,)."""
        w, v = V[:3], V[3:]
        return join(self.A @ w + self.B @ v, self.B.T @ w + self.D @ v)

    def moved(self, R: Array, p: Array) -> ArticulatedInertia:
        """The inertia, given in b, about the origin of a and in the axes of a; R, p place b in a: phi^T P phi."""
        A, D = _turned(self.A, R), _turned(self.D, R)
        B = R @ self.B @ R.T
        moved = B + skew(p) @ D
        # A - B p~ + p~ B^T - p~ D p~ = A + Z + Z^T with Z = p~ (B + moved)^T / 2
        Z = skew(p) @ (B + moved).T * 0.5
        return ArticulatedInertia(_symmetric(A + Z + Z.T), moved, D)

    def eliminated(self, s: Array, extra: Any = None) -> tuple[ArticulatedInertia, Array, Any]:
        """The articulated inertia in front of a joint that moves freely along s (6,): P - U U^T / d, with U = P s and
        1 / d = 1 / (s.U).

        Along s it is zero: where s is a coordinate axis, that row and column are exact zeros. ``extra``: inertia that
        turns with the joint alone; d = s.U + extra, and then it is not zero along s."""
        U = self @ s
        if extra is not None:
            inverse = 1.0 / (s @ U + extra)
            return self.less(U, inverse), U, inverse
        inverse = 1.0 / (s @ U)
        return self.less(U, inverse, _coordinate(s)), U, inverse

    def less(self, U: Array, inverse: Any, k: int | None = None) -> ArticulatedInertia:
        """P - U U^T / d; row and column k of it are known to be zero."""
        W = U * inverse
        A, B, D = (
            np.array([[_update(i + 3 * r, j + 3 * c, k, M[i, j], U, W) for j in range(3)] for i in range(3)])
            for M, r, c in ((self.A, 0, 0), (self.B, 0, 1), (self.D, 1, 1))
        )
        return ArticulatedInertia(_symmetric(A), B, _symmetric(D))

    def matrix(self) -> Array:
        """P as (6, 6)."""
        return np.block([[self.A, self.B], [self.B.T, self.D]])


def _update(i: int, j: int, k: int | None, entry: Any, U: Array, W: Array) -> Any:
    return 0.0 if k in (i, j) else entry - U[i] * W[j]


def _coordinate(s: Array) -> int | None:
    """Which coordinate axis s is, if it is one."""
    known = [x for x in s if type(x) is float or isinstance(x, np.floating)]
    if len(known) < 6:
        return None
    (places,) = np.nonzero(np.array(known))
    return int(places[0]) if len(places) == 1 else None


def _turned(A: Array, R: Array) -> Array:
    """R A R^T of a symmetric A, its lower half copied from the upper."""
    return _symmetric(R @ (A @ R.T))


def _symmetric(A: Array) -> Array:
    return np.array([[A[min(i, j), max(i, j)] for j in range(3)] for i in range(3)])
