"""A step smoothed by a filter of high order, as H04 5.1 uses for the inverse dynamics of elastic joints.

H04 takes a step of 2 rad and "a filter of order 16" and prints no time constants. Here the filter is N equal lags in a
row, 1/(1 + s T)^N (critical damping: no overshoot). With x = t/T its answer to a unit step is

    F(x) = 1 - exp(-x) sum_{k<N} x^k / k!,
    d^k F/dx^k = (k-1)!/(N-1)! x^(N-k) exp(-x) L_(k-1)^(N-k)(x),    1 <= k <= N,

L_m^a the Laguerre polynomial, by its three-term recurrence: no difference of large numbers.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gyrostat.errors import SpecError, clipped
from gyrostat.simulate.trajectories.given import point, positive, whole
from gyrostat.simulate.trajectories.trajectory import Trajectory

Array = np.ndarray

LATE = 700.0
"""Beyond x = t/T = 700 the answer is one to rounding, its derivatives are zero."""


def filtered_step(
    start: Any,
    end: Any,
    duration: Any,
    order: int = 16,
    time_constant: Any = None,
    settled: Any = 1e-6,
    names: Any = None,
) -> Trajectory:
    """A step from ``start`` to ``end`` (n,) at t = 0 through ``order`` equal lags 1/(1 + s T).

    Derivatives 1 to order - 1 are continuous, at t = 0 all of them are zero. Without ``time_constant`` T [s] it is
    chosen such that at ``duration`` [s] the fraction ``settled`` of the step is still to go. The end is approached, not
    reached: after ``duration`` the formula goes on. Derivative k is exact to about 1e-14 of its largest value for
    order 16.
    """
    return FilteredStep(start, end, duration, order, time_constant, settled, names)


class FilteredStep(Trajectory):
    """See :func:`filtered_step`; ``time_constant`` T [s], ``lags`` N."""

    kind = "filtered_step"

    def __init__(self, start: Any, end: Any, duration: Any, order: Any, time_constant: Any, settled: Any, names: Any):
        self.start = point(start, self.kind, "start")
        self.end = point(end, self.kind, "end", len(self.start))
        self.lags = whole(order, self.kind, "order", 1, 64)
        length = positive(duration, self.kind, "duration")
        if time_constant is None:
            self.time_constant = length / _settling(self.lags, _fraction(settled, self.kind))
        else:
            self.time_constant = positive(time_constant, self.kind, "time_constant")
        self.available = self.lags
        super().__init__(len(self.start), length, math.inf, "continue", names)

    def at_rest(self, side: str) -> float:
        return self.lags - 1 if side == "start" else math.inf

    def evaluate(self, t: Array, order: int) -> Array:
        x = np.clip(t / self.time_constant, 0.0, LATE)
        way = self.end - self.start
        derivatives = np.zeros((len(t), order + 1, self.n))
        gone, left = step_answer(x, self.lags)
        late = x > self.lags
        derivatives[:, 0] = np.where(late[:, None], self.end - left[:, None] * way, self.start + gone[:, None] * way)
        moving = (t >= 0.0).astype(float)
        for k in range(1, order + 1):
            rate = step_derivative(x, self.lags, k) * moving / self.time_constant**k
            derivatives[:, k] = rate[:, None] * way
        return derivatives


def step_answer(x: Array, lags: int) -> tuple[Array, Array]:
    """F(x) and 1 - F(x), each without cancellation where it is the smaller one."""
    term, left = np.exp(-x), np.zeros_like(x)
    for k in range(1, lags + 1):
        left, term = left + term, term * x / k  # exp(-x) x^k / k!
    gone = np.zeros_like(x)
    early = x <= lags + 1.0
    term, k = np.where(early, term, 0.0), lags
    while np.any(term > 1e-18 * gone) and k < 40 * lags + 400:
        k += 1
        gone, term = gone + term, term * x / k
    return np.where(early, gone, 1.0 - left), np.where(early & (left > 0.5), 1.0 - gone, left)


def step_derivative(x: Array, lags: int, k: int) -> Array:
    """d^k F/dx^k for 1 <= k <= lags, x >= 0."""
    m, a = k - 1, lags - k
    previous, laguerre = np.zeros_like(x), np.ones_like(x)
    for j in range(m):
        previous, laguerre = laguerre, ((2 * j + 1 + a - x) * laguerre - (j + a) * previous) / (j + 1)
    return math.factorial(m) / math.factorial(lags - 1) * x**a * np.exp(-x) * laguerre


def _fraction(settled: Any, who: str) -> float:
    value = positive(settled, who, "settled", "(a fraction)")
    if not 1e-100 <= value <= 0.5:
        message = f"settled must be between 1e-100 and 0.5, got {clipped(settled)}"
        raise SpecError.one(who, "settled", message, "1e-6 leaves a millionth of the step", settled)
    return value


def _settling(lags: int, settled: float) -> float:
    """x at which 1 - F(x) = settled, by bisection of a falling function."""
    low, high = 0.0, LATE
    for _ in range(100):
        middle = (low + high) / 2.0
        left = step_answer(np.array([middle]), lags)[1][0]
        low, high = (middle, high) if left > settled else (low, middle)
    return high
