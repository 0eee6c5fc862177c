"""When dry friction sticks, and when it slips.

Each friction row (a group of frictions on one speed) slides in a direction, or is at rest. Sliding, its force has the
sign of the direction, whatever the rate: an event is that the speed reaches zero. There, all that is at rest is solved
together, see :mod:`~gyrostat.algorithms.constrained.active_set`: what can be held sticks, as an active constraint, and
the rest slides on or back. Sticking, an event is that the constraint needs more force than friction can give; then that
friction slips in the direction of the push.

A stop and a friction may hold the same joint: the stop then takes all of it. Closed contacts and frictions that hold
the same motion are all active: contacts take the load, frictions what these cannot, and something gives way where no
forces are within all limits (:mod:`~gyrostat.simulate.constraints.contact_margins`)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gyrostat.algorithms.constrained.force_reserve import Reserve, force_reserve, spanned
from gyrostat.simulate.constraints.contact_margins import margins
from gyrostat.simulate.constraints.impacts import still
from gyrostat.simulate.plant.plant import Plant

Array = np.ndarray
TINY = 1e-14
"""Speed, relative to one plus that of the rates in it, beyond which it has changed its sign."""
AT_LIMIT = 1e-9
"""Part of the range of forces within which one is at its limit."""
SAME = 1e-9
"""Time [s] within which events belong together."""
MANY, GROWTH = 150, 4.0
"""Looks at a step after which the next one is shorter; and otherwise how much longer it may be."""
INSIDE = 1e-300


class Change(NamedTuple):
    """A friction begins to ``kind`` "stick" or "slip"."""

    name: str
    kind: str


class StickSlip:
    """The friction rows of a plant during a run, numbered 0 to n - 1 by themselves. Which of them stick, and the
    directions of the others, are in ``plant.active``."""

    def __init__(self, plant: Plant):
        self.plant = plant
        rows = plant.constraints
        self.rows = list(rows.on_speed)
        self.J = rows.constant_jacobian[self.rows]
        self.low, self.high = rows.low[self.rows], rows.high[self.rows]
        self.members = [rows.members[row] for row in self.rows]
        self.since = np.full(len(self.rows), -np.inf)  # when each began to slide from rest
        self._arrived: set[int] = set()  # whose speed is zero by an event
        self._fixed: set[int] = set()  # that must stick: they would go the other way
        self._pushed: dict[int, int] = {}  # that give way, and where to
        self._begun = False
        self.reach = np.inf
        """Time [s] that the next step may take, so that efforts which change while all stands still are seen."""

    # ------------------------------------------------------------------ what is watched
    def turned(self, i: int, v: Array) -> float:
        """The speed of friction i against its direction: positive when it has turned."""
        x = -self.plant.active.directions[i] * float(self.J[i] @ v)
        return x if x > TINY * (1.0 + float(np.abs(self.J[i]) @ np.abs(v))) else min(x, -INSIDE)

    def overload(self, t: float, q: Array, v: Array, p: Array) -> float:
        """The reserve of all that sticks: positive when something gives way."""
        return self.reserve(t, q, v, p).value if self.plant.active.sticking else -1.0

    def reserve(self, t: float, q: Array, v: Array, p: Array) -> Reserve:
        """Of the frictions that stick; numbers in it are those of active rows."""
        active = self.plant.active
        rows = active.rows(q, v)
        if rows is None:
            return Reserve(-1.0, ())
        if active.touching:
            return self._beside_contacts(margins(self.plant, t, q, v, p).box)
        f = rows.forces(self.plant.inverse_inertia(q), self.plant.free_acceleration(t, q, v, p))
        speed = ~self.plant.constraints.on_position[active.on]
        low, high = self.plant.constraints.low[active.on], self.plant.constraints.high[active.on]
        return force_reserve(rows, f, np.where(speed, low, -np.inf), np.where(speed, high, np.inf))

    def _beside_contacts(self, box: Array) -> Reserve:
        """For distances (s, 2) of the forces from their limits."""
        if not len(box):
            return Reserve(-1.0, ())
        left = box / (0.5 * box.sum(axis=1, keepdims=True))
        least = float(left.min())
        gives = tuple(
            (k, 1 if x[1] < x[0] else -1)
            for (k, _, _), x in zip(self.plant.active.boxes, left, strict=True)
            if x.min() <= least + AT_LIMIT
        )
        return Reserve(-least, gives)

    def looked(self, looks: int, h: float, span: float) -> None:
        """A step of h [s] in a run of span [s] was looked at so often: a shorter one must follow if the efforts on what
        sticks changed too often."""
        if not self.plant.active.sticking:
            self.reach = np.inf
        else:
            self.reach = 0.25 * h if looks > MANY else max(GROWTH * h, 1e-3 * span)

    # ------------------------------------------------------------------ what has been seen
    def stopped(self, i: int, t: float) -> None:
        """The speed of friction i is zero; if it has just begun to slide, it would go the other way, and must stick."""
        (self._fixed if t - self.since[i] < SAME else self._arrived).add(i)

    def gave_way(self, t: float, q: Array, v: Array, p: Array) -> None:
        """The reserve is used up: at its greatest force a friction slips backwards."""
        numbers = self.plant.active.numbers
        for k, side in self.reserve(t, q, v, p).gives:
            self._pushed[self.rows.index(int(numbers[k]))] = -side

    # ------------------------------------------------------------------ what sticks and what slides
    def resting(self, t: float, v: Array) -> tuple[list[int], Array]:
        """Which are at rest, and the directions (n,) of all, zero of these."""
        resting: list[int] = []
        directions = self.plant.active.directions.copy()
        smooth = bool(self._arrived or self._fixed or self._pushed)  # no jump: a speed that has turned was zero
        at_rest = still(self.J, v)
        for i, row in enumerate(self.J):
            w = float(row @ v)
            if i in self._pushed:
                directions[i] = self._pushed[i]
            elif at_rest[i] or i in self._arrived or i in self._fixed or (smooth and directions[i] * w < 0.0):
                if i in self._fixed or t - self.since[i] >= SAME or not directions[i]:
                    resting.append(i)
            else:
                directions[i] = np.sign(w)
        directions[resting] = 0.0
        return resting, directions

    def limits(self, resting: list[int]) -> tuple[Array, Array]:
        """Least and greatest forces of those at rest; none for what must stick."""
        fixed = np.array([i in self._fixed for i in resting], dtype=bool)
        return np.where(fixed, -np.inf, self.low[resting]), np.where(fixed, np.inf, self.high[resting])

    def decide(
        self, resting: list[int], forces: Array, closed: Array, directions: Array, contacts: Array | None = None
    ) -> tuple[list[int], Array]:
        """Which of those at rest stick by their forces, and the directions of all; ``closed`` (k, nv): other active
        rows; ``contacts`` (c, nv): rows of closed ones. What these hold sticks, whatever its part of the load."""
        sticking, directions = [], directions.copy()
        for i, force in zip(resting, forces, strict=True):
            near = AT_LIMIT * (self.high[i] - self.low[i])
            if spanned(self.J[i], closed):
                continue
            if i in self._fixed or self.low[i] + near < force < self.high[i] - near:
                sticking.append(i)
            else:
                directions[i] = 1.0 if force <= self.low[i] + near else -1.0
        if contacts is not None and len(contacts):
            for i in [i for i in resting if directions[i]]:
                if spanned(self.J[i], np.concatenate([closed, contacts, self.J[sticking]])):
                    sticking.append(i)
                    directions[i] = 0.0
        return sorted(sticking), directions

    def changes(self, t: float, before: tuple[int, ...], directions_before: Array, resting: list[int]) -> list[Change]:
        """What began to stick or slip now, but for the first time."""
        active, changes = self.plant.active, []
        self.since[(directions_before == 0.0) & (active.directions != 0.0)] = t
        self._arrived, self._fixed, self._pushed = set(), set(), {}
        first, self._begun = not self._begun, True
        for i, names in enumerate(() if first else self.members):
            if i in active.sticking and i not in before:
                changes += [Change(name, "stick") for name in names]
            elif active.directions[i] and (i in before or i in resting):
                changes += [Change(name, "slip") for name in names]
        return changes
