"""<joint> of a URDF: type, links, origin and axis; every number is read, and what is not used is told."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, field

from gyrostat.io.safe_xml import Element
from gyrostat.io.urdf.drives import UrdfDrive, read_drive
from gyrostat.io.urdf.origin import ZERO, Vector, read_origin
from gyrostat.io.xml_elements import Reader, shown

KINDS = {
    "revolute": "revolute",
    "continuous": "continuous",
    "prismatic": "prismatic",
    "fixed": "fixed",
    "floating": "free",
    "planar": "planar",
}
"""Joint types of URDF and the kinds they become."""


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


def read_joint(reader: Reader, element: Element, links: Collection[str], friction: bool) -> UrdfJoint | None:
    """A joint, or None if it is not clear what it joins or how."""
    name = reader.need(element, "name")
    kind = reader.need(element, "type")
    if kind is not None and kind not in KINDS:
        reader.error(element, "joint-type", "there is no such type of joint", repr(kind), reader.nearest(kind, KINDS))
        kind = None
    ends = [_end(reader, element, tag, links) for tag in ("parent", "child")]
    xyz, rpy, origin = read_origin(reader, element)
    joint = UrdfJoint(name or "", element, KINDS[kind or "fixed"], ends[0] or "", ends[1] or "", xyz, rpy)
    if origin is not None:
        joint.places["origin"] = origin
    _axis(reader, joint)
    joint.drive = read_drive(reader, element, joint.kind, friction)
    _unused(reader, joint)
    return joint if None not in (name, kind, *ends) else None


def _end(reader: Reader, element: Element, tag: str, links: Collection[str]) -> str | None:
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
    """The direction of a joint that has one; x where the file says none."""
    element = reader.child(joint.element, "axis")
    if joint.kind in ("fixed", "free"):
        return
    joint.axis = (1.0, 0.0, 0.0)
    if element is None or "xyz" not in element.attrib:
        at = element if element is not None else joint.element
        what = "has no axis; the x axis is taken, as URDF says"
        reader.warn(at, "axis-missing", what, "nothing", 'add <axis xyz="1 0 0"/>')
        return
    joint.places["axis"] = element
    given = reader.numbers(element, "xyz", 3)
    if given is None:
        return
    if max(map(abs, given)) == 0.0:
        reader.error(element, "axis", "the axis must not be zero", repr(element.get("xyz")), "give its direction")
        return
    joint.axis = _unit(reader, element, (given[0], given[1], given[2]))


def _unit(reader: Reader, element: Element, given: Vector) -> Vector:
    """The axis with unit length; that it had another one is told."""
    largest = max(map(abs, given))
    scaled = [x / largest for x in given]
    x, y, z = (x / math.hypot(*scaled) for x in scaled)
    length = math.hypot(*scaled) * largest
    if abs(length - 1.0) <= 1e-6:  # rounding: the network scales it
        return given
    fix = f'write xyz="{x:.10g} {y:.10g} {z:.10g}"'
    what, text = f"the axis must have unit length, its length is {length:.6g}", repr(element.get("xyz"))
    if abs(length - 1.0) <= 1e-3:  # three digits of a unit vector
        reader.warn(element, "axis", f"{what}; it was scaled", text, fix)
    else:
        reader.wrong(element, "axis", what, text, fix, "scaled to unit length")
    return x, y, z


def _unused(reader: Reader, joint: UrdfJoint) -> None:
    """Children of a joint that are not in the model."""
    for tag, what in (
        ("calibration", "calibration marks are not in the model"),
        ("safety_controller", "soft limits are not in the model"),
    ):
        for element in joint.element.iterchildren(tag):
            reader.ignore(element, f"unused-{tag.replace('_', '-')}", what, shown(element))
