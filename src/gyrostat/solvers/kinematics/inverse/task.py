"""What inverse kinematics is asked for, as arrays: targets, rows, limits, starts; every mistake in a sentence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from gyrostat.configuration.deflections import deflections
from gyrostat.configuration.limits import limits_of
from gyrostat.configuration.manifold import neutral
from gyrostat.configuration.packing import coordinates, names_of, real_array
from gyrostat.errors import NonFiniteError, ShapeError, SpecError, StateError, clipped, nearest
from gyrostat.solvers.kinematics.forward_kinematics import FrameMotion
from gyrostat.solvers.kinematics.inverse.damped_least_squares import Problems, inside
from gyrostat.solvers.kinematics.inverse.pose_error import ROWS, PoseError, chosen_rows
from gyrostat.spec.model import Model

Array = np.ndarray
WHO = "inverse_kinematics"
FARTHEST = 1e12  # [m]


class Task:
    """Targets, rows and starts as arrays, checked."""

    def __init__(
        self,
        model: Model,
        frame: str,
        target: Any,
        q0: Any,
        axes: Any,
        weights: Any,
        limits: Any,
        hold: str | Iterable[str],
        tolerance: float,
        t: Any,
    ):
        self.model = model
        R_t, p_t, said = _target(target)
        self.rows = chosen_rows(said if axes is None else axes, WHO)
        error = PoseError(model, frame, self.rows)
        low, high = limits_of(model, limits, WHO)
        given = inside(model, neutral(model), low, high) if q0 is None else coordinates(model, q0, f"{WHO}(q0)")
        self._check_start(given, low, high)
        try:
            self.shape = np.broadcast_shapes(R_t.shape[:-2], given.shape[:-1], np.shape(t) if t is not None else ())
        except ValueError:
            raise ShapeError(
                f"{WHO}: leading shapes do not go together: target {R_t.shape[:-2]}, q0 {given.shape[:-1]}"
            ) from None
        count = int(np.prod(self.shape, dtype=int))
        self.start = np.broadcast_to(given, (*self.shape, model.nq)).reshape(count, model.nq).copy()
        self.problems = Problems(
            error,
            np.broadcast_to(R_t, (*self.shape, 3, 3)).reshape(count, 3, 3),
            np.broadcast_to(p_t, (*self.shape, 3)).reshape(count, 3),
            _weights(weights, self.rows),
            low,
            high,
            _held(model, hold),
            _tolerance(tolerance),
            None if t is None else np.broadcast_to(real_array(t, WHO, "t"), self.shape).ravel(),
        )

    def _check_start(self, q: Array, low: Array, high: Array) -> None:
        out = np.argwhere((q < low) | (q > high))
        if len(out):
            k = int(out[0][-1])
            value = q[tuple(out[0])]
            raise StateError(
                f"{WHO}: q0 of '{self.model.coordinates[k]}' is {value:g}, outside its limits {low[k]:g} to "
                f"{high[k]:g}. Hint: start inside, or give limits=None"
            )


# ------------------------------------------------------------------------------------------------ what users give
def _target(target: Any) -> tuple[Array, Array, str]:
    """R_t (..., 3, 3), p_t (..., 3), and what the target says."""
    if isinstance(target, FrameMotion):
        return target.R, target.p, "pose"
    array = real_array(target, WHO, "target")
    if not np.isfinite(array).all():
        raise NonFiniteError(f"{WHO}: the target holds a number that is not finite")
    if np.abs(array).max(initial=0.0) > FARTHEST:
        raise SpecError.one(WHO, "target", f"the target is farther than {FARTHEST:g} m", "give it in metres", target)
    shape = array.shape
    if shape[-2:] == (4, 4):
        if np.any(np.abs(array[..., 3, :] - (0.0, 0.0, 0.0, 1.0)) > 1e-9):
            raise SpecError.one(WHO, "target", "the last row of a homogeneous matrix is (0, 0, 0, 1)", "write R p; 0 1")
        return _rotation(array[..., :3, :3]), array[..., :3, 3], "pose"
    if shape[-2:] == (3, 3):
        return _rotation(array), np.zeros(shape[:-1]), "orientation"
    if shape[-1:] == (3,):
        return np.broadcast_to(np.eye(3), (*shape[:-1], 3, 3)), array, "position"
    raise ShapeError(
        f"{WHO}: target has shape {shape}, expected (..., 4, 4), (..., 3, 3) or (..., 3). "
        "Hint: three positions are an array (3, 1, 3), since (3, 3) is a rotation"
    )


def _rotation(R: Array) -> Array:
    """Rotation matrices, off by 1e-6 at most; made orthonormal."""
    off = np.abs(np.swapaxes(R, -1, -2) @ R - np.eye(3)).max(initial=0.0)
    if off > 2e-6 or np.any(np.linalg.det(R) < 0.0):
        message = f"the target's R is not a rotation: R^T R differs from one by {off:.2g}, or R mirrors"
        raise SpecError.one(WHO, "target", message, "three points are an array (3, 1, 3), since (3, 3) is a rotation")
    U, _, Vt = np.linalg.svd(R)
    return U @ Vt


def _weights(weights: Any, rows: tuple[str, ...]) -> Array:
    given = np.ones(6) if weights is None else np.array(real_array(weights, WHO, "weights"), dtype=float)
    if given.shape != (6,) or not np.all(np.isfinite(given)) or np.any(given < 0.0):
        message = f"weights must be six finite numbers >= 0 for {', '.join(ROWS)}, got {clipped(weights)}"
        raise SpecError.one(WHO, "weights", message, "leave out axes that do not matter", weights)
    chosen = given[[ROWS.index(row) for row in rows]]
    if np.any(chosen == 0.0):
        message = f"the weight of '{rows[int(np.argmin(chosen))]}' is zero"
        raise SpecError.one(WHO, "weights", message, "leave it out with axes=...", weights)
    return chosen


def _held(model: Model, hold: Any) -> Array:
    """(nv,) rates that keep their q0: those that are named, and deflections, which no motor moves."""
    held = deflections(model)
    for name in names_of(list(hold) if isinstance(hold, set | frozenset) else hold, WHO, "hold"):
        if name not in model.dofs:
            raise StateError(f"{WHO}: hold: no rate '{name}'. Hint: {nearest(name, model.dofs)}")
        held[model.dofs.index(name)] = True
    return held


def count_of(value: Any, what: str) -> int:
    """A whole number above zero."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not 1 <= value <= 10**6:
        message = f"{what} must be a whole number from 1 to 1000000, got {clipped(value)}"
        raise SpecError.one(WHO, what, message, f"leave {what} out for the usual number", value)
    return int(value)


def _tolerance(value: Any) -> float:
    number = real_array(value, WHO, "tolerance")
    if number.ndim or not 1e-15 <= number <= 1.0:
        message = f"tolerance must be one number from 1e-15 to 1, got {clipped(value)}"
        raise SpecError.one(WHO, "tolerance", message, "1e-10 (rad, m) is the default", value)
    return float(number)
