"""Angles that are known by their cosine and sine: a closed form gives these, and joints need nothing else.

Neither an arc tangent nor the sine of one is computed, unless somebody asks for the number itself."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gyrostat.engine.tracing.choose import where

HALF_TURN = math.cos(math.pi - 0.3)
"""Cosine of the angle from the reference beyond which it is not sure how often a joint has turned."""


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
        s, c = self._beyond()
        return np.arctan2(s, c) + self.near

    def _beyond(self) -> tuple[Any, Any]:
        """Sine and cosine of the angle against ``near``."""
        c, s = math.cos(self.near), math.sin(self.near)
        return self.s * c - self.c * s, self.c * c + self.s * s

    def within(self) -> Any:
        """The number, where it is sure which one is meant; NaN near half a turn from ``near``, beyond which it would
        jump by a turn, and what is connected with the joint with it."""
        return where(self._beyond()[1] > HALF_TURN, self.number(), math.nan)

    def __neg__(self) -> Angle:
        return Angle(self.c, -self.s, -self.near)

    def __mul__(self, factor: Any) -> Any:
        if isinstance(factor, float) and abs(factor) == 1.0:
            return self if factor > 0.0 else -self
        return self.within() * factor

    __rmul__ = __mul__

    def __add__(self, other: Any) -> Any:
        if isinstance(other, float) and other == 0.0:
            return self
        return self.within() + (other.within() if isinstance(other, Angle) else other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self + -other

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __truediv__(self, other: Any) -> Any:
        return self.within() / other

    def __float__(self) -> float:
        return float(self.number())


def plain(x: Any) -> Any:
    """A coordinate as a number."""
    return x.number() if isinstance(x, Angle) else x
