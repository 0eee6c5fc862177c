"""One interpolation cycle [KV II, V]: what of the programmed motion the actuators can do.

At the beginning of a cycle the joints are at q and move with v until its end: q_next = q + v dt. The programme asks for
the velocity v_p in the next cycle. It is limited (speed, and room up to the position limits); the acceleration
a = (v_p - v) / dt then needs actuator torques u = H_a a + u'_a, by one modified Newton-Euler pass. Torques beyond their
limits are cut, and the accelerations follow from what is left (composite bodies and one plain Newton-Euler pass give
the same H and u' with two thirds of the operations: 970 against 1406 for a geared LWR):

* ``keep="accelerations"`` [KV II]: joints whose actuators can do it keep their accelerations, the others get theirs
  from H_a a + u'_a = u (hybrid dynamics). That changes the torques of the former, so it is repeated until none exceeds
  its limit: at most once for each actuator.
* ``keep="torques"`` [KV (44)]: all torques that are within their limits stay as they are, and every acceleration
  follows.

All of it is in the coordinates of the actuators, w = T v, where the mass matrix T^-T H T^-1 is symmetric; nothing
branches, so it can be recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.algorithms.actuators import UNLIMITED, Actuator
from gyrostat.algorithms.affine import mass_matrix_and_bias
from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.crba import composite_mass_matrix, crba
from gyrostat.algorithms.rne import Loads, sweep_forces
from gyrostat.engine.choose import maximum, minimum, where
from gyrostat.graph.network import Network
from gyrostat.spatial.algebra import Array

SLACK = 1e-12
"""Relative excess over a limit that is rounding."""


@dataclass(frozen=True)
class Limits:
    """Of the joints: positions and speeds (n,)."""

    lower: Array
    upper: Array
    speed: Array


@dataclass(frozen=True)
class Cycle:
    """Everything but the state: actuators, T, limits, cycle time, mode, and how often torques are looked at."""

    actuators: Sequence[Actuator]
    T: Array
    limits: Limits
    dt: float
    keep: str
    rounds: int

    def wanted(self, q: Array, v: Array, v_p: Array) -> Array:
        """The velocity of the next cycle, within its limits (n,)."""
        reached = q + v * self.dt  # where this cycle ends; the next one must not lead out of the limits
        found = np.array(
            [
                _clipped(
                    _clipped(x, -speed, speed),
                    _room(low, at, self.dt, 0.0 if low > -UNLIMITED else -UNLIMITED),
                    _room(high, at, self.dt, 0.0 if high < UNLIMITED else UNLIMITED),
                )
                for x, speed, low, high, at in zip(
                    v_p, self.limits.speed, self.limits.lower, self.limits.upper, reached, strict=True
                )
            ]
        )
        fastest = [a.speed_limit for a in self.actuators]
        if all(limit >= UNLIMITED for limit in fastest):
            return found
        w = [_clipped(x, -s, s) for x, s in zip(self.T @ found, fastest, strict=True)]
        return np.linalg.inv(self.T) @ np.array(w)

    def step(self, net: Network, on: Setting, q: Array, v: Array, v_p: Array, given: Loads) -> dict[str, Any]:
        """q_next, v_next, a, u (actuators), which torques are cut: -1, 0, 1; ``left``: 1 where rounds did not
        suffice."""
        if crba.covers(net):
            H, bias = composite_mass_matrix(net, on, q), sweep_forces(net, on, q, v, np.zeros(len(v)), given)[0]
        else:
            H, bias = mass_matrix_and_bias(net, on, q, v, given)
        back = np.linalg.inv(self.T)
        H, bias = back.T @ H @ back, back.T @ bias
        w, v_next = self.T @ v, self.wanted(q, v, v_p)
        a = self.T @ ((v_next - v) / self.dt)
        bounds = [actuator.torques(x) for actuator, x in zip(self.actuators, w, strict=True)]
        needed = H @ a + bias
        cut, u = _cut(needed, bounds, np.zeros(len(a)))
        if self.keep == "torques":
            a = _solve(H, [1.0] * len(u), u - bias)
        else:
            programmed = needed
            for _ in range(self.rounds):
                more = _solve(H, [abs(c) for c in cut], u - programmed)
                cut, u = _cut(programmed + H @ more, bounds, cut)
            a = a + _solve(H, [abs(c) for c in cut], u - programmed)
        any_cut = sum(abs(c) for c in cut)
        joints = back @ a
        v_next = np.array([where(any_cut > 0.0, x + y * self.dt, z) for x, y, z in zip(v, joints, v_next, strict=True)])
        u = H @ a + bias
        excess = [maximum(x - high, low - x) for x, (low, high) in zip(u, bounds, strict=True)]
        size = [1.0 + minimum(abs(high), UNLIMITED) for _, high in bounds]
        left = [where(e > s * 1e-9, 1.0, 0.0) for e, s in zip(excess, size, strict=True)]
        u = np.array([_clipped(x, low, high) for x, (low, high) in zip(u, bounds, strict=True)])
        return {"q_next": q + v * self.dt, "v_next": v_next, "a": joints, "u": u, "cut": cut, "left": np.array(left)}


def _clipped(x: Any, low: Any, high: Any) -> Any:
    if isinstance(low, float) and low <= -UNLIMITED and isinstance(high, float) and high >= UNLIMITED:
        return x
    return minimum(maximum(x, low), high)


def _room(limit: float, at: Any, dt: float, none: float) -> Any:
    """Speed that leads to a position limit within a cycle."""
    return none if abs(none) >= UNLIMITED else (limit - at) / dt


def _cut(needed: Array, bounds: Sequence[tuple[Any, Any]], cut: Array) -> tuple[Array, Array]:
    """Which torques are beyond a limit, or were before; and what they are then."""
    marks, u = [], []
    for x, (low, high), before in zip(needed, bounds, cut, strict=True):
        slack = SLACK * (1.0 + minimum(abs(x), UNLIMITED))
        above, below = where(x > high + slack, 1.0, 0.0), where(x < low - slack, 1.0, 0.0)
        if isinstance(low, float) and isinstance(high, float) and low == high:
            above, below = 1.0, 0.0  # a passive rate
        mark = where(before == 0.0, above - below, before)
        marks.append(mark)
        u.append(where(mark > 0.0, high, where(mark < 0.0, low, x)))
    return np.array(marks), np.array(u)


def _solve(H: Array, mask: Sequence[Any], right: Array) -> Array:
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
