"""Entities with numbers that no body has: what ``policy="accept"`` makes of a file. They are no kinds of the text form:
such a model cannot be saved."""

from __future__ import annotations

import numpy as np

from gyrostat.errors import Problem
from gyrostat.graph.lower import Lowered, Values, lower
from gyrostat.spec.displacement import Displacement
from gyrostat.spec.entity import Entity, Port
from gyrostat.spec.rigid_body import RigidBody
from gyrostat.spec.rules import not_finite
from gyrostat.spec.shaft_elements import Friction


class AcceptedBody(RigidBody):
    """A body with the numbers of a file that no distribution of mass has."""

    def problems(self) -> list[Problem]:
        return not_finite(self)


class AcceptedFriction(Friction):
    """Friction with numbers that drive the joint."""

    def problems(self) -> list[Problem]:
        return not_finite(self)


class AcceptedPlace(Entity):
    """A link that moves without mass, nor any beyond it. Ports ``a``, ``b``.

    It is like a :class:`Displacement` by nothing, but ``check`` does not ask for the mass that moves with it.
    """

    @property
    def ports(self) -> tuple[Port, ...]:
        return Port("a"), Port("b")


for _kind in (AcceptedBody, AcceptedFriction, AcceptedPlace):
    del Entity.registry[_kind.type_name]


@lower.register
def _(entity: AcceptedPlace, read: Values, inport: str | None) -> Lowered:
    return Lowered(Displacement, {}, {"b" if inport == "a" else "a": (np.eye(3), np.zeros(3))})
