"""Stick and slip of dry friction as events of a run.

Each :class:`Rub` slides in a direction, or is at rest. Sliding, its effort has the sign of the direction, whatever the
rate: an event is that the speed reaches zero. There, all that is at rest is solved together, see
:mod:`stick_slip_rest`: what can be held sticks, by a constraint, and the rest slides on or back. Sticking, an event is
that the constraint needs more effort than friction can give; then that friction slides in the direction of the push.

A stop and a friction may hold the same joint: the stop then takes all of it. Impacts at stops are not resisted by
friction: its effort is limited, theirs is not."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from gyrostat.simulate.constraints.friction_law import DryFriction
from gyrostat.simulate.constraints.rest import Hold, Reserve, balanced, reserve, spanned
from gyrostat.simulate.constraints.stops import Stops
from gyrostat.simulate.events.events import Watch
from gyrostat.simulate.plant.plant import Plant

Array = np.ndarray
STILL = 1e-12
"""Speed, relative to one plus that of the rates in it, at the start and after jumps, that is rest."""
TINY = 1e-14
"""The same beyond which a speed has changed its sign."""
AT_LIMIT = 1e-9
"""Part of the range of efforts within which one is at its limit."""
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
    """The dry friction of a plant during a run. ``directions`` (rubs,): 1, -1, or 0 at rest."""

    def __init__(self, plant: Plant, dry: DryFriction):
        self.plant, self.dry = plant, dry
        plant.slide(dry)
        n = len(dry.rubs)
        self.directions = np.zeros(n)
        self.since = np.full(n, -np.inf)  # when each began to slide from rest
        self.low, self.high = (np.array(x) for x in zip(*(rub.limits for rub in dry.rubs), strict=True))
        self._arrived: set[int] = set()  # whose speed is zero by an event
        self._fixed: set[int] = set()  # that must stick: they would go the other way
        self._pushed: dict[int, int] = {}  # that give way, and where to
        self._begun = False
        self._watch: Watch | None = None
        self.reach = np.inf
        """Time [s] that the next step may take, so that efforts which change while all stands still are seen."""

    @classmethod
    def of(cls, plant: Plant) -> StickSlip | None:
        """None where the model has no friction with an exact sign."""
        dry = DryFriction.of(plant.model)
        if dry is None:
            plant.slide(None) if plant.dry is not None else None
            return None
        return cls(plant, dry)

    # ------------------------------------------------------------------ what is watched
    def watches(self) -> list[Watch]:
        """The speed of each, positive when it has turned; and the reserve of all that sticks, positive when it gives
        way. Items: (name, None, number or -1, -1)."""
        turned = [Watch(self._turned(i), 1, True, (rub.names[0], None, i, -1)) for i, rub in enumerate(self.dry.rubs)]
        self._watch = Watch(self._overload, 1, True, ("friction", None, -1, -1), fine=True)
        return [*turned, self._watch]

    def looked(self, h: float, span: float) -> None:
        """A step of h [s] in a run of span [s] was looked at: a shorter one must follow if the efforts on what sticks
        changed too often."""
        seen = 0 if self._watch is None else self._watch.looks
        if not self.plant.stuck:
            self.reach = np.inf
        else:
            self.reach = 0.25 * h if seen > MANY else max(GROWTH * h, 1e-3 * span)

    def _turned(self, i: int) -> Callable[[float, Array, Array, Array], float]:
        row, size = self.dry.rows[i], np.abs(self.dry.rows[i])

        def turned(t: float, q: Array, v: Array, p: Array) -> float:
            x = -self.directions[i] * float(row @ v)
            return x if x > TINY * (1.0 + float(size @ np.abs(v))) else min(x, -INSIDE)

        return turned

    def _overload(self, t: float, q: Array, v: Array, p: Array) -> float:
        return self._reserve(t, q, v, p).value if self.plant.stuck else -1.0

    def _reserve(self, t: float, q: Array, v: Array, p: Array) -> Reserve:
        """Of the frictions that stick, by their place behind the stops in the plant's hold."""
        plant, hold = self.plant, self.plant.hold
        if hold is None:
            return Reserve(-1.0, ())
        stuck, held = list(plant.stuck), len(plant.held)
        f = plant.hold_efforts(q, self._free(t, q, v, p))
        unbounded = np.full(held, np.inf)
        return reserve(
            hold, f, np.concatenate([-unbounded, self.low[stuck]]), np.concatenate([unbounded, self.high[stuck]])
        )

    def _free(self, t: float, q: Array, v: Array, p: Array) -> Array:
        """Accelerations (nv,) without stops and without what sticks."""
        plant = self.plant
        held, stuck = plant.held, plant.stuck
        plant.held, plant.stuck = {}, ()
        try:
            return plant.observe(t, q, v, p)[0]
        finally:
            plant.held, plant.stuck = held, stuck

    def happened(self, i: int, t: float, q: Array, v: Array, p: Array) -> None:
        """A watch has seen its event: friction i stops, or (-1) something that sticks gives way."""
        if i >= 0:
            again = t - self.since[i] < SAME
            (self._fixed if again else self._arrived).add(i)
            return
        stuck, held = self.plant.stuck, len(self.plant.held)
        for k, side in self._reserve(t, q, v, p).gives:
            self._pushed[stuck[k - held]] = -side  # at its greatest effort it slides backwards

    # ------------------------------------------------------------------ what sticks and what slides
    def settle(self, t: float, q: Array, v: Array, p: Array, stops: Stops | None) -> tuple[Array, list[Change]]:
        """Directions of all, and what sticks or rests at a stop, for a state in which something may have changed;
        v without rounding, and what began, but for the first time."""
        before, stuck_before = self.directions.copy(), self.plant.stuck
        resting = self._resting(t, v)
        leaning = [] if stops is None else stops.leaning(q, v)
        v = self._at_rest(v, resting, [j for j, _ in leaning])
        stuck = self._solved(t, q, v, p, resting, leaning)
        self.plant.stuck = tuple(stuck)
        started = [i for i in range(len(before)) if before[i] == 0.0 and self.directions[i] != 0.0]
        self.since[started] = t
        self._arrived, self._fixed, self._pushed = set(), set(), {}
        found: list[Change] = []
        first, self._begun = not self._begun, True
        for i, rub in enumerate(() if first else self.dry.rubs):
            if i in stuck and i not in stuck_before:
                found += [Change(name, "stick") for name in rub.names]
            elif self.directions[i] and (i in stuck_before or i in resting):
                found += [Change(name, "slip") for name in rub.names]
        return v, found

    def _resting(self, t: float, v: Array) -> list[int]:
        """Which are at rest; the others get their directions."""
        found: list[int] = []
        smooth = bool(self._arrived or self._fixed or self._pushed)  # no jump: a speed that has turned was zero
        for i, (rub, row) in enumerate(zip(self.dry.rubs, self.dry.rows, strict=True)):
            w = float(rub.speed(v))
            still = abs(w) <= STILL * (1.0 + float(np.abs(row) @ np.abs(v)))
            if i in self._pushed:
                self.directions[i] = self._pushed[i]
            elif still or i in self._arrived or i in self._fixed or (smooth and self.directions[i] * w < 0.0):
                if i in self._fixed or t - self.since[i] >= SAME or not self.directions[i]:
                    found.append(i)
            else:
                self.directions[i] = np.sign(w)
        return found

    def _at_rest(self, v: Array, resting: list[int], leaning: list[int]) -> Array:
        """v (nv,) with what rests exactly at rest."""
        rows = [*(np.eye(len(v))[j] for j in leaning), *(self.dry.rows[i] for i in resting)]
        return Hold(np.array(rows)).kept @ v if rows and np.any(np.array(rows) @ v) else v

    def _solved(
        self, t: float, q: Array, v: Array, p: Array, resting: list[int], leaning: list[tuple[int, int]]
    ) -> list[int]:
        """Which stick; directions of the others, and the stops that hold."""
        plant = self.plant
        self.directions[resting] = 0.0
        plant.direct(self.directions)
        plant.held, plant.stuck = {}, ()
        if not resting and not leaning:
            return []
        rows = np.array([*(np.eye(plant.nv)[j] for j, _ in leaning), *(self.dry.rows[i] for i in resting)])
        low = np.array([*(-np.inf if side > 0 else 0.0 for _, side in leaning), *self.low[resting]])
        high = np.array([*(0.0 if side > 0 else np.inf for _, side in leaning), *self.high[resting]])
        for k, i in enumerate(resting, start=len(leaning)):
            if i in self._fixed:
                low[k], high[k] = -np.inf, np.inf
        inverse = plant.mobility(q)
        f = balanced(rows @ inverse @ rows.T, rows @ plant.observe(t, q, v, p)[0], low, high)
        plant.held = {j: side for (j, side), effort in zip(leaning, f, strict=False) if effort * side < 0.0}
        stopped = [np.eye(plant.nv)[j] for j in plant.held]
        found: list[int] = []
        for i, effort in zip(resting, f[len(leaning) :], strict=True):
            near = AT_LIMIT * (self.high[i] - self.low[i])
            if spanned(self.dry.rows[i], stopped):
                continue
            if i in self._fixed or self.low[i] + near < effort < self.high[i] - near:
                found.append(i)
            else:
                self.directions[i] = 1.0 if effort <= self.low[i] + near else -1.0
        plant.direct(self.directions)
        return found
