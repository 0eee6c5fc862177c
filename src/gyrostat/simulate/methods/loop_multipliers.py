"""Newmark's method, generalised-alpha and dina for loops that are constraints: steps of the index-3 form, or of the
stabilised index-2 form, with multipliers [AS (9): H = [H_q; H_c]]
(:mod:`~gyrostat.simulate.methods.drivers.loop_multiplier_steps`). With ``stabilisation="baumgarte"``, and while stops
or sticking friction are active beside loops, steps are those of the index-1 form."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from gyrostat.engine.drivers.driver import driver
from gyrostat.errors import GyrostatError, clipped
from gyrostat.simulate.kernels import environment as env
from gyrostat.simulate.methods.dina import Dina
from gyrostat.simulate.methods.drivers import implicit_memory as at
from gyrostat.simulate.methods.drivers import loop_multiplier_steps as steps
from gyrostat.simulate.methods.generalised_alpha import GeneralisedAlpha
from gyrostat.simulate.methods.implicit import ImplicitMethod
from gyrostat.simulate.methods.newmark import Newmark, Trapezoid
from gyrostat.simulate.plant.harvest import Harvest
from gyrostat.simulate.plant.machine import Machine, address
from gyrostat.simulate.plant.plant import Plant

Array = np.ndarray
INDEX = 2
"""Of the equations if nothing is said."""


class LoopMultipliers(ImplicitMethod):
    """What the methods with multipliers share: memory, and the choice of the steps."""

    def _allot(self, nq: int, n: int, p: int, pairs: bool = False) -> None:
        self.words = np.concatenate([self.words, np.zeros(steps.LOOP_WORDS - len(self.words), dtype=np.int64)])
        super()._allot(nq, n, p, pairs)
        loops = self.plant.loops
        if loops is None:
            raise TypeError("a model without loops has no multipliers")
        m, size = loops.count, n + p + loops.count
        self.multipliers = np.zeros(m + 1)
        self._more = {
            steps.MULTIPLIERS: self.multipliers, steps.EQUATIONS: np.zeros(m * (n + 2) + 1),
            steps.SADDLE: np.zeros(size * size), steps.SADDLE_PIVOTS: np.zeros(size, dtype=np.int64),
            steps.UNKNOWN: np.zeros(size), steps.ZEROS: np.zeros(n + 1),
        }  # fmt: skip
        for word, array in self._more.items():
            self.words[word] = address(array)
        self.words[steps.INDEX] = loops.settings.index or INDEX
        self.words[at.ITERATIONS] = max(1, self.words[at.ITERATIONS])

    @cached_property
    def _multiplier_steps(self) -> Any:
        return driver(steps.loop_multiplier_steps).call

    def prepare(self, t: float, q: Array, v: Array, p: Array) -> None:
        super().prepare(t, q, v, p)
        _ = self._multiplier_steps

    def begin(self, t: float, q: Array, v: Array, p: Array) -> None:
        super().begin(t, q, v, p)
        self.words[steps.SADDLE_KEPT] = 0

    def run(self, machine: Machine, harvest: Harvest, budget: int) -> int:
        loops, single = self.plant.loops, self._steps
        alone = loops is not None and loops.settings.projects and not self.plant.others_active
        if alone:
            machine.words[env.LOOP_PROJECTOR] = machine.words[env.PROJECTOR] = 0
            self._steps = self._multiplier_steps
        try:
            return super().run(machine, harvest, budget)
        finally:
            self._steps = single


class LoopNewmark(LoopMultipliers, Newmark):
    """``"newmark"`` with multipliers."""


class LoopTrapezoid(LoopMultipliers, Trapezoid):
    """``"trapezoid"`` with multipliers."""


class LoopGeneralisedAlpha(LoopMultipliers, GeneralisedAlpha):
    """``"generalised-alpha"`` with multipliers."""


class LoopDina(LoopMultipliers, Dina):
    """``"dina"`` with H = [H_q; H_c] and S of AS (9): ``matrix="exact"`` or ``"springs"``."""

    def __init__(self, plant: Plant, rtol: float = 1e-6, atol: float = 1e-9, max_step: float = np.inf, **options: Any):
        if options.get("matrix", "exact") == "diagonal":
            raise GyrostatError(
                "simulate: dina: matrix='diagonal' is no matrix of loops: the forces of a loop couple all coordinates "
                "in it. Hint: matrix='springs'"
            )
        if options.get("scheme", "checked") != "checked":
            raise GyrostatError(
                f"simulate: dina: scheme={clipped(options['scheme'])} knows nothing of loops that are constraints, and "
                "would open them. Hint: leave it out"
            )
        super().__init__(plant, rtol, atol, max_step, **options)
        self.words[steps.AT_REST] = options.get("matrix", "exact") == "springs"
