"""A given wrench that acts on the mechanism."""

from __future__ import annotations

from typing import ClassVar, Literal

from gyrostat.errors import Problem
from gyrostat.spec.entity import Entity
from gyrostat.spec.rules import not_finite
from gyrostat.spec.values import Wrench


class ForceElement(Entity):
    """A constant wrench (torque [N m], then force [N]) that acts at the port ``frame`` on what is connected there.

    ``expressed_in``: ``"local"`` (axes of the port, they move with it), ``"aligned"`` (axes of the world, point of the
    port) or ``"world"`` (axes of the world, torque about the world's origin).
    """

    tells_mass: ClassVar[bool] = True

    wrench: Wrench
    expressed_in: Literal["local", "aligned", "world"] = "local"

    def problems(self) -> list[Problem]:
        return not_finite(self)
