"""Motions that tell the most about inertias and friction: optimised Fourier series [Swevers 1997].

    q_j = o_j + sum_l a_jl sin(l w t) + b_jl cos(l w t),   at rest at the start and after each period:
    sum_l l a_jl = 0,   sum_l l^2 b_jl = 0

    "d-optimal":  max log det A^T A        volume of what is not known, does not depend on units
    "condition":  min log (s_1 / s_r)      columns of unit length
A: columns of the base parameters and of friction, rows weighted by 1 / torque limit. Limits of position, speed,
acceleration, torque and clearance are penalties while it is sought; in the end amplitudes are drawn in until all hold
on a grid that is four times finer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.errors import GyrostatError, clipped
from gyrostat.simulate.trajectories.fourier import fourier
from gyrostat.simulate.trajectories.trajectory import Trajectory
from gyrostat.solvers.collision.collision_pairs import collision_pairs
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model
from gyrostat.studies.identification.exciting_limits import read_limits
from gyrostat.studies.identification.exciting_problem import WHO, ExcitingProblem
from gyrostat.studies.identification.sought import expect_linear
from gyrostat.studies.progress import Progress
from gyrostat.studies.report import Report
from gyrostat.studies.study_data import StudyData

Array = np.ndarray
OBJECTIVES = ("d-optimal", "condition")


@dataclass(frozen=True, eq=False)
class ExcitingTrajectory(StudyData):
    """``offset`` (n,), ``sine``, ``cosine`` (L, n), ``frequency`` [Hz]: the series; ``condition`` of the columns of
    unit length, ``start_condition`` that of the random start; ``log_det`` of A^T A, columns as they are; ``use``:
    largest part of each limit that is used, by name; ``history`` of the objective; ``finished`` False: interrupted."""

    model: Model
    offset: Array
    sine: Array
    cosine: Array
    frequency: float
    periods: int
    objective: str
    condition: float
    start_condition: float
    log_det: float
    use: dict[str, Array]
    history: Array
    finished: bool = True
    message: str = "finished"

    @property
    def trajectory(self) -> Trajectory:
        """As one of ``gs.trajectories``, for the controller."""
        return fourier(self.offset, self.sine, self.cosine, self.frequency, self.periods, names=self.model.dofs)

    def report(self) -> Report:
        """What it excites, what of the limits it uses, and the motion."""
        from matplotlib.figure import Figure

        report = Report(f"Exciting trajectory of {self.model.name}")
        report.text(
            f"{self.objective}, {len(self.sine)} harmonics of {self.frequency:.4g} Hz, {self.periods} periods. "
            f"Condition number of the columns of unit length: {self.condition:.4g}; of the random start: "
            f"{self.start_condition:.4g}. {self.message}."
        )
        names = list(self.use)
        rows = [(dof, *(float(self.use[k][j]) for k in names)) for j, dof in enumerate(self.model.dofs)]
        report.heading("Use of the limits").table(("joint", *names), rows, "largest value over the limit")
        motion = self.trajectory
        t = np.linspace(0.0, 1.0 / self.frequency, 400)
        shown = motion.derivatives(t, 2)
        figure = Figure(figsize=(9.0, 6.0), layout="constrained")
        for ax, x, label in zip(figure.subplots(3, 1, sharex=True), range(3), ("q", "v", "a"), strict=True):
            ax.plot(t, shown[:, x], lw=1.0)
            ax.set_ylabel(label)
        figure.axes[-1].set_xlabel("t [s]")
        figure.axes[0].legend(self.model.dofs, fontsize=7, ncols=4, loc="upper right")
        report.heading("Motion").figure(figure, "one period: positions, rates, accelerations")
        report.heading("Series").table(
            (
                "joint",
                "offset",
                *(f"sin {k + 1}" for k in range(len(self.sine))),
                *(f"cos {k + 1}" for k in range(len(self.sine))),
            ),
            [
                (d, *map(float, (self.offset[j], *self.sine[:, j], *self.cosine[:, j])))
                for j, d in enumerate(self.model.dofs)
            ],
        )
        return report


def exciting_trajectory(
    model: Model,
    *,
    duration: float = 20.0,
    period: float = 10.0,
    harmonics: int = 5,
    terms: Sequence[str] = ("viscous", "coulomb"),
    bodies: Sequence[str] | None = None,
    position_limits: Any = None,
    velocity_limits: Any = None,
    acceleration_limits: Any = None,
    torque_limits: Any = None,
    margin: float = 0.9,
    clearance: Callable[[Array], Any] | None = None,
    apart: float | None = None,
    objective: str = "d-optimal",
    iterations: int = 60,
    samples: int = 80,
    rng: int = 0,
    progress: Any = None,
) -> ExcitingTrajectory:
    """A periodic motion for :func:`identify`: ``harmonics`` of 1 / ``period``, for ``duration`` [s].

    Limits by default those of the joints (``lower``, ``upper``, ``velocity_limit``, ``effort_limit``); given ones take
    their place: ``position_limits`` (lower (n,), upper (n,)), others a number or (n,). ``margin``: part of each limit
    that may be used (of positions: of the range). ``apart`` [m]: least distance of the shapes of
    ``gs.collision_pairs(model)``; ``clearance(q)``: other distances (T,) or (T, k) [m] of configurations (T, nq), which
    must stay positive. ``terms``, ``bodies``: what is to be
    identified, as in ``identify``. ``iterations`` of L-BFGS from the best of 20 random starts."""
    expect_model(model, WHO)
    expect_linear(model, WHO)
    limits = read_limits(model, position_limits, velocity_limits, acceleration_limits, torque_limits, margin, WHO)
    _expect_numbers(duration, period, harmonics, iterations, samples, objective)
    if apart is not None and (isinstance(apart, bool) or not 0.0 <= apart < np.inf or not collision_pairs(model)):
        what = (
            f"apart must be a distance [m], got {clipped(apart)}" if collision_pairs(model) else "no shapes can touch"
        )
        raise GyrostatError(f"{WHO}: {what}. Hint: shapes with role='collision', see gs.collision_pairs")
    task = ExcitingProblem.of(model, limits, terms, bodies, period, harmonics, samples, objective, clearance)
    task.apart = None if apart is None else float(apart)
    random = np.random.default_rng(rng)
    history: list[float] = []
    with Progress(progress, WHO, iterations) as shown:
        starts = [task.start(random) for _ in range(20)]
        z = min(starts, key=task.plain)
        first = task.condition(z)
        finished = True
        best = [task.value(z.ravel())[0], z]

        def told(x: Array) -> None:
            value = task.last
            history.append(value)
            if value < best[0]:
                best[:] = [value, x.reshape(z.shape).copy()]
            shown.step(1, f"objective {value:.4g}")

        try:
            _minimise(task.value, z.ravel(), told, iterations)
        except KeyboardInterrupt:
            finished = False
        z = task.drawn_in(best[1])
    o, a, b = task.series.coefficients(z)
    periods = max(1, round(duration / period))
    message = "finished" if finished else "interrupted: the best motion so far"
    return ExcitingTrajectory(
        model, o, a, b, 1.0 / period, periods, objective, task.condition(z), first, task.log_det(z), task.use(z),
        np.array(history), finished, message,
    )  # fmt: skip


def _expect_numbers(duration: Any, period: Any, harmonics: Any, iterations: Any, samples: Any, objective: Any) -> None:
    for name, value in (("duration", duration), ("period", period)):
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 < value < np.inf:
            raise GyrostatError(f"{WHO}: {name} must be a positive time [s], got {clipped(value)}.")
    for name, value, least in (("harmonics", harmonics, 2), ("iterations", iterations, 0), ("samples", samples, 20)):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise GyrostatError(f"{WHO}: {name} must be a whole number from {least}, got {clipped(value)}.")
    if abs(duration / period - round(duration / period)) > 1e-9 or duration < period:
        raise GyrostatError(
            f"{WHO}: duration {duration:g} s is no multiple of the period {period:g} s. Hint: 20 and 10"
        )
    if objective not in OBJECTIVES:
        raise GyrostatError(f"{WHO}: objective must be one of {', '.join(OBJECTIVES)}, got {clipped(objective)}.")


def _minimise(f: Any, x: Array, callback: Any, iterations: int) -> None:
    try:
        from scipy.optimize import minimize
    except ImportError:
        raise GyrostatError(f"{WHO}: needs scipy. Hint: pip install 'gyrostat[studies]'") from None
    if iterations:
        minimize(f, x, jac=True, method="L-BFGS-B", callback=callback, options={"maxiter": iterations, "maxcor": 20})
