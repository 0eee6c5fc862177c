"""The motion along a path: s(t) with constant s'' on each interval, where x = s'^2 is linear in s."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gyrostat.engine.tracing.choose import maximum, minimum, where

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Profile:
    """``s`` (N + 1,) grid, ``x`` (N + 1,) squared speeds at it, ``u`` (N,) accelerations s''."""

    s: Array
    x: Array
    u: Array
    smoothness = 1
    """s' is continuous, s'' jumps."""

    @cached_property
    def durations(self) -> Array:
        """(N,) [s] of each interval: 2 (s_(i+1) - s_i) / (s'_i + s'_(i+1))."""
        r = np.sqrt(self.x)
        with np.errstate(divide="ignore"):
            return 2.0 * np.diff(self.s) / (r[1:] + r[:-1])

    @cached_property
    def times(self) -> Array:
        """(N + 1,) [s] at the grid points."""
        return np.concatenate([[0.0], np.cumsum(self.durations)])

    @property
    def duration(self) -> float:
        return float(self.times[-1])

    def series(self, t: Array, order: int) -> Array:
        """(order + 1, P): derivatives of s at times t (P,); at grid points from the right, at the end from the left."""
        k = np.clip(np.searchsorted(self.times, t, side="right") - 1, 0, len(self.u) - 1)
        tau, r = np.clip(t - self.times[k], 0.0, self.durations[k]), np.sqrt(self.x)
        result = np.zeros((order + 1, len(t)))
        # from the nearer end, so that rounding does not leave the interval
        late = tau > 0.5 * self.durations[k]
        left = self.durations[k] - tau
        ahead = tau * (r[k] + 0.5 * self.u[k] * tau)
        result[0] = np.where(late, self.s[k + 1] - left * (r[k + 1] - 0.5 * self.u[k] * left), self.s[k] + ahead)
        if order >= 1:
            result[1] = np.maximum(np.where(late, r[k + 1] - self.u[k] * left, r[k] + self.u[k] * tau), 0.0)
        if order >= 2:
            result[2] = self.u[k]
        return result

    def recorded(self, t: Any, order: int) -> list[Any]:
        """The series at one recorded time: s' = r_0 + sum_i u_i tau_i and s = s_0 + sum_i tau_i (r_i + u_i tau_i / 2),
        tau_i the part of interval i that is gone: whole intervals add their whole way."""
        r, speed, place, bend = np.sqrt(self.x), float(np.sqrt(self.x[0])), float(self.s[0]), float(self.u[0])
        rows = zip(self.times.tolist(), self.durations.tolist(), self.u.tolist(), r.tolist(), strict=False)
        for start, lasts, u, rate in rows:
            gone = minimum(maximum(t - start, 0.0), lasts)
            speed, place = speed + u * gone, place + gone * (rate + (0.5 * u) * gone)
            bend = where(t >= start, u, bend)
        return [place, speed, bend, *[0.0] * order][: order + 1]

    def on_path(self, s: Array) -> tuple[Array, Array]:
        """x and u (P,) at s (P,), from the right."""
        k = np.clip(np.searchsorted(self.s, s, side="right") - 1, 0, len(self.u) - 1)
        return np.maximum(self.x[k] + 2.0 * (s - self.s[k]) * self.u[k], 0.0), self.u[k]

    def time_at(self, s: Array) -> Array:
        """(P,) [s] when s (P,) is reached."""
        k = np.clip(np.searchsorted(self.s, s, side="right") - 1, 0, len(self.u) - 1)
        x, _ = self.on_path(s)
        gone = s - self.s[k]
        with np.errstate(divide="ignore", invalid="ignore"):
            tau = np.where(gone > 0.0, 2.0 * gone / (np.sqrt(x) + np.sqrt(self.x[k])), 0.0)
        return self.times[k] + tau
