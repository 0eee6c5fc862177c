"""What happens at a stop, or at any one-sided constraint: a row meets its limit, and a row that rests there leaves."""

from __future__ import annotations

from typing import Any

import numpy as np

from gyrostat.algorithms.constrained.constraint import LOWER
from gyrostat.simulate.constraints.penetration import ROUNDING
from gyrostat.simulate.constraints.transitions import Transitions
from gyrostat.simulate.events.run_event import Outcome, RunEvent, RunState
from gyrostat.simulate.plant.plant import Plant

Array = np.ndarray


class Stop(RunEvent):
    """A one-sided row meets its limit: it bounces, or comes to rest there (kinds "lower" and "upper")."""

    def __init__(self, transitions: Transitions, row: int):
        self.transitions, self.row = transitions, row
        rows = transitions.plant.constraints
        self.name, self.kind = rows.names[row], "lower" if rows.side[row] == LOWER else "upper"

    def value(self, t: float, q: Array, v: Array, p: Array) -> float:
        """How far the row is beyond its limit."""
        return self.transitions.penetration.of(self.row, q, v)

    def guard(self, t: Any, q: Array, v: Array, shared: dict[str, Any]) -> Any:
        """The same, without the grace for what rests there."""
        rows = self.transitions.plant.constraints
        if "residuals" not in shared:
            shared["residuals"] = rows.recorded_residuals(q)
        return float(rows.side[self.row]) * shared["residuals"][self.row] - ROUNDING * float(rows.size[self.row])

    def values(self, t: Array, q: Array, v: Array, p: Array) -> list[float]:
        return self.transitions.penetration.along(q, v)[:, self.row].tolist()

    def happens(self, run: RunState) -> Outcome:
        q = at_limit(run.plant, run.q, self.row)
        run.keep(q, run.v)
        after = run.settle(q, run.v)
        run.tell(self.name, self.kind, q, run.v, after)
        return Outcome(q, after)


class Release(RunEvent):
    """A row that rests at its limit would have to pull: it leaves."""

    def __init__(self, plant: Plant, row: int):
        self.plant, self.row, self.name = plant, row, plant.constraints.names[row]

    def value(self, t: float, q: Array, v: Array, p: Array) -> float:
        """The force of the row, positive when it pulls."""
        plant, active = self.plant, self.plant.active
        rows = active.rows(q, v)
        if rows is None or not active.on[self.row]:
            return -1.0
        forces = rows.forces(plant.inverse_inertia(q), plant.free_acceleration(t, q, v, p))
        at = int(np.searchsorted(active.numbers, self.row))
        return float(plant.constraints.side[self.row]) * float(forces[at])

    def happens(self, run: RunState) -> Outcome:
        run.plant.active = run.plant.active.without(self.row)
        run.tell(self.name, "release", run.q, run.v, run.v)
        run.keep(run.q, run.v)
        return Outcome(run.q, run.settle(run.q, run.v))


def at_limit(plant: Plant, q: Array, row: int) -> Array:
    """q (nq,) on the limit of a row, along its Jacobian; what the row does not move stays as it is."""
    J, g = plant.constraints.jacobian(q)[row], plant.constraints.residual(row, q)
    if not J.any():  # a curve at its dead centre
        return q
    there, q = plant.retract(q, J * (-g / (J @ J))), q.copy()
    for block in plant.model.layout:
        if J[block.v].any():
            q[block.q] = there[block.q]
    return q
