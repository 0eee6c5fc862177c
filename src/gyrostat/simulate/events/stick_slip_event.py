"""What happens when dry friction stops sliding, and when friction that sticks gives way."""

from __future__ import annotations

from typing import Any

import numpy as np

from gyrostat.simulate.constraints.stick_slip import StickSlip
from gyrostat.simulate.events.run_event import Outcome, RunEvent, RunState

Array = np.ndarray


class Stick(RunEvent):
    """The speed of a friction that slides reaches zero: it sticks, or slides on or back."""

    def __init__(self, friction: StickSlip, i: int):
        self.friction, self.i, self.name = friction, i, friction.members[i][0]

    def value(self, t: float, q: Array, v: Array, p: Array) -> float:
        """Positive when the speed has turned."""
        return self.friction.turned(self.i, v)

    def guard(self, t: Any, q: Array, v: Array, shared: dict[str, Any]) -> Any:
        """The speed itself, which has the sign of the direction of sliding."""
        return sum((v[k] * x for k, x in enumerate(self.friction.J[self.i]) if x), 0.0)

    def guard_sign(self, sign: int) -> float:
        return float(self.friction.plant.active.directions[self.i]) if sign < 0 else 0.0

    def from_guard(self, value: float) -> float:
        return -float(self.friction.plant.active.directions[self.i]) * value

    def happens(self, run: RunState) -> Outcome:
        self.friction.stopped(self.i, run.t)
        run.keep(run.q, run.v)
        return Outcome(run.q, run.settle(run.q, run.v))


class Slip(RunEvent):
    """What sticks needs more force than friction can give: it slides."""

    name, fine = "friction", True

    def __init__(self, friction: StickSlip):
        self.friction = friction

    def value(self, t: float, q: Array, v: Array, p: Array) -> float:
        """Positive when some friction gives way."""
        return self.friction.overload(t, q, v, p)

    def happens(self, run: RunState) -> Outcome:
        self.friction.gave_way(run.t, run.q, run.v, run.p)
        run.keep(run.q, run.v)
        return Outcome(run.q, run.settle(run.q, run.v))
