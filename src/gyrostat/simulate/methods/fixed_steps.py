"""Methods in machine code with steps of ``dt`` [s] whose states are rows (q, v, p, a, dp/dt, tau)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from gyrostat.configuration.manifold import integrate
from gyrostat.engine.drivers.driver import driver
from gyrostat.simulate.kernels.environment import RETRACT
from gyrostat.simulate.kernels.harvest import ALONG
from gyrostat.simulate.kernels.sampling import NEXT_LIMIT
from gyrostat.simulate.methods.compiled import RUNAWAY, CompiledMethod
from gyrostat.simulate.methods.drivers import fixed_clock as at
from gyrostat.simulate.methods.method import StepFailure
from gyrostat.simulate.plant.harvest import Harvest
from gyrostat.simulate.plant.machine import Machine, address
from gyrostat.simulate.plant.plant import Plant

Array = np.ndarray


class FixedSteps(CompiledMethod):
    """``steps``: the driver, called with the environment, words, harvest, numbers, the rows at both ends of the step,
    ``space`` doubles of its own, and the clock. Between the ends coordinates are a displacement from the beginning."""

    adaptive = False
    options = ("dt",)
    way = ALONG
    kernels = (RETRACT,)
    steps: ClassVar[Callable[..., int]]

    def __init__(self, plant: Plant, rtol: float = 1e-6, atol: float = 1e-9, max_step: float = np.inf, **options: Any):
        super().__init__(plant, rtol, atol, max_step)
        self.words, self.ctl = np.zeros(at.WORDS + 10, dtype=np.int64), np.zeros(at.NUMBERS + 8)
        self.ctl[at.DT] = options["dt"]
        self.y, self.y1 = np.zeros((2, plant.nq + 3 * plant.nv + 2 * plant.np))
        self.space = np.zeros(self.space_of(plant))
        memory = (self.words, None, self.ctl, self.y, self.y1, self.space, self.clock)
        self._places = [0 if x is None else address(x) for x in memory]

    @staticmethod
    def space_of(plant: Plant) -> int:
        """Doubles that the driver needs besides."""
        return plant.nv

    @cached_property
    def _driver(self) -> Any:
        return driver(type(self).steps).call

    def prepare(self, t: float, q: Array, v: Array, p: Array) -> None:
        self.plant.machine.need(*self.kernels)
        _ = self._driver  # compiles

    def begin(self, t: float, q: Array, v: Array, p: Array) -> None:
        self.ctl[at.T] = self.ctl[at.ORIGIN] = t
        self.ctl[at.STEPS] = 0.0
        self.y[: len(q) + len(v) + len(p)] = np.concatenate([q, v, p])
        self.words[at.PENDING] = self.words[at.KNOWN] = 0

    def run(self, machine: Machine, harvest: Harvest, budget: int) -> int:
        self.ctl[at.LIMIT], self.ctl[at.FASTEST] = self.clock[NEXT_LIMIT], self.fastest
        self.words[at.BUDGET] = budget
        self._places[1] = harvest.io
        return self._driver(machine.env, *self._places)

    def end(self) -> tuple[float, Array, Array, Array, Array | None, Array | None]:
        plant, pending = self.plant, bool(self.words[at.PENDING])
        ends = np.cumsum([plant.nq, plant.nv, plant.np, plant.nv, plant.np])
        q, v, p, a, _, tau = np.split((self.y1 if pending else self.y).copy(), ends)
        known = pending or bool(self.words[at.KNOWN])
        return float(self.ctl[at.T]), q, v, p, a if known else None, tau if known else None

    def last_step(self) -> tuple[float, float, Array]:
        return float(self.ctl[at.T0]), float(self.ctl[at.T]), self.y[: self.plant.nq].copy()

    def placed(self, q0: Array, x: Array) -> Array:
        return q0 + x if self.plant.plain else integrate(self.plant.model, q0, x)

    def failure(self, status: int) -> StepFailure:
        if status == RUNAWAY:
            return self.grows(int(self.words[at.WORST]))
        error = self.not_finite(float(self.ctl[at.T]))
        return StepFailure(str(error), error.dof, hint="a smaller dt, or look at the efforts there")
