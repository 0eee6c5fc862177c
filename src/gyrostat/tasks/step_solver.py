"""The step of a stack: in machine code where no limit is active, by a quadratic program else."""

from __future__ import annotations

import numpy as np

from gyrostat.configuration.packing import together
from gyrostat.tasks.coal_rows import CoalRows
from gyrostat.tasks.layout import AVOID, STEP
from gyrostat.tasks.limits import NEVER
from gyrostat.tasks.priorities import prioritised
from gyrostat.tasks.program import Bounded, Rows, Step, TaskProgram
from gyrostat.tasks.quadratic_program import NoRatesError, bounded_minimum

Array = np.ndarray
WRITTEN_OUT = 16
"""Rates up to which the step is solved in machine code: with more, making it takes longer than it is worth."""


class StepSolver:
    """Steps d (nv,) at q (nq,) with the numbers x of a stack."""

    def __init__(self, program: TaskProgram, coal: CoalRows | None, damping: float):
        self.program, self.coal = program, coal
        self.levels = _levels(program)
        self.one_level = len(program.levels) == 1 and not program.network.closures and damping > 0.0
        self.quick = self.one_level and program.model.nv <= WRITTEN_OUT

    @property
    def avoids(self) -> bool:
        """Whether distances of shapes are kept."""
        return bool(self.program.candidates) or self.coal is not None

    def rates(self, q: Array, x: Array, dt: float) -> Array:
        """v (nv,)."""
        if self.quick and self.coal is None:
            found: Step = self.program.step(q, x)
            if found.told[0] <= 0.0:
                return found.v
            y = self._bounded(q, x, self.program.bounded(q, x))
            return y if dt <= 1.0 else y / dt
        return self.step(q, x) / dt

    def many(self, q: Array, x: Array, dt: float, threads: int) -> Array:
        """v (..., nv): all at once, then those one by one that meet a limit."""
        shape, [rows, every] = together("rates", q=(q, 1), targets=(x, 1))
        if not len(rows):
            return np.zeros((*shape, self.program.model.nv))
        if self.quick and self.coal is None:
            found: Step = self.program.step(rows, x if x.ndim == 1 else every, threads=threads)
            v, again = found.v, np.flatnonzero(found.told[:, 0] > 0.0)
        else:
            v, again = np.empty((len(rows), self.program.model.nv)), np.arange(len(rows))
        for k in again:
            v[k] = self.step(np.array(rows[k]), np.array(every[k])) / dt
        return v.reshape(*shape, v.shape[-1])

    def step(self, q: Array, x: Array) -> Array:
        """d (nv,), inside all bounds."""
        unit = min(float(x[STEP]), 1.0)
        if self.one_level:
            return self._bounded(q, x, self.program.bounded(q, x)) * unit
        rows: Rows = self.program.rows(q, x)
        if self.coal is not None:
            more, least, _ = self.coal.at(q, x)
            rows = rows._replace(
                rows=np.concatenate([rows.rows, more]),
                least=np.concatenate([rows.least, least]),
                most=np.concatenate([rows.most, np.full(len(least), NEVER)]),
            )
        try:
            return prioritised(rows, self.levels, self.program.held, unit)
        except NoRatesError:
            raise self._refused(q, x, rows.least) from None

    def _bounded(self, q: Array, x: Array, found: Bounded) -> Array:
        """d in units of min(dt, 1)."""
        if self.coal is not None:
            more, least, _ = self.coal.at(q, x)
            unit = min(float(x[STEP]), 1.0)
            found = found._replace(
                rows=np.concatenate([found.rows, more]),
                lower=np.concatenate([found.lower, least / unit]),
                upper=np.concatenate([found.upper, np.full(len(least), NEVER)]),
            )
        if self.coal is not None or not self.quick:
            y = np.linalg.solve(found.H, -found.h)
            every = np.concatenate([y, found.rows @ y])
            if np.all(every >= found.lower) and np.all(every <= found.upper):
                return y
        try:
            return bounded_minimum(*found)[0]
        except NoRatesError:
            raise self._refused(q, x, found.lower[len(found.h) :]) from None

    def broken(self, q: Array, x: Array) -> float:
        """By how much distances are too short [m], all together."""
        if not self.avoids:
            return 0.0
        total = 0.0
        if self.program.candidates:
            found = self.program.bounded(q, x)
            first = len(found.h) + len(self.program.followers)
            total += float(np.maximum(found.lower[first:], 0.0).sum() * min(float(x[STEP]), 1.0))
        if self.coal is not None:
            total += float(np.maximum(self.coal.at(q, x)[1], 0.0).sum())
        return total / float(x[AVOID][1])

    def _refused(self, q: Array, x: Array, least: Array) -> NoRatesError:
        """Which bounds there is no room between."""
        names = [one.name for one in self.program.followers] + [c.name for c in self.program.candidates]
        names += self.coal.at(q, x)[2] if self.coal is not None else []
        worst = [names[k] for k in np.argsort(-least) if least[k] > 0.0][:3]
        told = f": {', '.join(worst)} should come apart, faster than the other limits allow" if worst else ""
        near = "start where shapes are apart; a smaller gain of CollisionAvoidance, or a larger dt"
        other = "start inside the limits, with loops closed; a larger dt"
        return NoRatesError(f"tasks: no rates keep all limits{told}. Hint: {near if self.avoids else other}")


def _levels(program: TaskProgram) -> list[slice]:
    """Places of the rows of each level, as :class:`~gyrostat.tasks.program.Rows` has them."""
    found: list[slice] = []
    at = 0
    for level in program.levels:
        count = sum(len(task.row_weights()) for task in program.tasks if task.level == level)
        found.append(slice(at, at + count))
        at += count
    return found
