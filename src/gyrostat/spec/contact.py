"""Contact as a component (H04 2.2.1): a ground, points that can touch, and what is said about pairs of surfaces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from gyrostat.errors import Problem
from gyrostat.spec.contact_law import LAW, STRUCTURE, ContactEntity, SurfaceEntity
from gyrostat.spec.entity import Port
from gyrostat.spec.rules import shown
from gyrostat.spec.values import Number

EVERYTHING = "*"
"""As a side of a pair: all surfaces."""


class Ground(SurfaceEntity):
    """The half-space z <= 0 of the frame at its port ``frame``: its surface is the plane z = 0, z points outwards.

    Connected with nothing, it stands still in the world at z = 0, also where the base of the model moves; connected, it
    moves with what it is connected with. Whatever can touch, touches it: :class:`ContactPoint`, and shapes of bodies
    with the role ``collision`` or with ``contact``, but those that are fixed to it. Properties as in
    :class:`~gyrostat.spec.contact_law.ContactEntity`.

    A rigid contact has no force law: inverse and forward dynamics leave it out, simulations with contact find its
    forces."""

    @property
    def stands_alone(self) -> bool:
        return True

    def __init__(self, name: str, **properties: Any):
        super().__init__(name, **properties)


class ContactPoint(SurfaceEntity):
    """A point that can touch, at the origin of its port ``frame``; with a ``radius`` [m] a sphere about it."""

    not_live: ClassVar[Mapping[str, str]] = {
        **STRUCTURE,
        "radius": "build a model for each radius: model.replace({...})",
    }
    radius: Number = 0.0

    def __init__(self, name: str, **properties: Any):
        super().__init__(name, **properties)

    def problems(self) -> list[Problem]:
        problems = super().problems()
        if self.radius < 0.0:
            message = f"'radius' must not be negative, got {shown(self.radius)}"
            problems.append(self.problem("radius", message, "give it in m; 0 is a point", ("radius",)))
        return problems


class ContactPair(ContactEntity):
    """What is said of two surfaces: ``ContactPair("left.foot", "floor", friction=0.9)`` gives their contact another
    law, ``exclude=True`` takes it away; of two bodies that would pass through each other it makes a contact.

    ``a``, ``b``: the names of a ground, a contact point, a body (all its shapes that can touch) or one of its shapes
    (``"hand.palm"``, or by number among them, ``"hand.1"``), an assembly (all within), or ``"*"`` for everything.
    ``ContactPair("*", "*")`` asks for contacts of all bodies with each other, but those that are joined by one joint.
    Where several pairs speak of the same surfaces, the one with more exact names counts, then the later one. It has no
    ports; its name comes from a and b unless ``name`` is given."""

    a: str
    b: str
    exclude: bool = False

    def __init__(self, *names: str, **properties: Any):
        given: dict[str, Any] = (
            dict(zip(("name",) if len(names) == 1 else ("a", "b"), names, strict=False)) | properties
        )
        given.setdefault("name", _name(given.get("a"), given.get("b")))
        super().__init__(**given)

    @property
    def stands_alone(self) -> bool:
        return True

    @property
    def ports(self) -> tuple[Port, ...]:
        return ()

    @property
    def sides(self) -> tuple[str, str]:
        """a and b."""
        return self.a, self.b

    def problems(self) -> list[Problem]:
        problems = super().problems()
        if self.a == self.b and self.a != EVERYTHING:
            message = f"'a' and 'b' are both '{self.a}'"
            problems.append(self.problem("contact-pair", message, "name two surfaces", ("b",)))
        said = [key for key in LAW if getattr(self, key) is not None]
        if self.exclude and said:
            message = f"excludes the contact, but says '{said[0]}'"
            problems.append(self.problem("contact-pair", message, "leave one of them out", ("exclude",)))
        return problems


def _name(a: Any, b: Any) -> str:
    return "_".join(str(x).replace(".", "_").replace(EVERYTHING, "all") for x in (a, b))[:128]
