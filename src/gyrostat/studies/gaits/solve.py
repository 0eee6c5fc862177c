"""The gait that costs least: quasi-static guess, slow joints first, then the cost that is asked for, then finer where
the equations are least fulfilled between the points."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

import numpy as np

from gyrostat.errors import GyrostatError
from gyrostat.studies.gaits.collocation import Collocation
from gyrostat.studies.gaits.gait import Gait
from gyrostat.studies.gaits.guess import first_guess
from gyrostat.studies.gaits.motion import GaitMotion, gait_motion
from gyrostat.studies.gaits.problem import GaitProblem, gait_problem
from gyrostat.studies.gaits.refine import equal_errors, interval_errors, moved_points
from gyrostat.studies.optimal_control.ipopt import solve_by_ipopt
from gyrostat.studies.progress import Progress

Array = np.ndarray
SLOW = 100.0
"""Weight of the rates over that of (5.4) in the first programme [N^2 m^2 s^2]: its solution is smooth."""
USUAL = {"print_level": 0, "sb": "yes", "mumps_pivot_order": 0, "acceptable_iter": 0}


def optimal_gait(
    gait: Gait | Any = None,
    *,
    tolerance: float = 1e-6,
    accuracy: float = 1e-4,
    refinements: int = 6,
    iterations: int = 500,
    start: GaitMotion | None = None,
    progress: Any = None,
    options: Mapping[str, Any] | None = None,
    **asked: Any,
) -> GaitMotion:
    """The motion of a :class:`Gait` that costs least; or ``optimal_gait(robot=..., pattern="trot", ...)``.

    ``tolerance``: of Ipopt, for scaled equations and optimality. ``accuracy``: the grid moves, with as many points,
    until every interval, simulated anew from its first point, ends within it [rad, m, rad/s, m/s], at most
    ``refinements`` times. ``start``: another motion of the same gait (other cost, stride, period) to begin with.
    An interruption keeps the motion that was reached."""
    chosen = gait if isinstance(gait, Gait) else Gait(**({"robot": gait} if gait is not None else {}), **asked)
    if isinstance(gait, Gait) and asked:
        raise GyrostatError(f"gait: got a Gait and also {', '.join(asked)}. Hint: dataclasses.replace(gait, ...)")
    begun = time.perf_counter()
    problem = gait_problem(chosen)
    x = _started(problem, start)
    prepared = time.perf_counter() - begun
    with Progress(progress, f"gait of {chosen.model.name}", None) as shown:
        run = _Run(problem, dict(USUAL) | {"tol": tolerance, "max_iter": iterations} | dict(options or {}), shown)
        return run.solved(x, accuracy, refinements, prepared, start is not None)


def _started(problem: GaitProblem, start: GaitMotion | None) -> Array:
    if start is None:
        return first_guess(problem)
    count = int(problem.programme.starts[-1])
    states = len(start.variables) - (start.gait.periods[0] < start.gait.periods[1])
    if states != count:
        raise GyrostatError(f"gait: start has {states} variables, expected {count}. Hint: the same phases and nodes")
    lasting = [start.period / problem.gait.usual_period] if problem.programme.stretch is not None else []
    return np.concatenate([start.variables[:count], lasting])


class _Run:
    def __init__(self, problem: GaitProblem, options: dict[str, Any], shown: Progress):
        self.problem, self.options, self.shown = problem, options, shown
        self.iterations, self.seconds, self.in_functions = 0, 0.0, 0.0
        self.history: list[tuple[str, int, float, float, float]] = []

    def solved(self, x: Array, accuracy: float, refinements: int, prepared: float, warm: bool) -> GaitMotion:
        programme = self.problem.programme
        weights = programme.weights
        if not warm and weights[1] < SLOW * weights[0]:
            programme.weights = np.maximum(weights, [0.0, SLOW * max(weights[0], 1e-6), 0.0])
            x, status = self._stage("slow joints", programme, x, {})
            programme = programme.like(weights=weights)
            x, status = self._stage("cost", programme, x, {"mu_init": 1e-3})
        else:
            x, status = self._stage("cost", programme, x, {"mu_init": 1e-3} if warm else {})
        for k in range(refinements):
            errors = self._errors(programme, x)
            if status.status not in (0, 1) or max(e.max() for e in errors) <= accuracy:
                break
            programme, x = _finer(programme, x, errors)
            x, status = self._stage(f"grid {k + 1}", programme, x, {"mu_init": 1e-4})
        error = max(float(e.max()) for e in self._errors(programme, x))
        told = {
            "iterations": self.iterations,
            "seconds": self.seconds,
            "in_functions": self.in_functions,
            "prepared": prepared,
        }
        return gait_motion(self.problem, programme, x, status, error, told, self.history)

    def _errors(self, programme: Collocation, x: Array) -> list[Array]:
        parts = zip(programme.at(x), programme.split(x), strict=True)
        return [np.abs(interval_errors(s, z, programme.weights)).max(axis=1) for s, z in parts]

    def _stage(self, name: str, programme: Collocation, x: Array, more: Mapping[str, Any]) -> tuple[Array, Any]:
        def told(k: int, cost: float, violation: float) -> None:
            self.shown.step(1, f"{name}: cost {cost / programme.scale:.6g}, violation {violation:.1e}")

        cost = programme.cost(x) / programme.scale
        programme.scale = 1.0 / max(abs(cost), 1e-9)  # that of the guess may be a thousand times that of the solution
        asked = cast(Any, programme)  # no NonlinearProgram, but with all that Ipopt asks of one
        found = solve_by_ipopt(asked, x, self.options | dict(more), told)
        self.iterations += found.iterations
        self.seconds += found.seconds
        self.in_functions += found.seconds_in_functions
        worst = max(float(e.max()) for e in self._errors(programme, found.x))
        self.history.append((name, found.iterations, found.seconds, found.cost / programme.scale, worst))
        return found.x, found


def _finer(programme: Collocation, x: Array, errors: list[Array]) -> tuple[Collocation, Array]:
    segments, points = [], []
    each = zip(programme.segments, programme.at(x), programme.values(x), errors, strict=True)
    for s, lasting, (z, F, _, _), e in each:
        grid = equal_errors(s, e)
        segments.append(replace(s, grid=grid))
        points.append(moved_points(lasting, z, F, grid).ravel())
    return programme.like(segments), np.concatenate([*points, x[programme.starts[-1] :]])
