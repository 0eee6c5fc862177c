"""All configurations that bring a frame to a target: the branches of the inverse kinematics."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.configuration.limits import limits_of
from gyrostat.configuration.manifold import difference
from gyrostat.errors import ShapeError, StateError
from gyrostat.graph.network import kept_network
from gyrostat.solvers.kinematics.inverse.damped_least_squares import minimise
from gyrostat.solvers.kinematics.inverse.start_points import start_points, with_held
from gyrostat.solvers.kinematics.inverse.task import Task, count_of
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model

Array = np.ndarray
WHO = "inverse_kinematics_branches"

ROUND = 64
"""Starts tried at a time; the search ends after two rounds without anything new."""

SAME = 1e-5
"""Configurations closer than this [rad, m] are one."""


@dataclass(frozen=True)
class Branches:
    """``q`` (k, nq): all different configurations that were found, in lexical order; ``isolated`` (k,): there are no
    others beside it (false at a singularity); ``starts`` tried; ``outside``: solutions that only limits forbid."""

    q: Array
    isolated: Array
    starts: int
    outside: int

    def __len__(self) -> int:
        return len(self.q)


def inverse_kinematics_branches(
    model: Model,
    frame: str,
    target: Any,
    q0: Any = None,
    *,
    axes: Any = None,
    limits: Any = "model",
    hold: str | Iterable[str] = (),
    starts: int = 1024,
    tolerance: float = 1e-12,
    iterations: int = 100,
    t: Any = None,
) -> Branches:
    """Every configuration with ``frame`` at one ``target``, see :func:`inverse_kinematics`; 8 for a Puma.

    Searches start from up to ``starts`` points spread over the joints' range, always the same ones, and are polished by
    Newton steps; the search ends early when 128 starts in a row found nothing new. That all were found is likely, not
    proven. Angles are returned in [-pi, pi), or in a full turn inside the limits that is nearest to their middle: other
    full turns are not listed. Joints that do not move the frame, and one that is redundant, must be held with
    ``hold`` at ``q0``: otherwise there are infinitely many configurations, and an error says so.
    """
    expect_model(model, WHO)
    kept_network(model).refuse_loops(WHO)
    low, high = limits_of(model, limits, WHO)
    starts, iterations = count_of(starts, "starts"), count_of(iterations, "iterations")
    at, turning = model.layout.number_q, model.layout.periodic_q
    wide_low, wide_high = low.copy(), high.copy()
    wide_low[turning], wide_high[turning] = -np.inf, np.inf  # full turns are taken off afterwards
    task = Task(model, frame, target, q0, axes, None, (wide_low, wide_high), hold, tolerance, t)
    if task.shape:
        raise ShapeError(f"{WHO}: one target at a time, got leading shape {task.shape}. Hint: loop over the targets")
    _check_freedom(model, task)
    free = turning[~task.problems.held[model.layout.periodic_v]]
    inside, outside, tried, idle = np.empty((0, model.nq)), np.empty((0, model.nq)), 0, 0
    while tried < starts and idle < 2:
        count = min(ROUND, starts - tried)
        solutions = _round(model, task, count, tried, iterations)
        before = len(inside) + len(outside)
        for q in solutions:
            q[free] = _wrapped(q[free], low[free], high[free])
            legal = bool(np.all((q[at] >= low[at]) & (q[at] <= high[at])))
            if legal:
                inside = _with(model, inside, q)
            else:
                outside = _with(model, outside, q)
        idle = 0 if len(inside) + len(outside) > before else idle + 1
        tried += count
    inside = inside[np.lexsort(inside.T[::-1].round(6))] if inside.size else inside
    return Branches(inside, _isolated(model, task, inside), tried, len(outside))


def _round(model: Model, task: Task, count: int, skip: int, iterations: int) -> Array:
    p = task.problems
    q = with_held(model, start_points(model, p.low, p.high, count, skip), task.start, p.held)
    many = type(p)(
        p.error,
        np.repeat(p.R_t, count, axis=0),
        np.repeat(p.p_t, count, axis=0),
        p.weights,
        p.low,
        p.high,
        p.held,
        p.tolerance,
        None if p.t is None else np.repeat(p.t, count),
    )
    ended = minimise(model, many, q, iterations)
    return ended.q[many.solved(ended.r)]


def _with(model: Model, known: Array, q: Array) -> Array:
    """``known``, and q if it is not among them, full turns apart."""
    if len(known):
        apart = difference(model, known, q)
        turns = model.layout.periodic_v
        apart[:, turns] -= 2.0 * np.pi * np.round(apart[:, turns] / (2.0 * np.pi))
        if np.any(np.abs(apart).max(axis=1, initial=0.0) < SAME):
            return known
    return np.concatenate([known, q[None]])


def _wrapped(angle: Array, low: Array, high: Array) -> Array:
    """Full turns added so that the angle is nearest to the middle of its limits, or in [-pi, pi)."""
    bounded = np.isfinite(low) & np.isfinite(high)
    middle = np.where(bounded, (np.where(bounded, low, 0.0) + np.where(bounded, high, 0.0)) / 2.0, 0.0)
    near = middle + np.mod(angle - middle + np.pi, 2.0 * np.pi) - np.pi
    near = np.where(~bounded & (near < low), near + 2.0 * np.pi * np.ceil((low - near) / (2.0 * np.pi)), near)
    return np.where(~bounded & (near > high), near - 2.0 * np.pi * np.ceil((near - high) / (2.0 * np.pi)), near)


def _check_freedom(model: Model, task: Task) -> None:
    """As many independent rows as rates, at some of the configurations: otherwise solutions are not isolated."""
    p = task.problems
    samples = with_held(model, start_points(model, p.low, p.high, 8), task.start, p.held)
    which = np.zeros(8, dtype=int)
    E = p.derivative(samples, which)[:, :, ~p.held]
    free = int(np.sum(~p.held))
    rank = int(np.max(np.linalg.matrix_rank(E, tol=1e-9))) if free else 0
    if rank < free:
        names = [n for n, h in zip(model.dofs, p.held, strict=True) if not h]
        idle = [n for n, k in zip(names, np.abs(E).max(axis=(0, 1), initial=0.0), strict=True) if k == 0.0]
        some = f"{', '.join(idle)} do not move it" if idle else "the robot is redundant for it"
        raise StateError(
            f"{WHO}: {free} rates for {rank} independent rows of '{p.error.frame}' ({some}), so that there are "
            "infinitely many configurations. Hint: hold=[...] with their values in q0"
        )


def _isolated(model: Model, task: Task, q: Array) -> Array:
    p = task.problems
    if not len(q) or p.held.all():
        return np.ones(len(q), dtype=bool)
    E = p.derivative(q, np.zeros(len(q), dtype=int))[:, :, ~p.held]
    s = np.linalg.svd(E, compute_uv=False)
    return s[:, E.shape[2] - 1] > 1e-6 * s[:, 0] if E.shape[1] >= E.shape[2] else np.zeros(len(q), dtype=bool)
