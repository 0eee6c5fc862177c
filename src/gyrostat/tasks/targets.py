"""Targets as users give them: placements, rotations and points, any number of them, checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from gyrostat.configuration.packing import real_array
from gyrostat.errors import NonFiniteError, ShapeError, SpecError
from gyrostat.solvers.kinematics.forward_kinematics import FrameMotion

Array = np.ndarray
FARTHEST = 1e12  # [m]
ROUNDED, WRONG = 1e-12, 2e-6
"""How far R^T R may be from one: to be taken as it is; to be made orthonormal."""


def placement(value: Any, who: str) -> Array:
    """(..., 12): R row by row, then p, from homogeneous matrices (..., 4, 4) or the motion of a frame."""
    if isinstance(value, FrameMotion):
        R, p = value.R, value.p
    else:
        T = real_array(value, who, "target")
        if T.shape[-2:] != (4, 4):
            raise ShapeError(f"{who}: target has shape {T.shape}, expected (..., 4, 4). Hint: gs.fk(model, q)[frame]")
        if np.any(np.abs(T[..., 3, :] - (0.0, 0.0, 0.0, 1.0)) > 1e-9):
            raise SpecError.one(who, "target", "the last row of a homogeneous matrix is (0, 0, 0, 1)", "write R p; 0 1")
        R, p = T[..., :3, :3], T[..., :3, 3]
    R = rotation(R, who)
    return np.concatenate([R.reshape(*R.shape[:-2], 9), point(p, who)], axis=-1)


def rotation(value: Any, who: str) -> Array:
    """(..., 3, 3), off by 2e-6 at most; made orthonormal."""
    R = real_array(value.R if isinstance(value, FrameMotion) else value, who, "target")
    if R.shape[-2:] != (3, 3):
        raise ShapeError(f"{who}: target has shape {R.shape}, expected rotation matrices (..., 3, 3)")
    _expect_finite(R, who)
    off = np.abs(np.swapaxes(R, -1, -2) @ R - np.eye(3)).max(initial=0.0)
    mirrors = np.einsum("...i,...i", np.cross(R[..., 0], R[..., 1]), R[..., 2]) < 0.0
    if off > WRONG or np.any(mirrors):
        message = f"the target's R is not a rotation: R^T R differs from one by {off:.2g}, or R mirrors"
        raise SpecError.one(who, "target", message, "columns are the axes of the frame in the world")
    if off <= ROUNDED:
        return R
    U, _, Vt = np.linalg.svd(R)
    return U @ Vt


def point(value: Any, who: str) -> Array:
    """(..., 3) [m]."""
    p = real_array(value.p if isinstance(value, FrameMotion) else value, who, "target")
    if p.shape[-1:] != (3,):
        raise ShapeError(f"{who}: target has shape {p.shape}, expected points (..., 3)")
    _expect_finite(p, who)
    if np.abs(p).max(initial=0.0) > FARTHEST:
        raise SpecError.one(who, "target", f"the target is farther than {FARTHEST:g} m", "give it in metres")
    return p


def _expect_finite(x: Array, who: str) -> None:
    if not np.isfinite(x).all():
        raise NonFiniteError(f"{who}: the target holds a number that is not finite")
