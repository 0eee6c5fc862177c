"""<link> of a URDF: mass, inertia and shapes; every number is read."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from gyrostat.io.inertia_rules import MOMENTS, LinkInertia
from gyrostat.io.mesh_paths import Roots
from gyrostat.io.safe_xml import Element
from gyrostat.io.urdf.contact_coefficients import coefficient_of
from gyrostat.io.urdf.origin import ZERO, Vector, read_origin
from gyrostat.io.urdf.shapes import Role, UrdfShape, read_shape
from gyrostat.io.xml_elements import Reader


@dataclass
class UrdfLink(LinkInertia):
    """A link: centre of mass ``com`` [m] and orientation ``rpy`` [rad] of its inertial, and its shapes."""

    com: Vector = ZERO
    rpy: Vector = ZERO
    shapes: list[UrdfShape] = field(default_factory=list)


def read_link(reader: Reader, element: Element, roots: Roots) -> UrdfLink | None:
    """A link, or None if it has no name."""
    roles: tuple[Role, Role] = ("visual", "collision")
    shapes = [read_shape(reader, shape, role, roots) for role in roles for shape in element.iterchildren(role)]
    name = reader.need(element, "name")
    shapes = [_with_friction(reader, shape) for shape in shapes if shape is not None]
    link = UrdfLink(name or "", element, shapes=shapes)
    inertial = reader.child(element, "inertial")
    if inertial is not None:
        link.places["inertial"] = inertial
        _inertial(reader, inertial, link)
    return link if name is not None else None


def _inertial(reader: Reader, inertial: Element, link: UrdfLink) -> None:
    link.com, link.rpy, origin = read_origin(reader, inertial, far=3.0)
    if origin is not None:
        link.places["com"] = origin
    mass, inertia = reader.child(inertial, "mass"), reader.child(inertial, "inertia")
    for tag, element in (("mass", mass), ("inertia", inertia)):
        if element is None:
            link.readable = False
            reader.error(inertial, "missing", f"<inertial> has no <{tag}>", "nothing", f"add <{tag}>")
        else:
            link.places[tag] = element
    if mass is not None:
        value = reader.scalar(mass, "value") if reader.need(mass, "value") is not None else None
        link.readable &= value is not None
        link.mass = value or 0.0
    if inertia is not None:
        moments = [reader.scalar(inertia, k) if reader.need(inertia, k) is not None else None for k in MOMENTS]
        link.readable &= None not in moments
        link.moments = tuple(x or 0.0 for x in moments)


def _with_friction(reader: Reader, shape: UrdfShape) -> UrdfShape:
    """A collision with the friction that the file gives it."""
    return replace(shape, friction=coefficient_of(reader, shape.element)) if shape.role == "collision" else shape
