"""Inverse kinematics that begins with a closed form: its solutions are taken where they solve, the rest is searched."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from gyrostat.configuration.limits import unwound
from gyrostat.configuration.manifold import difference
from gyrostat.errors import GyrostatError, clipped
from gyrostat.solvers.kinematics.inverse.damped_least_squares import Minima, Problems, inside, minimise
from gyrostat.solvers.kinematics.inverse.task import WHO, Task
from gyrostat.spec.model import Model

Array = np.ndarray


class ClosedForm(Protocol):
    """What :class:`~gyrostat.solvers.builders.block_kinematics.BlockKinematics` is asked for."""

    def candidates(self, R_t: Array, p_t: Array, q0: Array, t: Any) -> Array:
        """Configurations (k, nq), k from 0, for one target and start."""
        ...


def solved_by(solver: ClosedForm | None, model: Model, problems: Problems, start: Array, iterations: int) -> Minima:
    """From ``start`` (B, nq) to a minimum each. With a closed form, problems that it solves to the tolerance need no
    iterations: of its solutions within the limits the one nearest to ``start`` is taken. For the others the search
    begins where it comes closest."""
    if solver is None:
        return minimise(model, problems, start, iterations)
    everyone = np.arange(len(start))
    q = start.copy()
    for k in everyone:
        q[k] = _best(solver, model, problems, start, int(k))
    minima = Minima(q, problems.residual(q, everyone), np.zeros(len(q), dtype=int), np.zeros(len(q), dtype=bool))
    lost = np.flatnonzero(~problems.solved(minima.r))
    if len(lost):
        tried = minimise(model, part_of(problems, lost), q[lost], iterations)
        minima.q[lost], minima.r[lost] = tried.q, tried.r
        minima.iterations[lost], minima.stationary[lost] = tried.iterations, tried.stationary
    return minima


def held_rates(solver: Any, model: Model, hold: Any) -> Any:
    """Names of rates to hold: those of the call, and those that a closed form leaves alone."""
    held = [model.dofs[k] for k in getattr(solver, "held", ())]
    if not held:
        return hold
    listed = (hold,) if isinstance(hold, str) else tuple(hold)
    return (*listed, *(name for name in held if name not in listed))


def expect_solver(solver: Any, task: Task, who: str = WHO) -> None:
    """Refuse what is no closed form, or one for something else."""
    if solver is None:
        return
    if not hasattr(solver, "candidates"):
        raise GyrostatError(
            f"{who}: solver is {clipped(solver)}, which is no closed form of inverse kinematics. "
            "Hint: gs.BlockSolver(model, f, like=gs.inverse_kinematics, frame=...)"
        )
    solver.expect(task.model, task.problems.error.frame, task.rows, who)


def part_of(problems: Problems, which: Array) -> Problems:
    """Some of the problems."""
    time = None if problems.t is None else np.broadcast_to(problems.t, len(problems.R_t))[which]
    return replace(problems, R_t=problems.R_t[which], p_t=problems.p_t[which], t=time)


def _best(solver: ClosedForm, model: Model, problems: Problems, start: Array, k: int) -> Array:
    """The candidate that solves problem k nearest to its start; else the one with the least error, or the start."""
    t = None if problems.t is None else float(np.broadcast_to(problems.t, len(problems.R_t))[k])
    q = solver.candidates(problems.R_t[k], problems.p_t[k], start[k], t)
    if not len(q):
        return start[k]
    q = inside(model, unwound(model, q, start[k], problems.low, problems.high), problems.low, problems.high)
    which = np.full(len(q), k)
    r = problems.residual(q, which)
    solved = problems.solved(r)
    way = np.linalg.norm(difference(model, start[k], q), axis=1)
    rank = np.where(solved, way, np.inf) if solved.any() else np.sum(r * r, axis=1)
    return q[int(np.argmin(rank))]
