"""Polynomials in Bernstein form, one for each piece of time.

On a piece of length h with x = (t - t_a)/h, y = 1 - x, degree d and control points b_i (n,)

    q = sum_i b_i B_i^d,    B_i^d = C(d, i) x^i y^(d-i),    d^k q/dt^k = d!/(d-k)! h^-k sum_i (D^k b)_i B_i^(d-k),

D the forward difference. The basis functions are positive and sum to one, and the differences are prepared with enough
digits (see ``digits``): with u the rounding unit, derivative k is exact to about
(2 d + k) u d!/(d-k)! h^-k max |D^k b|. No Vandermonde matrix.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gyrostat.simulate.trajectories.decimals import DOUBLES, doubles, many_digits, numbers, powers, ratio
from gyrostat.simulate.trajectories.trajectory import Trajectory

Array = np.ndarray


class Piecewise(Trajectory):
    """``breaks`` (m + 1,) [s] from zero, ``control`` (m, d + 1, n), doubles or decimals, seen from ``offset`` (n,);
    ``inner`` derivatives are continuous at the breaks."""

    def __init__(
        self,
        kind: str,
        breaks: Array,
        control: Array,
        inner: float,
        outside: str,
        names: Any = None,
        offset: Array | float = 0.0,
    ):
        self.kind = kind
        self.breaks = breaks
        self.in_doubles = control.dtype != object
        self.differences = _differences(control)  # [k]: (m, d + 1 - k, n)
        self.differences[0] = self.differences[0] + offset
        super().__init__(control.shape[2], float(breaks[-1]), inner if len(breaks) > 2 else math.inf, outside, names)

    def evaluate(self, t: Array, order: int) -> Array:
        if self.outside == "continue":  # periodic
            t = np.mod(t, self.duration)
        piece = np.clip(np.searchsorted(self.breaks, t, side="right") - 1, 0, len(self.breaks) - 2)
        h = np.diff(self.breaks)[piece]
        x, y = (t - self.breaks[piece]) / h, (self.breaks[piece + 1] - t) / h
        d = len(self.differences) - 1
        bases = bernstein(x, y, d, max(d - order, 0))
        derivatives = np.zeros((len(t), order + 1, self.n))
        for k in range(min(order, d) + 1):
            scale = math.perm(d, k) / h**k
            derivatives[:, k] = np.einsum("ti,tin->tn", bases[d - k], self.differences[k][piece]) * scale[:, None]
        return derivatives

    def largest_jump(self, order: int) -> float:
        """Largest jump of a derivative up to ``order`` at a break, relative to its largest control points beside it;
        one below 2e-16 of the largest point (2^k in differences) is rounding, as on a straight line: over the time of
        the piece where control points are doubles, which even times allow, otherwise over the longest piece."""
        h, worst = np.diff(self.breaks)[:, None], 0.0
        extent = 2e-6 * np.abs(self.differences[0][:, [0, -1]]).max(axis=(0, 1))
        span = h if self.in_doubles else h.max()
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            for k in range(order + 1 if len(h) > 1 else 0):
                scaled = self.differences[k] / h[:, :, None] ** k
                size = np.abs(scaled).max(axis=1)
                size = np.maximum(size, extent * (2.0 / span) ** k)
                jump = np.abs(scaled[1:, 0] - scaled[:-1, -1]) / np.maximum(np.maximum(size[1:], size[:-1]), 1e-300)
                worst = max(worst, float(np.nan_to_num(jump, nan=np.inf).max()))
        return worst


def _differences(control: Array) -> list[Array]:
    differences = []
    with many_digits():
        for _ in range(control.shape[1]):
            differences.append(doubles(control))
            control = np.diff(control, axis=1)
    return differences


def bernstein(x: Array, y: Array, highest: int, lowest: int) -> dict[int, Array]:
    """Degree -> basis (N, degree + 1), by B_i^d = y B_i^(d-1) + x B_(i-1)^(d-1); x, y (N,)."""
    basis = np.ones((len(x), 1))
    bases = {}
    for degree in range(highest + 1):
        if degree:
            wider = np.zeros((len(x), degree + 1))
            wider[:, :-1] = y[:, None] * basis
            wider[:, 1:] += x[:, None] * basis
            basis = wider
        if degree >= lowest:
            bases[degree] = basis
    return bases


def between(times: Array, table: Array) -> Array:
    """Control points (m, d + 1, n) of the polynomials with given derivatives ``table`` (m + 1, k + 1, n), doubles or
    decimals, at ``times`` (m + 1,): see :func:`control_points`."""
    with many_digits():
        exact = table.dtype == object or 2 * table.shape[1] - 1 > DOUBLES
        instants = numbers(times, exact)
        given = table if table.dtype == object else numbers(table, exact)
        return control_points(given[:-1], given[1:], np.diff(instants))


def control_points(left: Array, right: Array, h: Array) -> Array:
    """(m, d + 1, n) of the polynomials whose derivatives of orders 0 to k at the ends are left, right (m, k + 1, n),
    h (m,) the lengths of the pieces, d = 2 k + 1.

    (D^j b)_0 = h^j (d-j)!/d! q^(j), so that b_i = sum_j C(i, j) (D^j b)_0: sums of given numbers, nothing is solved.
    """
    k = left.shape[1] - 1
    d = 2 * k + 1
    control = np.empty((len(h), d + 1, left.shape[2]), dtype=left.dtype)
    lengths = powers(h, k)[:, :, None]
    for i in range(k + 1):
        parts = [(j, ratio(math.comb(i, j), math.perm(d, j), h)) for j in range(i + 1)]
        control[:, i] = sum(part * lengths[:, j] * left[:, j] for j, part in parts)
        control[:, d - i] = sum((-1) ** j * part * lengths[:, j] * right[:, j] for j, part in parts)
    return control
