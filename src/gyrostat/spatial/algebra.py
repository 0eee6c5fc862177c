"""Spatial vectors and their transformations (H04 2.1.2). Angular part first, everywhere.

A placement is a pair ``R_ab`` (3, 3), ``p_ab`` (3,): axes of b in a; origin of b seen from a, in a. Motions V and
forces F are (6,). Every function works on floats and on recording scalars: no branches on values, no in-place writes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gyrostat.errors import NonFiniteError, ShapeError, clipped

Array = np.ndarray


def returned(value: Any, shape: tuple[int, ...], what: str) -> Array:
    """What a function of the user gave back, as an array of finite numbers or of recording scalars."""
    try:
        x = np.asarray(value)
    except ValueError:
        raise ShapeError(f"{what} is not a rectangular array, expected shape {shape}, got {clipped(value)}") from None
    if x.shape != shape:
        raise ShapeError(f"{what} has shape {x.shape}, expected {shape}, got {clipped(value)}")
    if x.dtype.kind not in "iufO" or (x.dtype == object and any(item is None for item in x.flat)):
        raise ShapeError(f"{what} must hold real numbers, got {clipped(value)}")
    if x.dtype != object and not np.all(np.isfinite(x)):
        raise NonFiniteError(f"{what} is not finite, got {x}")
    return x


def cross(x: Array, y: Array) -> Array:
    """x times y, (3,)."""
    return np.array([x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]])


def skew(p: Array) -> Array:
    """The matrix with skew(p) @ x = p times x [H04 (2.12)]."""
    return np.array([[0.0, -p[2], p[1]], [p[2], 0.0, -p[0]], [-p[1], p[0], 0.0]])


def join(angular: Array, linear: Array) -> Array:
    return np.concatenate([angular, linear])


# ------------------------------------------------------------------------------------------------ placements
def compose(R_ab: Array, p_ab: Array, R_bc: Array, p_bc: Array) -> tuple[Array, Array]:
    """Placement of c in a."""
    return R_ab @ R_bc, p_ab + R_ab @ p_bc


def inverse(R_ab: Array, p_ab: Array) -> tuple[Array, Array]:
    """Placement of a in b."""
    return R_ab.T, -(R_ab.T @ p_ab)


# ------------------------------------------------------------------------------------------------ motions and forces
def motion_to_child(R_ab: Array, p_ab: Array, V_a: Array) -> Array:
    """phi_{b,a} V_a: the same motion seen from b [H04 (2.22)]."""
    return join(R_ab.T @ V_a[:3], R_ab.T @ (V_a[3:] + cross(V_a[:3], p_ab)))


def motion_to_parent(R_ab: Array, p_ab: Array, V_b: Array) -> Array:
    """phi_{a,b} V_b."""
    w = R_ab @ V_b[:3]
    return join(w, R_ab @ V_b[3:] + cross(p_ab, w))


def force_to_parent(R_ab: Array, p_ab: Array, F_b: Array) -> Array:
    """phi_{b,a}^T F_b: the same force about the origin of a, in a [H04 (2.19)]."""
    f = R_ab @ F_b[3:]
    return join(R_ab @ F_b[:3] + cross(p_ab, f), f)


def force_to_child(R_ab: Array, p_ab: Array, F_a: Array) -> Array:
    """phi_{a,b}^T F_a."""
    return join(R_ab.T @ (F_a[:3] - cross(p_ab, F_a[3:])), R_ab.T @ F_a[3:])


def cross_motion(V: Array, W: Array) -> Array:
    """V~ W [H04 (2.13)]."""
    return join(cross(V[:3], W[:3]), cross(V[3:], W[:3]) + cross(V[:3], W[3:]))


def cross_force(V: Array, F: Array) -> Array:
    """-V~^T F: the rate of a force or momentum that is carried along with the motion V."""
    return join(cross(V[:3], F[:3]) + cross(V[3:], F[3:]), cross(V[:3], F[3:]))


def tilde(V: Array) -> Array:
    """V~ as a matrix (6, 6) [H04 (2.14)]."""
    w, v, zero = skew(V[:3]), skew(V[3:]), np.zeros((3, 3))
    return np.block([[w, zero], [v, w]])


def columns(transform: Callable[[Array], Array], S: Array) -> Array:
    """Apply a transformation of motions to every column of S (6, n)."""
    return np.stack([transform(S[:, k]) for k in range(S.shape[1])], axis=1) if S.shape[1] else S
