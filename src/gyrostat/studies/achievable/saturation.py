"""Which actuators are at their limits, when the others are to keep their accelerations [KV II].

In the coordinates of the actuators H a + u' = u. The programmed accelerations a_p need u_p = H a_p + u'. With
x = a - a_p we have u = u_p + H x. Wanted are torques within their limits such that

    x_i = 0 where low_i < u_i < high_i,    x_i <= 0 where u_i = high_i,    x_i >= 0 where u_i = low_i:

an actuator within its limits keeps its acceleration, one at its greatest torque accelerates less than it should.
Because H is symmetric and positive definite there is exactly one such x. It is also the answer of Gauss' principle: of
all motions that the actuators can do, the nearest to the programmed one, with the least x^T H x.

The set of cut torques is found by pivoting in blocks: torques beyond a limit are cut, cut ones that accelerate more
than they should are released, all at once, until nothing changes. To cut only, and never to release, would not do: at
the beginning a saturated joint asks for an acceleration that it will not get, and the torques that its neighbours would
need to bear it say nothing about what they can do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.algorithms.shafts.actuators import UNLIMITED
from gyrostat.engine.tracing.choose import maximum, minimum, where
from gyrostat.spatial.algebra import Array

SLACK, LEFT = 1e-12, 1e-9
"""Relative excess that is rounding; and what is too much to be left in the end."""


@dataclass(frozen=True)
class Saturation:
    """H (n, n), programmed a (n,) and u (n,), bounds (low, high) of each torque; ``idle``: rates without actuator."""

    H: Array
    a: Array
    needed: Array
    bounds: Sequence[tuple[Any, Any]]
    idle: Sequence[bool]

    def answer(self, cut: Array) -> tuple[Array, Array]:
        """x and u, if the torques that ``cut`` marks with 1 or -1 are at their limits and the others free."""
        at = [where(c > 0.0, high, low) for c, (low, high) in zip(cut, self.bounds, strict=True)]
        right = np.array([t - u for t, u in zip(at, self.needed, strict=True)])
        x = solve_some(self.H, [abs(c) for c in cut], right)
        u = self.needed + self.H @ x
        return x, np.array([where(abs(c) > 0.0, t, y) for c, t, y in zip(cut, at, u, strict=True)])

    def better(self, cut: Array, x: Array, u: Array) -> Array:
        """Cut what is beyond its limit, release what is ahead of the programme."""
        marks: list[Any] = []
        for mark, d, a, y, (low, high), idle in zip(cut, x, self.a, u, self.bounds, self.idle, strict=True):
            if idle:
                marks.append(1.0)
                continue
            slack = SLACK * (1.0 + minimum(abs(y), UNLIMITED))
            beyond = where(y > high + slack, 1.0, 0.0) - where(y < low - slack, 1.0, 0.0)
            still = where(mark * d > SLACK * 100.0 * (1.0 + abs(a)), 0.0, mark)
            marks.append(where(abs(mark) > 0.0, still, beyond))
        return np.array(marks)

    def left(self, cut: Array, x: Array, u: Array) -> Any:
        """One if something is beyond its limit or ahead of the programme still."""
        worst: Any = 0.0
        for mark, d, a, y, (low, high), idle in zip(cut, x, self.a, u, self.bounds, self.idle, strict=True):
            if not idle:
                excess = maximum(y - high, low - y) - LEFT * (1.0 + minimum(abs(high), UNLIMITED))
                worst = maximum(worst, where(maximum(excess, mark * d - LEFT * (1.0 + abs(a))) > 0.0, 1.0, 0.0))
        return worst

    def rounds(self, cut: Array, count: int) -> tuple[Array, Array, Array, Any]:
        """cut, x, u after a number of rounds without a branch, and what :meth:`left` says."""
        x, u = self.answer(cut)
        for _ in range(count):
            cut = self.better(cut, x, u)
            x, u = self.answer(cut)
        return cut, x, u, self.left(cut, x, u)

    def settled(self, cut: Array) -> tuple[Array, Array, Array, Any]:
        """cut, x, u on plain numbers, with as many rounds as it takes.

        Pivoting in blocks may go round in circles; from some round on only the last of the changes is made, which
        always comes to an end (Murty's rule, for matrices like H)."""
        cut, x, u, left = self.rounds(cut, 0)
        n = len(cut)
        for k in range(PATIENCE * n):
            if not left:
                break
            changed = self.better(cut, x, u)
            if k > 2 * n and np.any(changed != cut):
                last = int(np.flatnonzero(changed != cut)[-1])
                changed = np.where(np.arange(n) == last, changed, cut)
            cut, x, u, left = self.rounds(changed, 0)
        return cut, x, u, left


PATIENCE = 1000


def solve_some(H: Array, mask: Sequence[Any], right: Array) -> Array:
    """x with (H x)_i = right_i where mask_i is one, and x_i = 0 where it is zero; H symmetric, positive definite."""
    n = len(right)
    both = {(i, j): mask[i] * mask[j] for i in range(n) for j in range(i + 1, n)}
    A = [
        [where(mask[i] > 0.0, H[i, i], 1.0) if i == j else H[i, j] * both[min(i, j), max(i, j)] for j in range(n)]
        for i in range(n)
    ]
    x = [r * m for r, m in zip(right, mask, strict=True)]
    inverses: list[Any] = []
    for k in range(n):
        inverse = 1.0 / A[k][k]
        inverses.append(inverse)
        for i in range(k + 1, n):
            factor = A[i][k] * inverse
            for j in range(i, n):
                A[i][j] = A[i][j] - factor * A[k][j]
                A[j][i] = A[i][j]
            x[i] = x[i] - factor * x[k]
    for k in reversed(range(n)):
        for j in range(k + 1, n):
            x[k] = x[k] - A[k][j] * x[j]
        x[k] = x[k] * inverses[k]
    return np.array(x)
