"""<joint> of an SDF: type, links, pose and axes. At q = 0 links are where their poses say, so that loops are closed."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from gyrostat.io.safe_xml import Element
from gyrostat.io.sdf.axes import SdfAxis, read_axis
from gyrostat.io.sdf.document import Document, Part
from gyrostat.io.sdf.frames import WORLD, Pose, after, read_pose
from gyrostat.io.sdf.source import SdfReader
from gyrostat.io.xml_elements import shown

KINDS = {
    "revolute": "revolute",
    "continuous": "continuous",
    "prismatic": "prismatic",
    "fixed": "fixed",
    "ball": "spherical",
    "universal": "universal",
    "revolute2": "universal",
    "screw": "helical",
    "gearbox": "gear",
}
"""Joint types of SDF and the kinds they become; a gearbox is a :class:`Gear` between two joints."""

AXES = {"spherical": (), "fixed": (), "universal": ("axis", "axis2"), "gear": ("axis", "axis2")}
"""The axes that a kind has, if not one."""


@dataclass
class SdfJoint:
    """A joint; ``kind`` as in gyrostat; ``X``: its frame in the world at q = 0; ``parent``, ``child``: full names of
    links, or the world; ``reference``: the link that the angles of a gearbox count from."""

    name: str
    part: Part
    kind: str
    parent: str
    child: str
    X: Pose
    axes: list[SdfAxis] = field(default_factory=list)
    pitch: float | None = None
    ratio: float = 1.0
    reference: str = ""

    @property
    def element(self) -> Element:
        return self.part.element

    def direction(self, k: int = 0) -> np.ndarray:
        """An axis in the world at q = 0."""
        return self.X[0] @ self.axes[k].xyz


def read_joint(document: Document, part: Part, friction: bool) -> SdfJoint | None:
    """A joint, or None if it is not clear what it joins or how."""
    reader, element = document.reader, part.element
    kind = reader.need(element, "type")
    if kind is not None and kind.lower() not in KINDS:
        reader.error(
            element, "joint-type", "there is no such type of joint", repr(kind[:60]), reader.nearest(kind, KINDS)
        )
        kind = None
    ends = [_end(document, part, tag) for tag in ("parent", "child")]
    if ends[1] == WORLD:
        fix = "make the world the parent"
        reader.error(element, "unknown-link", "the child of a joint cannot be the world", "world", fix)
        return None
    if kind is None or None in ends:
        return None
    if ends[0] == ends[1]:
        what = "joins a link with itself"
        reader.error(element, "self-joint", what, repr(ends[1]), "name two different links")
        return None
    X = (
        document.frames.place(part.name)
        if document.frames.table[part.name].element is element
        else _own_place(document, part)
    )
    if X is None:
        return None
    joint = SdfJoint(part.name, part, KINDS[kind.lower()], ends[0] or "", ends[1] or "", X)
    _axes(document, joint, friction)
    if joint.kind == "helical":
        joint.pitch = _pitch(reader, element)
    if joint.kind == "gear":
        _gearbox(document, joint)
    return joint


def _own_place(document: Document, part: Part) -> Pose | None:
    """Where a joint is whose name a link has: its frame is in no table, and counts from its child."""
    frames, reader = document.frames, document.reader
    pose, relative, _ = read_pose(reader, part.element)
    start = frames.full(part.scope, relative or reader.inner(part.element, "child"))
    X = frames.place(start) if start in frames.table else None
    return None if X is None else after(X, pose)


def _end(document: Document, part: Part, tag: str) -> str | None:
    """The link, or the world, at one side of a joint."""
    reader = document.reader
    end = reader.child(part.element, tag)
    name = reader.text(end)
    if not name:
        at = part.element if end is None else end
        reader.error(at, "missing", f"has no <{tag}>", "nothing", f"add <{tag}>name of a link</{tag}>")
        return None
    what = f"the {tag} link does not exist"
    full = document.frames.known(end, part.scope, name, "unknown-link", what)
    return None if full is None else document.frames.body(full)


def _axes(document: Document, joint: SdfJoint, friction: bool) -> None:
    reader, element = document.reader, joint.element
    wanted = AXES.get(joint.kind, ("axis",))
    for tag in ("axis", "axis2"):
        given = reader.child(element, tag)
        if given is not None and tag not in wanted:
            what = f"a joint of the type {element.get('type')} has no <{tag}>"
            reader.ignore(given, "unused-axis", what, _dynamics(reader, given))
        elif given is None and tag in wanted and not (joint.kind == "gear" and tag == "axis2"):
            what = f"a joint of the type {element.get('type')} needs <{tag}>"
            reader.error(element, "missing", what, "nothing", f"add <{tag}><xyz>0 0 1</xyz></{tag}>")
            joint.axes.append(SdfAxis(element))
        elif tag in wanted:
            at = given if given is not None else reader.child(element, "axis")
            joint.axes.append(read_axis(document, joint.part, at, joint.X, joint.kind, friction))


def _dynamics(reader: SdfReader, axis: Element) -> str:
    inside = [e for e in axis.iter() if e.tag in ("damping", "friction", "spring_stiffness") and reader.text(e)]
    return ", ".join(f"{e.tag} {reader.text(e)[:20]}" for e in inside)


def _pitch(reader: SdfReader, element: Element) -> float:
    """Shift per angle [m/rad]: ``screw_thread_pitch`` is in m per turn, right-handed; ``thread_pitch``, which programs
    read differently, in rad/m, left-handed, as Gazebo has it."""
    turn, old = reader.child(element, "screw_thread_pitch"), reader.child(element, "thread_pitch")
    if turn is not None:
        if old is not None:
            what = "<screw_thread_pitch> counts, <thread_pitch> is passed over"
            reader.ignore(old, "unused-thread-pitch", what, reader.text(old))
        value = reader.values(turn, 1)
        return (1.0 if value is None else value[0]) / (2.0 * math.pi)
    if old is None:
        what = "a screw needs its pitch"
        fix = "add <screw_thread_pitch>, in metres per turn"
        reader.error(element, "missing", what, "nothing", fix)
        return 1.0
    values = reader.values(old, 1)
    rate = 1.0 if values is None else values[0]
    if rate == 0.0:
        reader.error(
            old,
            "thread-pitch",
            "<thread_pitch> must not be zero",
            "0",
            "write <screw_thread_pitch>, in metres per turn",
        )
        return 1.0
    what = "programs read <thread_pitch> differently; it is taken in rad/m, left-handed, as Gazebo does"
    fix = f"write <screw_thread_pitch>{-2.0 * math.pi / rate:.10g}</screw_thread_pitch>, in metres per turn"
    reader.wrong(old, "thread-pitch", what, reader.text(old), fix)
    return -1.0 / rate


def _gearbox(document: Document, joint: SdfJoint) -> None:
    reader, element = document.reader, joint.element
    body = reader.child(element, "gearbox_reference_body")
    name = reader.text(body)
    if not name:
        what, fix = "a gearbox needs the link that its angles count from", "add <gearbox_reference_body>"
        reader.error(element, "missing", what, "nothing", fix)
        return
    full = document.frames.known(body, joint.part.scope, name, "unknown-link", "the reference link does not exist")
    joint.reference = (document.frames.body(full) or "") if full else ""
    ratio = reader.value(element, "gearbox_ratio", 1.0)
    if ratio == 0.0:
        reader.error(
            element, "gearbox", "the ratio of a gearbox must not be zero", shown(element), "give gearbox_ratio"
        )
    joint.ratio = ratio or 1.0
