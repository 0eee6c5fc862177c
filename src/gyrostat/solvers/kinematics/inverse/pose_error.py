"""How far a frame is from where it should be: residuals and their exact Jacobians, for any number of states at once.

Rows are named rx, ry, rz [rad], x, y, z [m], in the axes of the target. With D = R_t^T R, the frame seen
from the target:

* three turns: the rotation vector log(D); its rate is Jr^-1 w, w the angular velocity in the frame;
* two turns: the third axis e of the target is free to turn about; the residual is the shortest turn that takes e to its
  image D e, which has no part along e;
* one turn: the twist of D about that axis, 2 atan2(r_k, r_w), r the quaternion of D.

Positions: R_t^T (p - p_t).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gyrostat.errors import SpecError, clipped
from gyrostat.geometry.rotation import quaternion_of
from gyrostat.solvers.kinematics.forward_kinematics import ForwardKinematics
from gyrostat.solvers.kinematics.frame_jacobian import Jacobian
from gyrostat.solvers.machinery.solver_cache import cached_solver
from gyrostat.spatial import so3
from gyrostat.spec.model import Model

Array = np.ndarray

ROWS = ("rx", "ry", "rz", "x", "y", "z")
NAMED = {"pose": ROWS, "position": ROWS[3:], "orientation": ROWS[:3]}


def chosen_rows(axes: Any, who: str) -> tuple[str, ...]:
    """'pose', 'position', 'orientation', or names of rows; returned in the order of :data:`ROWS`."""
    if isinstance(axes, str) and axes in NAMED:
        return NAMED[axes]
    names = (axes,) if isinstance(axes, str) else tuple(axes) if isinstance(axes, list | tuple | set) else ()
    known = bool(names) and all(isinstance(name, str) and name in ROWS for name in names)
    if not known or len(set(names)) < len(names):
        remedy = f"'pose', 'position', 'orientation', or some of {', '.join(ROWS)}, each once"
        raise SpecError.one(who, "axes", f"axes is {clipped(axes)}", remedy, axes)
    return tuple(row for row in ROWS if row in names)


class PoseError:
    """Residual r (B, m) of the chosen rows and its derivative E (B, m, nv) along the rates."""

    def __init__(self, model: Model, frame: str, rows: tuple[str, ...]):
        self.jacobian = cached_solver(model, Jacobian, frame=frame, expressed_in="local")
        self.frame = self.jacobian.frame
        self.kinematics = cached_solver(model, ForwardKinematics, frames=(self.frame,))
        self.rows = rows
        self.turns = tuple(k for k, row in enumerate(ROWS[:3]) if row in rows)
        self.shifts = tuple(k for k, row in enumerate(ROWS[3:]) if row in rows)

    def residual(self, q: Array, R_t: Array, p_t: Array, t: Any = None) -> Array:
        """r (B, m)."""
        R, p = self._place(q, t)
        D = np.einsum("bji,bjk->bik", R_t, R)
        turned = turn_residual(D, self.turns)
        moved = np.einsum("bji,bj->bi", R_t, p - p_t)[:, list(self.shifts)]
        return np.concatenate([turned, moved], axis=1)

    def derivative(self, q: Array, R_t: Array, t: Any = None) -> Array:
        """E (B, m, nv)."""
        R, _ = self._place(q, t)
        J = self.jacobian(q, t=t)
        D = np.einsum("bji,bjk->bik", R_t, R)
        turned = turn_derivative(D, self.turns) @ J[:, :3]
        moved = D[:, list(self.shifts)] @ J[:, 3:]
        return np.concatenate([turned, moved], axis=1)

    def _place(self, q: Array, t: Any) -> tuple[Array, Array]:
        motion = self.kinematics(q, t=t)[self.frame]
        return motion.R, motion.p


# ------------------------------------------------------------------------------------------------ rotations (B, 3, 3)
def turn_residual(D: Array, turns: tuple[int, ...]) -> Array:
    """(B, len(turns)) [rad]."""
    if len(turns) == 3:
        return so3.log(D)
    if len(turns) == 2:
        c, axis = _image(D, turns)
        angle, sine = _tilt(c, axis)
        return (_over_sine(angle, sine) * np.cross(axis, c))[:, list(turns)]
    r = quaternion_of(D)
    return np.stack([2.0 * np.arctan2(r[:, k], r[:, 3]) for k in turns], axis=1) if turns else np.zeros((len(D), 0))


def turn_derivative(D: Array, turns: tuple[int, ...]) -> Array:
    """(B, len(turns), 3): rate of the residual = this times the angular velocity w in the frame."""
    if len(turns) == 3:
        return so3.right_jacobian_inverse_matrix(so3.log(D))
    if len(turns) == 2:
        c, axis = _image(D, turns)
        angle, sine = _tilt(c, axis)
        dc = -D @ so3.skew(axis)  # of w: D (w x e)
        across = np.cross(axis, c)
        slope = -_slope(angle, sine)[:, :, None] * across[:, :, None] * (axis @ dc)[:, None]
        return (_over_sine(angle, sine)[:, :, None] * (so3.skew(axis) @ dc) + slope)[:, list(turns)]
    r = quaternion_of(D)
    rate = so3.rate_matrix(r)
    rows = [
        2.0 * (r[:, 3:] * rate[:, k] - r[:, k, None] * rate[:, 3]) / (r[:, 3:] ** 2 + r[:, k, None] ** 2) for k in turns
    ]
    return np.stack(rows, axis=1) if rows else np.zeros((len(D), 0, 3))


def _image(D: Array, turns: tuple[int, ...]) -> tuple[Array, Array]:
    """The axis that is free to turn about, and its image."""
    k = 3 - sum(turns)
    return D[:, :, k], np.eye(3)[k]


def _tilt(c: Array, axis: Array) -> tuple[Array, Array]:
    sine = np.linalg.norm(np.cross(axis, c), axis=1, keepdims=True)
    return np.arctan2(sine, (c @ axis)[:, None]), sine


def _over_sine(angle: Array, sine: Array) -> Array:
    """angle / sine; large but finite where the axis points the wrong way."""
    return np.where(angle < 1e-4, 1.0 + angle**2 / 6.0, angle / np.maximum(sine, 1e-8))


def _slope(angle: Array, sine: Array) -> Array:
    """-d(angle/sine)/d(cosine) = (sin - angle cos)/sin^3."""
    exact = (sine - angle * np.cos(angle)) / np.maximum(sine, 1e-8) ** 3
    return np.where(angle < 1e-2, 1.0 / 3.0 + 2.0 * angle**2 / 15.0, exact)
