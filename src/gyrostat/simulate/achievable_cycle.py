"""One interpolation cycle [KV II, V]: what of the programmed motion the actuators can do.

At the beginning of a cycle the joints are at q and move with v until its end: q_next = q + v dt. The programme asks for
the velocity v_p in the next cycle. It is limited (room up to the position limits, speed); the acceleration
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

from gyrostat.algorithms.actuators import UNLIMITED, Actuator, coupled
from gyrostat.algorithms.affine import mass_matrix_and_bias
from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.crba import composite_mass_matrix, crba
from gyrostat.algorithms.rne import Loads, sweep_forces
from gyrostat.engine.choose import maximum, minimum, where
from gyrostat.graph.network import Network
from gyrostat.simulate.motion_limits import Limits
from gyrostat.spatial.algebra import Array

SLACK = 1e-12
"""Relative excess over a limit that is rounding."""
TOLD = 1e-9
"""Excess of a programme over a limit of speed (relative) or position that is told: less is rounding of its numbers."""


@dataclass(frozen=True)
class Cycle:
    """Everything but the state: actuators, T, limits, cycle time, mode, and how often torques are looked at."""

    actuators: Sequence[Actuator]
    T: Array
    limits: Limits
    dt: float
    keep: str
    rounds: int

    def wanted(self, q: Array, v: Array, v_p: Array) -> tuple[Array, dict[str, Array]]:
        """The velocity of the next cycle, within its limits (n,); and, if there are such limits, which joints had to
        be ``stopped`` (position limits) or ``slowed``.

        Motors that share joints are slowed down together, so that none of their joints is driven out of its limits."""
        found: list[Any] = []
        slowed: list[Any] = []
        stopped: list[Any] = []
        rows = zip(q, v, v_p, self.limits.lower, self.limits.upper, self.limits.speed, strict=True)
        for x, rate, asked, low, high, speed in rows:
            room = _room(low, x + rate * self.dt, self.dt), _room(high, x + rate * self.dt, self.dt)
            within = _clipped(asked, *room)
            found.append(_clipped(within, -speed, speed))
            told = (TOLD * (1.0 + abs(low)) / self.dt, TOLD * (1.0 + abs(high)) / self.dt)
            stopped.append(_outside(asked, room[0] - told[0], room[1] + told[1]))
            slowed.append(_outside(within, -speed * (1.0 + TOLD), speed * (1.0 + TOLD)))
        for motors, joints in coupled(self.T):
            share: Any = 1.0
            for i in motors:
                limit = self.actuators[i].speed_limit
                if limit < UNLIMITED:
                    w = sum(float(self.T[i, k]) * found[k] for k in joints if self.T[i, k])
                    share = minimum(share, limit / maximum(abs(w), limit))
            if not isinstance(share, float) or share < 1.0:
                for k in joints:
                    found[k], slowed[k] = found[k] * share, maximum(slowed[k], where(share < 1.0 - TOLD, 1.0, 0.0))
        marks = {"stopped": np.array(stopped)} if self.limits.positions else {}
        fast = any(a.speed_limit < UNLIMITED for a in self.actuators) or bool(np.any(self.limits.speed < UNLIMITED))
        return np.array(found), marks | ({"slowed": np.array(slowed)} if fast else {})

    def step(self, net: Network, on: Setting, q: Array, v: Array, v_p: Array, given: Loads) -> dict[str, Any]:
        """q_next, v_next, a, u (actuators), which torques are cut: -1, 0, 1, and the marks of :meth:`wanted`; ``left``:
        1 if rounds did not suffice."""
        if crba.covers(net):
            H, bias = composite_mass_matrix(net, on, q), sweep_forces(net, on, q, v, np.zeros(len(v)), given)[0]
        else:
            H, bias = mass_matrix_and_bias(net, on, q, v, given)
        back = np.linalg.inv(self.T)
        H, bias = back.T @ H @ back, back.T @ bias
        w, (v_next, marks) = self.T @ v, self.wanted(q, v, v_p)
        a = self.T @ ((v_next - v) / self.dt)
        bounds = [actuator.torques(x) for actuator, x in zip(self.actuators, w, strict=True)]
        needed = H @ a + bias
        idle = [actuator.passive for actuator in self.actuators]
        cut, u = _cut(needed, bounds, np.zeros(len(a)), idle)
        if self.keep == "torques":
            a, given_u = _solve(H, [1.0] * len(u), u - bias), u
        else:
            more = _solve(H, [abs(c) for c in cut], u - needed)
            for _ in range(self.rounds):
                cut, u = _cut(needed + H @ more, bounds, cut, idle)
                more = _solve(H, [abs(c) for c in cut], u - needed)
            a, given_u = a + more, needed + H @ more
        any_cut = sum(abs(c) for c in cut)
        joints = back @ a
        v_next = np.array([where(any_cut > 0.0, x + y * self.dt, z) for x, y, z in zip(v, joints, v_next, strict=True)])
        excess = [maximum(x - high, low - x) for x, (low, high) in zip(given_u, bounds, strict=True)]
        size = [1.0 + minimum(abs(high), UNLIMITED) for _, high in bounds]
        left: Any = 0.0
        for e, s in zip(excess, size, strict=True):
            left = maximum(left, where(e > s * 1e-9, 1.0, 0.0))
        within = [_clipped(x, low, high) for x, (low, high) in zip(given_u, bounds, strict=True)]
        u = np.array([where(abs(c) > 0.0, x, y) for c, x, y in zip(cut, u, within, strict=True)])
        found = {"q_next": q + v * self.dt, "v_next": v_next, "a": joints, "u": u, "cut": cut}
        return found | marks | {"left": left}


def _clipped(x: Any, low: Any, high: Any) -> Any:
    if isinstance(low, float) and low <= -UNLIMITED and isinstance(high, float) and high >= UNLIMITED:
        return x
    return minimum(maximum(x, low), high)


def _room(limit: float, at: Any, dt: float) -> Any:
    """Speed that leads to a position limit within a cycle."""
    return float(limit) if abs(limit) >= UNLIMITED else (limit - at) / dt


def _outside(x: Any, low: Any, high: Any) -> Any:
    """One if x is not between its limits."""
    if isinstance(low, float) and low <= -UNLIMITED and isinstance(high, float) and high >= UNLIMITED:
        return 0.0
    return maximum(where(x < low, 1.0, 0.0), where(x > high, 1.0, 0.0))


def _cut(needed: Array, bounds: Sequence[tuple[Any, Any]], cut: Array, idle: Sequence[bool]) -> tuple[Array, Array]:
    """Which torques are beyond a limit, or were before, or are those of ``idle`` rates; and what they are then."""
    marks, u = [], []
    for x, (low, high), before, none in zip(needed, bounds, cut, idle, strict=True):
        slack = SLACK * (1.0 + minimum(abs(x), UNLIMITED))
        above, below = where(x > high + slack, 1.0, 0.0), where(x < low - slack, 1.0, 0.0)
        if none:
            above, below = 1.0, 0.0
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
