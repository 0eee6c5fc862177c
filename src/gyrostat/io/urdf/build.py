"""Links and joints of a URDF to a model."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from gyrostat.errors import Problem
from gyrostat.geometry.rotation import from_euler
from gyrostat.graph.lower import Lowered, Values, lower
from gyrostat.io.urdf.drives import couplings
from gyrostat.io.urdf.links_and_joints import Robot, UrdfJoint, UrdfLink
from gyrostat.io.urdf.rules import matrix
from gyrostat.io.urdf.shapes import named_colors, to_shape
from gyrostat.io.urdf.tree import Tree
from gyrostat.io.xml import Element, Reader
from gyrostat.spec.context import Context
from gyrostat.spec.displacement import Displacement
from gyrostat.spec.entity import Entity, Port
from gyrostat.spec.joint import Joint
from gyrostat.spec.model import Model
from gyrostat.spec.reference_frame import ReferenceFrame
from gyrostat.spec.rigid_body import RigidBody
from gyrostat.spec.rules import not_finite
from gyrostat.spec.values import Euler
from gyrostat.spec.wiring import RESERVED, is_name

WORLD = "world"


class AcceptedBody(RigidBody):
    """A body with the numbers of a file that no distribution of mass has; what ``policy="accept"`` makes of it.

    It is no kind of the text form: such a model cannot be saved.
    """

    def problems(self) -> list[Problem]:
        return not_finite(self)


class AcceptedPlace(Entity):
    """A link that moves without mass, nor any beyond it, because ``policy="accept"`` takes it so. Ports ``a``, ``b``.

    It is like a :class:`Displacement` by nothing, but ``check`` does not ask for the mass that moves with it.
    """

    @property
    def ports(self) -> tuple[Port, ...]:
        return Port("a"), Port("b")


del Entity.registry[AcceptedBody.type_name], Entity.registry[AcceptedPlace.type_name]


@lower.register
def _(entity: AcceptedPlace, read: Values, inport: str | None) -> Lowered:
    return Lowered(Displacement, {}, {"b" if inport == "a" else "a": (np.eye(3), np.zeros(3))})


def build(
    reader: Reader,
    robot: Robot,
    tree: Tree,
    base: str,
    unphysical: set[str],
    massless: set[str],
    file: str,
    fallback: str,
) -> Model:
    """The model: the reference frame, the root link, then for each joint its origin, itself and its child link."""
    names = _Names(reader, robot, tree)
    group, own, _ = tree.carried(robot)
    entities: list[Entity] = [ReferenceFrame(WORLD)]
    connections: list[tuple[str, ...]] = []
    sources: dict[str, str] = {}
    drives: list[tuple[str, Joint, UrdfJoint]] = []
    colors = named_colors(reader, robot.root, [shape for link in robot.links.values() for shape in link.shapes])

    def note(path: str, element: Element) -> None:
        sources[path] = f"{file}:{reader.line(element)}"

    def add_link(name: str) -> None:
        entity = _link(robot.links[name], names.link[name], name in unphysical, _empty(name), name in massless)
        if isinstance(entity, RigidBody):
            shapes = tuple(to_shape(shape, colors) for shape in robot.links[name].shapes)
            entity = entity.model_copy(update={"shapes": shapes}) if shapes else entity
        else:
            leave_out(robot.links[name], "a link that moves without mass is a mere frame")
        entities.append(entity)
        if name in massless and isinstance(entity, RigidBody):  # inertia without mass, moving
            place = AcceptedPlace(names.free(f"{entity.name[:110]}_accepted", "place"))
            entities.append(place)
            connections.append((f"{entity.name}.origin", f"{place.name}.a"))
        note(entity.name, robot.links[name].element)
        for key, element in robot.links[name].places.items():
            note(f"{entity.name}.{key}", element)

    def leave_out(link: UrdfLink, why: str) -> None:
        for shape in link.shapes:
            reader.ignore(shape.element, f"unused-{shape.role}", f"{why}; its {shape.role} is not in the model")

    def _empty(name: str) -> bool:
        return group[name] != tree.root and own[group[name]] == 0.0

    def port(name: str, side: str) -> str:
        if names.link[name] == WORLD:
            return f"{WORLD}.frame"
        return f"{names.link[name]}.{side if _empty(name) and name not in unphysical else 'origin'}"

    if names.link[tree.root] == WORLD:
        leave_out(robot.links[tree.root], "the link is the world itself")
    else:
        add_link(tree.root)
        connections.append((f"{WORLD}.frame", port(tree.root, "a")))
    for joint in robot.joints.values():
        origin, moved = names.origin[joint.name], names.joint[joint.name]
        entities.append(Displacement(origin, translation=joint.xyz, rotation=Euler(euler=joint.rpy)))
        axis = {} if joint.axis is None else {"axis": joint.axis}
        entity = Joint(moved, joint.kind, **axis, **joint.drive.limits)
        entities.append(entity)
        drives.append((moved, entity, joint))
        note(origin, joint.at("origin"))
        note(moved, joint.element)
        note(f"{moved}.axis", joint.at("axis"))
        add_link(joint.child)
        connections.append((port(joint.parent, "b"), f"{origin}.a"))
        connections += [(f"{origin}.b", f"{moved}.a"), (f"{moved}.b", port(joint.child, "a"))]
    for moved, entity, joint in drives:
        parts, links = couplings(moved, entity, joint.drive, names.joint, names.free)
        entities += parts
        connections += links
        for part in parts:
            note(part.name, joint.element)
    title = robot.name if robot.name and robot.name.isprintable() else fallback
    return Model(title, tuple(entities), tuple(connections), Context(base=base), sources)


def _link(link: UrdfLink, name: str, unphysical: bool, empty: bool, massless: bool) -> Entity:
    """A body; a place without mass that moves by itself is a displacement by nothing."""
    if empty and not unphysical:
        return AcceptedPlace(name) if massless else Displacement(name)
    I = matrix(link)
    if any(link.rpy):
        R = from_euler(np.array(link.rpy), "xyz")
        I = R @ I @ R.T
        I = (I + I.T) / 2.0
    values: dict[str, Any] = {"mass": link.mass, "com": link.com, "inertia": I}
    return AcceptedBody(name, **values) if unphysical else RigidBody(name, **values)


class _Names:
    """Names in the model: those of the file where they are usable and unique, else near ones, with a warning.

    Joints that move keep theirs first, then links, then fixed joints.
    """

    def __init__(self, reader: Reader, robot: Robot, tree: Tree):
        self.reader = reader
        self.taken: set[str] = {WORLD, *RESERVED}
        self.again: Counter[str] = Counter()
        self.link: dict[str, str] = {}
        self.joint: dict[str, str] = {}
        self.origin: dict[str, str] = {}
        root = robot.links[tree.root]
        if tree.root == WORLD and root.mass == 0.0:
            self.link[WORLD] = WORLD  # the link is the reference frame
        moving = [j for j in robot.joints.values() if j.moves]
        fixed = [j for j in robot.joints.values() if not j.moves]
        rows: list[tuple[dict[str, str], str, UrdfJoint | UrdfLink]] = [(self.joint, "joint", j) for j in moving]
        rows += [(self.link, "link", link) for link in robot.links.values() if link.name not in self.link]
        rows += [(self.joint, "joint", j) for j in fixed]
        for usable in (True, False):
            for table, sort, item in rows:
                if is_name(item.name) == usable:
                    self._give(table, sort, item)
        for name in self.joint:
            self.origin[name] = self.free(f"{self.joint[name][:110]}_origin", "origin")

    def _give(self, table: dict[str, str], sort: str, item: UrdfJoint | UrdfLink) -> None:
        table[item.name] = given = self.free(item.name, sort)
        if given != item.name:
            why = "is taken or reserved" if is_name(item.name) else "holds signs that names cannot have"
            what = f"the name {why}; it is called '{given}' in the model"
            self.reader.warn(item.element, "name", what, repr(item.name), "rename it in the file")

    def free(self, wanted: str, sort: str) -> str:
        name = "".join(c if is_name(c) else "_" for c in wanted)[:110] if not is_name(wanted) else wanted
        if name in self.taken:
            name = f"{name[:110]}_{sort}"
        tried = name
        while tried in self.taken:
            self.again[name] += 1
            tried = f"{name}{self.again[name] + 1}"
        self.taken.add(tried)
        return tried
