"""The motion that was found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gyrostat.errors import GyrostatError
from gyrostat.simulate.run.simulate import simulate
from gyrostat.simulate.trajectories.polynomial import hermite
from gyrostat.studies.optimal_control.free_numbers import has_property
from gyrostat.studies.optimal_control.motion_report import figure_of, report_of
from gyrostat.studies.optimal_control.phase import Phase
from gyrostat.studies.optimal_control.replay import replayed
from gyrostat.studies.report import Report
from gyrostat.studies.study_data import StudyData

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class PhaseMotion(StudyData):
    """A phase of a motion at its points: ``t`` (P,) [s] from the start of the motion, ``q`` (P, nq), ``v``, ``a``
    (P, nv), ``u`` (P, controls), ``tau`` (P, nv), ``forces`` by contact frame (P, 6): torque and force on the robot in
    the axes of the frame. ``multipliers`` (intervals, stages, 2 nv) of the collocation equations, that is the change
    of the cost per unit of a defect; ``error`` (intervals, 2 nv): how far xi and v are from the solution of the
    equations of motion over each interval. ``xi`` (P, nv): local coordinates; ``edges``: fractions of the grid."""

    name: str
    t: Array
    q: Array
    v: Array
    a: Array
    u: Array
    tau: Array
    forces: dict[str, Array]
    xi: Array
    rates: Array
    edges: Array
    fractions: Array
    multipliers: Array
    error: Array
    controls: tuple[str, ...]

    @property
    def duration(self) -> float:
        return float(self.t[-1] - self.t[0])

    @property
    def trajectory(self) -> Any:
        """q over the time from the start of the phase, as a :class:`gs.trajectories.Trajectory`."""
        return _trajectory(self.t - self.t[0], self.q, self.v, self.a, self)

    def at_fractions(self, s: Array) -> Array:
        """xi, v, u (k, 2 nv + controls) at fractions of the phase: states as cubics, controls straight."""
        h, T = np.diff(self.fractions), max(self.duration, 1e-300)
        k = np.clip(np.searchsorted(self.fractions, s, side="right") - 1, 0, len(h) - 1)
        x = ((s - self.fractions[k]) / h[k])[:, None]
        step = (h[k] * T)[:, None]
        states, slopes = np.concatenate([self.xi, self.v], axis=1), np.concatenate([self.rates, self.a], axis=1)
        cubic = (
            states[k] * (1.0 + 2.0 * x) * (1.0 - x) ** 2
            + states[k + 1] * x * x * (3.0 - 2.0 * x)
            + step * (slopes[k] * x * (1.0 - x) ** 2 - slopes[k + 1] * x * x * (1.0 - x))
        )
        return np.concatenate([cubic, self.u[k] * (1.0 - x) + self.u[k + 1] * x], axis=1)


@dataclass(frozen=True, eq=False)
class OptimalMotion(StudyData):
    """The result of :func:`optimal_control`.

    ``phases``: :class:`PhaseMotion` one after the other; ``parameters`` by name; ``cost``; ``converged`` and
    ``message`` of the solver. ``error``: greatest error of the states over an interval, relative to the range of each
    state plus one; ``cost_error``: an estimate of the error of the cost, ten times what the errors of the states
    change in it, and at least twice that without signs; from the second grid on at least the difference of their costs.
    ``refinements``: a row (nodes, cost, error, cost_error, iterations, seconds) for every grid."""

    problem: Any
    phases: tuple[PhaseMotion, ...]
    parameters: dict[str, float]
    cost: float
    converged: bool
    message: str
    iterations: int
    seconds: float
    seconds_in_functions: float
    violation: float
    error: float
    cost_error: float
    refinements: Array
    history: Array
    variables: int
    equations: int
    impulses: Array = field(default_factory=lambda: np.zeros(0))

    def _joined(self, name: str) -> Array:
        return np.concatenate([getattr(p, name) for p in self.phases])

    @property
    def t(self) -> Array:
        """(P,) of all phases; the end of one and the start of the next are both there."""
        return self._joined("t")

    @property
    def q(self) -> Array:
        return self._joined("q")

    @property
    def v(self) -> Array:
        return self._joined("v")

    @property
    def a(self) -> Array:
        return self._joined("a")

    @property
    def tau(self) -> Array:
        return self._joined("tau")

    @property
    def u(self) -> Array:
        """Controls; phases must have the same."""
        return self._joined("u")

    @property
    def duration(self) -> float:
        """[s]"""
        return float(self.phases[-1].t[-1])

    @property
    def model(self) -> Any:
        """The robot with the parameters that were found."""
        phases: tuple[Phase, ...] = self.problem.phases
        model = phases[0].model
        changes = {name: x for name, x in self.parameters.items() if has_property(model, name)}
        return model.replace(changes) if changes else model

    # ------------------------------------------------------------------ what to do with it
    def expect_converged(self) -> OptimalMotion:
        """This motion; an error if the search ended before it converged."""
        return self._usable("expect_converged", "loosen conditions, give a better guess, or more iterations")

    def _usable(self, what: str, remedy: str) -> OptimalMotion:
        if not self.converged:
            raise GyrostatError(
                f"OptimalMotion.{what}: the motion did not converge ({self.message}), its conditions are violated by "
                f"{self.violation:.1e}. Hint: {remedy}"
            )
        return self

    @property
    def trajectory(self) -> Any:
        """q over time as a :class:`gs.trajectories.Trajectory`: through the points with their rates and accelerations,
        degree 5. Phases with an impact between them have trajectories of their own, ``motion.phases[k].trajectory``."""
        self._usable("trajectory", "motion.phases[k].trajectory shows where the search ended")
        first = self.phases[0]
        if len(self.phases) > 1 and np.abs(first.v[-1] - self.phases[1].v[0]).max() > 1e-6:
            raise GyrostatError(
                "OptimalMotion.trajectory: rates jump between phases. Hint: motion.phases[k].trajectory"
            )
        keep = np.concatenate([[True], np.diff(self.t) > 0.0])
        return _trajectory(self.t[keep], self.q[keep], self.v[keep], self.a[keep], first)

    def simulate(self, method: str = "dopri5", rtol: float = 1e-9, atol: float = 1e-11, **options: Any) -> Any:
        """The motion of the model under the efforts that were found, by :func:`gs.simulate`: one phase without
        contacts. A :class:`gs.Result`, for plots, files and the viewer; for other motions :meth:`replay`."""
        study = self._usable("simulate", "motion.replay() shows where the search ended").problem
        p = self.phases[0]
        if len(self.phases) > 1 or study.phases[0].contacts:
            raise GyrostatError(
                "OptimalMotion.simulate: simulation knows one phase without contacts, this motion has "
                f"{len(self.phases)} phases or frames that stand. Hint: motion.replay()"
            )
        if study.method != "hermite-simpson":
            raise GyrostatError(
                f"OptimalMotion.simulate: controls of '{study.method}' are polynomials, no straight lines. "
                "Hint: motion.replay(), or method='hermite-simpson'"
            )
        t = p.t - p.t[0]
        return simulate(
            self.model, p.tau, p.q[0], p.v[0], float(t[-1]), method, rtol=rtol, atol=atol, t_eval=t, **options
        )

    def replay(self, rtol: float = 1e-10, atol: float = 1e-12) -> tuple[Array, ...]:
        """Of each phase, differences (P, 2 nv) of xi and v between the equations of motion, integrated again from the
        start of the phase under the controls that were found (SciPy's DOP853), and the motion."""
        return replayed(self, rtol, atol)

    def figure(self) -> Any:
        """Coordinates, rates and controls over time; with refined grids also error and cost by points."""
        return figure_of(self)

    def report(self) -> Report:
        """The result as a page."""
        return report_of(self)

    def __repr__(self) -> str:
        what = f"OptimalMotion of {self.duration:.4g} s, cost {self.cost:.8g}, error {self.error:.1e}"
        if self.converged:
            return f"<{what}: converged>"
        return f"<NOT CONVERGED: {self.message}; conditions are violated by {self.violation:.1e}. {what}>"


def _trajectory(t: Array, q: Array, v: Array, a: Array, phase: PhaseMotion) -> Any:
    if q.shape[1] != v.shape[1]:
        raise GyrostatError("trajectory: quaternions are no numbers that add. Hint: motion.phases[k].at_fractions")
    return hermite(t, np.stack([q, v, a], axis=1))
