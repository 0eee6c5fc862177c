"""Numbers with a rate: x + r e, e^2 = 0. A NumPy function on them gives its value and its derivative along the rates.

They go through the same code as floats and recording scalars, so that rates of anything can be recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gyrostat.engine.tracing.choose import sign
from gyrostat.errors import RecordError

OUTER = 100
"""Rates from this level on lie outside everything else, series in time too."""


class Dual:
    """``x`` with the rate ``r``; both are floats, recording scalars, or numbers with a rate of a lower ``level``.

    Rates of different things have different levels: a number that depends on both carries one inside the other."""

    __slots__ = ("level", "r", "x")

    def __init__(self, x: Any, r: Any, level: int = 0):
        self.x, self.r, self.level = x, r, level

    def _with(self, other: Any, both: Callable[[Any, Any], Any], one: Callable[[Any, Any], Any]) -> Any:
        """``both(self, other)`` if both carry rates of one level, else ``one``, where the lower counts as a number."""
        if isinstance(other, np.ndarray) or getattr(other, "outermost", False):
            return NotImplemented  # element by element; or numbers of another kind that hold these
        if isinstance(other, Dual) and other.level == self.level:
            return both(self, other)
        if isinstance(other, Dual) and other.level > self.level:
            return both(Dual(self, 0.0, other.level), other)
        return one(self, other)

    def __add__(self, other: Any) -> Any:
        if type(other) is float:
            return Dual(self.x + other, self.r, self.level)
        if type(other) is Dual and other.level == self.level:
            return Dual(self.x + other.x, self.r + other.r, self.level)
        return self._with(
            other, lambda a, b: Dual(a.x + b.x, a.r + b.r, a.level), lambda a, c: Dual(a.x + c, a.r, a.level)
        )

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        if type(other) is float:
            return Dual(self.x - other, self.r, self.level)
        if type(other) is Dual and other.level == self.level:
            return Dual(self.x - other.x, self.r - other.r, self.level)
        return self._with(
            other, lambda a, b: Dual(a.x - b.x, a.r - b.r, a.level), lambda a, c: Dual(a.x - c, a.r, a.level)
        )

    def __rsub__(self, other: Any) -> Any:
        return self._with(
            other, lambda a, b: Dual(b.x - a.x, b.r - a.r, a.level), lambda a, c: Dual(c - a.x, -a.r, a.level)
        )

    def __mul__(self, other: Any) -> Any:
        if type(other) is float:
            return Dual(self.x * other, self.r * other, self.level)
        if type(other) is Dual and other.level == self.level:
            return Dual(self.x * other.x, self.x * other.r + self.r * other.x, self.level)
        return self._with(
            other,
            lambda a, b: Dual(a.x * b.x, a.x * b.r + a.r * b.x, a.level),
            lambda a, c: Dual(a.x * c, a.r * c, a.level),
        )

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        def both(a: Dual, b: Dual) -> Dual:
            quotient = a.x / b.x
            return Dual(quotient, (a.r - quotient * b.r) / b.x, a.level)

        return self._with(other, both, lambda a, c: Dual(a.x / c, a.r / c, a.level))

    def __rtruediv__(self, other: Any) -> Any:
        def one(a: Dual, c: Any) -> Dual:
            quotient = c / a.x
            return Dual(quotient, -quotient * a.r / a.x, a.level)

        return self._with(other, lambda a, b: b / a, one)

    def __neg__(self) -> Any:
        return Dual(-self.x, -self.r, self.level)

    def __pow__(self, power: Any) -> Any:
        return Dual(self.x**power, power * self.x ** (power - 1.0) * self.r, self.level)

    def __abs__(self) -> Any:
        return Dual(abs(self.x), self.r * sign(self.x), self.level)

    def sign(self) -> Any:
        """Without a rate: it is constant on either side of zero."""
        return sign(self.x)

    def arctan2(self, other: Any) -> Any:
        def both(a: Dual, b: Dual) -> Dual:
            return Dual(np.arctan2(a.x, b.x), (b.x * a.r - a.x * b.r) / (a.x * a.x + b.x * b.x), a.level)

        return both(self, other if isinstance(other, Dual) else Dual(other, 0.0, self.level))

    def tanh(self) -> Any:
        value = np.tanh(self.x)
        return Dual(value, (1.0 - value * value) * self.r, self.level)

    def sin(self) -> Any:
        return Dual(np.sin(self.x), np.cos(self.x) * self.r, self.level)

    def cos(self) -> Any:
        return Dual(np.cos(self.x), -np.sin(self.x) * self.r, self.level)

    def sqrt(self) -> Any:
        root = np.sqrt(self.x)
        return Dual(root, self.r / (2.0 * root), self.level)

    def tan(self) -> Any:
        return self.sin() / self.cos()

    def exp(self) -> Any:
        value = np.exp(self.x)
        return Dual(value, value * self.r, self.level)

    def log(self) -> Any:
        return Dual(np.log(self.x), self.r / self.x, self.level)

    def __bool__(self) -> bool:
        raise RecordError("a choice by the value of a number with a rate. Hint: write where(condition, x, y)")


def with_rates(x: np.ndarray, r: np.ndarray, level: int = 0) -> np.ndarray:
    """Numbers x with rates r, as an array of objects. Rates inside x and r must be of lower levels."""
    numbers = np.empty(np.shape(x), dtype=object)
    for k in np.ndindex(numbers.shape):
        numbers[k] = Dual(x[k], r[k], level)
    return numbers


def _each(pick: Callable[[Any], Any], values: Any) -> np.ndarray:
    array = np.asarray(values)
    flat = [pick(v) for v in array.ravel()]
    picked = np.empty(len(flat), dtype=float if all(isinstance(v, float) for v in flat) else object)
    for k, v in enumerate(flat):
        picked[k] = v
    return picked.reshape(array.shape)


def _value(v: Any, level: int) -> Any:
    if not isinstance(v, Dual) or v.level < level:
        return v
    return v.x if v.level == level else Dual(_value(v.x, level), _value(v.r, level), v.level)


def _rate(v: Any, level: int) -> Any:
    if not isinstance(v, Dual) or v.level < level:
        return 0.0
    return v.r if v.level == level else Dual(_rate(v.x, level), _rate(v.r, level), v.level)


def values_of(values: Any, level: int = 0) -> np.ndarray:
    """The numbers without their rates of a level."""
    return _each(lambda v: _value(v, level), values)


def rates_of(values: Any, level: int = 0) -> np.ndarray:
    """The rates of a level alone; zero for numbers without."""
    return _each(lambda v: _rate(v, level), values)
