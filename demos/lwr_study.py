"""The runs of the experiment WM15 4.2-4.4: what each costs, and how far it is from the solution."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

import gyrostat as gs
from demos import lwr_exudyn
from demos.lwr_problem import DURATION, desired, law, run, stiff_methods

Array = np.ndarray

TOLERANCES = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9)
STEPS = (0.01, 0.005, 0.0025)
"""Of Exudyn [s]."""
FIXED = {"newmark": (4e-3, 0.1), "generalised-alpha": (3e-3, 0.05), "dina": (4e-3, 0.1)}
"""Steps [s] of the methods that do not choose them, with errors below 1e-6 and 1e-3 rad."""
CARTESIAN = (1.25e-3, 0.025)
"""The same of Exudyn."""
FIRST = 0.01
"""The beginning, in which everything fast decays [s]."""


@dataclass(frozen=True)
class Torques:
    """Along the programmed motion: t (N,) [s], tau (N, 7) [N m] by inverse dynamics."""

    t: Array
    tau: Array


@dataclass(frozen=True)
class Row:
    """What a run of 14 s has cost: evaluations of the right-hand side (by ``ida``: of the residual), Jacobians, steps,
    wall time [s]; largest errors of any joint at 141 instants [rad, rad/s, rad/s^2]."""

    method: str
    tolerance: float
    evaluations: int
    jacobians: int
    steps: int
    errors: tuple[float, float, float]
    wall: float


@dataclass(frozen=True)
class Differences:
    """Between Exudyn with a fixed step [s] and gyrostat: |delta| (T, 7) of q, v, a [WM15 (35)], and Exudyn's cost."""

    step: float
    t: Array
    delta: tuple[Array, Array, Array]
    steps: int
    newton: int
    wall: float

    @property
    def largest(self) -> tuple[float, float, float]:
        q, v, a = (float(x.max()) for x in self.delta)
        return q, v, a


def torques(samples: int = 701) -> Torques:
    t = np.linspace(0.0, DURATION, samples)
    return Torques(t, gs.rnea(gs.robots.kuka_lwr4(), *desired(t)))


def usable() -> tuple[list[str], list[str]]:
    """Methods for stiff problems that have what they need, and sentences about the others."""
    names, sentences = [], []
    for name in stiff_methods():
        try:
            run(name, 1e-3, 1e-3, t_end=1e-3, t_eval=None)
        except gs.GyrostatError as error:
            if "pip install" not in str(error):
                raise
            sentences.append(str(error))
        else:
            names.append(name)
    return names, sentences


def solution() -> gs.Result:
    """The motion to about 1e-10 rad, which ``demos.lwr_reference`` confirms."""
    return run("radau", 1e-11, 1e-12)


def errors(motion: gs.Result | lwr_exudyn.Motion, exact: gs.Result) -> tuple[Array, Array, Array]:
    """|delta| (T, 7) of q, v, a."""
    return np.abs(motion.q - exact.q), np.abs(motion.v - exact.v), np.abs(motion.a - exact.a)


def measured(method: str, tolerance: float, exact: gs.Result) -> Row:
    """The shortest of up to three runs, as long as they take half a second together."""
    began, runs = time.perf_counter(), [run(method, tolerance, tolerance)]
    while len(runs) < 3 and time.perf_counter() - began < 0.5:
        runs.append(run(method, tolerance, tolerance))
    c = runs[0].counters
    q, v, a = (float(x.max()) for x in errors(runs[0], exact))
    wall = min(x.counters.wall_time for x in runs)
    evaluations = c.rhs_evaluations + c.residual_evaluations
    return Row(method, tolerance, evaluations, c.jacobian_evaluations, c.steps, (q, v, a), wall)


def stepped(method: str, step: float, exact: gs.Result) -> Row:
    """A run with fixed steps [s], which stand in the place of the tolerance."""
    motion = run(method, 1e-6, 1e-6, dt=step)
    c, (q, v, a) = motion.counters, (float(x.max()) for x in errors(motion, exact))
    return Row(method, step, c.residual_evaluations, c.jacobian_evaluations, c.steps, (q, v, a), c.wall_time)


def cartesian(step: float, exact: gs.Result) -> tuple[Row, Array]:
    """The same by Exudyn, and its wall time over simulated time (steps + 1, 2), a curve of WM15 Fig. 13. It has one
    evaluation for each Newton iteration; how many Jacobians it makes it does not tell."""
    motion = lwr_exudyn.simulate(DURATION, step, clock=True)
    q, v, a = (float(x.max()) for x in errors(motion, exact))
    row = Row("Exudyn", step, motion.newton, 0, motion.steps, (q, v, a), motion.wall)
    return row, np.zeros((0, 2)) if motion.course is None else motion.course


def course(method: str, tolerance: float) -> gs.Result:
    """A run sampled at its steps, the quickest of two: ``wall`` over ``t`` is a curve of WM15 Fig. 12."""
    return min((run(method, tolerance, tolerance, t_eval=None) for _ in range(2)), key=lambda x: x.wall[-1])


def compared(motion: lwr_exudyn.Motion, step: float, exact: gs.Result) -> Differences:
    """Exudyn next to a run of gyrostat, at the same instants."""
    return Differences(step, motion.t, errors(motion, exact), motion.steps, motion.newton, motion.wall)


def compared_first(step: float = 1e-5) -> Differences:
    """The first 10 ms, with a step that follows what is fast."""
    motion = lwr_exudyn.simulate(FIRST, step, every=2e-4)
    exact = run("radau", 1e-10, 1e-13, t_end=FIRST, t_eval=np.linspace(0.0, FIRST, 51))
    return compared(motion, step, exact)


def law_torques(motion: gs.Result) -> Array:
    """tau (T, 7) [N m] of the laws along a run."""
    return np.array([law(t, q, v) for t, q, v in zip(motion.t, motion.q, motion.v, strict=True)])


def tracking(motion: gs.Result) -> Array:
    """q - q_d (T, 7) [rad]."""
    return motion.q - desired(motion.t)[0]
