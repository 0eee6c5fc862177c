"""Force elements between two frames: they move nothing by themselves, and close no loop."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, WithJsonSchema

from gyrostat.errors import Problem
from gyrostat.spec.describe import RefusedError
from gyrostat.spec.entity import Entity, Port
from gyrostat.spec.rules import not_finite
from gyrostat.spec.shaft_elements import sign_problems
from gyrostat.spec.values import Number, numbers_of


def to_six(value: Any) -> tuple[float, ...]:
    what, remedy = "six numbers (rotations, then shifts)", "write them as in [100, 100, 100, 1e4, 1e4, 1e4]"
    numbers = numbers_of(value, what, remedy)
    if len(numbers) != 6:
        raise RefusedError(f"must be {what}", value, remedy)
    return numbers


Six = Annotated[
    tuple[float, ...],
    BeforeValidator(to_six),
    WithJsonSchema({"type": "array", "items": {"type": "number"}, "minItems": 6, "maxItems": 6}),
]


class PairForce(Entity):
    """Forces between the frames ``a`` and ``b``, equal and opposite, from their relative motion."""

    tells_mass: ClassVar[bool] = True

    abstract: ClassVar[bool] = True
    binds: ClassVar[bool] = False

    @property
    def ports(self) -> tuple[Port, ...]:
        return Port("a"), Port("b")


class PointSpring(PairForce):
    """A spring and damper between the origins of a and b: pull k (l - ``rest_length``) + d dl/dt along their line.

    ``stiffness`` k [N/m], ``damping`` d [N s/m], ``rest_length`` [m]. The origins must not coincide: the line between
    them has no direction there, unless the rest length and the damping are zero."""

    stiffness: Number
    damping: Number = 0.0
    rest_length: Number = 0.0

    def __init__(self, name: str, **properties: Any):
        super().__init__(name, **properties)

    def problems(self) -> list[Problem]:
        problems = not_finite(self)
        for key in ("stiffness", "damping", "rest_length"):
            problems += sign_problems(self, key)
        return problems


class Bushing(PairForce):
    """An elastic bearing: torques and forces along the axes of a against the displacement of b from a.

    ``stiffness``, ``damping``: six numbers, for rotations [N m/rad, N m s/rad] about and shifts [N/m, N s/m] along the
    axes of frame a. Rotations are measured by the rotation vector of b in a; they should stay well below half a
    turn."""

    stiffness: Six
    damping: Six = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)

    def __init__(self, name: str, **properties: Any):
        super().__init__(name, **properties)

    def problems(self) -> list[Problem]:
        return not_finite(self) + sign_problems(self, "stiffness") + sign_problems(self, "damping")
