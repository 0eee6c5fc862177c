"""Explicit Runge-Kutta methods as tables, on the configuration manifold.

A step from q0 integrates y = (x, v, p, work) with y' = f(t, y), where x are local coordinates around q0 (see
:mod:`gyrostat.configuration.chart`: rotation vectors for quaternions, after Munthe-Kaas) and work is that of the
efforts:

    k_i = f(t0 + c_i h, y0 + h sum_j a_ij k_j),   y1 = y0 + h sum_i b_i k_i.

The last stage of every table is at y1, so that it is the first one of the next step (there x = 0 and x' = v). Dense
output, for s from 0 to 1, with w_1 = 1 for the first stage, w_l = 1 for the last and vectors d of the table,

    y(s) = y0 + h s (b + (1 - s) (w_1 - b + s (2 b - w_1 - w_l + (1 - s) (d_1 + s (d_2 + ...))))) . k:

the cubic of Hermite without any, order four with the one of Dormand and Prince [Hairer, Norsett, Wanner II.6]. The
steps are machine code, the same for all tables and robots: :mod:`~gyrostat.simulate.methods.drivers.explicit_steps`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from gyrostat.engine.drivers.driver import driver
from gyrostat.simulate.kernels.sampling import NEXT_LIMIT
from gyrostat.simulate.methods.compiled import NOT_FINITE, RUNAWAY, TOO_SMALL, CompiledMethod
from gyrostat.simulate.methods.drivers import explicit_steps as at
from gyrostat.simulate.methods.drivers import fixed_clock
from gyrostat.simulate.methods.method import StepFailure
from gyrostat.simulate.plant.harvest import Harvest
from gyrostat.simulate.plant.machine import Machine, address
from gyrostat.simulate.plant.plant import Plant

Array = np.ndarray


def numbers(*rows: str) -> tuple[Array, ...]:
    """Rows of a table, written as fractions."""
    return tuple(np.array([float(Fraction(word)) for word in row.split()]) for row in rows)


def nested(rows: Sequence[Array]) -> Array:
    """P (stages, k): coefficients of s, s^2, ... in s (r_1 + (1 - s) (r_2 + s (r_3 + (1 - s) (r_4 + ...)))), for k rows
    r (stages,)."""
    P = np.zeros((len(rows[0]), len(rows) + 1))
    for k in range(len(rows) - 1, -1, -1):
        P[:, 0] += rows[k]
        shifted = np.roll(P, 1, axis=1)  # times s: the last column is zero
        P = shifted if k % 2 == 0 else P - shifted
    return P[:, 1:]


@dataclass(frozen=True)
class Table:
    """``a``: one row for each stage after the first; the last row is that of y1, with a weight for every stage before
    it. ``error``: weights of y1 less the weights of the embedded method, for all stages; ``second``: of another
    estimate that goes with it. ``d``: rows of the dense output beyond the cubic; ``extra``: rows of ``a`` for stages
    that serve it alone."""

    a: Sequence[Array]
    c: Array
    error: Array | None = None
    d: Sequence[Array] = ()
    second: Array | None = None
    extra: Sequence[Array] = ()

    @property
    def stages(self) -> int:
        """With the one at y1, without those of the dense output alone."""
        return len(self.a) + 1

    @cached_property
    def polynomials(self) -> Array:
        """P (stages, degree) with y(s) = y0 + h sum_j k_j sum_d P_jd s^(d+1)."""
        total = self.stages + len(self.extra)
        b, unit = np.zeros(total), np.eye(total)
        b[: self.stages - 1] = self.a[-1]
        first, last = unit[0], unit[self.stages - 1]
        return nested([b, first - b, 2.0 * b - first - last, *self.d])

    @cached_property
    def memory(self) -> Array:
        """The table as machine code reads it."""
        total = self.stages + len(self.extra)
        rows = np.zeros((total, total))
        for i, row in enumerate((*self.a, *self.extra), start=1):
            rows[i, : len(row)] = row
        weights = np.zeros((3, total))
        weights[0, : len(self.c)] = self.c
        for k, given in ((1, self.error), (2, self.second)):
            if given is not None:
                weights[k, : len(given)] = given
        return np.concatenate([rows.ravel(), weights.ravel(), self.polynomials.ravel()])


class RungeKutta(CompiledMethod):
    """An explicit method: its table, and the memory of its steps."""

    table: ClassVar[Table]

    def __init__(self, plant: Plant, rtol: float = 1e-6, atol: float = 1e-9, max_step: float = np.inf, **options: Any):
        super().__init__(plant, rtol, atol, max_step)
        size, stages = 2 * plant.nv + plant.np + 1, self.table.stages
        total = stages + len(self.table.extra)
        self.degree = self.table.polynomials.shape[1]
        self.words, self.ctl = np.zeros(16, dtype=np.int64), np.zeros(20)
        self.words[at.STAGES], self.words[at.EXTRA] = stages, total - stages
        self.words[at.ADAPTIVE], self.words[at.TWO_ERRORS] = self.adaptive, self.table.second is not None
        self.allowed = atol * np.concatenate([np.ones(2 * plant.nv), plant.source.sizes, [1.0]])
        self.q, self.q1, self.tau1 = np.zeros(plant.nq), np.zeros(plant.nq), np.zeros(plant.nv)
        self.y, self.x = np.zeros((2, size))
        self.K = np.zeros((total, size))
        self._spare = np.zeros(2 * size + plant.nq + plant.nv)
        self.ctl[at.RTOL], self.ctl[at.MAX_STEP], self.ctl[at.TINY_STEP] = rtol, max_step, 16.0 * np.finfo(float).eps
        arrays = (self.words, None, self.ctl, self.table.memory, self.allowed, self.q, self.y, self.K, self.q1, self.x)
        self._memory = [*arrays, self.tau1, self._spare, self.clock]
        self._places = [0 if x is None else address(x) for x in self._memory]

    @cached_property
    def _steps(self) -> Any:
        return driver(at.explicit_steps).call

    def prepare(self, t: float, q: Array, v: Array, p: Array) -> None:
        _ = self._steps  # compiles

    def begin(self, t: float, q: Array, v: Array, p: Array) -> None:
        n = self.plant.nv
        self.ctl[fixed_clock.T] = self.ctl[fixed_clock.ORIGIN] = t
        self.ctl[fixed_clock.STEPS] = 0.0
        self.q[:] = q
        self.y[:n], self.y[n : 2 * n], self.y[2 * n : -1], self.y[-1] = 0.0, v, p, 0.0
        for word in (fixed_clock.PENDING, fixed_clock.KNOWN, at.AGAIN, at.THROWN, at.TRIES):
            self.words[word] = 0

    def run(self, machine: Machine, harvest: Harvest, budget: int) -> int:
        self.ctl[fixed_clock.LIMIT], self.ctl[fixed_clock.FASTEST] = self.clock[NEXT_LIMIT], self.fastest
        self.words[fixed_clock.BUDGET] = budget
        self._places[1] = harvest.io
        before = int(self.words[at.REJECTED])
        status = self._steps(machine.env, *self._places)
        self.rejected += int(self.words[at.REJECTED]) - before
        return status

    def end(self) -> tuple[float, Array, Array, Array, Array | None, Array | None]:
        n, t = self.plant.nv, float(self.ctl[fixed_clock.T])
        if self.words[fixed_clock.PENDING]:
            return (
                t,
                self.q1.copy(),
                self.x[n : 2 * n].copy(),
                self.x[2 * n : -1].copy(),
                self.K[self.table.stages - 1, n : 2 * n].copy(),
                self.tau1.copy(),
            )
        return t, self.q.copy(), self.y[n : 2 * n].copy(), self.y[2 * n : -1].copy(), None, None

    def last_step(self) -> tuple[float, float, Array]:
        return float(self.ctl[fixed_clock.T0]), float(self.ctl[fixed_clock.T]), self.q.copy()

    def failure(self, status: int) -> StepFailure:
        worst = int(self.words[fixed_clock.WORST])
        if status == RUNAWAY:
            return self.grows(worst)
        if status == TOO_SMALL:
            return self._stuck(worst % self.plant.nv if worst < 2 * self.plant.nv else None)
        if status == NOT_FINITE and self.words[fixed_clock.REASON] == at.TURNED_TOO_FAR:
            return StepFailure("something turns by more than half a turn in one step", hint="a smaller dt")
        if status == NOT_FINITE and self.words[fixed_clock.REASON] == at.PROJECTED_TOO_FAR:
            return StepFailure("closing the loops moves a step by more than half of its length", hint="a smaller dt")
        error = self.not_finite(float(self.ctl[fixed_clock.T]))
        return StepFailure(str(error), error.dof, hint="a smaller dt, or look at the efforts there")

    def _stuck(self, worst: int | None) -> StepFailure:
        reason = int(self.words[fixed_clock.REASON])
        cause = "the error of a step exceeds the tolerance however small it is"
        if reason == at.STAGE_NOT_FINITE:
            error = self.not_finite(float(self.ctl[fixed_clock.T]))
            cause, worst = str(error), error.dof
        if reason == at.PROJECTED_TOO_FAR:
            cause, worst = "closing the loops moves every step by more than 30 tolerances", None
        return StepFailure(
            f"{cause}; steps became smaller than rounding of the time allows",
            worst,
            "the motion may grow without bound there, the efforts may jump, or the problem is stiff (method='radau')",
        )


class FixedRungeKutta(RungeKutta):
    """Steps of ``dt`` [s], whatever the error."""

    adaptive = False
    options = ("dt",)

    def __init__(self, plant: Plant, rtol: float = 1e-6, atol: float = 1e-9, max_step: float = np.inf, **options: Any):
        super().__init__(plant, rtol, atol, max_step)
        self.ctl[fixed_clock.DT] = options["dt"]
