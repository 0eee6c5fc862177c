"""Truncated Taylor series in time: x(t + s) = c_0 + c_1 s + ... + c_K s^K. A NumPy function on them gives the series
of its result, so that time derivatives of any order of anything can be recorded.

c_k is the k-th derivative over k!: in this scaling products need no binomials. Coefficients are floats or recording
scalars; those that are zero drop out. Series of different lengths may meet: what is not known is not there, so the
result is as long as the shorter one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gyrostat.engine.tracing.choose import sign
from gyrostat.engine.tracing.dual import OUTER, Dual


class Taylor(Dual):
    """A number with rates of all orders up to ``len(c) - 1``; ``x`` is its value."""

    __slots__ = ("c", "pair")
    level = -1  # inside any rate of a level

    def __init__(self, c: Sequence[Any]):
        self.c = tuple(c)
        self.pair: tuple[Taylor, Taylor] | None = None  # sine and cosine, which are found together

    @property
    def x(self) -> Any:  # type: ignore[override]
        return self.c[0]

    def __repr__(self) -> str:
        return f"<Taylor {self.c}>"

    # ------------------------------------------------------------------ time
    def cut(self, order: int) -> Taylor:
        """Without what is beyond an order."""
        return self if len(self.c) <= order + 1 else Taylor(self.c[: order + 1])

    def rate(self) -> Taylor:
        """The time derivative, one order shorter."""
        return Taylor([x * float(k + 1) for k, x in enumerate(self.c[1:])])

    def integral(self, start: Any) -> Taylor:
        """The series whose rate this is."""
        return Taylor([start, *(x * (1.0 / (k + 1)) for k, x in enumerate(self.c))])

    def derivatives(self) -> list[Any]:
        """k-th time derivatives, k = 0, 1, ..."""
        return [x * float(math.factorial(k)) for k, x in enumerate(self.c)]

    # ------------------------------------------------------------------ arithmetic
    def __add__(self, other: Any) -> Any:
        if type(other) is Taylor:
            return Taylor([x + y for x, y in zip(self.c, other.c, strict=False)])
        if _outside(other):
            return NotImplemented  # element by element
        return self if _zero(other) else Taylor([self.c[0] + other, *self.c[1:]])

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        if type(other) is Taylor:
            return Taylor([x - y for x, y in zip(self.c, other.c, strict=False)])
        if _outside(other):
            return NotImplemented
        return self if _zero(other) else Taylor([self.c[0] - other, *self.c[1:]])

    def __rsub__(self, other: Any) -> Any:
        return NotImplemented if _outside(other) else (-self) + other

    def __neg__(self) -> Any:
        return Taylor([-x for x in self.c])

    def __mul__(self, other: Any) -> Any:
        if type(other) is Taylor:
            return Taylor(_square(self.c) if other is self else _product(self.c, other.c))
        if _outside(other):
            return NotImplemented
        if _zero(other):
            return 0.0
        return Taylor([x * other for x in self.c])

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if type(other) is not Taylor:
            return NotImplemented if _outside(other) else self * (1.0 / other)
        inverse, quotient = 1.0 / other.c[0], []
        for k in range(min(len(self.c), len(other.c))):
            rest = _convolved(quotient, other.c, k, 0, k)
            quotient.append((self.c[k] - rest) * inverse)
        return Taylor(quotient)

    def __rtruediv__(self, other: Any) -> Any:
        if _outside(other):
            return NotImplemented
        return Taylor([other, *[0.0] * (len(self.c) - 1)]) / self

    def __pow__(self, power: Any) -> Any:
        p = float(power)
        if p < 0.0:
            return 1.0 / self**-p
        if not (2.0 * p).is_integer():
            return (self.log() * p).exp()
        powered: Any = self.sqrt() if p % 1.0 else 1.0
        for _ in range(math.floor(p)):
            powered = self * powered
        return powered

    def __abs__(self) -> Any:
        """The sign counts as constant: right on either side of zero."""
        return self * sign(self.c[0])

    # ------------------------------------------------------------------ functions, by the equations of their rates
    def _both(self) -> tuple[Taylor, Taylor]:
        """s' = c x', c' = -s x'."""
        if self.pair is None:
            s, c = [np.sin(self.c[0])], [np.cos(self.c[0])]
            slope = self.rate().c
            for k in range(1, len(self.c)):
                more, less = _convolved(slope, c, k - 1, 0, k), _convolved(slope, s, k - 1, 0, k)
                s.append(more * (1.0 / k))
                c.append(less * (-1.0 / k))
            self.pair = Taylor(s), Taylor(c)
        return self.pair

    def sin(self) -> Any:
        return self._both()[0]

    def cos(self) -> Any:
        return self._both()[1]

    def tan(self) -> Any:
        return self.sin() / self.cos()

    def exp(self) -> Any:
        e, slope = [np.exp(self.c[0])], self.rate().c
        for k in range(1, len(self.c)):
            e.append(_convolved(slope, e, k - 1, 0, k) * (1.0 / k))
        return Taylor(e)

    def log(self) -> Any:
        start = np.log(self.c[0])
        return (self.rate() / self).integral(start) if len(self.c) > 1 else Taylor([start])

    def sqrt(self) -> Any:
        root = [np.sqrt(self.c[0])]
        inverse = 0.5 / root[0]
        for k in range(1, len(self.c)):
            root.append((self.c[k] - _convolved(root, root, k, 1, k)) * inverse)
        return Taylor(root)

    def tanh(self) -> Any:
        """t' = (1 - t^2) x'."""
        t, rest, slope = [np.tanh(self.c[0])], [], self.rate().c
        for k in range(1, len(self.c)):
            square = _convolved(t, t, k - 1, 0, k)
            rest.append(1.0 - square if k == 1 else -square)
            t.append(_convolved(slope, rest, k - 1, 0, k) * (1.0 / k))
        return Taylor(t)

    def arctan2(self, other: Any) -> Any:
        """(x y' - y x') / (x^2 + y^2), integrated; self is y."""
        x = other if type(other) is Taylor else Taylor([other, *[0.0] * (len(self.c) - 1)])
        start = np.arctan2(self.c[0], x.c[0])
        if min(len(self.c), len(x.c)) == 1:
            return Taylor([start])
        return ((x * self.rate() - self * x.rate()) / (x * x + self * self)).integral(start)


def _outside(other: Any) -> bool:
    """Whether this meets a series element by element, or as a number inside a rate."""
    return isinstance(other, np.ndarray) or (type(other) is Dual and other.level >= OUTER)


def _zero(x: Any) -> bool:
    return isinstance(x, float | int) and x == 0.0


def _convolved(a: Sequence[Any], b: Sequence[Any], k: int, first: int, end: int) -> Any:
    """Sum of a_i b_(k-i), i from ``first`` to ``end`` - 1."""
    total: Any = 0.0
    for i in range(first, end):
        x, y = a[i], b[k - i]
        if not (_zero(x) or _zero(y)):
            total = x * y if _zero(total) else total + x * y
    return total


def _product(a: Sequence[Any], b: Sequence[Any]) -> list[Any]:
    return [_convolved(a, b, k, 0, k + 1) for k in range(min(len(a), len(b)))]


def _square(a: Sequence[Any]) -> list[Any]:
    """Equal products of a square are found once."""
    square = []
    for k in range(len(a)):
        half = _convolved(a, a, k, 0, (k + 1) // 2)
        whole = half if _zero(half) else half * 2.0
        if k % 2 == 0 and not _zero(a[k // 2]):
            middle = a[k // 2] * a[k // 2]
            whole = middle if _zero(whole) else whole + middle
        square.append(whole)
    return square


def series(derivatives: Sequence[Any]) -> Taylor:
    """The series with these derivatives of order 0, 1, ..."""
    return Taylor([x * (1.0 / math.factorial(k)) for k, x in enumerate(derivatives)])
