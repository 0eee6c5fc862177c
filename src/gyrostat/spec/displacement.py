"""Displacements (H04 2.2.1.2): a constant shift between two frames, in several parametrisations."""

from __future__ import annotations

from typing import ClassVar, Literal

from gyrostat.errors import Problem
from gyrostat.spec.entity import Entity, Port
from gyrostat.spec.rules import not_finite, rotation_problems
from gyrostat.spec.values import IDENTITY, Number, RotationValue, Vector


class Displacement(Entity):
    """Frame ``b`` seen from frame ``a``: ``translation`` [m] in a, then ``rotation``. Ports ``a``, ``b``."""

    tells_mass: ClassVar[bool] = True

    translation: Vector = (0.0, 0.0, 0.0)
    rotation: RotationValue = IDENTITY

    @property
    def ports(self) -> tuple[Port, ...]:
        return Port("a"), Port("b")

    @property
    def is_massless_link(self) -> bool:
        return True

    def problems(self) -> list[Problem]:
        return not_finite(self) + rotation_problems(self, "rotation", self.rotation)


class DHDisplacement(Entity):
    """A displacement by Denavit-Hartenberg parameters: lengths ``a``, ``d`` [m], angles ``alpha``, ``theta`` [rad].

    ``standard``: Rz(theta) Tz(d) Tx(a) Rx(alpha). ``modified`` (Craig): Rx(alpha) Tx(a) Rz(theta) Tz(d). Ports ``a``,
    ``b``. A joint coordinate is added by a revolute or prismatic joint about z on the proper side.
    """

    tells_mass: ClassVar[bool] = True

    a: Number = 0.0
    alpha: Number = 0.0
    d: Number = 0.0
    theta: Number = 0.0
    convention: Literal["standard", "modified"] = "standard"

    @property
    def ports(self) -> tuple[Port, ...]:
        return Port("a"), Port("b")

    def problems(self) -> list[Problem]:
        return not_finite(self)
