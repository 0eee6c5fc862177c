"""Fastest paths: the Panda along splines, next to toppra in the same process; and whether limits hold between the
points of the grid, found again with inverse dynamics on trajectories."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from time import perf_counter
from typing import Any

import numpy as np

import gyrostat as gs
from benchmarks.bench_optimal_control import seven_axes
from benchmarks.bench_simulate import in_turns
from benchmarks.harness import Effort, Row
from benchmarks.robots import pinocchio_model

Array = np.ndarray
TORQUE = np.array([87.0, 87.0, 87.0, 87.0, 12.0, 12.0, 12.0])
SPEED = np.array([2.175, 2.175, 2.175, 2.175, 2.61, 2.61, 2.61])
VISCOUS = np.array([3.0] * 4 + [0.5] * 3)
MIDDLE, SPREAD = np.array([0.0, 0.2, 0.0, -1.6, 0.0, 1.7, 0.0]), 0.6
FINER = (10, 100)

NOTES = (
    "Panda, 7 axes, cubic spline through 5 waypoints, limits of torque and speed, 500 even intervals, limits at 4 "
    "points of each and between them; from waypoints to the motion.",
    "toppra: TOPPRA with its solver seidel, inverse dynamics of Pinocchio, JointTorqueConstraint by interpolation; "
    "ratio to it: aim 1.4 (0.7 of its time).",
    "With viscous friction: the same with friction in every joint; no peer. Aim: twice the time without.",
    "Checked before anything is timed: no limit is exceeded at 10 and 100 instants of each interval of the trajectory, "
    "and the duration is that of toppra within 1e-3.",
)


def measure(effort: Effort) -> list[Row]:
    intervals = 50 if effort.number is not None else 500
    plain, ways = seven_axes(), [waypoints(seed) for seed in range(1 if effort.number is not None else 3)]
    rubbing = plain
    for name, viscous in zip(plain.dofs, VISCOUS, strict=True):
        rubbing = rubbing.with_drive(name, viscous=float(viscous))
    begun = perf_counter()
    fastest(plain, ways[0], intervals)
    rows = [Row("build", f"Panda, {intervals} intervals", "gyrostat, first call", perf_counter() - begun)]
    for seed, way in enumerate(ways):
        calls: dict[str, Callable[[], Any]] = {
            "gyrostat": lambda way=way: fastest(plain, way, intervals),
            "gyrostat, viscous friction": lambda way=way: fastest(rubbing, way, intervals),
        }
        for call, model in zip(calls.values(), (plain, rubbing), strict=True):
            expect_within(call(), model)
        if find_spec("toppra") is not None:
            calls["toppra"] = peer(way, intervals)
            same = calls["gyrostat"]().duration / calls["toppra"]().duration - 1.0
            if abs(same) > 1e-3 * 500 / intervals:
                raise ArithmeticError(f"fastest path {seed}: the duration differs from toppra's by {same:.1e}")
        best = in_turns(effort, calls)
        case = f"Panda, {intervals} intervals, path {seed}"
        rows += [Row("run", case, name, seconds, peer=name == "toppra") for name, seconds in best.items()]
    return rows


def waypoints(seed: int) -> Array:
    return MIDDLE + np.random.default_rng(seed).uniform(-SPREAD, SPREAD, (5, 7))


def fastest(model: gs.Model, way: Array, intervals: int) -> gs.studies.FastestPath:
    grid = np.linspace(0.0, 1.0, intervals + 1)
    return gs.studies.time_optimal(model, way, TORQUE, SPEED, degree=3, grid=grid, progress=False)


def peer(way: Array, intervals: int) -> Callable[[], Any]:
    """The same by toppra."""
    pin, ta, limit = (import_module(name) for name in ("pinocchio", "toppra", "toppra.constraint"))
    ta.setup_logging("ERROR")
    whole = pinocchio_model("panda")
    arm = pin.buildReducedModel(whole, [whole.getJointId(f"panda_finger_joint{k}") for k in (1, 2)], pin.neutral(whole))
    data, grid = arm.createData(), np.linspace(0.0, 1.0, intervals + 1)
    places = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(way, axis=0), axis=1))])

    def inverse_dynamics(q: Array, v: Array, a: Array) -> Array:
        return pin.rnea(arm, data, q, v, a)

    def call() -> Any:
        path = ta.SplineInterpolator(places / places[-1], way, bc_type="natural")
        rows = [
            limit.JointVelocityConstraint(np.stack([-SPEED, SPEED], axis=1)),
            limit.JointTorqueConstraint(
                inverse_dynamics,
                np.stack([-TORQUE, TORQUE], axis=1),
                np.zeros(7),
                discretization_scheme=limit.DiscretizationType.Interpolation,
            ),
        ]
        solver = ta.algorithm.TOPPRA(rows, path, gridpoints=grid, parametrizer="ParametrizeConstAccel")
        return solver.compute_trajectory()

    return call


def expect_within(found: gs.studies.FastestPath, model: gs.Model) -> None:
    """Torques, by inverse dynamics on the trajectory, and speeds keep their limits."""
    for finer in FINER:
        inside = (np.arange(finer) + 0.5) / finer
        t = (found.t[:-1, None] + np.diff(found.t)[:, None] * inside).ravel()
        q, v, a = np.moveaxis(found.trajectory.derivatives(t, 2), -2, 0)
        torque, speed = np.abs(gs.rnea(model, q, v, a)) - TORQUE, np.abs(v) - SPEED
        if max(torque.max(), speed.max()) > 1e-9:
            raise ArithmeticError(
                f"fastest path: limits are exceeded by {torque.max():.2e} N m, {speed.max():.2e} rad/s"
            )
