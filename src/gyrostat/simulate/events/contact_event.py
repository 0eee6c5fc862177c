"""What happens to contacts: surfaces meet, closed contacts leave or begin to slip, and slip comes to its end."""

from __future__ import annotations

from typing import Any

import numpy as np

from gyrostat.simulate.constraints.contact_margins import INSIDE, Margins, margins, slip_left, turned
from gyrostat.simulate.constraints.contact_transitions import ContactTransitions
from gyrostat.simulate.constraints.penetration import AT
from gyrostat.simulate.events.run_event import Outcome, RunEvent, RunState
from gyrostat.simulate.plant.contact_phases import OPEN, SLIDE, STICK
from gyrostat.simulate.plant.plant import Plant

Array = np.ndarray
ROUNDING = 1e-14
"""How far [m] within each other surfaces are that have just met."""
IGNORED = 2.0
"""Sign of a guard that is not looked at."""
TOGETHER = 1e-9
"""Forces, relative to the largest, within which contacts give way at once."""


class Meet(RunEvent):
    """The surfaces of an open contact meet."""

    def __init__(self, contacts: ContactTransitions, i: int):
        self.contacts, self.i, self.name = contacts, i, contacts.contacts.names[i]

    def value(self, t: float, q: Array, v: Array, p: Array) -> float:
        """How far they are within each other; those that leave from there, or rest, are not."""
        if self.contacts.phases.phase[self.i] != OPEN:
            return -1.0
        return self._depth(float(self.contacts.contacts.gaps_at(q)[self.i]), q, v)

    def _depth(self, gap: float, q: Array, v: Array) -> float:
        if gap >= -ROUNDING:
            return min(-gap, -INSIDE)
        return -gap if gap < -AT or self._rate(q, v)[1] > 0.0 else -INSIDE

    def _rate(self, q: Array, v: Array) -> tuple[float, float]:
        state = self.contacts.contacts.at(q, v)
        return -float(state.g[self.i]), -float(state.J[self.i, 0] @ v)

    def values(self, t: Array, q: Array, v: Array, p: Array) -> list[float]:
        if self.contacts.phases.phase[self.i] != OPEN:
            return [-1.0] * len(t)
        return [self._depth(float(g), *x) for g, *x in zip(self.contacts.gaps_along(q)[:, self.i], q, v, strict=True)]

    def sharp(self, t: float, q: Array, v: Array, p: Array) -> tuple[float, float]:
        """The depth without any grace, and its rate."""
        return self._rate(q, v)

    def guard(self, t: Any, q: Array, v: Array, shared: dict[str, Any]) -> Any:
        """The depth."""
        if "gaps" not in shared:
            shared["gaps"] = self.contacts.contacts.recorded_gaps(q)
        return -shared["gaps"][self.i] - ROUNDING

    def guard_sign(self, sign: int) -> float:
        return float(sign) if self.contacts.phases.phase[self.i] == OPEN else IGNORED

    def happens(self, run: RunState) -> Outcome:
        q = at_contact(run.plant, self.contacts, run.q, self.i)
        run.keep(q, run.v)
        return Outcome(q, run.settle(q, run.v))


class GiveWay(RunEvent):
    """A closed contact would have to pull, or needs more friction than it has."""

    name, fine, in_driver, within = "contact", True, True, 1e-16  # forces stay inside their cones

    def __init__(self, contacts: ContactTransitions):
        self.contacts = contacts

    def value(self, t: float, q: Array, v: Array, p: Array) -> float:
        """Of the contact that is the nearest to it, positive beyond that [N]."""
        if self.contacts.phases.empty:
            return -1.0
        return -margins(self.contacts.plant, t, q, v, p).least

    def happens(self, run: RunState) -> Outcome:
        found = margins(run.plant, run.t, run.q, run.v, run.p)
        self._told(found)
        run.keep(run.q, run.v)
        return Outcome(run.q, run.settle(run.q, run.v))

    def _told(self, found: Margins) -> None:
        """Who leaves, and who slips where to."""
        limit = max(found.least, 0.0) + TOGETHER * max(1e-300, float(np.abs(found.forces).max(initial=0.0)))
        for i, normal, cone in zip(self.contacts.phases.closed, found.normal, found.cone, strict=True):
            if normal <= limit:
                self.contacts.leaves.add(i)
            elif cone <= limit:
                f = found.forces[i, 1:]
                self.contacts.slips[i] = -f / max(float(np.linalg.norm(f)), 1e-300)


class SlipEnds(RunEvent):
    """The slip of a contact comes to its end: it sticks, or slides on or back."""

    name, in_driver = "slip", True

    def __init__(self, contacts: ContactTransitions):
        self.contacts = contacts

    def value(self, t: float, q: Array, v: Array, p: Array) -> float:
        """Of the slowest, positive when it has turned."""
        phases = self.contacts.phases
        return -float(slip_left(phases, phases.rules.at(q, v), v).min(initial=1.0))

    def happens(self, run: RunState) -> Outcome:
        phases = self.contacts.phases
        state = phases.rules.at(run.q, run.v)
        left = slip_left(phases, state, run.v)
        slip = phases.slip(state, run.v)
        alike = 2.0 * max(float(slip[int(np.argmin(left))]), 0.5e-9)  # those that stop with it
        self.contacts.stopped |= {int(i) for i in np.flatnonzero((left <= alike) & (slip <= alike))}
        run.keep(run.q, run.v)
        return Outcome(run.q, run.settle(run.q, run.v))


class SlipTurns(RunEvent):
    """The slip of a contact has turned: its direction is continued from another one."""

    name, in_driver = "slip turns", True

    def __init__(self, contacts: ContactTransitions):
        self.contacts = contacts

    def value(self, t: float, q: Array, v: Array, p: Array) -> float:
        phases = self.contacts.phases
        return turned(phases, phases.rules.at(q, v), v)

    def happens(self, run: RunState) -> Outcome:
        phases = self.contacts.phases
        state, reference = phases.rules.at(run.q, run.v), phases.reference.copy()
        for i in phases.closed:
            if phases.phase[i] == SLIDE and phases.rules.rough[i]:
                reference[i] = phases.direction(i, state, run.v)
        run.plant.active = run.plant.active.with_contacts(phases.changed(phases.phase, reference))
        return Outcome(run.q, run.v)


def at_contact(plant: Plant, contacts: ContactTransitions, q: Array, i: int) -> Array:
    """q (nq,) where contact i touches, and those that are closed do."""
    phases = contacts.phases
    phase = phases.phase.copy()
    phase[i] = STICK
    g, rows = plant.active.with_contacts(phases.changed(phase, phases.reference)).position_rows(q)
    return plant.retract(q, rows.least(plant.inverse_inertia(q), -g))
