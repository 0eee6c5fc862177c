"""Links and joints of an SDF to a model.

For each joint a displacement ``<joint>_origin`` from its parent to the joint's frame, the joint, and ``<joint>_child``
from there to the child, unless both are at one place. A link that is the child of two joints closes a loop.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from gyrostat.io.accept_policy import AcceptedBody, AcceptedFriction, AcceptedPlace
from gyrostat.io.names import Names
from gyrostat.io.safe_xml import Element
from gyrostat.io.sdf.bases import Bases
from gyrostat.io.sdf.document import Document
from gyrostat.io.sdf.frames import WORLD, Pose, after, inverse, is_nothing
from gyrostat.io.sdf.joints import SdfJoint
from gyrostat.io.sdf.links import SdfLink
from gyrostat.spec.assembly import Assembly
from gyrostat.spec.displacement import Displacement
from gyrostat.spec.entity import Entity
from gyrostat.spec.joint import JOINT_KINDS, Joint
from gyrostat.spec.reference_frame import ReferenceFrame
from gyrostat.spec.rigid_body import RigidBody
from gyrostat.spec.shaft_elements import Friction, Spring
from gyrostat.spec.values import Frame, RotationMatrix
from gyrostat.spec.with_drive import put_together


@dataclass
class Builder:
    """Puts a model together. ``unphysical``: links whose inertias no body has, accepted as they are."""

    document: Document
    links: dict[str, SdfLink]
    joints: dict[str, SdfJoint]
    bases: Bases
    unphysical: set[str]
    names: Names = field(init=False)
    link: dict[str, str] = field(default_factory=dict)  # full name -> name in the model
    joint: dict[str, str] = field(default_factory=dict)
    entities: list[Entity] = field(default_factory=lambda: [ReferenceFrame(WORLD)])
    connections: list[tuple[str, ...]] = field(default_factory=list)
    sources: dict[str, str] = field(default_factory=dict)

    def build(self) -> None:
        """The reference frame, links, joints, what joins links to the world, drives."""
        self._name_all()
        for link in self.links.values():
            self._link(link)
        self._marks_of_world()
        for name, joint in self.bases.free.items():
            self._base(name, joint)
        for name in self.bases.fixed:
            self._fix(name, self.document.frames.place(name))
        if self.bases.root:
            self._fix(self.bases.root, None)
        for joint in self.joints.values():
            self._joint(joint)
        for joint in self.joints.values():
            self._drives(joint)

    def _name_all(self) -> None:
        """Joints that move keep their names first, then links, then fixed joints."""
        self.names = Names(self.document.reader)
        moving = [j for j in self.joints.values() if j.kind != "fixed"]
        fixed = [j for j in self.joints.values() if j.kind == "fixed"]
        rows: list[tuple[dict[str, str], str, Any]] = [(self.joint, "joint", j) for j in moving]
        rows += [(self.link, "link", link) for link in self.links.values()]
        rows += [(self.joint, "joint", j) for j in fixed]
        for table, sort, item in rows:
            table[item.name] = self.names.give(self.document.short(item.name), sort, item.element, sort)

    def note(self, name: str, element: Element) -> None:
        reader = self.document.reader
        self.sources[name] = f"{reader.file_of(element)}:{reader.line(element)}"

    def add(self, entity: Entity, element: Element) -> None:
        self.entities.append(entity)
        self.note(entity.name, element)

    def displaced(self, wanted: str, X: Pose, element: Element) -> Displacement:
        R, p = X
        name = self.names.free(wanted[:120], "origin")
        entity = Displacement(name, translation=(p[0], p[1], p[2]), rotation=RotationMatrix(matrix=R.tolist()))
        self.add(entity, element)
        return entity

    # ------------------------------------------------------------------ links
    def _link(self, link: SdfLink) -> None:
        name = self.link[link.name]
        if self._is_place(link.name):
            if link.shapes or self._frames(link.name):
                what = "a link without mass is a mere frame; its shapes and frames are not in the model"
                self.document.reader.ignore(link.element, "unused-shapes", what)
            self.add(AcceptedPlace(name), link.element)
            return
        values: dict[str, Any] = {"mass": link.mass, "com": link.com, "inertia": link.inertia}
        values |= {"frames": self._frames(link.name), "shapes": tuple(link.shapes)}
        kind = AcceptedBody if link.name in self.unphysical else RigidBody
        self.add(kind(name, **values), link.element)
        for key, element in link.places.items():
            self.note(f"{name}.{key}", element)

    def _frames(self, link: str) -> tuple[Frame, ...]:
        """<frame> elements that are attached to a link."""
        names = Names(self.document.reader, {"origin", *RigidBody.model_fields})
        frames, found = self.document.frames, list[Frame]()
        own = frames.place(link)
        for mark in self.bases.marks.get(link, ()):
            X = frames.place(mark.name)
            if X is not None and own is not None:
                R, p = after(inverse(own), X)
                wanted = self.document.short(mark.name)
                name = names.give(wanted, "frame", mark.element, "frame")
                found.append(
                    Frame(name=name, translation=(p[0], p[1], p[2]), rotation=RotationMatrix(matrix=R.tolist()))
                )
        return tuple(found)

    def _marks_of_world(self) -> None:
        for mark in self.bases.marks.get(WORLD, ()):
            X = self.document.frames.place(mark.name)
            if X is not None:
                place = self.displaced(self.document.short(mark.name), X, mark.element)
                self.connections.append((f"{WORLD}.frame", f"{place.name}.a"))

    def _port(self, link: str, side: str) -> str:
        if link == WORLD:
            return f"{WORLD}.frame"
        name = self.link[link]
        return f"{name}.{side if self._is_place(link) else 'origin'}"

    def _is_place(self, link: str) -> bool:
        """Whether a link has no mass, though it may move."""
        read = self.links[link]
        return read.mass == 0.0 and not any(read.moments) and link not in self.bases.static

    def _fix(self, name: str, X: Pose | None) -> None:
        """A link that stands in the world."""
        if X is None or is_nothing(X):
            self.connections.append((f"{WORLD}.frame", self._port(name, "a")))
            return
        place = self.displaced(f"{self.link[name]}_origin", X, self.links[name].element)
        self.connections += [(f"{WORLD}.frame", f"{place.name}.a"), (f"{place.name}.b", self._port(name, "a"))]

    def _base(self, name: str, joint: str) -> None:
        """A link that floats beside others."""
        own = self.names.free(joint, "joint")
        self.add(Joint(own, "free"), self.links[name].element)
        self.connections += [(f"{WORLD}.frame", f"{own}.a"), (f"{own}.b", self._port(name, "a"))]

    # ------------------------------------------------------------------ joints
    def _joint(self, joint: SdfJoint) -> None:
        if joint.kind == "gear":
            return
        frames, name, table = self.document.frames, self.joint[joint.name], JOINT_KINDS[joint.kind]
        given: dict[str, Any] = dict(joint.axes[0].limits) if len(table.v) == 1 else {}
        for key, axis in zip(("axis", "second_axis"), joint.axes, strict=False):
            given[key] = axis.xyz
        if joint.pitch is not None:
            given["pitch"] = joint.pitch
        parent, child = frames.place(joint.parent), frames.place(joint.child)
        if parent is None or child is None:
            return  # told: frames in a circle
        origin = self.displaced(f"{name}_origin", after(inverse(parent), joint.X), joint.element)
        self.add(Joint(name, joint.kind, **given), joint.element)
        self.connections += [(self._port(joint.parent, "b"), f"{origin.name}.a"), (f"{origin.name}.b", f"{name}.a")]
        X = after(inverse(joint.X), child)
        if is_nothing(X):
            self.connections.append((f"{name}.b", self._port(joint.child, "a")))
        else:
            beyond = self.displaced(f"{name}_child", X, joint.element)
            self.connections += [(f"{name}.b", f"{beyond.name}.a"), (f"{beyond.name}.b", self._port(joint.child, "a"))]

    def shaft(self, joint: str, k: int) -> str:
        """The shaft of one axis of a joint."""
        return f"{self.joint[joint]}.{JOINT_KINDS[self.joints[joint].kind].shafts[k]}"

    def _drives(self, joint: SdfJoint) -> None:
        """Damping, friction and spring of each axis."""
        if joint.kind == "gear":
            return
        for k, axis in enumerate(joint.axes):
            shaft, name = (
                self.shaft(joint.name, k),
                self.joint[joint.name] + ("" if len(joint.axes) == 1 else str(k + 1)),
            )
            given = {key: x for key, x in (("viscous", axis.damping), ("coulomb", axis.friction)) if x}
            if given:
                made = _assembly(name, given)
                made = made.model_copy(update={"name": self.names.free(made.name, "drive")})
                self.add(made, axis.element)
                self.connections.append((shaft, f"{made.name}.shaft"))
            if axis.stiffness:
                spring = Spring(
                    self.names.free(f"{name}_spring", "spring"), stiffness=axis.stiffness, rest=axis.rest, ground=True
                )
                self.add(spring, axis.element)
                self.connections.append((shaft, f"{spring.name}.a"))


def _assembly(name: str, given: dict[str, Any]) -> Assembly:
    made = put_together(name, None, **given)
    if min(given.values()) < 0.0:
        parts = tuple(AcceptedFriction(**dict(e)) if isinstance(e, Friction) else e for e in made.entities)
        made = made.model_copy(update={"entities": parts})
    return made
