"""Trajectories made of trajectories: one after the other, slower, side by side."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gyrostat.errors import ShapeError, SpecError
from gyrostat.simulate.trajectories.given import positive
from gyrostat.simulate.trajectories.trajectory import (
    LOOKED_AT,
    SEEN,
    Trajectory,
    continuous,
    expect_trajectory,
    same_names,
)

Array = np.ndarray


class Joined(Trajectory):
    """``first``, then ``second``; before and after, each part does what it does alone."""

    kind = "joined trajectory"

    def __init__(self, first: Trajectory, second: Trajectory):
        self.first, self.second = first, expect_trajectory(second, "then")
        if first.n != second.n:
            raise ShapeError(f"then: the second part has {second.n} coordinates, expected {first.n} as in the first")
        self.available = min(first.available, second.available)
        names = same_names((first, second), "then")
        inner = min(first.inner, second.inner, self._seam())
        super().__init__(first.n, first.duration + second.duration, inner, "continue", names)

    def _seam(self) -> float:
        """Order up to which the derivatives of both parts agree where they meet."""
        first, second = self.first, self.second
        top = int(min(first.inner + 1, second.inner + 1, self.available, LOOKED_AT))
        end = first.evaluate(np.array([first.duration]), top)[0]
        start = second.evaluate(np.array([0.0]), top)[0]
        jumps = np.abs(end - start)
        size = max(1.0, float(np.abs(end[0]).max()))
        if jumps[0].max() > SEEN * size:
            k = int(jumps[0].argmax())
            which = first.names[k] if first.names else f"coordinate {k}"
            message = f"{which} jumps from {end[0, k]:.9g} to {start[0, k]:.9g} where the second part starts"
            raise SpecError.one("then", "continuous", message, "start the second part where the first one ends")
        agreed = continuous(jumps, np.maximum(first.peaks(top), second.peaks(top)))
        return min(agreed, self.available)  # beyond it nobody can look

    def at_rest(self, side: str) -> float:
        return self.first.at_rest(side) if side == "start" else self.second.at_rest(side)

    def evaluate(self, t: Array, order: int) -> Array:
        later = t >= self.first.duration
        derivatives = np.empty((len(t), order + 1, self.n))
        derivatives[~later] = self.first.at(t[~later], order)
        derivatives[later] = self.second.at(t[later] - self.first.duration, order)
        return derivatives


class Slower(Trajectory):
    """``path`` in ``factor`` times the time."""

    kind = "slower trajectory"

    def __init__(self, path: Trajectory, factor: Any):
        self.path, self.factor = path, positive(factor, "slower", "factor", "(a ratio)")
        self.available = path.available
        super().__init__(path.n, path.duration * self.factor, path.inner, path.outside, path.names)

    def at_rest(self, side: str) -> float:
        return self.path.at_rest(side)

    def evaluate(self, t: Array, order: int) -> Array:
        times = t / self.factor
        if self.outside != "continue":
            times = np.clip(times, 0.0, self.path.duration)
        return self.path.evaluate(times, order) / self.factor ** np.arange(order + 1)[:, None]


def stack(*parts: Trajectory) -> Trajectory:
    """Side by side: coordinates of all parts in their order. Parts that are held outside may be shorter than others."""
    return Stacked(*parts)


class Stacked(Trajectory):
    """See :func:`stack`."""

    kind = "stacked trajectory"

    def __init__(self, *parts: Trajectory):
        if not parts:
            raise SpecError.one("stack", "parts", "no trajectory was given", "give at least one")
        self.parts = tuple(expect_trajectory(part, "stack") for part in parts)
        duration = max(part.duration for part in parts)
        for part in parts:
            if part.outside == "error" and part.duration < duration * (1.0 - 1e-12):
                message = f"{part.kind} ends at {part.duration:g} s without stopping, another part at {duration:g} s"
                raise SpecError.one("stack", "duration", message, "give all parts one duration, see .slower(factor)")
        self.available = min(part.available for part in parts)
        named = [part.names for part in parts]
        names = None if None in named else [name for part in named for name in part or ()]
        super().__init__(sum(p.n for p in parts), duration, min(p.smoothness for p in parts), "continue", names)

    def at_rest(self, side: str) -> float:
        return min((part.at_rest(side) for part in self.parts), default=math.inf)

    def evaluate(self, t: Array, order: int) -> Array:
        return np.concatenate([part.at(t, order) for part in self.parts], axis=2)
