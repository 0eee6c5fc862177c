"""Polynomials on [0, T] that vanish with their derivatives at both ends, and smooth steps with such ones added.

    bump_k = (4 x (1 - x))^p P_k(2 x - 1),    P_k(2 x - 1) = sum_i (-1)^(k+i) C(k, i) B_i^k(x),
    x^p (1 - x)^p B_i^k = C(k, i) / C(k + 2 p, i + p) B_(i+p)^(k+2p):

Bernstein forms with exact control points, raised to one degree, so that no digits are lost at the ends."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np

from gyrostat.simulate.trajectories.decimals import many_digits, numbers
from gyrostat.simulate.trajectories.piecewise import Piecewise, between

Array = np.ndarray


class BumpedStep:
    """Motions of p outputs from ``first`` to ``last`` (p,) in T [s]; ``order`` derivatives vanish at the ends, and
    ``each`` bumps are added to each output."""

    def __init__(self, first: Array, last: Array, T: float, order: int, each: int):
        self.breaks = np.array([0.0, T])
        degree = 2 * order + each + 1
        with many_digits():
            bumps = [_raised(_bump(k, order + 1), degree) for k in range(each)]
            table = np.zeros((2, order + 1, 2))
            table[1, 0] = 1.0, 0.0
            step = between(self.breaks, numbers(table, True))[0, :, 0]
            self.control = np.stack([_raised(step, degree), *bumps], axis=1)  # (degree + 1, 1 + each)
        self.first, self.last, self.order, self.each = first, last, order, each
        self.family = Piecewise("bumps", self.breaks, self.control[None], math.inf, "hold")

    def columns(self, t: Array) -> Array:
        """(N, 3, p, p each): derivatives of the outputs by the amplitudes c_ik, output i varying slowest."""
        p = len(self.first)
        values = self.family.at(t, 2)[:, :, 1:]
        return np.einsum("tdk,ij->tdijk", values, np.eye(p)).reshape(len(t), 3, p, p * self.each)

    def outputs(self, t: Array, c: Array) -> Array:
        """(N, 3, p)."""
        step = self.family.at(t, 2)[:, :, :1]
        constant = self.first * (np.arange(3) == 0)[:, None]
        return constant + step * (self.last - self.first) + self.columns(t) @ c

    def trajectory(self, c: Array, names: tuple[str, ...] | None) -> Piecewise:
        """The motion with the amplitudes c (p each,)."""
        with many_digits():
            weights = numbers(
                np.concatenate([(self.last - self.first)[:, None], c.reshape(-1, self.each)], axis=1), True
            )
            control = self.control @ weights.T + numbers(self.first, True)
        return Piecewise("rest_to_rest", self.breaks, control[None], math.inf, "hold", names)


def _bump(k: int, p: int) -> Array:
    """Control points (k + 2 p + 1,) of bump_k."""
    control = np.array([Decimal(0)] * (k + 2 * p + 1), dtype=object)
    for i in range(k + 1):
        value = Decimal((-1) ** (k + i) * math.comb(k, i) ** 2 * 4**p) / math.comb(k + 2 * p, i + p)
        control[i + p] = value
    return control


def _raised(control: Array, degree: int) -> Array:
    """The same polynomial with ``degree`` + 1 control points."""
    while len(control) <= degree:
        d = len(control)
        x = np.array([Decimal(i) / d for i in range(d + 1)], dtype=object)
        zero = np.array([Decimal(0)], dtype=object)
        control = x * np.concatenate([zero, control]) + (1 - x) * np.concatenate([control, zero])
    return control
