"""Numbers with a rate: x + r e, e^2 = 0. A NumPy function on them gives its value and its derivative along the rates.

They go through the same code as floats and recording scalars, so that rates of anything can be recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gyrostat.errors import RecordError


class Dual:
    """``x`` with the rate ``r``; both are floats or recording scalars."""

    __slots__ = ("r", "x")

    def __init__(self, x: Any, r: Any):
        self.x, self.r = x, r

    def __add__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented  # element by element
        if isinstance(other, Dual):
            return Dual(self.x + other.x, self.r + other.r)
        return Dual(self.x + other, self.r)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented  # element by element
        if isinstance(other, Dual):
            return Dual(self.x - other.x, self.r - other.r)
        return Dual(self.x - other, self.r)

    def __rsub__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented  # element by element
        return Dual(other - self.x, -self.r)

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented  # element by element
        if isinstance(other, Dual):
            return Dual(self.x * other.x, self.x * other.r + self.r * other.x)
        return Dual(self.x * other, self.r * other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented  # element by element
        if isinstance(other, Dual):
            quotient = self.x / other.x
            return Dual(quotient, (self.r - quotient * other.r) / other.x)
        return Dual(self.x / other, self.r / other)

    def __rtruediv__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented  # element by element
        quotient = other / self.x
        return Dual(quotient, -quotient * self.r / self.x)

    def __neg__(self) -> Any:
        return Dual(-self.x, -self.r)

    def __pow__(self, power: Any) -> Any:
        return Dual(self.x**power, power * self.x ** (power - 1.0) * self.r)

    def sin(self) -> Any:
        return Dual(np.sin(self.x), np.cos(self.x) * self.r)

    def cos(self) -> Any:
        return Dual(np.cos(self.x), -np.sin(self.x) * self.r)

    def sqrt(self) -> Any:
        root = np.sqrt(self.x)
        return Dual(root, self.r / (2.0 * root))

    def tan(self) -> Any:
        return self.sin() / self.cos()

    def exp(self) -> Any:
        value = np.exp(self.x)
        return Dual(value, value * self.r)

    def log(self) -> Any:
        return Dual(np.log(self.x), self.r / self.x)

    def __bool__(self) -> bool:
        raise RecordError("a choice by the value of a number with a rate. Hint: write where(condition, x, y)")


def with_rates(x: np.ndarray, r: np.ndarray) -> np.ndarray:
    """Numbers x with rates r, as an array of objects."""
    found = np.empty(np.shape(x), dtype=object)
    for k in np.ndindex(found.shape):
        found[k] = Dual(x[k], r[k])
    return found


def _part(pick: Callable[[Any], Any], values: Any) -> np.ndarray:
    array = np.asarray(values)
    flat = [pick(v) for v in array.ravel()]
    kind = float if all(isinstance(v, float) for v in flat) else object
    found = np.empty(len(flat), dtype=kind)
    for k, v in enumerate(flat):
        found[k] = v
    return found.reshape(array.shape)


def values_of(values: Any) -> np.ndarray:
    """The numbers without their rates."""
    return _part(lambda v: v.x if isinstance(v, Dual) else v, values)


def rates_of(values: Any) -> np.ndarray:
    """The rates alone; zero for plain numbers."""
    return _part(lambda v: v.r if isinstance(v, Dual) else 0.0, values)
