"""Explicit Runge-Kutta methods that choose their steps by an estimate of the error."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from gyrostat.simulate.methods.drivers import explicit_steps as at
from gyrostat.simulate.methods.runge_kutta import RungeKutta
from gyrostat.simulate.plant.plant import Plant


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
