"""Explicit Runge-Kutta methods that choose their steps by an estimate of the error."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from gyrostat.simulate.methods.drivers import explicit_steps as at
from gyrostat.simulate.methods.drivers import fixed_clock
from gyrostat.simulate.methods.runge_kutta import RungeKutta
from gyrostat.simulate.plant.harvest import Harvest
from gyrostat.simulate.plant.machine import Machine
from gyrostat.simulate.plant.plant import Plant

Array = np.ndarray


class AdaptiveRungeKutta(RungeKutta):
    """Steps whose estimated error is within rtol |y| + atol for every entry of q, v and p (rotations: rtol + atol;
    states of blocks: rtol |p| + atol times their size).

    Step control by a PI rule [Hairer, Norsett, Wanner, IV.2]: h_new = h 0.9 err^-(1/k - 0.75 b) err_before^b, b =
    0.2/k, k one more than the order of the estimate."""

    adaptive = True
    estimate_order: ClassVar[int]

    def __init__(self, plant: Plant, rtol: float = 1e-6, atol: float = 1e-9, max_step: float = np.inf, **options: Any):
        super().__init__(plant, rtol, atol, max_step)
        power = 1.0 / (self.estimate_order + 1)
        self.ctl[at.K_POWER], self.ctl[at.BETA], self.ctl[at.BEFORE] = power, 0.2 * power, 1e-4

    def run(self, machine: Machine, harvest: Harvest, budget: int) -> int:
        if not self.ctl[at.H]:
            self.ctl[at.H] = self._first_step()
        return super().run(machine, harvest, budget)

    @np.errstate(over="ignore")  # efforts beyond sense are told by name when the step fails
    def _first_step(self) -> float:
        """A step for the beginning [Hairer, Norsett, Wanner II.4]: one more evaluation."""
        t, n, plant, y = float(self.ctl[fixed_clock.T]), self.plant.nv, self.plant, self.y
        k1 = plant.stage(t, self.q, y).dy
        self.K[0], self.words[fixed_clock.KNOWN] = k1, 1
        size = np.ones(n)
        numbers = plant.machine.size_of >= 0
        size[numbers] = np.abs(self.q[plant.machine.size_of[numbers]])
        whole = np.concatenate([size, y[n:-1]])
        scale = self.allowed[:-1] + self.rtol * np.abs(whole)
        d0, d1 = (float(np.sqrt(np.mean((x / scale) ** 2))) for x in (whole, k1[:-1]))
        h0 = 1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1
        h0 = min(h0, self.max_step)
        k2 = plant.stage(t + h0, self.q, y + h0 * k1).dy
        d2 = float(np.sqrt(np.mean(((k2 - k1)[:-1] / scale) ** 2))) / h0
        power = 1.0 / (self.estimate_order + 1)
        h1 = max(1e-6, 1e-3 * h0) if max(d1, d2) <= 1e-15 else (0.01 / max(d1, d2)) ** power
        return min(100.0 * h0, h1)
