"""What every task of inverse kinematics has: an error e(q), its derivative along the rates, and how much it counts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.configuration.packing import real_array
from gyrostat.errors import NonFiniteError, SpecError, clipped
from gyrostat.graph.network import Network
from gyrostat.tasks.scene import Scene

Array = np.ndarray
LEVELS = 8


@dataclass(frozen=True, kw_only=True)
class Task(ABC):
    """Abstract: e(q) -> 0 by J dq = -gain e, weighted.

    ``gain``: part of the error that one step takes away, 0 to 1. ``damping``: of Levenberg and Marquardt, adds
    damping |W gain e|^2 |dq|^2 to the cost: steps become short where the error is large and stays.
    ``level``: strict priority: what a task of level 0 wants, none of level 1 can take from it. ``name``: how the stack
    calls it."""

    gain: float = 1.0
    damping: float = 0.0
    level: int = 0
    name: str = ""

    @property
    def who(self) -> str:
        return type(self).__name__

    @property
    @abstractmethod
    def usual_name(self) -> str:
        """Its name in a stack if ``name`` is not given."""

    @property
    def called(self) -> str:
        return self.name or self.usual_name

    # ------------------------------------------------------------------ for the stack
    @abstractmethod
    def bound(self, net: Network) -> Task:
        """The same for a model: names are found, weights have one number for each row."""

    @abstractmethod
    def rows(self, at: Scene, target: Array) -> tuple[Array, Array]:
        """e (m,) and J (m, nv) with de/dt = J v, recorded; ``target`` is that of :meth:`target_numbers`."""

    @abstractmethod
    def row_weights(self) -> Array:
        """One weight for each row."""

    @abstractmethod
    def target_numbers(self, value: Any) -> Array:
        """A target (..., k) as numbers, checked."""

    @abstractmethod
    def target_here(self, at: Scene) -> Array:
        """The target (k,) that is reached where the robot is, recorded."""

    @property
    @abstractmethod
    def target_size(self) -> int:
        """How many numbers a target has."""

    @property
    @abstractmethod
    def given(self) -> Any:
        """The target that the task was made with, None where it has to be told later."""

    def reweighted(self, weight: Any) -> Array:
        """One weight for each row, from one number or as many as there are rows."""
        return weights(weight, len(self.row_weights()), self.who, "weight")

    def _expect_numbers(self) -> None:
        """Refuse gains, dampings and levels that mean nothing."""
        fraction(self.gain, self.who, "gain")
        number(self.damping, self.who, "damping")
        if isinstance(self.level, bool) or not isinstance(self.level, int) or not 0 <= self.level < LEVELS:
            message = f"level must be a whole number from 0 to {LEVELS - 1}, got {clipped(self.level)}"
            raise SpecError.one(self.who, "level", message, "0 comes first", self.level)
        if not isinstance(self.name, str):
            raise SpecError.one(self.who, "name", f"name is {clipped(self.name)}", "a text", self.name)


# ------------------------------------------------------------------------------------------------ numbers
def number(value: Any, who: str, what: str) -> float:
    """One finite number >= 0."""
    x = real_array(value, who, what)
    if x.ndim or not np.isfinite(x) or x < 0.0:
        raise SpecError.one(who, what, f"{what} must be one number >= 0, got {clipped(value)}", "1.0", value)
    return float(x)


def positive(value: Any, who: str, what: str) -> float:
    """One finite number above zero."""
    x = real_array(value, who, what)
    if x.ndim or not np.isfinite(x) or x <= 0.0:
        raise NonFiniteError(f"{who}: {what} must be one number above zero, got {clipped(value)}")
    return float(x)


def fraction(value: Any, who: str, what: str) -> float:
    """One number from 0 (left out) to 1."""
    x = number(value, who, what)
    if not 0.0 < x <= 1.0:
        message = f"{what} must be above 0 and at most 1, got {x:g}"
        raise SpecError.one(who, what, message, "1 takes the whole error away in one step", value)
    return x


def weights(value: Any, rows: int, who: str, what: str) -> Array:
    """(rows,) finite numbers >= 0, from one or from as many."""
    x = real_array(value, who, what)
    if x.shape not in ((), (rows,)) or not np.isfinite(x).all() or np.any(x < 0.0):
        message = f"{what} must be one number >= 0, or {rows} of them, got {clipped(value)}"
        raise SpecError.one(who, what, message, "1.0", value)
    return np.broadcast_to(x, (rows,)).astype(float)
