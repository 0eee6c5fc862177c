"""Angles that are known by their cosine and sine: a closed form gives these, and joints need nothing else.

Neither an arc tangent nor the sine of one is computed, unless somebody asks for the number itself."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


class Angle:
    """``c``, ``s``: cosine and sine; ``near``: a number [rad] that the angle is within half a turn of."""

    __slots__ = ("c", "near", "s")

    def __init__(self, c: Any, s: Any, near: float = 0.0):
        self.c, self.s, self.near = c, s, near

    def cos(self) -> Any:
        return self.c

    def sin(self) -> Any:
        return self.s

    def number(self) -> Any:
        """The angle itself, near + atan2 of what is beyond it [rad]."""
        c, s = math.cos(self.near), math.sin(self.near)
        return np.arctan2(self.s * c - self.c * s, self.c * c + self.s * s) + self.near

    def __neg__(self) -> Angle:
        return Angle(self.c, -self.s, -self.near)

    def __mul__(self, factor: Any) -> Any:
        if isinstance(factor, float) and abs(factor) == 1.0:
            return self if factor > 0.0 else -self
        return self.number() * factor

    __rmul__ = __mul__

    def __add__(self, other: Any) -> Any:
        if isinstance(other, float) and other == 0.0:
            return self
        return self.number() + (other.number() if isinstance(other, Angle) else other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self + -other

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __truediv__(self, other: Any) -> Any:
        return self.number() / other

    def __float__(self) -> float:
        return float(self.number())


def plain(x: Any) -> Any:
    """A coordinate as a number."""
    return x.number() if isinstance(x, Angle) else x
