"""A configuration in which tasks are nearest to their targets: steps of a stack, one after the other, with the damping
of Levenberg and Marquardt where a step would make things worse."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from gyrostat.configuration.manifold import integrate, neutral
from gyrostat.configuration.packing import coordinates, together
from gyrostat.errors import SpecError, clipped
from gyrostat.spec.model import Model
from gyrostat.tasks.layout import AVOID, EXTRA, SHARE, STEP, Numbers
from gyrostat.tasks.limits import NEVER
from gyrostat.tasks.quadratic_program import NoRatesError
from gyrostat.tasks.step_solver import StepSolver

Array = np.ndarray
LONGEST = 1.0  # [rad, m] of a step
REACHED = 1e-6  # [rad, m]
FIRST, MOST, LITTLE = 1e-3, 1e12, 1e-12
"""Damping after a step that failed; where the search is stuck; below which there is none."""
ABOVE = 100.0
"""How much more a level counts than the next one when a step is judged; what is asked of the step is strict."""
FLAT = 1e-11
"""Share of the cost that a step must gain to be worth it: the sine of errors and slopes is then 3e-6."""
MEMORY = 4
"""With levels, a step is taken if it is better than the worst of so many before it: one may rise a little for the
next."""
APART = 1e3
"""Cost of a distance that is too short [1/m]."""


@dataclass(frozen=True)
class Solution:
    """``q`` (..., nq); ``errors``: e (..., m) of each task by name; ``reached`` (...) by name: whether they are at most
    1e-6 where they count; ``converged`` (...): whether nothing more can be gained there; ``iterations`` (...);
    ``reason`` (...): "converged", "infeasible" (limits leave no step) or "stopped" (too many iterations). ``history``,
    if it was asked for: every q on the way (n, nq)."""

    q: Array
    errors: Mapping[str, Array]
    reached: Mapping[str, Array]
    converged: Array
    iterations: Array
    reason: Array
    history: Array | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        if self.q.ndim > 1:
            share = f"{int(np.sum(self.converged))} of {self.converged.size} converged"
            return f"<solution: {share}, {int(np.max(self.iterations, initial=0))} iterations at most>"
        worst = {name: float(np.abs(e).max(initial=0.0)) for name, e in self.errors.items()}
        told = ", ".join(f"{name} {'reached' if self.reached[name] else f'{worst[name]:.3g} off'}" for name in worst)
        return f"<solution: {self.reason} after {self.iterations} iterations; {told}>"


class _Found(NamedTuple):
    q: Array
    reason: str
    iterations: int
    way: list[Array]


def solved(stack: Any, q: Any, x: Array, tolerance: float, iterations: Any, history: bool) -> Solution:
    """See :meth:`Stack.solve`."""
    if isinstance(iterations, bool) or not isinstance(iterations, int) or not 1 <= iterations <= 10**6:
        message = f"iterations must be a whole number from 1 to 1000000, got {clipped(iterations)}"
        raise SpecError.one("solve", "iterations", message, "leave it out", iterations)
    model, at = stack.model, stack._at
    start = neutral(model) if q is None else coordinates(model, q, "solve")
    free = unlimited_rates(x, at)
    shape, [starts, numbers] = together("solve", q=(start, 1), targets=(free, 1))
    if history and shape:
        raise SpecError.one("solve", "history", "history is kept of one search", "solve one configuration", history)
    search = Search(model, stack._steps, at, tolerance, iterations)
    found = [search(np.array(one), np.array(row)) for one, row in zip(starts, numbers, strict=True)]
    ends = np.array([one.q for one in found]).reshape(*shape, model.nq)
    errors = stack.by_task(stack._program.rows(ends, free).e)
    reached = {
        task.name: np.all((np.abs(errors[task.name]) <= REACHED) | (free[..., place.weights] == 0.0), axis=-1)
        for task, place in zip(stack.tasks, at.tasks, strict=True)
    }
    reason = np.array([one.reason for one in found]).reshape(shape)
    return Solution(
        ends,
        errors,
        reached,
        reason == "converged",
        np.array([one.iterations for one in found]).reshape(shape),
        reason,
        np.array(found[0].way) if history else None,
    )


def unlimited_rates(x: Array, at: Numbers) -> Array:
    """Numbers of a search: whole steps, whatever time they need."""
    x = x.copy()
    x[..., STEP], x[..., SHARE], x[..., AVOID.start + 1] = 1.0, 1.0, 1.0
    x[..., at.most] = NEVER
    for place in at.tasks:
        x[..., place.gain] = 1.0
    return x


@dataclass(frozen=True)
class Search:
    """Settings of a search, and the steps that it takes."""

    model: Model
    steps: StepSolver
    at: Numbers
    tolerance: float
    iterations: int

    def __call__(self, q: Array, x: Array) -> _Found:
        """From q (nq,) on, with the numbers x, which are changed."""
        q = self._inside(q, x)
        way, damping, memory = [q], 0.0, 1 if self.steps.one_level else MEMORY
        merits = [self._merit(q, x)]
        for count in range(1, self.iterations + 1):
            x[EXTRA] = damping
            try:
                d, gain = self._step(q, x)
            except NoRatesError:
                return _Found(q, "infeasible", count, way)
            size = float(np.abs(d).max(initial=0.0))
            if gain <= FLAT * merits[-1] or (size <= self.tolerance and damping <= LITTLE):
                reason = "converged" if self.steps.broken(q, x) <= REACHED else "infeasible"
                return _Found(self._moved(q, d, x), reason, count, way)
            new = self._moved(q, d * min(1.0, LONGEST / max(size, 1e-300)), x)
            merit = self._merit(new, x)
            if merit <= max(merits[-memory:]):
                q, damping = new, _eased(damping, (merits[-1] - merit) / (gain + damping * float(d @ d)))
                merits.append(merit)
                way.append(q)
            else:
                damping = max(4.0 * damping, FIRST)
                if damping > MOST or size <= 1e-14:
                    return _Found(q, "converged", count, way)  # only rounding is left
        return _Found(q, "stopped", self.iterations, way)

    def _step(self, q: Array, x: Array) -> tuple[Array, float]:
        """d (nv,), and what it gains to first order where that is known."""
        steps = self.steps
        if not steps.quick:
            return steps.step(q, x), np.inf
        found = steps.program.step(q, x)
        d = found.d if steps.coal is None and found.told[0] <= 0.0 else steps.step(q, x)
        return d, float(-(found.h @ d)) if not steps.avoids else np.inf

    def _merit(self, q: Array, x: Array) -> float:
        """Costs of all levels in one number, and of what comes too near."""
        steps = self.steps
        if steps.quick:
            cost = float(steps.program.step(q, x).told[1])
        else:
            rows = steps.program.rows(q, x)
            cost = 0.0
            for level in steps.levels:
                cost = ABOVE * cost + float(rows.r[level] @ rows.r[level])
            cost += ABOVE ** len(steps.levels) * float(rows.g @ rows.g)
        return cost + APART * steps.broken(q, x)

    def _moved(self, q: Array, d: Array, x: Array) -> Array:
        at = self.model.layout
        if at.turning:
            new = integrate(self.model, q, d)
        else:
            new = q.copy()
            new[at.number_q] += d[at.number_v]
        return self._inside(new, x)

    def _inside(self, q: Array, x: Array) -> Array:
        """q without what rounding, or a start, is outside the limits of joints."""
        return np.clip(q, x[self.at.low], x[self.at.high])


def _eased(damping: float, share: float) -> float:
    """Damping after a step that gained this share of what was expected (0 where that is not known)."""
    if 0.0 < share < 0.25:
        return 2.0 * damping
    if 0.0 < share < 0.75:
        return damping
    return damping / 10.0 if damping > 10.0 * LITTLE else 0.0
