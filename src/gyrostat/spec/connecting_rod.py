"""Connecting rods (H04 3.2.3.2, Moeller): a distance that two points keep."""

from __future__ import annotations

from typing import Any, ClassVar

from gyrostat.errors import Problem
from gyrostat.spec.entity import Entity, Port
from gyrostat.spec.rules import not_finite, shown
from gyrostat.spec.values import Number


class ConnectingRod(Entity):
    """A massless rigid rod of ``length`` [m] with a ball joint at each end; ports ``a``, ``b``.

    It keeps the origins of its two frames at its length, |r_b - r_a| = length, and so takes one degree of freedom from
    a closed loop; it can carry nothing, and has no coordinates of its own. A rod with mass is a body with joints."""

    tells_mass: ClassVar[bool] = True
    since: ClassVar[int] = 3

    length: Number

    def __init__(self, name: str, length: Any = None, **properties: Any):
        super().__init__(name, **({} if length is None else {"length": length}), **properties)

    @property
    def ports(self) -> tuple[Port, ...]:
        return Port("a"), Port("b")

    @property
    def closes(self) -> bool:
        return True

    @property
    def is_rod(self) -> bool:
        return True

    def problems(self) -> list[Problem]:
        problems = not_finite(self)
        if self.length <= 0.0:
            message = f"'length' must be positive, got {shown(self.length)}"
            remedy = "points that coincide are held by a spherical joint"
            problems.append(self.problem("rod-length", message, remedy, ("length",)))
        return problems
