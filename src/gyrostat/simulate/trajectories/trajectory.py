"""What every trajectory is: coordinates q as functions of time on [0, duration], with exact derivatives."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from gyrostat.errors import NonFiniteError, RecordError, SpecError, StateError, clipped
from gyrostat.simulate.trajectories.given import names_for, times_of

Array = np.ndarray

SEEN = 1e-9
"""A jump of a derivative below this fraction of that derivative's largest value is rounding, not a jump."""

LOOKED_AT = 40
"""Derivatives above this order are not compared at a seam."""


class Trajectory(ABC):
    """q(t) (n,) with derivatives; abstract, made by the functions of this folder.

    ``duration`` [s]; ``n`` coordinates; ``names`` of them, if given; ``outside`` says what happens before 0 and after
    ``duration``: ``"hold"`` (first or last q, derivatives zero), ``"continue"`` (the formula holds for all times) or
    ``"error"``. The n coordinates are numbers that add: not quaternions.
    """

    kind = "trajectory"
    available: float = math.inf  # highest order that can be computed at all

    def __init__(self, n: int, duration: float, inner: float, outside: str, names: Any = None):
        self.n, self.duration, self.inner, self.outside = n, duration, inner, outside
        self.names: tuple[str, ...] | None = names_for(names, n, self.kind)

    def __call__(self, t: Any) -> Array:
        """q (..., n) at the times t (...) [s]."""
        return self.derivatives(t, 0)[..., 0, :]

    def derivatives(self, t: Any, order: int = 2) -> Array:
        """(..., order + 1, n): entry k is d^k q / dt^k at the times t (...) [s], exact but for rounding.

        All orders up to ``smoothness`` are continuous. The next one jumps at seams: the value is that from the right,
        at the end that from the left. Orders above it hold impulses, which no number can say: they are an error.
        """
        times = times_of(t, self.kind)
        with np.errstate(all="ignore"):
            self._check_order(order)
        with np.errstate(all="ignore"):  # what is not finite is refused
            motion = self.at(times.ravel(), order).reshape(*times.shape, order + 1, self.n)
        if not np.isfinite(motion).all():
            raise NonFiniteError(
                f"{self.kind}: a derivative up to order {order} is not finite. Hint: the numbers are too large, or the "
                "duration is too short for this order"
            )
        return motion

    @cached_property
    def smoothness(self) -> float:
        """Highest order up to which all derivatives are continuous, for all times that ``outside`` allows; may be
        infinite."""
        return min(self.inner, self.at_rest("start"), self.at_rest("end"))

    def at_rest(self, side: str) -> float:
        """Derivatives that vanish at the ``"start"`` or ``"end"``, 1 to this order; infinite if nothing is held
        there."""
        if self.outside != "hold":
            return math.inf
        top = int(min(self.inner, LOOKED_AT)) + 1
        t = 0.0 if side == "start" else self.duration
        return continuous(np.abs(self.evaluate(np.array([t]), top)[0]), self.peaks(top))

    def peaks(self, order: int) -> Array:
        """(order + 1,): largest derivatives of all coordinates at 33 instants."""
        x = 0.5 - 0.5 * np.cos(np.pi * np.arange(33) / 32)
        return np.abs(self.evaluate(self.duration * x, order)).max(axis=(0, 2))

    def at(self, t: Array, order: int) -> Array:
        """``derivatives`` for t (N,), also outside, without asking for smoothness."""
        if self.outside == "continue":
            return self.evaluate(t, order)
        slack = 1e-12 * self.duration
        beyond = (t < -slack) | (t > self.duration + slack)
        if self.outside == "error" and np.any(beyond):
            raise StateError(
                f"{self.kind}: t = {t[beyond][0]:g} s is outside [0, {self.duration:g}] s, and the motion does not "
                "stop at its ends. Hint: ask for times inside, or add motions with .then(...)"
            )
        motion = self.evaluate(np.clip(t, 0.0, self.duration), order)
        motion[beyond, 1:] = 0.0
        return motion

    @abstractmethod
    def evaluate(self, t: Array, order: int) -> Array:
        """(N, order + 1, n) for times t (N,) inside [0, duration]; for any t where ``outside`` is "continue"."""

    def recorded(self, t: Any, order: int) -> Array:
        """(order + 1, n) at the recorded time t, without branches, where ``simulate.blocks.recorded_motion`` has no
        formula for this kind."""
        raise RecordError(
            f"a {self.kind} cannot be recorded. Hint: lay a trajectories.spline through its points, or run it "
            "uncompiled"
        )

    def _check_order(self, order: Any) -> None:
        if isinstance(order, bool) or not isinstance(order, int | np.integer) or order < 0:
            raise StateError(f"{self.kind}: order must be a whole number >= 0, got {clipped(order)}")
        if order > self.smoothness + 1:
            raise StateError(
                f"{self.kind}: derivatives are continuous up to order {self.smoothness:g}, so that order {order} has "
                f"impulses; {self.smoothness + 1:g} is the highest to ask for. Hint: choose a smoother trajectory, for "
                "example point_to_point(..., order=k), a spline of higher degree, or filtered_step"
            )
        if order > self.available:
            raise StateError(
                f"{self.kind}: derivatives up to order {self.available:g} are known, got {order}. "
                "Hint: take samples and lay a spline of high degree through them"
            )

    # ------------------------------------------------------------------ composition
    def then(self, other: Trajectory) -> Trajectory:
        """This motion, then another one that starts where this one ends; derivatives at the seam are compared, see
        ``smoothness``."""
        from gyrostat.simulate.trajectories.compose import Joined

        return Joined(self, other)

    def slower(self, factor: float) -> Trajectory:
        """The same path in ``factor`` times the time: derivative k is divided by factor^k. Below one it is faster."""
        from gyrostat.simulate.trajectories.compose import Slower

        return Slower(self, factor)

    def __repr__(self) -> str:
        return (
            f"<{self.kind}: {self.n} coordinates, {self.duration:g} s, derivatives continuous up to order "
            f"{self.smoothness:g}>"
        )


def continuous(jumps: Array, peaks: Array) -> float:
    """Highest order m such that jumps (m + 1, n) of orders 1 to m are rounding; infinite if there is none at all."""
    for k in range(1, len(jumps)):
        if np.any(jumps[k] > SEEN * peaks[k]):
            return k - 1
    return math.inf


def expect_trajectory(value: Any, who: str) -> Trajectory:
    """Anything else is an error."""
    if not isinstance(value, Trajectory):
        raise SpecError.one(
            who, "trajectory", f"expected a trajectory, got {clipped(value)}", "see trajectories.spline"
        )
    return value


def same_names(parts: Sequence[Trajectory], who: str) -> tuple[str, ...] | None:
    """The names that all parts share; None if no part has names."""
    named = {part.names for part in parts if part.names is not None}
    if len(named) > 1:
        message = f"the parts name different coordinates: {', '.join(map(str, sorted(named)))}"
        raise SpecError.one(who, "names", message, "put the coordinates into one order", named)
    return named.pop() if named else None
