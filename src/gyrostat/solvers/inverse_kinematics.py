"""Inverse kinematics: configurations that bring a frame to a target; the nearest ones where it cannot be reached."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.errors import NonFiniteError, ShapeError, SpecError, StateError, clipped, nearest
from gyrostat.solvers.damped_least_squares import Found, Problems, inside, minimise
from gyrostat.solvers.forward_kinematics import FrameMotion
from gyrostat.solvers.joint_limits import limits_of, plain_coordinates
from gyrostat.solvers.manifold import difference, neutral
from gyrostat.solvers.pose_error import ROWS, PoseError, chosen_rows
from gyrostat.solvers.spread import keep_held, spread
from gyrostat.solvers.state import coordinates, names_of, real_array
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model

Array = np.ndarray
WHO = "inverse_kinematics"


@dataclass(frozen=True)
class InverseKinematics:
    """What :func:`inverse_kinematics` found; arrays have the leading shape (...) of the targets.

    ``q`` (..., nq); ``converged`` (...): every chosen row is within the tolerance; ``position_error`` [m],
    ``orientation_error`` [rad] (...): lengths of the chosen rows that are left; ``iterations`` (...); ``reason`` (...):
    "converged", "nearest" (no step makes it better: out of reach, or a local minimum) or "stopped" (iterations used up);
    ``at_lower``, ``at_upper`` (..., nq): the coordinate is at its limit.
    """

    q: Array
    converged: Array
    position_error: Array
    orientation_error: Array
    iterations: Array
    reason: Array
    at_lower: Array
    at_upper: Array
    names: tuple[str, ...]

    @property
    def active_limits(self) -> tuple[tuple[str, str], ...]:
        """(coordinate, "lower" or "upper") of limits that any of the configurations touches."""
        sides = (("lower", self.at_lower), ("upper", self.at_upper))
        flat = [(side, touched.reshape(-1, len(self.names)).any(axis=0)) for side, touched in sides]
        return tuple((name, side) for k, name in enumerate(self.names) for side, touched in flat if touched[k])

    def __str__(self) -> str:
        limits = ", ".join(f"{name} at its {side} limit" for name, side in self.active_limits) or "no limit active"
        total, good = self.converged.size, int(self.converged.sum())
        head = f"{good} of {total} targets reached" if self.converged.ndim else f"target {_said(str(self.reason))}"
        position, turn = (float(np.max(x, initial=0.0)) for x in (self.position_error, self.orientation_error))
        return f"{head}; {position:.3g} m and {turn:.3g} rad left; {int(np.max(self.iterations, initial=0))} iterations; {limits}"


def _said(reason: str) -> str:
    return {"converged": "reached", "nearest": "not reached: this is the nearest configuration found"}.get(
        reason, "not reached within the iterations"
    )


def inverse_kinematics(
    model: Model,
    frame: str,
    target: Any,
    q0: Any = None,
    *,
    axes: Any = None,
    weights: Any = None,
    limits: Any = "model",
    hold: str | Iterable[str] = (),
    starts: int = 16,
    tolerance: float = 1e-10,
    iterations: int = 200,
    t: Any = None,
) -> InverseKinematics:
    """q (..., nq) that brings ``frame`` (a port or entity) to ``target``, by damped least squares.

    ``target``: a homogeneous matrix (..., 4, 4), a position (..., 3) [m], a rotation (..., 3, 3), or the motion of a
    frame as ``gs.fk`` gives it. ``axes``: "pose", "position", "orientation" or some of rx ry rz x y z, the turns and
    shifts *in the target's axes* that must vanish; by default all that the target says. Without "rz" the frame may turn
    about z of the target: ("x", "y", "z", "rx", "ry") keeps a load horizontal. ``weights`` (6,) of rx ry rz x y z,
    1 by default (1 rad counts as 1 m): they matter where the target is out of reach.

    ``q0`` (..., nq): where the search starts, at rest by default; when this start fails, further ones spread over the
    limits follow, ``starts`` altogether, always the same. Of several solutions the one nearest to q0 is taken, of
    several failures the one with the least error. ``limits``: "model", None, or (lower, upper); they are never left.
    ``hold``: names of rates that keep their q0. ``tolerance`` [rad, m] for each row. ``t``: time, where the base moves.
    """
    expect_model(model, WHO)
    task = Task(model, frame, target, q0, axes, weights, limits, hold, tolerance, t)
    starts, iterations = _count(starts, "starts"), _count(iterations, "iterations")
    best = minimise(model, task.problems, task.start, iterations)
    lost = np.flatnonzero(~task.problems.solved(best.r))
    if len(lost) and starts > 1:
        others = spread(model, task.problems.low, task.problems.high, starts - 1)
        _try_others(model, task, best, lost, others, iterations)
    return task.report(best)


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
                f"{WHO}: q0 of '{self.model.coordinates[k]}' is {value:g}, outside its limits {low[k]:g} to {high[k]:g}. "
                "Hint: start inside, or give limits=None"
            )

    def report(self, found: Found) -> InverseKinematics:
        """The arrays in the shape of the targets."""
        problems, names = self.problems, self.model.coordinates
        r = found.r / problems.weights
        turns = len(problems.error.turns)
        solved = problems.solved(found.r)
        reason = np.where(solved, "converged", np.where(found.stationary, "nearest", "stopped"))
        bounded = np.isin(np.arange(len(names)), plain_coordinates(self.model).q)
        parts = (
            solved,
            np.linalg.norm(r[:, turns:], axis=1),
            np.linalg.norm(r[:, :turns], axis=1),
            found.iterations,
            reason,
        )
        edges = (bounded & (found.q <= problems.low), bounded & (found.q >= problems.high))
        return InverseKinematics(
            found.q.reshape(*self.shape, len(names)),
            *(np.asarray(part).reshape(self.shape) for part in parts),
            *(edge.reshape(*self.shape, len(names)) for edge in edges),
            names,
        )


def _try_others(model: Model, task: Task, best: Found, lost: Array, others: Array, iterations: int) -> None:
    """Further starts for the problems that failed; ``best`` takes what is better."""
    p = task.problems
    which = np.repeat(lost, len(others))
    q = keep_held(model, np.tile(others, (len(lost), 1)), task.start[which], p.held)
    time = None if p.t is None else p.t[which]
    again = Problems(p.error, p.R_t[which], p.p_t[which], p.weights, p.low, p.high, p.held, p.tolerance, time)
    tried = minimise(model, again, q, iterations)
    solved, cost = again.solved(tried.r), np.sum(tried.r**2, axis=1)
    way = np.linalg.norm(difference(model, task.start[which], tried.q), axis=1)
    for k, one in enumerate(lost):
        mine = slice(k * len(others), (k + 1) * len(others))
        rank = np.where(solved[mine], way[mine], np.inf) if solved[mine].any() else cost[mine]
        pick = k * len(others) + int(np.argmin(rank))
        best.iterations[one] += tried.iterations[mine].sum()
        if solved[pick] or cost[pick] < np.sum(best.r[one] ** 2):
            best.q[one], best.r[one], best.stationary[one] = tried.q[pick], tried.r[pick], tried.stationary[pick]


# ------------------------------------------------------------------------------------------------ what users give
def _target(target: Any) -> tuple[Array, Array, str]:
    """R_t (..., 3, 3), p_t (..., 3), and what the target says."""
    if isinstance(target, FrameMotion):
        return target.R, target.p, "pose"
    array = real_array(target, WHO, "target")
    if not np.isfinite(array).all():
        raise NonFiniteError(f"{WHO}: the target holds a number that is not finite")
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
    held = np.zeros(model.nv, dtype=bool)
    for name in names_of(hold if isinstance(hold, str) else list(hold), WHO, "hold"):
        if name not in model.dofs:
            raise StateError(f"{WHO}: hold: no rate '{name}'. Hint: {nearest(name, model.dofs)}")
        held[model.dofs.index(name)] = True
    return held


def _count(value: Any, what: str) -> int:
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
