"""Achievable motion of a programme of 14,000 cycles, next to single calls of the plain robot's inverse dynamics."""

from __future__ import annotations

import os
import tempfile
import time

import numpy as np

import gyrostat as gs
from benchmarks.harness import Effort, Row, best_of
from gyrostat.engine.llvm.loop import Loop

NOTES = (
    "AchievableMotion of whole programmes, everything included: loop, checks, results; per state: one cycle.",
    "rnea: compiled inverse dynamics of the same robot without drives: one call from Python, and its kernel alone, in",
    "the same kind of loop. The ratio is to the kernel; 1/15 = 0.067 or more is what we ask for.",
    "Measured in turns, the best of many, because the machine may be busy.",
    "build: network, trace, compile, load and one cycle, with an empty cache.",
    "limits met: torque limits at 0.8 of what the programme needs, so that the set of saturated motors changes often.",
)
CYCLES = 14_000


def measure(effort: Effort) -> list[Row]:
    rows: list[Row] = []
    robots = {"LWR": (gs.robots.kuka_lwr4(), 0.001), "trainer": (gs.robots.spatial_disorientation_trainer(), 0.005)}
    for name, (plain, dt) in robots.items():
        rows += _robot(name, plain, dt, effort)
    return rows


def driven(plain: gs.Model, limits: np.ndarray | None = None) -> gs.Model:
    """The robot with a geared motor at each joint."""
    model = plain
    for k, joint in enumerate(plain.dofs):
        torque = 1e9 if limits is None else float(limits[k])
        model = model.with_drive(joint, rotor_inertia=1e-4, gear_ratio=100.0, torque_limit=torque)
    return model


def _programme(n: int, cycles: int, dt: float) -> np.ndarray:
    """Sines of different frequencies."""
    t = np.arange(cycles + 1)[:, None] * dt
    k = np.arange(n)
    return 0.5 * np.sin((0.8 + 0.3 * k) * t + k)


def _robot(name: str, plain: gs.Model, dt: float, effort: Effort) -> list[Row]:
    quick = effort.number is not None
    path = _programme(plain.nv, 50 if quick else CYCLES, dt)
    v = np.diff(path, axis=0) / dt
    a = np.diff(v, axis=0) / dt
    needed = gs.ActuatorDynamics(driven(plain)).torques(path[:-2], v[:-1], a)
    solver, state = gs.InverseDynamics(plain), [np.ascontiguousarray(x[0]) for x in (path, v, a)]
    loop = Loop(solver.main_kernel().program, {})
    arrays = loop.arrays({"q": path[:-2], "v": v[:-1], "a": a}, {}, {})
    rows: list[Row] = []
    for limits, share in (("no limit met", None), ("limits met", 0.8)):
        model = driven(plain, None if share is None else share * np.abs(needed).max(axis=0))
        for keep in ("accelerations", "torques"):
            rows.append(_build(f"{name}, {limits}, keep {keep}", model, dt, keep, path))
            motion = gs.AchievableMotion(model, dt, keep)
            times, calls, kernels = [], [], []
            for _ in range(1 if quick else 6):  # in turns
                times.append(best_of(lambda motion=motion: motion(path), max(1, effort.repeat // 6), 1))
                calls.append(best_of(lambda: solver(*state), max(1, effort.repeat // 6), effort.number))
                kernels.append(best_of(lambda: loop.advance(arrays, 0, arrays.steps), max(1, effort.repeat // 6), 1))
            case = f"{name}, {limits}, keep {keep}"
            rows.append(Row("run", case, "gyrostat, AchievableMotion", min(times), len(path) - 2))
            rows.append(Row("run", case, "gyrostat, rnea, one call", min(calls), peer=True))
            rows.append(Row("run", case, "gyrostat, rnea, kernel", min(kernels), arrays.steps, peer=True))
    return rows


def _build(case: str, model: gs.Model, dt: float, keep: str, path: np.ndarray) -> Row:
    """From the model to its first cycles, with an empty cache."""
    before = os.environ.get("GYROSTAT_CACHE")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["GYROSTAT_CACHE"] = folder
        try:
            start = time.perf_counter()
            gs.AchievableMotion(model, dt, keep)(path[:3])
            seconds = time.perf_counter() - start
        finally:
            os.environ.pop("GYROSTAT_CACHE")
            if before is not None:
                os.environ["GYROSTAT_CACHE"] = before
    return Row("build", case, "gyrostat, cold, first cycle", seconds)
