"""Explicit Runge-Kutta methods that choose their steps by an estimate of the error."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from gyrostat.errors import NonFiniteError
from gyrostat.simulate.methods.method import Step, StepFailure
from gyrostat.simulate.methods.runge_kutta import RungeKutta
from gyrostat.simulate.plant.plant import Plant

Array = np.ndarray


class AdaptiveRungeKutta(RungeKutta):
    """Steps whose estimated error is within rtol |y| + atol for every entry of q, v and p (rotations: rtol + atol;
    states of blocks: rtol |p| + atol times their size).

    Step control by a PI rule [Hairer, Norsett, Wanner, IV.2]: h_new = h 0.9 err^-(1/k - 0.75 b) err_before^b, b =
    0.2/k, k one more than the order of the estimate."""

    adaptive = True
    estimate_order: ClassVar[int]
    SAFETY, LEAST, MOST = 0.9, 0.2, 6.0

    def __init__(self, plant: Plant, rtol: float = 1e-6, atol: float = 1e-9, max_step: float = np.inf, **options: Any):
        super().__init__(plant, rtol, atol, max_step)
        self.h: float | None = None
        self._before = 1e-4
        self._scaled = _scaled_coordinates(plant)
        self._atol = atol * np.concatenate([np.ones(2 * plant.nv), plant.source.sizes])

    def _scale(self, q: Array, y: Array) -> Array:
        return self._atol + self.rtol * np.concatenate([self._size(q), np.abs(y[self.plant.nv : -1])])

    def _size(self, q: Array) -> Array:
        """Sizes (nv,) of what the local coordinates measure: |q| of numbers, 1 of rotations."""
        at_v, at_q = self._scaled
        size = np.ones(self.plant.nv)
        size[at_v] = np.abs(q[at_q])
        return size

    @np.errstate(over="ignore")  # efforts beyond sense are told by name when the step fails
    def _first_step(self) -> float:
        """A step for the beginning [Hairer, Norsett, Wanner II.4]: one more evaluation."""
        k1, y = self.first(), self.y
        scale = self._scale(self.q, y)
        d0, d1 = (float(np.sqrt(np.mean((x / scale) ** 2))) for x in (self._whole(), k1[:-1]))
        h0 = 1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1
        h0 = min(h0, self.max_step)
        k2 = self.plant.stage(self.t + h0, self.q, y + h0 * k1).dy
        d2 = float(np.sqrt(np.mean(((k2 - k1)[:-1] / scale) ** 2))) / h0
        power = 1.0 / (self.estimate_order + 1)
        h1 = max(1e-6, 1e-3 * h0) if max(d1, d2) <= 1e-15 else (0.01 / max(d1, d2)) ** power
        return min(100.0 * h0, h1)

    def _whole(self) -> Array:
        return np.concatenate([self._size(self.q), self.y[self.plant.nv : -1]])

    def step(self, t_limit: float) -> Step:
        if self.h is None:
            self.h = self._first_step()
        k_power = 1.0 / (self.estimate_order + 1)
        beta = 0.2 * k_power
        rejected_before = False
        while True:
            h, t1 = self._within(min(self.h, self.max_step), t_limit)
            if h < 16.0 * np.spacing(max(abs(self.t), abs(t1))):
                raise self._stuck()
            try:
                k, y, q, tau = self.trial(h)
            except NonFiniteError as error:
                self.rejected, self.h, self._cause, rejected_before = self.rejected + 1, h * 0.2, str(error), True
                continue
            errors = np.abs(h * (self.table.error @ k))[:-1] / np.maximum(
                self._scale(self.q, self.y), self._scale(q, y)
            )
            err = float(np.sqrt(np.mean(errors**2)))
            if self.turned(y):
                self.rejected, self.h, rejected_before = self.rejected + 1, 0.5 * h, True
                continue
            if err <= 1.0:
                factor = self.SAFETY * max(err, 1e-10) ** -(k_power - 0.75 * beta) * self._before**beta
                most = 1.0 if rejected_before else self.MOST
                self.h = h * min(most, max(self.LEAST, factor)) if h >= 0.99 * self.h or err > 0.5 else self.h
                self._before = max(err, 1e-4)
                return self.accepted(t1, k, y, q, tau)
            self._cause = "the error of a step exceeds the tolerance however small it is"
            self._worst = int(np.argmax(errors)) % self.plant.nv
            self.rejected, rejected_before = self.rejected + 1, True
            self.h = h * max(self.LEAST, self.SAFETY * err**-k_power)

    _cause = "the step became too small"
    _worst: int | None = None

    def _within(self, h: float, t_limit: float) -> tuple[float, float]:
        """h and the end of the step; the last two steps before a limit share the way."""
        left = t_limit - self.t
        if left <= h * 1.0000001:
            return left, t_limit
        h = 0.5 * left if left < 2.0 * h and left > 1.2 * h else h
        return h, self.t + h

    def _stuck(self) -> StepFailure:
        return StepFailure(
            f"{self._cause}; steps became smaller than rounding of the time allows",
            self._worst,
            "the motion may grow without bound there, the efforts may jump, or the problem is stiff (method='radau')",
        )


def _scaled_coordinates(plant: Plant) -> tuple[Array, Array]:
    """Places in v and q of coordinates that are numbers: plain ones, and positions of free joints (by their size)."""
    at = plant.model.layout
    return (
        np.concatenate([at.number_v, at.linear.ravel()]).astype(int),
        np.concatenate([at.number_q, at.positions.ravel()]).astype(int),
    )
