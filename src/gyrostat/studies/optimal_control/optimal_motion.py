"""The motion that was found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gyrostat.studies.optimal_control.free_numbers import has_property
from gyrostat.studies.optimal_control.phase import Phase
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
    state plus one; ``cost_error``: an estimate of the error of the cost, from two grids the difference of
    their costs, from one three times what the errors of the states change in it.
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

    def __repr__(self) -> str:
        state = "converged" if self.converged else self.message
        return f"<OptimalMotion of {self.duration:.4g} s, cost {self.cost:.8g}, error {self.error:.1e}: {state}>"
