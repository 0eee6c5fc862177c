"""Inverse kinematics: configurations that bring a frame to a target; the nearest ones where it cannot be reached."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.configuration.limits import unwound
from gyrostat.configuration.manifold import difference
from gyrostat.graph.network import kept_network
from gyrostat.solvers.kinematics.inverse.closed_form import expect_solver, held_rates, part_of, solved_by
from gyrostat.solvers.kinematics.inverse.damped_least_squares import Minima, minimise
from gyrostat.solvers.kinematics.inverse.start_points import start_points, with_held
from gyrostat.solvers.kinematics.inverse.task import WHO, Task, count_of
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model

Array = np.ndarray


@dataclass(frozen=True)
class InverseKinematics:
    """What :func:`inverse_kinematics` comes to; arrays have the leading shape (...) of the targets.

    ``q`` (..., nq); ``converged`` (...): every chosen row is within the tolerance; ``position_error`` [m],
    ``orientation_error`` [rad] (...): lengths of the chosen rows that are left; ``iterations`` (...); ``reason`` (...):
    "converged", "nearest" (no step makes it better: out of reach, or a local minimum), "stopped" (iterations used up);
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
        return tuple((name, side) for k, name in enumerate(self.names) for side, at in sides if at[..., k].any())

    def __str__(self) -> str:
        limits = ", ".join(f"{name} at its {side} limit" for name, side in self.active_limits) or "no limit active"
        total, good = self.converged.size, int(self.converged.sum())
        head = f"{good} of {total} targets reached" if self.converged.ndim else f"target {_in_words(str(self.reason))}"
        position, turn = (float(np.max(x, initial=0.0)) for x in (self.position_error, self.orientation_error))
        steps = int(np.max(self.iterations, initial=0))
        return f"{head}; {position:.3g} m and {turn:.3g} rad left; {steps} iterations; {limits}"


def _in_words(reason: str) -> str:
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
    solver: Any = None,
) -> InverseKinematics:
    """q (..., nq) that brings ``frame`` (a port or entity) to ``target``, by damped least squares.

    ``target``: a homogeneous matrix (..., 4, 4), a position (..., 3) [m], a rotation (..., 3, 3), or the motion of a
    frame as ``gs.fk`` gives it. ``axes``: "pose", "position", "orientation" or some of rx ry rz x y z, the turns and
    shifts *in the target's axes* that must vanish; by default all that the target says. Without "rz" the frame may turn
    about z of the target: ("x", "y", "z", "rx", "ry") keeps a load horizontal. ``weights`` (6,) of rx ry rz x y z,
    1 by default (1 rad counts as 1 m): they matter where the target is out of reach.

    ``q0`` (..., nq): where the search starts, at rest by default; when this start fails, further ones spread over the
    limits follow, ``starts`` altogether, always the same. Of several solutions the one nearest to q0 is taken, of
    several failures the one with the least error. Angles are given within half a turn of q0 where limits allow it.
    ``limits``: "model", None, or (lower, upper); they are never left. ``hold``: names of rates that keep their q0,
    as deflections of flexible links always do.
    ``tolerance`` [rad, m] for each row. ``t``: time, where the base moves.

    ``solver``: a closed form, ``gs.BlockSolver(model, f, like=gs.inverse_kinematics, frame=frame)``. What it solves
    needs no iterations; where it does not reach the target, the search begins at its best solution.
    """
    expect_model(model, WHO)
    kept_network(model).refuse_loops(WHO)
    task = Task(model, frame, target, q0, axes, weights, limits, held_rates(solver, model, hold), tolerance, t)
    expect_solver(solver, task)
    starts, iterations = count_of(starts, "starts"), count_of(iterations, "iterations")
    best = solved_by(solver, model, task.problems, task.start, iterations)
    unwound(model, best.q, task.start, task.problems.low, task.problems.high)
    lost = np.flatnonzero(~task.problems.solved(best.r))
    if len(lost) and starts > 1:
        others = start_points(model, task.problems.low, task.problems.high, starts - 1)
        _try_others(model, task, best, lost, others, iterations)
    return _report(task, best)


def _report(task: Task, minima: Minima) -> InverseKinematics:
    """The arrays in the shape of the targets."""
    problems, names, shape = task.problems, task.model.coordinates, task.shape
    r, turns = minima.r / problems.weights, len(problems.error.turns)
    solved = problems.solved(minima.r)
    reason = np.where(solved, "converged", np.where(minima.stationary, "nearest", "stopped"))
    bounded = np.isin(np.arange(len(names)), task.model.layout.number_q)
    return InverseKinematics(
        q=minima.q.reshape(*shape, len(names)),
        converged=solved.reshape(shape),
        position_error=np.linalg.norm(r[:, turns:], axis=1).reshape(shape),
        orientation_error=np.linalg.norm(r[:, :turns], axis=1).reshape(shape),
        iterations=minima.iterations.reshape(shape),
        reason=reason.reshape(shape),
        at_lower=(bounded & (minima.q <= problems.low)).reshape(*shape, len(names)),
        at_upper=(bounded & (minima.q >= problems.high)).reshape(*shape, len(names)),
        names=names,
    )


def _try_others(model: Model, task: Task, best: Minima, lost: Array, others: Array, iterations: int) -> None:
    """Further starts for the problems that failed; ``best`` takes what is better."""
    p = task.problems
    which = np.repeat(lost, len(others))
    q = with_held(model, np.tile(others, (len(lost), 1)), task.start[which], p.held)
    again = part_of(p, which)
    tried = minimise(model, again, q, iterations)
    unwound(model, tried.q, task.start[which], p.low, p.high)
    solved, cost = again.solved(tried.r), np.sum(tried.r**2, axis=1)
    way = np.linalg.norm(difference(model, task.start[which], tried.q), axis=1)
    for k, one in enumerate(lost):
        mine = slice(k * len(others), (k + 1) * len(others))
        rank = np.where(solved[mine], way[mine], np.inf) if solved[mine].any() else cost[mine]
        pick = k * len(others) + int(np.argmin(rank))
        best.iterations[one] += tried.iterations[mine].sum()
        if solved[pick] or cost[pick] < np.sum(best.r[one] ** 2):
            best.q[one], best.r[one], best.stationary[one] = tried.q[pick], tried.r[pick], tried.stationary[pick]
