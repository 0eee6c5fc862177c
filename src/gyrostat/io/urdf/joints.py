"""The elements of a URDF to links and joints; every number is read, and what is not used is told."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from gyrostat.io.mesh_paths import Roots
from gyrostat.io.urdf.drives import TURN, UrdfDrive, read_drive, shown
from gyrostat.io.urdf.shapes import Role, UrdfShape, read_shape
from gyrostat.io.xml import Element, Reader

KINDS = {
    "revolute": "revolute",
    "continuous": "continuous",
    "prismatic": "prismatic",
    "fixed": "fixed",
    "floating": "free",
    "planar": "planar",
}
"""Joint types of URDF and the kinds they become."""

FAR = 10.0
"""Distances [m] between joints that may be in other units."""

Vector = tuple[float, float, float]
ZERO = (0.0, 0.0, 0.0)
MOMENTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")


@dataclass
class UrdfLink:
    """A link; the inertia is about the centre of mass, in the axes of the inertial's origin."""

    name: str
    element: Element
    mass: float = 0.0
    com: Vector = ZERO
    rpy: Vector = ZERO
    moments: tuple[float, ...] = (0.0,) * 6  # as MOMENTS
    places: dict[str, Element] = field(default_factory=dict)  # property -> element
    readable: bool = True  # whether every number was
    shapes: list[UrdfShape] = field(default_factory=list)

    def at(self, *keys: str) -> Element:
        """The element of the first of these properties that is there."""
        return next((self.places[key] for key in keys if key in self.places), self.element)


@dataclass
class UrdfJoint:
    """A joint; ``kind`` as in gyrostat."""

    name: str
    element: Element
    kind: str
    parent: str
    child: str
    xyz: Vector = ZERO
    rpy: Vector = ZERO
    axis: Vector | None = None
    drive: UrdfDrive = field(default_factory=UrdfDrive)
    places: dict[str, Element] = field(default_factory=dict)

    @property
    def moves(self) -> bool:
        return self.kind != "fixed"

    def at(self, key: str) -> Element:
        return self.places.get(key, self.element)


@dataclass
class Robot:
    """What a file holds, in its order."""

    name: str
    root: Element
    links: dict[str, UrdfLink] = field(default_factory=dict)
    joints: dict[str, UrdfJoint] = field(default_factory=dict)


def place(reader: Reader, owner: Element, far: float = FAR) -> tuple[Vector, Vector, Element | None]:
    """xyz and rpy of the origin within an element."""
    element = reader.child(owner, "origin")
    if element is None:
        return ZERO, ZERO, None
    found: list[Vector] = []
    for key in ("xyz", "rpy"):
        given = reader.numbers(element, key, 3) if key in element.attrib else ZERO
        found.append(ZERO if given is None else (given[0], given[1], given[2]))
    xyz, rpy = found
    if max(map(abs, rpy)) > TURN:
        fix = f"write radians: {' '.join(f'{math.radians(x):.6g}' for x in rpy)}"
        reader.warn(element, "rpy-degrees", "rpy is more than a turn; is it in degrees?", repr(element.get("rpy")), fix)
    if math.hypot(*xyz) > far:
        what = f"the origin is {math.hypot(*xyz):.4g} m away; is it in millimetres?"
        reader.warn(element, "far-origin", what, repr(element.get("xyz")), "write metres")
    return xyz, rpy, element


def read_link(reader: Reader, element: Element, roots: Roots) -> UrdfLink | None:
    """A link, or None if it has no name."""
    roles: tuple[Role, Role] = ("visual", "collision")
    shapes = [read_shape(reader, shape, role, roots) for role in roles for shape in element.iterchildren(role)]
    name = reader.need(element, "name")
    link = UrdfLink(name or "", element, shapes=[shape for shape in shapes if shape is not None])
    inertial = reader.child(element, "inertial")
    if inertial is not None:
        link.places["inertial"] = inertial
        _inertial(reader, inertial, link)
    return link if name is not None else None


def _inertial(reader: Reader, inertial: Element, link: UrdfLink) -> None:
    link.com, link.rpy, origin = place(reader, inertial, far=3.0)
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
        found = [reader.scalar(inertia, k) if reader.need(inertia, k) is not None else None for k in MOMENTS]
        link.readable &= None not in found
        link.moments = tuple(x or 0.0 for x in found)


def read_joint(reader: Reader, element: Element, links: dict[str, UrdfLink], friction: bool) -> UrdfJoint | None:
    """A joint, or None if it is not clear what it joins or how."""
    name = reader.need(element, "name")
    kind = reader.need(element, "type")
    if kind is not None and kind not in KINDS:
        reader.error(element, "joint-type", "there is no such type of joint", repr(kind), reader.nearest(kind, KINDS))
        kind = None
    ends = [_end(reader, element, tag, links) for tag in ("parent", "child")]
    xyz, rpy, origin = place(reader, element)
    joint = UrdfJoint(name or "", element, KINDS[kind or "fixed"], ends[0] or "", ends[1] or "", xyz, rpy)
    if origin is not None:
        joint.places["origin"] = origin
    _axis(reader, joint)
    joint.drive = read_drive(reader, element, joint.kind, friction)
    _unused(reader, joint)
    return joint if None not in (name, kind, *ends) else None


def _end(reader: Reader, element: Element, tag: str, links: dict[str, UrdfLink]) -> str | None:
    end = reader.child(element, tag)
    if end is None:
        reader.error(element, "missing", f"has no <{tag}>", "nothing", f'add <{tag} link="..."/>')
        return None
    name = reader.need(end, "link")
    if name is not None and name not in links:
        reader.error(end, "unknown-link", f"the {tag} link does not exist", repr(name), reader.nearest(name, links))
        return None
    return name


def _axis(reader: Reader, joint: UrdfJoint) -> None:
    element = reader.child(joint.element, "axis")
    if joint.kind in ("fixed", "free"):
        return
    joint.axis = (1.0, 0.0, 0.0)
    if element is None or "xyz" not in element.attrib:
        what = "has no axis; the x axis is taken, as URDF says"
        reader.warn(
            element if element is not None else joint.element,
            "axis-missing",
            what,
            "nothing",
            'add <axis xyz="1 0 0"/>',
        )
        return
    joint.places["axis"] = element
    given = reader.numbers(element, "xyz", 3)
    if given is None:
        return
    largest = max(map(abs, given))
    if largest == 0.0:
        reader.error(element, "axis", "the axis must not be zero", repr(element.get("xyz")), "give its direction")
        return
    scaled = [x / largest for x in given]
    x, y, z = (x / math.hypot(*scaled) for x in scaled)
    length = math.hypot(*scaled) * largest
    if abs(length - 1.0) <= 1e-6:  # rounding: the network scales it
        joint.axis = (given[0], given[1], given[2])
        return
    joint.axis = (x, y, z)
    fix = f'write xyz="{x:.10g} {y:.10g} {z:.10g}"'
    what, found = f"the axis must have unit length, its length is {length:.6g}", repr(element.get("xyz"))
    if abs(length - 1.0) <= 1e-3:  # three digits of a unit vector
        reader.warn(element, "axis", f"{what}; it was scaled", found, fix)
    else:
        reader.wrong(element, "axis", what, found, fix, "scaled to unit length")


def _unused(reader: Reader, joint: UrdfJoint) -> None:
    """Children of a joint that are not in the model."""
    for tag, what in (
        ("calibration", "calibration marks are not in the model"),
        ("safety_controller", "soft limits are not in the model"),
    ):
        for element in joint.element.iterchildren(tag):
            reader.ignore(element, f"unused-{tag.replace('_', '-')}", what, shown(element))
