"""One interpolation cycle [KV II, V]: what of the programmed motion the actuators can do.

At the beginning of a cycle the joints are at q and move with v until its end: q_next = q + v dt. The programme asks for
the velocity v_p in the next cycle. It is limited (room up to the position limits, speed); the acceleration
a = (v_p - v) / dt then needs actuator torques u = H_a a + u'_a, by one modified Newton-Euler pass. Torques beyond their
limits are cut, and the accelerations follow from what is left (composite bodies and one plain Newton-Euler pass give
the same H and u' with two thirds of the operations: 970 against 1406 for a geared LWR):

* ``keep="accelerations"`` [KV II]: joints whose actuators can do it keep their accelerations, the others get theirs
  from H_a a + u'_a = u (hybrid dynamics). See :mod:`gyrostat.studies.achievable.saturation`.
* ``keep="torques"`` [KV (44)]: all torques that are within their limits stay as they are, and every acceleration
  follows.

Rates without actuator are free from the beginning. All of it is in the coordinates of the actuators, w = T v, where the
mass matrix T^-T H T^-1 is symmetric; nothing branches, so it can be recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.recursions.crba import composite_mass_matrix
from gyrostat.algorithms.recursions.rne import Loads, sweep_forces
from gyrostat.algorithms.shafts.actuators import UNLIMITED, Actuator, coupled
from gyrostat.engine.tracing.choose import maximum, minimum, where
from gyrostat.graph.network import Network
from gyrostat.spatial.algebra import Array
from gyrostat.studies.achievable.motion_limits import Limits
from gyrostat.studies.achievable.saturation import Saturation, solve_some

TOLD = 1e-9
"""Excess of a programme over a limit of speed (relative) or position that is told: less is rounding of its numbers."""


@dataclass(frozen=True)
class Cycle:
    """Everything but the state: actuators, T, limits, cycle time, mode, and how often torques are looked at again."""

    actuators: Sequence[Actuator]
    T: Array
    limits: Limits
    dt: float
    keep: str
    rounds: int | None

    def wanted(self, q: Array, v: Array, v_p: Array) -> tuple[Array, dict[str, Array]]:
        """The velocity of the next cycle, within its limits (n,); and, if there are such limits, which joints had to
        be ``stopped`` (position limits) or ``slowed``.

        Motors that share joints are slowed down together, so that none of their joints is driven out of its limits."""
        speeds: list[Any] = []
        slowed: list[Any] = []
        stopped: list[Any] = []
        rows = zip(q, v, v_p, self.limits.lower, self.limits.upper, self.limits.speed, strict=True)
        for x, rate, asked, low, high, speed in rows:
            room = _room(low, x + rate * self.dt, self.dt), _room(high, x + rate * self.dt, self.dt)
            within = _clipped(asked, *room)
            speeds.append(_clipped(within, -speed, speed))
            told = (TOLD * (1.0 + abs(low)) / self.dt, TOLD * (1.0 + abs(high)) / self.dt)
            stopped.append(_outside(asked, room[0] - told[0], room[1] + told[1]))
            slowed.append(_outside(within, -speed * (1.0 + TOLD), speed * (1.0 + TOLD)))
        for motors, joints in coupled(self.T):
            share: Any = 1.0
            for i in motors:
                limit = self.actuators[i].speed_limit
                if limit < UNLIMITED:
                    w = sum(float(self.T[i, k]) * speeds[k] for k in joints if self.T[i, k])
                    share = minimum(share, limit / maximum(abs(w), limit))
            if not isinstance(share, float) or share < 1.0:
                for k in joints:
                    speeds[k], slowed[k] = speeds[k] * share, maximum(slowed[k], where(share < 1.0 - TOLD, 1.0, 0.0))
        marks = {"stopped": np.array(stopped)} if self.limits.positions else {}
        fast = any(a.speed_limit < UNLIMITED for a in self.actuators) or bool(np.any(self.limits.speed < UNLIMITED))
        return np.array(speeds), marks | ({"slowed": np.array(slowed)} if fast else {})

    def step(
        self, net: Network, on: Setting, q: Array, v: Array, v_p: Array, cut: Array, given: Loads
    ) -> dict[str, Any]:
        """q_next, v_next, a, u (actuators), which torques are cut: -1, 0, 1, and the marks of :meth:`wanted`; ``left``:
        1 if rounds did not suffice. ``cut``: those of the cycle before, to begin with."""
        H, bias = composite_mass_matrix(net, on, q), sweep_forces(net, on, q, v, np.zeros(len(v)), given)[0]
        back = np.linalg.inv(self.T)
        H, bias = back.T @ H @ back, back.T @ bias
        w, (v_next, marks) = self.T @ v, self.wanted(q, v, v_p)
        a = self.T @ ((v_next - v) / self.dt)
        bounds = [actuator.torques(x) for actuator, x in zip(self.actuators, w, strict=True)]
        needed = H @ a + bias
        idle = [actuator.passive for actuator in self.actuators]
        if any(idle):  # what follows is seen against a motion in which the passive rates are free
            freed = solve_some(H, [1.0 if none else 0.0 for none in idle], -needed)
            a, needed = a + freed, needed + H @ freed
        todo = Saturation(H, a, needed, bounds, idle)
        if self.keep == "torques":
            none = np.zeros(len(a))
            cut, left = todo.better(none, none, needed), 0.0
            u = np.array(
                [where(c > 0.0, h, where(c < 0.0, b, x)) for c, x, (b, h) in zip(cut, needed, bounds, strict=True)]
            )
            a = solve_some(H, [1.0] * len(u), u - bias)
        else:
            cut = np.array([1.0 if none else c for none, c in zip(idle, cut, strict=True)])
            cut, x, u, left = todo.settled(cut) if self.rounds is None else todo.rounds(cut, self.rounds)
            a = a + x
        any_cut = sum(abs(c) for c in cut)
        joints = back @ a
        v_next = np.array([where(any_cut > 0.0, x + y * self.dt, z) for x, y, z in zip(v, joints, v_next, strict=True)])
        u = np.array([_clipped(x, low, high) for x, (low, high) in zip(u, bounds, strict=True)])
        motion = {"q_next": q + v * self.dt, "v_next": v_next, "cut": cut, "a": joints, "u": u}
        return motion | marks | {"left": left}


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
