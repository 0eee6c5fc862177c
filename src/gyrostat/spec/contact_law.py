"""What is said about touching: friction, restitution, compliance, on a surface or of a pair of surfaces."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, WithJsonSchema

from gyrostat.errors import Problem
from gyrostat.spec.describe import RefusedError
from gyrostat.spec.entity import Entity
from gyrostat.spec.rules import not_finite, shown
from gyrostat.spec.values import Value, numbers_of, to_number


def _optional(value: Any) -> float | None:
    return None if value is None else to_number(value)


def _friction(value: Any) -> float | tuple[float, float] | None:
    if not (isinstance(value, list | tuple) or getattr(value, "ndim", 0)):
        return _optional(value)
    what, remedy = "a number or two of them (static, dynamic)", "write 0.8 or [0.8, 0.6]"
    pair = numbers_of(value, what, remedy)
    if len(pair) != 2:
        raise RefusedError(f"must be {what}", value, remedy)
    return pair[0], pair[1]


def _bits(value: Any) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__") or not 0 <= int(value) < 2**32:
        raise RefusedError("must be a whole number of 32 bits", value, "write 1, or 0 for none")
    return int(value)


_PAIR = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}
OptionalNumber = Annotated[
    float | None, BeforeValidator(_optional), WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "null"}]})
]
OptionalFriction = Annotated[
    float | tuple[float, float] | None,
    BeforeValidator(_friction),
    WithJsonSchema({"anyOf": [{"type": "number"}, _PAIR, {"type": "null"}]}),
]
Bits = Annotated[int, BeforeValidator(_bits), WithJsonSchema({"type": "integer", "minimum": 0})]
LAW = ("friction", "restitution", "torsional", "rolling", "stiffness", "damping", "exponent", "slip_speed")
"""Properties of surfaces and pairs that make up the law of a contact."""
COMPLIANT = ("damping", "exponent", "slip_speed")
"""Those that a contact without stiffness does not have."""
EACH = "build a model for each {}: model.replace({{...}})"
"""What to do in the place of a live property."""
STRUCTURE: Mapping[str, str] = {key: EACH.format(key) for key in ("exponent", "layers", "touches")}
"""Properties that decide about the equations."""


class ContactEntity(Entity):
    """What surfaces and pairs of surfaces have in common; what is None is taken from the other side, else from
    :data:`~gyrostat.graph.contacts.USUAL`.

    ``friction``: Coulomb's coefficient mu, or (static, dynamic); ``restitution`` e, 0 to 1; ``torsional`` [m]: moment
    about the normal up to torsional times the normal force; ``rolling`` [m]: the same across it. ``stiffness`` k
    [N/m^n] makes the contact compliant, f_n = k d^n (1 + D d') for a depth d and D = ``damping`` [s/m], n =
    ``exponent`` (1; 1.5 by Hertz); without one it is rigid. ``slip_speed`` [m/s]: where friction of a compliant contact
    reaches its static value."""

    tells_mass: ClassVar[bool] = True
    abstract: ClassVar[bool] = True
    binds: ClassVar[bool] = False
    since: ClassVar[int] = 4
    not_live: ClassVar[Mapping[str, str]] = STRUCTURE

    friction: OptionalFriction = None
    restitution: OptionalNumber = None
    torsional: OptionalNumber = None
    rolling: OptionalNumber = None
    stiffness: OptionalNumber = None
    damping: OptionalNumber = None
    exponent: OptionalNumber = None
    slip_speed: OptionalNumber = None

    def problems(self) -> list[Problem]:
        return not_finite(self) + law_problems(self, self)


class SurfaceEntity(ContactEntity):
    """A surface by itself. ``layers``, ``touches``: two surfaces touch if a bit of one's layers is in what the other
    touches, one way or the other (MuJoCo's contype and conaffinity); a pair that names both goes before that."""

    abstract: ClassVar[bool] = True
    layers: Bits = 1
    touches: Bits = 1


class ContactSurface(Value):
    """What is said about touching on a shape: properties as in :class:`ContactEntity`, and ``layers`` and ``touches``
    as in :class:`SurfaceEntity`. A shape that has it can touch, whether it is drawn or not."""

    friction: OptionalFriction = None
    restitution: OptionalNumber = None
    torsional: OptionalNumber = None
    rolling: OptionalNumber = None
    stiffness: OptionalNumber = None
    damping: OptionalNumber = None
    exponent: OptionalNumber = None
    slip_speed: OptionalNumber = None
    layers: Bits = 1
    touches: Bits = 1


def law_problems(entity: Entity, law: Any, at: tuple[str, ...] = ()) -> list[Problem]:
    """Rules ``contact-law``: signs and ranges; ``at``: path of the law within the entity."""
    problems: list[Problem] = []

    def wrong(key: str, message: str, remedy: str) -> None:
        problems.append(entity.problem("contact-law", f"'{'.'.join((*at, key))}' {message}", remedy, (*at, key)))

    mu = law.friction if isinstance(law.friction, tuple) else (law.friction, law.friction)
    if mu[0] is not None and all(map(math.isfinite, mu)):
        if min(mu) < 0.0:
            wrong("friction", f"must not be negative, got {shown(law.friction)}", "give Coulomb's coefficient, mu >= 0")
        elif mu[1] > mu[0]:
            remedy = "write (static, dynamic), such as (0.8, 0.6)"
            wrong("friction", f"must not be larger in motion than at rest, got {shown(law.friction)}", remedy)
    e = law.restitution
    if e is not None and math.isfinite(e) and not 0.0 <= e <= 1.0:
        wrong("restitution", f"must be between 0 and 1, got {shown(e)}", "0 is without bounce, 1 without loss")
    for key in ("torsional", "rolling", "damping"):
        x = getattr(law, key)
        if x is not None and x < 0.0:
            wrong(key, f"must not be negative, got {shown(x)}", "give a magnitude")
    for key in ("stiffness", "slip_speed"):
        x = getattr(law, key)
        if x is not None and x <= 0.0:
            wrong(key, f"must be above zero, got {shown(x)}", "leave it out for the usual one")
    if law.exponent is not None and law.exponent < 1.0:
        wrong("exponent", f"must be 1 or more, got {shown(law.exponent)}", "1 is linear, 1.5 Hertz' contact of spheres")
    if law.stiffness is not None and e:
        remedy = "leave one of them out: how a compliant contact bounces follows from its damping"
        wrong("restitution", f"is {shown(e)}, but the contact is compliant", remedy)
    return problems
