"""The grid of a phase: where its intervals begin and end, as fractions of its duration."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Grid:
    """``edges`` (N + 1,) from 0 to 1. Times are linear in the free numbers theta (r,):

    duration T = fixed + per . theta, start t_0 = fixed_start + per_start . theta, t = t_0 + fraction T."""

    edges: Array
    fixed: float
    per: Array
    fixed_start: float
    per_start: Array

    @cached_property
    def shares(self) -> Array:
        """Lengths (N,) of intervals as fractions."""
        return np.diff(self.edges)

    @cached_property
    def middles(self) -> Array:
        return 0.5 * (self.edges[1:] + self.edges[:-1])

    def duration(self, theta: Array) -> float:
        return float(self.fixed + self.per @ theta)

    def start(self, theta: Array) -> float:
        return float(self.fixed_start + self.per_start @ theta)

    def steps(self, theta: Array) -> tuple[Array, Array]:
        """h (N,) and dh/dtheta (N, r)."""
        return self.shares * self.duration(theta), self.shares[:, None] * self.per

    def data(self, fractions: Array, z: Array) -> tuple[Array, Array]:
        """``clock`` (k, 2) and ``spent`` (k, r) of points at fractions (k,)."""
        clock = np.stack([self.fixed_start + fractions * self.fixed, fractions], axis=1)
        return clock, self.per_start + fractions[:, None] * self.per
