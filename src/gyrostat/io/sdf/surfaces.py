"""Friction and restitution of a collision in an SDF. <friction><ode> has mu and mu2 for two directions: where they are
the same (1 is what SDF says of one that is missing) the meaning is clear, and they are taken. <bounce> has the
coefficient of restitution. Everything else of <surface> is ignored, and told."""

from __future__ import annotations

from typing import Any

from gyrostat.io.safe_xml import Element, short
from gyrostat.io.sdf.source import SdfReader
from gyrostat.spec.contact_law import ContactSurface

MU, MU2, BOUNCE = ("friction", "ode", "mu"), ("friction", "ode", "mu2"), ("bounce", "restitution_coefficient")


def read_surface(reader: SdfReader, collision: Element) -> ContactSurface | None:
    """The law of a collision, None if the file says nothing that is in the model."""
    surface = reader.child(collision, "surface")
    if surface is None:
        return None
    known: dict[str, Any] = {}
    mu, mu2 = (_number(reader, surface, path) for path in (MU, MU2))
    taken: list[Element] = []
    if mu is not None or mu2 is not None:
        one, two = (1.0 if x is None else x[1] for x in (mu, mu2))
        if one == two and one >= 0.0:
            known["friction"] = one
            taken += [x[0] for x in (mu, mu2) if x is not None]
    bounce = _number(reader, surface, BOUNCE)
    if bounce is not None and 0.0 <= bounce[1] <= 1.0:
        known["restitution"] = bounce[1]
        taken.append(bounce[0])
    left = [x for x in surface.iter() if isinstance(x.tag, str) and not len(x) and x not in taken and x is not surface]
    if left or not known:
        names = ", ".join(dict.fromkeys(short(x.tag) for x in left))
        what = "only friction that is the same in all directions and restitution of contact are in the model"
        reader.ignore(surface, "unused-surface", what, names[:80] or "nothing")
    return ContactSurface(**known) if known else None


def _number(reader: SdfReader, surface: Element, path: tuple[str, ...]) -> tuple[Element, float] | None:
    """The element at a path of tags, and its number."""
    element = surface
    for tag in path:
        found = reader.child(element, tag)
        if found is None:
            return None
        element = found
    values = reader.values(element, 1, strict=False)
    return None if values is None else (element, values[0])
