"""A rotation property as a matrix."""

from __future__ import annotations

import numpy as np

from gyrostat.geometry.rotation import about_axis, from_euler, from_quaternion
from gyrostat.spec.values import AxisAngle, Euler, Quaternion, Value

Array = np.ndarray


def matrix_of(rotation: Value) -> Array:
    """R_ab (3, 3) of any form, as the network makes it: axes are brought to unit length, matrices to the nearest
    rotation."""
    if isinstance(rotation, Euler):
        return from_euler(np.array(rotation.euler), rotation.axes)
    if isinstance(rotation, Quaternion):
        return from_quaternion(np.array(rotation.quaternion))
    if isinstance(rotation, AxisAngle):
        return about_axis(unit(rotation.axis), rotation.angle)
    left, _, right = np.linalg.svd(np.array(rotation.matrix))  # type: ignore[attr-defined]
    return left @ right


def unit(axis: object) -> Array:
    """The vector (3,) scaled to unit length."""
    u = np.array(axis, dtype=float)
    return u / np.sqrt(u @ u)
