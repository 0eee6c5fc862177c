"""Lookup tables: y = f(u) through points, linear or cubic, without branches.

With u_i = min(max(u, x_i), x_(i+1)) - x_i on segment i, the sum over all segments

    y = y_0 + sum_i (b_i u_i + c_i u_i^2 + d_i u_i^3)

is the piecewise polynomial itself, because whole segments before u add their whole rise. It can be recorded as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from gyrostat.engine.tracing.choose import maximum, minimum
from gyrostat.errors import ShapeError
from gyrostat.simulate.blocks.block import Array
from gyrostat.simulate.blocks.given import choice, numbers, refuse
from gyrostat.simulate.blocks.shaping import Entrywise

FORMS = ("linear", "cubic")
OUTSIDE = ("hold", "linear")


@dataclass(frozen=True)
class Table(Entrywise):
    """y = f(u) through the points (``x``, ``y``), x growing; the same table for every entry.

    ``form``: ``"linear"``, or ``"cubic"``: the natural spline, second derivative zero at both ends. ``outside`` the
    points: ``"hold"`` the first and last value, or ``"linear"``, on with the slope of the ends."""

    kind: ClassVar[str] = "table"
    x: Any
    y: Any
    form: str = "linear"
    outside: str = "hold"

    def __post_init__(self) -> None:
        who = self.who
        x, y = numbers(self.x, who, "x"), numbers(self.y, who, "y")
        if len(x) != len(y) or len(x) < 2:
            raise ShapeError(f"{who}: x has {len(x)} numbers, y has {len(y)}, expected equally many, two at least")
        step = np.diff(x)
        if np.any(step <= 0.0):
            k = int(np.argmax(step <= 0.0))
            raise refuse(who, "x", f"x must grow, but {x[k + 1]:g} comes after {x[k]:g}", "sort the points", x)
        choice(self.form, who, "form", FORMS)
        choice(self.outside, who, "outside", OUTSIDE)
        object.__setattr__(self, "x", x)
        object.__setattr__(self, "y", y)

    @cached_property
    def coefficients(self) -> Array:
        """(segments, 3): b, c, d of each segment."""
        x, y = np.array(self.x), np.array(self.y)
        h, slope = np.diff(x), np.diff(y) / np.diff(x)
        if self.form == "linear":
            return np.stack([slope, 0.0 * h, 0.0 * h], axis=1)
        second = np.zeros(len(x))
        if len(x) > 2:
            rows = np.diag(2.0 * (h[:-1] + h[1:])) + np.diag(h[1:-1], 1) + np.diag(h[1:-1], -1)
            second[1:-1] = np.linalg.solve(rows, 6.0 * np.diff(slope))
        first = slope - h * (2.0 * second[:-1] + second[1:]) / 6.0
        return np.stack([first, second[:-1] / 2.0, np.diff(second) / (6.0 * h)], axis=1)

    def shaped(self, u: Any) -> Any:
        y: Any = self.y[0]
        for (b, c, d), low, high in zip(self.coefficients.tolist(), self.x, self.x[1:], strict=False):
            along = minimum(maximum(u, low), high) - low
            y = y + along * (b if self.form == "linear" else b + along * (c + along * d))
        if self.outside == "linear":
            (b0, *_), (b, c, d), h = self.coefficients[0], self.coefficients[-1], self.x[-1] - self.x[-2]
            y = y + float(b0) * minimum(u - self.x[0], 0.0)
            y = y + float(b + h * (2.0 * c + 3.0 * d * h)) * maximum(u - self.x[-1], 0.0)
        return y
