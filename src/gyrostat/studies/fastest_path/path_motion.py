"""A path with its timing, as a trajectory: q(s(t)) with exact derivatives by the chain rule."""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np

from gyrostat.engine.tracing.choose import maximum, minimum, where
from gyrostat.simulate.trajectories.trajectory import Trajectory
from gyrostat.studies.fastest_path.paths import Path

Array = np.ndarray


class Timing(Protocol):
    """s(t) of whatever kind."""

    @property
    def smoothness(self) -> float: ...
    @property
    def duration(self) -> float: ...
    def series(self, t: Array, order: int) -> Array: ...
    def recorded(self, t: Any, order: int) -> list[Any]:
        """The series at one recorded time."""
        ...


class PathMotion(Trajectory):
    """q(s(t)): ``path`` and ``timing``."""

    kind = "time_optimal"

    def __init__(self, path: Path, timing: Timing, names: Any = None):
        self.path, self.timing = path, timing
        self.available = path.available
        inner = min(path.smoothness, timing.smoothness)
        ends = np.array([0.0, timing.duration])
        s = timing.series(ends, 1)
        speed = np.abs(path.derivatives(s[0], 1)[1] * s[1][:, None])
        middle = np.linspace(0.0, timing.duration, 33)
        s = timing.series(middle, 1)
        peak = np.abs(path.derivatives(s[0], 1)[1] * s[1][:, None]).max()
        outside = "hold" if speed.max() <= 1e-9 * peak else "error"
        super().__init__(path.n, timing.duration, inner, outside, names)

    def evaluate(self, t: Array, order: int) -> Array:
        s = self.timing.series(t, order)
        return np.moveaxis(composed(self.path.derivatives(s[0], order), s), 0, 1)

    def recorded(self, t: Any, order: int) -> Array:
        inside = minimum(maximum(t, 0.0), self.duration)
        s = self.timing.recorded(inside, order)
        outer = self.path.recorded(s[0], order)
        motion = composed(outer[:, None, :], np.array(s, dtype=object)[:, None])[:, 0]
        slack = 1e-12 * self.duration
        beyond = (t < -slack) | (t > self.duration + slack)
        if self.outside == "error":
            return where(beyond, math.nan, motion)
        return np.concatenate([motion[:1], where(beyond, 0.0, motion[1:])]) if order else motion


def composed(outer: Array, inner: Array) -> Array:
    """(order + 1, P, n): derivatives of q(s(t)) from those of q by s (order + 1, P, n) and of s by t (order + 1, P).

    Truncated series: sum_j c_j d^j, with d the series of s without its constant."""
    order = len(outer) - 1
    factorials = np.array([math.factorial(k) for k in range(order + 1)], dtype=float)
    d = inner / factorials[:, None]
    power = 0.0 * d
    power[0] = 1.0
    total = 0.0 * outer
    total[0] = outer[0]
    for j in range(1, order + 1):
        new = 0.0 * d
        for k in range(j, order + 1):
            new[k] = sum(power[i] * d[k - i] for i in range(j - 1, k))
        power = new
        total += power[:, :, None] * (outer[j] / factorials[j])[None]
    return total * factorials[:, None, None]
