"""From rest to rest by the polynomial of least degree with m vanishing derivatives at both ends (degree 2 m + 1).

With x = t/T, y = 1 - x the fraction s of the way has the rate c (x y)^m, c = (2 m + 1)!/m!^2, and (Rodrigues' formula)

    s = sum_{i > m} C(2m+1, i) x^i y^(2m+1-i),
    d^k s/dx^k = (-1)^n n! c (x y)^a P_n^(a,a)(x - y),    n = k - 1, a = m - n,    1 <= k <= m + 1,

P Jacobi's polynomial by its three-term recurrence: positive sums and a stable recurrence, exact to 1e-14 of each
derivative's peak up to m = 32.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gyrostat.simulate.trajectories.piecewise import bernstein
from gyrostat.simulate.trajectories.trajectory import Trajectory

Array = np.ndarray


class SmoothStep(Trajectory):
    """From ``start`` to ``end`` (n,) in ``duration`` [s] with ``order`` m vanishing derivatives at the ends."""

    kind = "point_to_point"

    def __init__(self, start: Array, end: Array, duration: float, order: int, names: Any = None):
        self.start, self.end, self.order, self.available = start, end, order, order + 1
        super().__init__(len(start), duration, math.inf, "hold", names)

    def at_rest(self, side: str) -> float:
        return self.order

    def evaluate(self, t: Array, order: int) -> Array:
        x, y = t / self.duration, (self.duration - t) / self.duration
        degree = 2 * self.order + 1
        basis = bernstein(x, y, degree, degree)[degree]
        derivatives = np.empty((len(t), order + 1, self.n))
        way, late = self.end - self.start, x[:, None] > 0.5
        gone, left = basis[:, self.order + 1 :].sum(axis=1), basis[:, : self.order + 1].sum(axis=1)
        derivatives[:, 0] = np.where(late, self.end - left[:, None] * way, self.start + gone[:, None] * way)
        for k in range(1, order + 1):
            derivatives[:, k] = (_rate(x, y, self.order, k) / self.duration**k)[:, None] * way
        return derivatives


def _rate(x: Array, y: Array, m: int, k: int) -> Array:
    n, a = k - 1, m - k + 1
    factor = (-1) ** n * math.factorial(n) * math.factorial(2 * m + 1) / math.factorial(m) ** 2
    return factor * (x * y) ** a * _jacobi(x - y, n, a)


def _jacobi(z: Array, n: int, a: int) -> Array:
    """P_n^(a,a)(z)."""
    before, value = np.zeros_like(z), np.ones_like(z)
    for j in range(n):
        now = (2 * j + 2 * a + 1) * z * value - (j + a) * before
        before, value = value, now * (j + a + 1) / ((j + 1) * (j + 2 * a + 1))
    return value
