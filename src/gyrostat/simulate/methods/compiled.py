"""What all methods in machine code share: the environment of the plant, what is taken from their steps, and how a call
ends."""

from __future__ import annotations

import time
from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np

from gyrostat.errors import NonFiniteError
from gyrostat.simulate.kernels import harvest as harvesting
from gyrostat.simulate.kernels.sampling import END, INSTANT, NEXT_LIMIT, PERIOD
from gyrostat.simulate.methods.method import Method, Span, Step, StepFailure
from gyrostat.simulate.methods.method_memory import arrays_of
from gyrostat.simulate.plant.harvest import Harvest
from gyrostat.simulate.plant.machine import Machine
from gyrostat.simulate.plant.plant import Plant

Array = np.ndarray
FULL, REACHED, LOOK = 0, 1, 2
TOO_SMALL, NOT_FINITE, STOPPED, RUNAWAY, BAD_SAMPLE, NO_SOLUTION = -2, -3, -4, -5, -6, -7
"""How a call ends: budget or rows used up, limit reached, a step to be looked at; steps too small, a stage that is not
finite, a Python function that has failed, rates too fast, a sample that is not finite, equations without a solution."""
PATIENCE = 0.05
"""Seconds that a call may take, about: between two calls Python listens to Ctrl-C."""
FIRST_BUDGET, WITH_PYTHON, LARGEST_BUDGET = 1024, 64, 2**30
"""Steps of the first call, where nothing but machine code runs and where Python has a part; of any call."""


class CompiledMethod(Method):
    """A method whose steps are a driver. ``kernels``: what it calls besides law, forward dynamics and chart."""

    compiled = True
    way: ClassVar[int] = harvesting.AROUND
    kernels: ClassVar[tuple[int, ...]] = ()

    def __init__(self, plant: Plant, rtol: float = 1e-6, atol: float = 1e-9, max_step: float = np.inf, **options: Any):
        super().__init__(plant, rtol, atol, max_step)
        self.harvest: Harvest | None = None
        self.clock = np.zeros(4)
        self.fastest = np.inf
        self._budget: int | None = None

    # ------------------------------------------------------------------ to be written by a method
    degree: int
    """Of the polynomial between the ends of a step."""

    @abstractmethod
    def begin(self, t: float, q: Array, v: Array, p: Array) -> None:
        """Begin at a state; what is known of the steps before stays where it serves on."""

    @abstractmethod
    def run(self, machine: Machine, harvest: Harvest, budget: int) -> int:
        """Call the driver, up to ``clock[NEXT_LIMIT]``: how it ended."""

    @abstractmethod
    def end(self) -> tuple[float, Array, Array, Array, Array | None, Array | None]:
        """t, q, v, p, a, tau at the end of the last accepted step."""

    @abstractmethod
    def last_step(self) -> tuple[float, float, Array]:
        """Beginning and end of the last step, and q at its beginning."""

    @abstractmethod
    def failure(self, status: int) -> StepFailure:
        """What is said of a call that ended so."""

    # ------------------------------------------------------------------ calls
    def memory_arrays(self) -> dict[str, Array]:
        """All that it remembers between two steps, by name: arrays that are written in place."""
        return arrays_of(self)

    def attach(self, harvest: Harvest, fastest: float) -> None:
        """What the run takes, and the rates [rad/s, m/s] beyond which it makes no sense."""
        self.harvest, self.fastest = harvest, fastest
        harvest.words[harvesting.DEGREE], harvest.words[harvesting.WAY] = self.degree, self.way

    def start(self, t: float, q: Array, v: Array, p: Array) -> None:
        self.plant.machine.refresh()
        self.begin(t, q, v, p)

    def reached(self) -> tuple[float, Array, Array, Array] | None:
        return self.end()[:4]

    def advance(self, t_limit: float, sampling: tuple[float, int] = (0.0, 0)) -> Span:
        """Steps in machine code towards ``t_limit``; ``sampling``: period [s] and number of the next instant of digital
        parts that are sampled on the way."""
        machine, harvest = self.plant.machine, self.harvest
        if harvest is None:
            raise TypeError("a compiled method hands its steps over to a harvest")
        machine.need(*self.kernels)
        clock = self.clock
        clock[PERIOD], clock[INSTANT], clock[END] = *sampling, t_limit
        clock[NEXT_LIMIT] = min(t_limit, sampling[0] * sampling[1]) if sampling[0] else t_limit
        began = time.perf_counter()
        if self._budget is None:
            self._budget = min(WITH_PYTHON, FIRST_BUDGET) if machine.callbacks else FIRST_BUDGET
        status = self.run(machine, harvest, 1 if harvest.always else self._budget)
        self._budget = budget_after(self._budget, time.perf_counter() - began)
        machine.counted()
        machine.expect_no_abort()
        if self.plant.memory.size and sampling[0]:
            self.plant.memory = machine.memory[: len(self.plant.memory)].copy()
        if status < 0:
            raise self.failure(status)
        step = self._step(harvest) if status == LOOK else None
        return Span(*self.end(), step=step, instant=int(clock[INSTANT]), reached=status == REACHED)

    def step(self, t_limit: float) -> Step:
        """One step at a time, as methods that are not compiled take them."""
        if self.harvest is None:
            self.attach(Harvest(self.plant, np.zeros(0)), np.inf)
        self.harvest.always = True  # type: ignore[union-attr]
        step = None
        while step is None:
            step = self.advance(t_limit).step
        return step

    def _step(self, harvest: Harvest) -> Step:
        """The last accepted step, from which nothing has been taken yet."""
        t0, t1, q0 = self.last_step()
        _, q1, v1, p1, a1, tau1 = self.end()
        plant, n, m = self.plant, self.plant.nv, self.plant.nq if self.way == harvesting.ABSOLUTE else self.plant.nv
        state = harvest.dense(t0, t1, q0, self.degree, self.way, m + n + plant.np + 1)

        def dense(t: Any) -> tuple[Array, Array, Array]:
            y = state(t)
            q, v = self.placed(q0, y[..., :m]), y[..., m : m + n]
            if plant.projected:
                q, v = plant.closed(q, v)
            return q, v, y[..., m + n : -1]

        kept = not harvest.words[harvesting.SKIP]
        return Step(t0, t1, q1, v1, p1, a1, tau1, dense, lambda t: state(t)[..., -1], kept=kept)

    def placed(self, q0: Array, x: Array) -> Array:
        """q (..., nq) at coordinates of the polynomial."""
        return self.plant.move(q0, x)

    def grows(self, rate: int) -> StepFailure:
        """What is said of rates that nothing has."""
        hint = "the law that drives it may be unstable, for example gains too high for its sample time"
        hint += "" if self.adaptive else "; or dt is too long for it: a smaller dt, or an implicit method"
        return StepFailure("the motion grows without bound", rate, hint)

    def not_finite(self, t: float) -> NonFiniteError:
        """What a call that was not finite met."""
        return self.plant.machine.not_finite(t)


def budget_after(budget: int, seconds: float) -> int:
    """Steps of the next call."""
    return int(min(LARGEST_BUDGET, max(1, budget * min(8.0, max(0.1, PATIENCE / max(seconds, 1e-9))))))
