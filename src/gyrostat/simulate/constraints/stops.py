"""Joint limits as events: impact with restitution, rest at a stop, release.

At a limit the rate of the joint turns round by an impulse at this joint alone [Newton]:

    v+ = v- + M^-1 e_k s,   s = -(1 + e) v_k / (M^-1)_kk   so that   v_k+ = -e v_k-,

and joints that rest at stops take impulses of their own, so that they stay. A joint whose rate after an impact is below
``rest`` stays at its stop, as long as the stop must push it back: then its acceleration is zero, by an effort of the
stop, and it is released when that effort changes its sign."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from gyrostat.configuration.limits import limits_of
from gyrostat.errors import GyrostatError, StateError, clipped, nearest
from gyrostat.simulate.events.events import Watch
from gyrostat.simulate.plant.plant import Plant

Array = np.ndarray
WHO = "simulate"
AT = 1e-9
"""How close [rad, m] to its limit a joint is there."""
ROUNDING = 1e-14
"""How far beyond its limit, relative to one plus that, it is still there."""
INSIDE = 1e-300


@dataclass(frozen=True)
class JointLimits:
    """Joints stop, or bounce, at their limits ``lower`` and ``upper``.

    ``restitution`` e from 0 (default: no bounce) to 1, for all joints or by name. ``rest`` [rad/s, m/s]: rates below
    which a bounce is over."""

    restitution: float | Mapping[str, float] = 0.0
    rest: float = 1e-3

    def __post_init__(self) -> None:
        values = self.restitution.values() if isinstance(self.restitution, Mapping) else [self.restitution]
        if not all(isinstance(e, int | float) and 0.0 <= e <= 1.0 for e in values):
            raise GyrostatError(
                f"JointLimits: restitution must be from 0 to 1, got {clipped(self.restitution)}. Hint: 0 is no bounce"
            )


class Stops:
    """The limits of a plant's joints during a run."""

    def __init__(self, plant: Plant, limits: JointLimits):
        self.plant, self.limits = plant, limits
        self.low, self.high = limits_of(plant.model, "model", WHO)
        self.places: list[tuple[int, int, str]] = []  # in q, in v, name
        for block in plant.model.layout:
            if block.nq == 1 and np.isfinite([self.low[block.q], self.high[block.q]]).any():
                self.places.append((block.q.start, block.v.start, block.entity))
        names = [name for *_, name in self.places]
        if isinstance(limits.restitution, Mapping):
            for name in limits.restitution:
                if name not in names:
                    raise StateError(f"{WHO}: '{name}' is no joint with limits. Hint: {nearest(str(name), names)}")

    def bounce(self, name: str) -> float:
        """Restitution of a joint."""
        given = self.limits.restitution
        return float(given.get(name, 0.0)) if isinstance(given, Mapping) else float(given)

    def watches(self) -> list[Watch]:
        """One for each limit: positive beyond it; and one for each joint at rest: positive when it leaves."""
        found: list[Watch] = []
        for i, j, name in self.places:
            for side, limit in ((-1, self.low[i]), (1, self.high[i])):
                if np.isfinite(limit):
                    found.append(Watch(self._beyond(i, j, side, float(limit)), 1, True, (name, side, i, j)))
        return found

    def _beyond(self, i: int, j: int, side: int, limit: float) -> Callable[[float, Array, Array, Array], float]:
        """How far a coordinate is beyond its limit; one that is there, rests there or leaves from there is inside."""
        near = ROUNDING * (1.0 + abs(limit))

        def beyond(t: float, q: Array, v: Array, p: Array) -> float:
            x = side * (float(q[i]) - limit)
            out = x > AT or (x > near and side * float(v[j]) > 0.0)
            return x if out and not self.plant.keeps(j) else min(x, -INSIDE)

        return beyond

    def release(self, j: int, side: int, name: str) -> Watch:
        """The effort of a stop, positive when it would have to pull."""

        def pull(t: float, q: Array, v: Array, p: Array) -> float:
            if j not in self.plant.held:
                return -1.0
            return side * float(self.efforts(t, q, v, p)[list(self.plant.held).index(j)])

        return Watch(pull, 1, True, (name, 0, -1, j))

    def efforts(self, t: float, q: Array, v: Array, p: Array) -> Array:
        """Efforts (held,) of the stops."""
        plant = self.plant
        held, stuck = plant.held, plant.stuck
        plant.held, plant.stuck = {}, ()
        free = plant.observe(t, q, v, p)[0]
        plant.held, plant.stuck = held, stuck
        return plant.stop_efforts(q, free)

    def expect_inside(self, q: Array) -> None:
        for i, _, name in self.places:
            if not self.low[i] - AT <= q[i] <= self.high[i] + AT:
                raise StateError(
                    f"{WHO}: q0 of '{name}' is {q[i]:g}, beyond its limits {self.low[i]:g} to {self.high[i]:g}. "
                    "Hint: start inside, or leave JointLimits out"
                )

    def impact(self, q: Array, v: Array, j: int, e: float) -> Array:
        """v (nv,) after an impact of rate j."""
        S = [j, *(k for k in self.plant.held if k != j)]
        inverse = self.plant.mobility(q)
        change = -v[S]
        change[0] -= e * v[j]
        after = v + inverse[:, S] @ np.linalg.solve(inverse[np.ix_(S, S)], change)
        after[S[1:]] = 0.0
        return after

    def settle(self, t: float, q: Array, v: Array, p: Array) -> tuple[Array, list[tuple[str, int]]]:
        """Impacts and rests of all joints at their limits; v after them, and who was hit on which side."""
        told: list[tuple[str, int]] = []
        for _ in range(2 * len(self.places) + 1):
            before = v
            for i, j, name in self.places:
                for side, limit in ((-1, self.low[i]), (1, self.high[i])):
                    if abs(q[i] - limit) <= AT and side * v[j] > 0.0 and j not in self.plant.held:
                        e = self.bounce(name)
                        told.append((name, side))
                        soft = e * abs(v[j]) <= self.limits.rest
                        v = self.impact(q, v, j, 0.0 if soft else e)
                        if soft:
                            v[j] = 0.0
            if v is before:
                break
        if self.plant.dry is None:
            self._rest(t, q, v, p)
        return v, told

    def leaning(self, q: Array, v: Array) -> list[tuple[int, int]]:
        """Rates of joints that are at a limit without moving, and -1 at the lower one, 1 at the upper one."""
        return [
            (j, side)
            for i, j, _ in self.places
            for side, limit in ((-1, self.low[i]), (1, self.high[i]))
            if abs(q[i] - limit) <= AT and v[j] == 0.0
        ]

    def _rest(self, t: float, q: Array, v: Array, p: Array) -> None:
        """Joints that would go on beyond their limits are held there."""
        for i, j, _ in self.places:
            for side, limit in ((-1, self.low[i]), (1, self.high[i])):
                there = j not in self.plant.held and abs(q[i] - limit) <= AT and v[j] == 0.0
                if there and side * self.plant.observe(t, q, v, p)[0][j] > 0.0:
                    self.plant.held[j] = side
